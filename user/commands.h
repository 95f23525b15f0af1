/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the first word of the command line to the command's function, and the help that is made
 * of the tables of commands and options.
 */
#ifndef USER_COMMANDS_H
#define USER_COMMANDS_H

#include <stddef.h>

/* What main() does. Returns the exit code: 0 ok, 1 failed, 2 usage. */
int commands_main(int argc, char **argv);

/* Write the names of the commands in the mask @on, "load, run", to @text. */
void commands_taking(unsigned int on, char *text, size_t size);

#endif

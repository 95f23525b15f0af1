/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is installed beside the program, made from its tables of commands, options and topics. */
#ifndef USER_MANUAL_H
#define USER_MANUAL_H

#include <stdio.h>

/* The manual page xdp-dedup(8), in roff. */
void manual_page(FILE *to);

/* Completion of commands, options and their values for bash. */
void manual_completion(FILE *to);

#endif

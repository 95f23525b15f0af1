/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Picks the command and hands it the parsed options.
 */
#include "commands.h"

int main(int argc, char **argv)
{
	return commands_main(argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_CMD_LOAD_H
#define USER_CMD_LOAD_H

#include <jansson.h>

#include "../loader/instance.h"
#include "../options.h"

/* Load what the command line says, open it as @in, and tell the user. Returns the exit code; on
 * EXIT_OK @in is open.
 */
int load_and_report(const struct options *o, struct instance *in);

/* Name, mode and state of each. */
json_t *interfaces_json(const struct instance *in);

#endif

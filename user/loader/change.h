/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Change a running instance: what `set` does. */
#ifndef USER_LOADER_CHANGE_H
#define USER_LOADER_CHANGE_H

#include "instance.h"
#include "user/options.h"

/*
 * Apply what was given in @o, of the options that `set` takes, to the instance called
 * @o->args[0]. The program stays attached, its id and the filter's entries stay. A window that is
 * not 1 to XDD_MAX_WINDOW_TICKS ticks needs --restart: a new program with another tick and an
 * empty filter takes over, without a packet in between that passes by; counters go on.
 *
 * Returns 0 and the changed instance, to be closed by instance_close(); or a negative errno with
 * one line in @err: -ERANGE: the window needs --restart, or --add and --remove contradict what is
 * loaded.
 */
int change_instance(const struct options *o, struct instance *in, char *err, size_t err_size);

#endif

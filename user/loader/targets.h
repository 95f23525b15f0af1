/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where packets are redirected to: `--action redirect:IFACE` and `--forward IFACE`. */
#ifndef USER_LOADER_TARGETS_H
#define USER_LOADER_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/types.h>

/*
 * Find interface @name of the thread's network namespace, and learn whether frames that are
 * redirected to it get out. A veth loses all of them, without an error, unless its peer has an
 * XDP program or GRO; some drivers send only while they have a program of their own.
 *
 * @generic: the program runs in generic mode, which can send by every device. @force: only say so.
 *
 * Returns 0 and *@ifindex, or with a line in @err: -ENODEV: there is none; -EOPNOTSUPP: frames
 * would be lost.
 */
int target_find(const char *name, bool generic, bool force, u32 *ifindex, char *err,
		size_t err_size);

#endif

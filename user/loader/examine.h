/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `check` finds, asked by who is about to attach. */
#ifndef USER_LOADER_EXAMINE_H
#define USER_LOADER_EXAMINE_H

#include "attach.h"
#include "user/options.h"

/*
 * Examine the interface of @a, in the thread's network namespace, as options @o (frags, force) want it,
 * in @mode (enum xdp_mode). Notes are told if @tell; a problem ends it unless o->force. Other
 * programs are left to attach_room().
 *
 * *@rx_queues becomes the most that it was or the interface has; a software device (veth, tap, ...)
 * runs its one queue on the CPU that happens to send, so it counts as two. Returns 0, or a
 * negative errno with one line in @err.
 */
int examine(const struct attachment *a, const struct options *o, int mode, bool tell,
	    unsigned int *rx_queues, char *err, size_t err_size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interfaces of a loaded instance, each in a slot with its counters. An interface that was removed, or is gone,
 * gets its slot back with what it counted. One of another name gets the slot of one that was removed only where all
 * have been used; what was counted in it then goes to XDD_SLOT_FORMER, so that no sum ever goes backwards.
 *
 * All of this is called in the interfaces' network namespace and with the lock of pins_lock(), with
 * an instance that was opened under that lock.
 */
#ifndef USER_LOADER_SLOTS_H
#define USER_LOADER_SLOTS_H

#include "instance.h"
#include "user/options.h"

/*
 * Attach the program to o->add and detach it from o->remove; the filter stays. Every interface to
 * be added is examined before one is touched (o->force: as load does), and if one cannot be attached,
 * none is.
 *
 * Returns 0, or with one line in @err: -ERANGE: the list contradicts itself or what is loaded;
 * -ENODEV: no such interface; or what attaching returned.
 */
int slots_change(struct instance *in, const struct options *o, char *err, size_t err_size);

/*
 * The interface of slot @slot is there again under its name, with the index in its `returned`: attach
 * to it, in the mode that it had, and count that in the slot's `returns`. Returns 0, or a negative errno with
 * one line in @err.
 */
int slots_return(struct instance *in, u32 slot, char *err, size_t err_size);

/* The interface of @slot is attached, but has another index, or name, than the instance knows: it came back from another
 * network namespace, or was renamed. Returns 0 or a negative errno.
 */
int slots_follow(struct instance *in, u32 slot);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happens to the interfaces that packets are redirected to while `run` or `agent` ages an instance:
 * one that is gone and comes back is sent to again, one that is renamed is known by its new name.
 */
#ifndef USER_LOADER_TARGET_WATCH_H
#define USER_LOADER_TARGET_WATCH_H

#include "instance.h"

struct target_watch {
	struct {
		bool gone;    /* and told */
		bool refused; /* it is back, but cannot be sent to; that is told */
	} was[XDD_DEV_MAX];
};

/* Look at them, and tell what is gone. @who is the command. Returns whether target_watch_mend() has
 * something to do.
 */
bool target_watch_look(struct target_watch *watch, const struct instance *in, const char *who);

/* Follow them. With the lock of pins_lock(), in the interfaces' network namespace, and @in opened under
 * that lock.
 */
void target_watch_mend(struct target_watch *watch, struct instance *in, const char *who);

#endif

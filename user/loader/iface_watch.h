/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happens to the interfaces of an instance while `run` or `agent` ages it: told in words, and
 * one that was gone and comes back under its name is attached again. The same for those that packets
 * are redirected to.
 */
#ifndef USER_LOADER_IFACE_WATCH_H
#define USER_LOADER_IFACE_WATCH_H

#include "target_watch.h"

struct iface_watch {
	u64 due_ns; /* CLOCK_MONOTONIC */
	u32 known;  /* slots below */
	struct {
		enum iface_state state;
		char name[XDD_META_IFNAME];
		u32 tries; /* to attach again, that failed */
		u64 retry_ns;
	} was[XDD_MAX_IFACES];
	struct target_watch targets;
};

/* Look, if that is due: once a second. @who is the command, for its messages. The first call only
 * learns what there is. @in may be found with other interfaces than before.
 */
void iface_watch_step(struct iface_watch *watch, struct instance *in, const char *who);

#endif

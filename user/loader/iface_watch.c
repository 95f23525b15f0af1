/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "iface_watch.h"

#include <string.h>

#include "netns.h"
#include "pins.h"
#include "slots.h"
#include "user/clock.h"
#include "user/message.h"

#define PERIOD_NS 1000000000ull
#define MOST_DOUBLINGS 5 /* of the time until it is tried again */

static bool has_other_index(const struct instance *in, u32 slot)
{
	return in->ifaces[slot].state == IFACE_ATTACHED &&
	       in->ifaces[slot].ifindex != in->live.ifaces[slot].ifindex;
}

static bool has_other_name(const struct instance *in, u32 slot)
{
	return in->ifaces[slot].state == IFACE_ATTACHED &&
	       strcmp(in->ifaces[slot].name, in->meta.ifaces[slot].name);
}

static void tell_state(const struct instance *in, u32 slot, const char *who)
{
	const struct instance_iface *iface = &in->ifaces[slot];

	switch (iface->state) {
	case IFACE_ATTACHED:
		note_always("%s: %s: %s is attached", who, in->name, iface->name);
		break;
	case IFACE_GONE:
		complain("%s: %s: %s is gone: attached again when it comes back under that name",
			 who, in->name, iface->name);
		break;
	case IFACE_DETACHED:
		complain("%s: %s: someone detached the program from %s: xdp-dedup set %s --add %s",
			 who, in->name, iface->name, in->name, iface->name);
		break;
	case IFACE_MOVED:
		complain("%s: %s: %s has moved to another network namespace", who, in->name,
			 iface->name);
		break;
	case IFACE_HIDDEN:
	case IFACE_REMOVED:
		break;
	}
}

/* What is new since the last time. */
static void tell(struct iface_watch *watch, const struct instance *in, const char *who)
{
	for (u32 i = 0; i < in->ifaces_used && i < watch->known; i++) {
		const char *name = in->ifaces[i].name;

		if (in->ifaces[i].state != watch->was[i].state)
			tell_state(in, i, who);
		else if (has_other_name(in, i) && strcmp(name, watch->was[i].name))
			note_always("%s: %s: %s is called %s now", who, in->name,
				    watch->was[i].name, name);
	}
}

static void learn(struct iface_watch *watch, const struct instance *in)
{
	for (u32 i = 0; i < in->ifaces_used; i++) {
		if (i >= watch->known || in->ifaces[i].state == IFACE_ATTACHED)
			watch->was[i].tries = 0;
		watch->was[i].state = in->ifaces[i].state;
		memcpy(watch->was[i].name, in->ifaces[i].name, sizeof(watch->was[i].name));
	}
	watch->known = in->ifaces_used;
}

static bool can_return(const struct iface_watch *watch, const struct instance *in, u32 slot,
		       u64 now)
{
	return in->ifaces[slot].returned &&
	       (!watch->was[slot].tries || now >= watch->was[slot].retry_ns);
}

static bool is_to_mend(const struct iface_watch *watch, const struct instance *in, u64 now)
{
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (has_other_index(in, i) || has_other_name(in, i) ||
		    can_return(watch, in, i, now))
			return true;
	return false;
}

/* A reason is told once, and later tries are seldom. */
static void bring_back(struct iface_watch *watch, struct instance *in, u32 slot, u64 now,
		       const char *who)
{
	char err[MESSAGE_MAX];
	u32 tries = watch->was[slot].tries;

	if (!slots_return(in, slot, err, sizeof(err))) {
		note_always("%s: %s: %s is back and attached", who, in->name,
			    in->ifaces[slot].name);
		return;
	}
	if (!tries)
		complain("%s: %s: %s is back, but not attached, which is tried again: %s", who,
			 in->name, in->ifaces[slot].name, err);
	if (tries < MOST_DOUBLINGS)
		watch->was[slot].tries++;
	watch->was[slot].retry_ns = now + (PERIOD_NS << tries);
}

static void mend_all(struct iface_watch *watch, struct instance *in, u64 now, const char *who)
{
	int home;

	if (netns_enter_inode(in->meta.netns_inode, in->meta.netns, &home))
		return;
	for (u32 i = 0; i < in->ifaces_used; i++) {
		if (can_return(watch, in, i, now))
			bring_back(watch, in, i, now, who);
		else if (has_other_index(in, i) || has_other_name(in, i))
			slots_follow(in, i);
	}
	target_watch_mend(&watch->targets, in, who);
	netns_leave(home);
}

/* Opened anew under the lock: `set` may have changed it since. */
static void mend(struct iface_watch *watch, const struct instance *in, u64 now, const char *who)
{
	struct instance locked;
	char err[MESSAGE_MAX];
	int root = pins_lock(false, false, err, sizeof(err));

	if (root < 0)
		return;
	if (!instance_open(&locked, in->name, err, sizeof(err))) {
		mend_all(watch, &locked, now, who);
		instance_close(&locked);
	}
	pins_unlock(root);
}

void iface_watch_step(struct iface_watch *watch, struct instance *in, const char *who)
{
	u64 now = now_ns();
	bool mends;

	if (now < watch->due_ns)
		return;
	watch->due_ns = now + PERIOD_NS;
	if (instance_read_live(in) || instance_read_ifaces(in))
		return;
	tell(watch, in, who);
	learn(watch, in);
	mends = target_watch_look(&watch->targets, in, who);
	if (!is_to_mend(watch, in, now) && !mends)
		return;
	mend(watch, in, now, who);
	if (!instance_read_live(in) && !instance_read_ifaces(in))
		learn(watch, in);
}

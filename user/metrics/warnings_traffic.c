/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "user/metrics/limits.h"
#include "user/metrics/status.h"
#include "user/metrics/warnings_work.h"

static void state_warning(struct status *status, u32 slot)
{
	const struct instance_iface *iface = &status->instance->ifaces[slot];
	const char *name = status->instance->name;

	if (iface->state == IFACE_DETACHED)
		warn(status,
		     "%s: someone detached the program, nothing is de-duplicated there: "
		     "xdp-dedup set %s --add %s",
		     iface->name, name, iface->name);
	else if (iface->state == IFACE_GONE)
		warn(status,
		     "%s: the interface is gone; `run` or `agent` attaches to it again when it "
		     "comes back under its name: if it does not, xdp-dedup set %s --remove %s",
		     iface->name, name, iface->name);
	else if (iface->state == IFACE_MOVED)
		warn(status,
		     "%s: it has moved to another network namespace: copies are found there as "
		     "before, and its packets %s",
		     iface->name,
		     instance_counts_slot(status->instance, slot)
			     ? "are counted as before"
			     : "count as those of no interface");
}

static void link_warning(struct status *status, u32 slot)
{
	const char *name = status->instance->ifaces[slot].name;
	const struct link_view *link = &status->links.iface[slot];

	if (!link_fault(link))
		return;
	if (link->up)
		warn(status, "%s: no carrier: the cable, or the other end, is down", name);
	else
		warn(status, "%s: down: ip link set dev %s up", name, name);
}

void warnings_interfaces(struct status *status)
{
	const struct instance *in = status->instance;

	for (u32 i = 0; i < in->ifaces_used; i++) {
		state_warning(status, i);
		link_warning(status, i);
	}
}

static bool can_receive(const struct status *status, u32 slot)
{
	enum iface_state state = status->instance->ifaces[slot].state;

	return (state == IFACE_ATTACHED || state == IFACE_HIDDEN) &&
	       !link_fault(&status->links.iface[slot]);
}

static bool is_silent(const struct status *status, u32 slot)
{
	u64 received = status->counters.slot[slot].received.packets;
	double limit = LIMIT_SILENT_S;

	if (!status->recent.seconds)
		return !received && status->loaded_s >= LIMIT_SILENT_S;
	if (received)
		limit = LIMIT_SILENT_PACKETS * fmax(status->loaded_s, 1) / received;
	limit = fmax(1, fmin(limit, LIMIT_SILENT_S));
	return status->recent.silent_s[slot] >= limit;
}

/* For so long, or "since load". */
static const char *silence_text(const struct status *status, u32 slot, char text[32])
{
	snprintf(text, 32, "for %.0f s", status->recent.silent_s[slot]);
	return status->recent.seconds ? text : "since load";
}

/* A tap that never had any waits for its first. */
static void all_silent_warning(struct status *status, u32 slot)
{
	u64 received = status->counters.total.received.packets;

	if (received && status->recent.silent_s[slot] >= LIMIT_SILENT_S)
		warn_of_recent(status,
			       "no packet on any interface for %.0f s, of %" PRIu64
			       " since load: has the mirror session ended?",
			       status->recent.silent_s[slot], (uint64_t)received);
}

/* Silent ones beside others that are not: one that never had a packet is not known to be either. */
static void silence_warnings(struct status *status)
{
	const struct instance *in = status->instance;
	u32 had = 0, alive = 0, least = 0;
	char text[32];

	for (u32 i = 0; i < in->ifaces_used; i++) {
		if (!can_receive(status, i) || !status->counters.slot[i].received.packets)
			continue;
		if (!had++ || status->recent.silent_s[i] < status->recent.silent_s[least])
			least = i;
		alive += !is_silent(status, i);
	}
	if (had && !alive)
		all_silent_warning(status, least);
	if (!alive || status->counters.total.received.packets < LIMIT_PACKETS)
		return;
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (can_receive(status, i) && is_silent(status, i))
			warn_of_recent(status,
				       "%s: no packets %s, while others have some: has its mirror "
				       "session ended?",
				       in->ifaces[i].name, silence_text(status, i, text));
}

/* The reason for which most passed. */
static const char *main_reason(const struct xdd_counters *c)
{
	const char *reason = "";
	u64 most = 0;

#define COMPARE_REASON(name, help)      \
	if (c->name.packets > most) {   \
		most = c->name.packets; \
		reason = #name;         \
	}
	XDD_BYPASSES(COMPARE_REASON)
	return reason;
}

static void share_warnings(struct status *status)
{
	const struct xdd_counters *c = &status->recent.added.total;
	double received = c->received.packets, bypassed = counters_bypassed(c).packets;

	if (received < LIMIT_PACKETS)
		return;
	if (c->duplicate.packets > LIMIT_COPIES * received)
		warn_of_recent(status,
			       "%.4g %% of the packets are duplicates: is there a loop? The list "
			       "of what is suppressed most tells",
			       100.0 * c->duplicate.packets / received);
	if (bypassed > LIMIT_BYPASSED * received)
		warn_of_recent(status,
			       "%s is compared: %.4g %% bypassed (%s): xdp-dedup help counters",
			       bypassed < received ? "hardly anything" : "nothing",
			       100 * bypassed / received, main_reason(c));
}

void warnings_traffic(struct status *status)
{
	silence_warnings(status);
	share_warnings(status);
}

/* What is redirected there vanishes if nobody takes it: say so, since no counter of the program can. */
static void target_warnings(struct status *status, const struct target_view *target, u64 dropped)
{
	const char *name = target->name;

	if (!target->ifindex) {
		warn(status,
		     "%s: the interface that packets are redirected to is gone: they pass to this "
		     "host instead; `run` or `agent` sends to it again when it comes back",
		     name);
		return;
	}
	if (!target->up)
		warn(status, "%s is down: packets redirected to it are lost: ip link set dev %s up",
		     name, name);
	if (!target->takes)
		warn(status, "%s takes no redirected packets now, they are lost%s", name,
		     target->veth ? ": ethtool -K gro on at its other end" : "");
	if (dropped)
		warn_of_recent(status, "%s dropped %" PRIu64 " of the packets that it was to send",
			       name, (uint64_t)dropped);
}

void warnings_targets(struct status *status)
{
	u64 errors = status->recent.added.total.redirect_errors.packets;
	bool gone = false;

	for (u32 i = 0; i < XDD_DEV_MAX; i++) {
		const struct target_view *target = &status->links.target[i];

		if (!target->known)
			continue;
		target_warnings(status, target, status->recent.added.dropped[i]);
		gone = gone || !target->ifindex;
	}
	if (errors && !gone)
		warn_of_recent(status,
			       "%" PRIu64 " packets could not be redirected, and passed to this "
			       "host",
			       (uint64_t)errors);
}

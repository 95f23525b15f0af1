/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/warnings.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/loader/netns.h"
#include "user/nic/facts.h"
#include "user/utf8.h"
#include "xdd/event.h"

/* Below these shares what happens is normal. */
#define EVICTED_SHARE 0.001
#define BAD_CHECKSUM_SHARE 0.01
#define FULL_RATE 0.001
#define FULL_BITS_RATE 0.1	     /* what the bit engines' tables aim at (bera-2012) */
#define LATE_NS (60 * XDD_SECOND_NS) /* as the alert has it */
#define STALE_SHARE 0.0001 /* the ager and the program may clean a line at the same moment */

__attribute__((format(printf, 2, 3))) static void warn(struct status *status, const char *format,
						       ...)
{
	va_list args;

	if (status->warnings == STATUS_MAX_WARNINGS)
		return;
	va_start(args, format);
	vsnprintf(status->warning[status->warnings], STATUS_WARNING_MAX, format, args);
	va_end(args);
	utf8_mask(status->warning[status->warnings++]);
}

static void interface_warnings(struct status *status)
{
	const struct instance *in = status->instance;

	for (u32 i = 0; i < in->ifaces_used; i++) {
		const struct instance_iface *iface = &in->ifaces[i];

		if (iface->state == IFACE_DETACHED)
			warn(status,
			     "%s: someone detached the program, nothing is de-duplicated there: "
			     "xdp-dedup set %s --add %s",
			     iface->name, in->name, iface->name);
		else if (iface->state == IFACE_GONE)
			warn(status,
			     "%s: the interface is gone; `run` or `agent` attaches to it again "
			     "when "
			     "it comes back under its name: if it does not, xdp-dedup set %s "
			     "--remove %s",
			     iface->name, in->name, iface->name);
		else if (iface->state == IFACE_MOVED)
			warn(status,
			     "%s: it has moved to another network namespace and its packets are "
			     "counted under no interface",
			     iface->name);
	}
}

static void bypass_warnings(struct status *status)
{
	const struct xdd_counters *total = &status->counters.total;

	if (total->stale.packets > STALE_SHARE * total->received.packets)
		warn(status,
		     "%" PRIu64 " packets passed unasked: the filter's state was in doubt "
		     "(stale)",
		     (uint64_t)total->stale.packets);
	if (total->internal.packets)
		warn(status,
		     "%" PRIu64 " packets passed unasked after a fault of ours (internal): "
		     "please report it",
		     (uint64_t)total->internal.packets);
	if (total->bad_checksum.packets > BAD_CHECKSUM_SHARE * total->received.packets)
		warn(status,
		     "%.1f %% of the packets have a wrong IPv4 header checksum and pass: is the "
		     "sender "
		     "on this host, with tx-checksumming on?",
		     100.0 * total->bad_checksum.packets / total->received.packets);
	if (total->mark_failed)
		warn(status, "%" PRIu64 " duplicates could not be marked and passed unmarked",
		     (uint64_t)total->mark_failed);
	if (total->redirect_errors.packets)
		warn(status, "%" PRIu64 " packets could not be redirected, and passed",
		     (uint64_t)total->redirect_errors.packets);
}

static void filter_warnings(struct status *status)
{
	const struct xdd_counters *total = &status->counters.total;
	u64 distinct = total->distinct.packets;

	if (total->evictions > EVICTED_SHARE * distinct)
		warn(status,
		     "%" PRIu64
		     " live entries were replaced in full lines (%.2g %% of the distinct "
		     "packets), their copies may pass: load with more --memory or a shorter "
		     "--window",
		     (uint64_t)total->evictions, 100.0 * total->evictions / distinct);
	if (status->fullness.loads.share && status->fullness.fpr > FULL_BITS_RATE)
		warn(status,
		     "%.2g %% of the keys that are new now are taken for copies and lost: load "
		     "with more --memory, or with other --hashes",
		     100 * status->fullness.fpr);
	else if (!status->fullness.loads.share && status->fullness.fpr > FULL_RATE)
		warn(status,
		     "the filter is full: %.2g %% of the distinct packets are lost: load with more "
		     "--memory or a shorter --window",
		     100 * status->fullness.fpr);
	if (status_capacity_used(status) > 1)
		warn(status,
		     "%.3g %% of the keys that it is meant for are live: load with more --memory "
		     "or "
		     "a shorter --window",
		     100 * status_capacity_used(status));
	if (status->ageing && status->fullness.since_sweep_ns > LATE_NS)
		warn(status,
		     "process %d ages it, and has not come round for %" PRIu64
		     " s: is it stopped? Verdicts stay right, figures here are old",
		     status->ageing, (uint64_t)(status->fullness.since_sweep_ns / XDD_SECOND_NS));
	if (status->fullness.chains.full)
		warn(status,
		     "the newest of %u filters is full, and no more may be opened (in %u of %u "
		     "slices): load with more --max-filters or --memory, or a shorter --window",
		     status->instance->fixed.filters, status->fullness.chains.full,
		     status->fullness.chains.number);
	if (xdd_grows(&status->instance->fixed) && !status->ageing)
		warn(status,
		     "nobody ages it, so that no filter is opened or retired: xdp-dedup agent");
	if (status->instance->fixed.placement == XDD_PLACEMENT_percpu &&
	    status->counters.cpus_busy > 1)
		warn(status,
		     "packets arrived on %d CPUs, each with a filter of its own: a copy on another "
		     "CPU than the first one passes: load with --placement shared",
		     status->counters.cpus_busy);
}

/* What is redirected to @name vanishes if nobody there takes it: say so, since no counter of the
 * program can.
 */
static void target_warnings(struct status *status, const char *name)
{
	struct link_facts facts;
	u64 features, lost;

	if (link_facts(name, 0, &facts)) {
		warn(status,
		     "%s: the interface that packets are redirected to is gone: they are lost",
		     name);
		return;
	}
	if (!(facts.flags & IFF_UP))
		warn(status, "%s is down: packets redirected to it are lost: ip link set dev %s up",
		     name, name);
	if (!xdp_features(facts.ifindex, &features) && !(features & FACTS_XDP_TARGET))
		warn(status, "%s takes no redirected packets now, they are lost%s", name,
		     strcmp(facts.kind, "veth") ? "" : ": ethtool -K gro on at its other end");
	if (ethtool_sum(name, "xdp_xmit_errors", &lost))
		lost = 0;
	lost += facts.tx_dropped;
	if (lost)
		warn(status, "%s dropped %" PRIu64 " of the packets that it was to send", name,
		     (uint64_t)lost);
}

static void redirect_warnings(struct status *status)
{
	const struct instance *in = status->instance;
	int home;

	if (!*in->meta.targets[XDD_DEV_DUPLICATES] && !*in->meta.targets[XDD_DEV_FORWARD])
		return;
	if (netns_enter_inode(in->meta.netns_inode, in->meta.netns, &home))
		return;
	for (u32 i = 0; i < XDD_DEV_MAX; i++)
		if (*in->meta.targets[i])
			target_warnings(status, in->meta.targets[i]);
	netns_leave(home);
}

/* A reader that was killed leaves them on. */
static void event_warnings(struct status *status)
{
	const struct instance *in = status->instance;

	if (in->live.event_kinds && !instance_events_pid(in))
		warn(status,
		     "up to %u events a second are recorded, and nobody reads them: xdp-dedup "
		     "events "
		     "%s --seconds 1 ends that",
		     in->live.event_rate, in->name);
}

static void health_warnings(struct status *status)
{
	const struct health_view *health = &status->health;
	char text[HEALTH_TEXT_MAX], policy[HEALTH_POLICY_TEXT_MAX];

	if (health->failed || health->recovering)
		warn(status,
		     "%s: what they would know is answered by --fault-policy %s: see "
		     "xdp-dedup fault %s",
		     health_view_text(health, text),
		     health_policy_text(&status->instance->fixed, policy), status->instance->name);
}

static void watch_warnings(struct status *status)
{
	if (status->watch.doubted)
		warn(status,
		     "the state of the watch set, " WATCH_FOLDER
		     "/%s.xdw, is not believed, as others than root can change it or its folder: "
		     "chown root and chmod go-w both if they are what they were, or xdp-dedup "
		     "watch %s clear, "
		     "then load its keys again",
		     status->instance->name, status->instance->name);
	else if (status->watch.lost)
		warn(status,
		     "the state of the watch set, " WATCH_FOLDER
		     "/%s.xdw, is lost: keys are watched "
		     "that cannot be deleted: xdp-dedup watch %s clear, then load them again",
		     status->instance->name, status->instance->name);
}

void warnings_find(struct status *status)
{
	health_warnings(status);
	watch_warnings(status);
	event_warnings(status);
	interface_warnings(status);
	bypass_warnings(status);
	filter_warnings(status);
	redirect_warnings(status);
}

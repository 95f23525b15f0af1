/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/warnings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "user/metrics/limits.h"
#include "user/metrics/warnings_work.h"
#include "user/peer_words.h"
#include "user/utf8.h"
#include "xdd/event.h"

static void add(char list[][STATUS_WARNING_MAX], int *used, int most, const char *format,
		va_list args)
{
	if (*used == most)
		return;
	vsnprintf(list[*used], STATUS_WARNING_MAX, format, args);
	utf8_mask(list[(*used)++]);
}

void warn(struct status *status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(status->warning, &status->warnings, STATUS_MAX_WARNINGS, format, args);
	va_end(args);
}

void warn_of_recent(struct status *status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (status->recent.seconds)
		add(status->warning, &status->warnings, STATUS_MAX_WARNINGS, format, args);
	else
		add(status->note, &status->notes, STATUS_MAX_NOTES, format, args);
	va_end(args);
}

static void bypass_warnings(struct status *status)
{
	const struct xdd_counters *added = &status->recent.added.total;

	if (added->stale.packets > LIMIT_STALE * added->received.packets)
		warn_of_recent(status,
			       "%" PRIu64
			       " packets passed unasked: the filter's state was in doubt "
			       "(stale)",
			       (uint64_t)added->stale.packets);
	if (added->internal.packets)
		warn_of_recent(status,
			       "%" PRIu64
			       " packets passed unasked after a fault of ours (internal): "
			       "please report it",
			       (uint64_t)added->internal.packets);
	if (added->bad_checksum.packets > LIMIT_BAD_CHECKSUM * added->received.packets)
		warn_of_recent(
			status,
			"%.1f %% of the packets have a wrong IPv4 header checksum and pass: is the "
			"sender "
			"on this host, with tx-checksumming on?",
			100.0 * added->bad_checksum.packets / added->received.packets);
	if (added->mark_failed)
		warn_of_recent(status,
			       "%" PRIu64 " duplicates could not be marked and passed unmarked",
			       (uint64_t)added->mark_failed);
}

/* It is a mean since load, which is over when no copy was missed for a minute. */
static void missed_warning(struct status *status)
{
	const struct instance *in = status->instance;
	bool over = status->recent.seconds >= LIMIT_SILENT_S && !status->recent.added.audit.fn;
	double low = status->audit.fnr.low;

	if (!status->audit.share || !(low > LIMIT_FNR) || over)
		return;
	if (in->fixed.engine == XDD_ENGINE_exact)
		warn(status,
		     "more than %.2g %% of the copies pass, as measured since load: engine exact "
		     "forgets keys beyond %" PRIu64 ": load with more --memory or a shorter "
		     "--window",
		     100 * low, (uint64_t)in->meta.capacity_keys);
	else
		warn(status,
		     "more than %.2g %% of the copies pass, as measured since load: load with more "
		     "--memory or another --window",
		     100 * low);
}

static void filter_warnings(struct status *status)
{
	const struct xdd_counters *added = &status->recent.added.total;
	u64 distinct = added->distinct.packets;

	if (added->evictions > LIMIT_EVICTED * distinct)
		warn_of_recent(
			status,
			"%" PRIu64
			" live entries were replaced in full lines (%.2g %% of the distinct "
			"packets), their copies may pass: load with more --memory or a shorter "
			"--window",
			(uint64_t)added->evictions, 100.0 * added->evictions / distinct);
	if (status->fullness.loads.share && status->fullness.fpr > LIMIT_BITS_RATE)
		warn(status,
		     "%.2g %% of the keys that are new now are taken for copies and lost: load "
		     "with more --memory, or with other --hashes",
		     100 * status->fullness.fpr);
	else if (!status->fullness.loads.share && status->fullness.fpr > LIMIT_FULL_RATE)
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
	if (status->ageing && status->fullness.since_sweep_ns > LIMIT_LATE_S * XDD_SECOND_NS)
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

static void watch_twin_warnings(struct status *status)
{
	const struct watch_view *view = &status->watch;
	bool owner = view->share.role == SHARED_owner;

	if (watch_view_twins(view))
		warn(status,
		     "two hosts share their watch sets as %s, and %s: give each host of the group "
		     "an agent --host of its own",
		     view->share.owner,
		     !owner		? "only the one that was believed first is followed"
		     : view->share.told ? "this one is followed, as it was first"
					: "this set is told to nobody, as the other was first");
}

/* Hosts that were given one name: what one of them has seen is known nowhere. */
static void twin_warnings(struct status *status)
{
	const struct peers *peers = &status->peers;

	if (peer_twins_lately(peers->twin_ns))
		warn(status, "another host speaks in this one's name, and others believe only one "
			     "of the two: give each host of the group an agent --host of its own");
	for (u32 i = 0; i < peers->n; i++)
		if (peers->peer[i].about.twins)
			warn(status,
			     "two hosts speak as %s, and only the one that was believed first is: "
			     "give each host of the group an agent --host of its own",
			     peers->peer[i].about.name);
}

static void window_warnings(struct status *status)
{
	const struct instance *in = status->instance;
	char text[PEER_WINDOWS_MAX];

	for (u32 i = 0; i < status->peers.n; i++) {
		const struct peer_view *peer = &status->peers.peer[i];

		if (peer_window_is_longer(in, peer))
			warn(status,
			     "what %s has seen is not known here: %s (xdp-dedup set --window)",
			     peer->about.name,
			     peer_windows_text(peer->about.window_ns, in->live.window_ns, text));
	}
}

static void replica_warnings(struct status *status)
{
	double fpr = peers_fpr(status->instance, &status->peers);

	if (fpr > LIMIT_REPLICAS_RATE && fpr > status->fullness.fpr)
		warn(status,
		     "%.2g %% of the packets that are new everywhere are taken for those of %u "
		     "other hosts and lost: load with more --replica-bits, or with "
		     "--replica-action count",
		     100 * fpr, status->peers.believed);
}

void warnings_find(struct status *status)
{
	health_warnings(status);
	watch_warnings(status);
	watch_twin_warnings(status);
	twin_warnings(status);
	window_warnings(status);
	replica_warnings(status);
	event_warnings(status);
	warnings_interfaces(status);
	warnings_traffic(status);
	bypass_warnings(status);
	missed_warning(status);
	filter_warnings(status);
	warnings_targets(status);
}

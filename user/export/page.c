/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/export/page.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/clock.h"
#include "user/export/page_group.h"
#include "user/metrics/status.h"
#include "user/utf8.h"
#include "user/version.h"

#define SHOWN_SLICES 256 /* that have failed or recover */

struct page {
	FILE *to;
	bool openmetrics;
	const char *family, *suffix;
	const struct subject *about;
};

struct label {
	const char *name, *value;
};

/* A label's value: interface names may have any byte but '/' and white space. */
static void put_escaped(FILE *to, const char *value)
{
	size_t length;
	u32 code;

	for (; *value; value += length ?: 1) {
		length = utf8_next(value, &code);
		if (*value == '\\' || *value == '"')
			putc('\\', to);
		fprintf(to, "%.*s", length ? (int)length : (int)strlen(UTF8_REPLACEMENT),
			length ? value : UTF8_REPLACEMENT);
	}
}

/* The beginning of a sample, with up to three labels beside the instance's name. */
static void put_labels(struct page *page, const struct label labels[3])
{
	fprintf(page->to, "xdp_dedup_%s%s{name=\"", page->family, page->suffix);
	put_escaped(page->to, page->about->name);
	for (int i = 0; i < 3 && labels[i].name; i++) {
		fprintf(page->to, "\",%s=\"", labels[i].name);
		put_escaped(page->to, labels[i].value);
	}
	fprintf(page->to, "\"} ");
}

#define LABELS(...) ((const struct label[3]){ __VA_ARGS__ })
#define NO_LABELS LABELS({ NULL, NULL })

static void put_count(struct page *page, u64 value, const struct label labels[3])
{
	put_labels(page, labels);
	fprintf(page->to, "%" PRIu64 "\n", (uint64_t)value);
}

/* What is not known is no sample. */
static void put_real(struct page *page, double value, const struct label labels[3])
{
	if (isnan(value))
		return;
	put_labels(page, labels);
	fprintf(page->to, "%.13g\n", value);
}

void page_put_count(struct page *page, u64 value, const char *label, const char *text)
{
	put_count(page, value, LABELS({ label, text }));
}

void page_put_real(struct page *page, double value, const char *label, const char *text)
{
	put_real(page, value, LABELS({ label, text }));
}

const struct member_report *page_group(const struct page *page)
{
	return page->about->group;
}

static void put_up(struct page *page, const struct status *status)
{
	put_count(page, !!status, NO_LABELS);
}

static void put_read_timestamp_seconds(struct page *page, const struct status *status)
{
	(void)status;
	put_real(page, page->about->read_ns / 1000000 / 1e3, NO_LABELS);
}

typedef void put_slot(struct page *page, const char *interface, const struct xdd_counters *c);

/* Each interface, and what came by none that is known, if anything did. */
static void put_slots(struct page *page, const struct status *status, put_slot *put)
{
	const struct xdd_counters *elsewhere = &status->counters.slot[XDD_SLOT_ELSEWHERE];
	const struct instance *in = status->instance;

	for (u32 i = 0; i < in->ifaces_used; i++)
		put(page, in->ifaces[i].name, &status->counters.slot[i]);
	if (elsewhere->received.packets)
		put(page, "", elsewhere);
}

#define INTERFACE                      \
	{                              \
		"interface", interface \
	}
#define PUT_VERDICT(verdict, help) \
	put_count(page, c->verdict.packets, LABELS(INTERFACE, { "verdict", #verdict }));
#define PUT_VERDICT_BYTES(verdict, help) \
	put_count(page, c->verdict.bytes, LABELS(INTERFACE, { "verdict", #verdict }));
#define PUT_REASON(reason, help) \
	put_count(page, c->reason.packets, LABELS(INTERFACE, { "reason", #reason }));
#define PUT_CLASS(class, word, help) \
	put_count(page, c->ambiguous_##class.packets, LABELS(INTERFACE, { "class", #class }));
#define PUT_ACTION(action, help) \
	put_count(page, c->action.packets, LABELS(INTERFACE, { "action", #action }));
#define PUT_ACTION_BYTES(action, help) \
	put_count(page, c->action.bytes, LABELS(INTERFACE, { "action", #action }));
#define PUT_NOTE(note, help) put_count(page, c->note, LABELS(INTERFACE, { "note", #note }));

static void slot_packets(struct page *page, const char *interface, const struct xdd_counters *c)
{
	XDD_VERDICTS(PUT_VERDICT)
	put_count(page, counters_bypassed(c).packets, LABELS(INTERFACE, { "verdict", "bypassed" }));
}

static void slot_bytes(struct page *page, const char *interface, const struct xdd_counters *c)
{
	XDD_VERDICTS(PUT_VERDICT_BYTES)
	put_count(page, counters_bypassed(c).bytes, LABELS(INTERFACE, { "verdict", "bypassed" }));
}

static void slot_bypassed(struct page *page, const char *interface, const struct xdd_counters *c)
{
	XDD_BYPASSES(PUT_REASON)
}

static void slot_ambiguous(struct page *page, const char *interface, const struct xdd_counters *c)
{
	XDD_CLASSES(PUT_CLASS)
}

static void slot_actions(struct page *page, const char *interface, const struct xdd_counters *c)
{
	XDD_ACTIONS(PUT_ACTION)
}

static void slot_action_bytes(struct page *page, const char *interface,
			      const struct xdd_counters *c)
{
	XDD_ACTIONS(PUT_ACTION_BYTES)
}

static void slot_notes(struct page *page, const char *interface,
		       const struct xdd_counters *c){ XDD_NOTES(PUT_NOTE) }

#define BY_SLOT(name)                                                          \
	static void put_##name(struct page *page, const struct status *status) \
	{                                                                      \
		put_slots(page, status, slot_##name);                          \
	}
BY_SLOT(packets) BY_SLOT(bytes) BY_SLOT(bypassed) BY_SLOT(ambiguous) BY_SLOT(actions)
	BY_SLOT(action_bytes) BY_SLOT(notes)

		static void put_evictions(struct page *page, const struct status *status)
{
	put_count(page, status->counters.total.evictions, NO_LABELS);
}

static void put_attached(struct page *page, const struct status *status)
{
	const struct instance *in = status->instance;

	for (u32 i = 0; i < in->ifaces_used; i++) {
		const struct instance_iface *iface = &in->ifaces[i];
		bool on = iface->state == IFACE_ATTACHED || iface->state == IFACE_HIDDEN ||
			  iface->state == IFACE_MOVED;

		if (iface->state == IFACE_REMOVED)
			continue;
		put_count(page, on,
			  LABELS({ "interface", iface->name },
				 { "mode", iface->generic ? "generic" : "native" },
				 { "state", iface_state_names[iface->state] }));
	}
}

static void put_carrier(struct page *page, const struct status *status)
{
	const struct instance *in = status->instance;

	for (u32 i = 0; i < in->ifaces_used; i++) {
		const struct link_view *link = &status->links.iface[i];

		if (link->known)
			put_count(page, link->carrier,
				  LABELS({ "interface", in->ifaces[i].name },
					 { "operstate", link_operstate(link) }));
	}
}

static void put_reattached(struct page *page, const struct status *status)
{
	const struct instance *in = status->instance;

	for (u32 i = 0; i < in->ifaces_used; i++)
		put_count(page, in->ifaces[i].returns, LABELS({ "interface", in->ifaces[i].name }));
}

static void put_loaded_timestamp_seconds(struct page *page, const struct status *status)
{
	put_count(page, status->instance->meta.loaded_s, NO_LABELS);
}

static void put_window_seconds(struct page *page, const struct status *status)
{
	const struct instance *in = status->instance;

	put_real(page, xdd_engine_has_bits(in->fixed.engine) ? 0 : in->live.window_ns / 1e9,
		 NO_LABELS);
}

static void put_memory_bytes(struct page *page, const struct status *status)
{
	put_count(page, status->instance->meta.memory_bytes, NO_LABELS);
}

static void put_capacity_keys(struct page *page, const struct status *status)
{
	if (status->instance->meta.capacity_keys)
		put_count(page, status->instance->meta.capacity_keys, NO_LABELS);
}

static void put_capacity_used_ratio(struct page *page, const struct status *status)
{
	put_real(page, status_capacity_used(status), NO_LABELS);
}

static void put_density_ratio(struct page *page, const struct status *status)
{
	put_real(page, status_density(status), NO_LABELS);
}

static void put_slice_density(struct page *page, const struct status *status)
{
	const struct fullness *f = &status->fullness;
	char id[16];

	for (u32 i = 0; f->slices && (f->known || f->loads.share) && i < f->slices_used; i++) {
		snprintf(id, sizeof(id), "%u", i);
		put_real(page, f->slices[i], LABELS({ "slice", id }));
	}
}

static void put_slices_by_state(struct page *page, const struct status *status)
{
	const struct health_view *health = &status->health;
	const u32 slices[HEALTH_MAX] = { health->n - health->failed - health->recovering,
					 health->recovering, health->failed };

	for (u32 i = 0; health->n && i < HEALTH_MAX; i++)
		put_real(page, slices[i], LABELS({ "state", health_state_names[i] }));
}

/* There may be many slices, and most are well. */
static void put_slice_state(struct page *page, const struct status *status)
{
	const struct health_view *health = &status->health;
	u32 left = SHOWN_SLICES;
	char id[16];

	for (u32 i = 0; i < health->n && left; i++) {
		enum health_state state = health->part[i].state;

		if (state == HEALTH_OK)
			continue;
		snprintf(id, sizeof(id), "%u", i);
		put_count(page, 1, LABELS({ "slice", id }, { "state", health_state_names[state] }));
		left--;
	}
}

static void put_slice_unanswered(struct page *page, const struct status *status)
{
	const struct health_view *health = &status->health;
	char id[16];

	for (u32 i = 0; i < health->n; i++) {
		snprintf(id, sizeof(id), "%u", i);
		put_count(page, health->part[i].asked, LABELS({ "slice", id }));
	}
}

#define GREW(name, put, what)                                                  \
	static void put_##name(struct page *page, const struct status *status) \
	{                                                                      \
		if (status->fullness.chains.number)                            \
			put(page, status->fullness.chains.what, NO_LABELS);    \
	}
GREW(filters_live, put_real, live)
GREW(filters_most, put_count, most)
GREW(filters_full, put_count, full)
GREW(filters_opened, put_count, opened)
GREW(filters_retired, put_count, retired)

#define WATCHED(name, put, what)                                               \
	static void put_##name(struct page *page, const struct status *status) \
	{                                                                      \
		if (status->watch.there && !status->watch.lost)                \
			put(page, status->watch.what, NO_LABELS);              \
	}
WATCHED(watch_keys, put_count, keys)
WATCHED(watch_capacity_keys, put_count, capacity)
WATCHED(watch_fpr, put_real, fpr)

#define SHARED(name, put, what)                                                  \
	static void put_##name(struct page *page, const struct status *status)   \
	{                                                                        \
		const struct watch_view *view = &status->watch;                  \
                                                                                 \
		if (view->there && view->sharing)                                \
			put(page, what, LABELS({ "owner", view->share.owner })); \
	}
SHARED(watch_share_sequence, put_count, view->share.version.seq)
SHARED(watch_share_behind_seconds, put_real, watch_view_behind(view))
SHARED(watch_share_refused, put_count, view->share.refused)
SHARED(watch_share_old, put_count, view->share.old)
SHARED(watch_share_missing, put_count, view->share.missing)

#define COLLECTED(name, put, what)                                             \
	static void put_##name(struct page *page, const struct status *status) \
	{                                                                      \
		if (status->collected.there)                                   \
			put(page, status->collected.what, NO_LABELS);          \
	}
COLLECTED(collect_room_keys, put_count, room)
COLLECTED(collect_keys, put_count, now.keys)
COLLECTED(collect_overflow_packets, put_count, now.overflow)
COLLECTED(collect_periods, put_count, now.periods)
COLLECTED(collect_refused, put_count, now.refused)

#define OF_PEER                                   \
	{                                         \
		"peer", peers->peer[i].about.name \
	}
#define BY_PEER(name, put, what)                                               \
	static void put_##name(struct page *page, const struct status *status) \
	{                                                                      \
		const struct peers *peers = &status->peers;                    \
                                                                               \
		for (u32 i = 0; i < peers->n; i++)                             \
			put(page, what, LABELS(OF_PEER));                      \
	}
#define PEER peers->peer[i].about
BY_PEER(peer_hits, put_count, peers->peer[i].hits.packets)
BY_PEER(peer_hit_bytes, put_count, peers->peer[i].hits.bytes)
BY_PEER(peer_keys, put_count, PEER.keys)
BY_PEER(peer_density_ratio, put_real, (double)PEER.density / XDD_RATE_ONE)
BY_PEER(peer_age_seconds, put_real, peer_age_s(&peers->peer[i]))
BY_PEER(peer_received_bytes, put_count, PEER.bytes)
BY_PEER(peer_gaps, put_count, PEER.gaps)
BY_PEER(peer_refused, put_count, PEER.refused)
BY_PEER(peer_fpr_predicted, put_real, (double)PEER.predicted_fpr / XDD_RATE_ONE)
BY_PEER(peer_fnr_predicted, put_real, (double)PEER.predicted_fnr / XDD_RATE_ONE)
BY_PEER(peer_fpr_measured, put_real, peer_fpr_measured(&peers->peer[i]))
BY_PEER(peer_fnr_measured, put_real, peer_fnr_measured(&peers->peer[i]))

static void put_peers_believed(struct page *page, const struct status *status)
{
	if (status->instance->fixed.peers)
		put_count(page, status->peers.believed, NO_LABELS);
}

static void put_peer_state(struct page *page, const struct status *status)
{
	const struct peers *peers = &status->peers;

	for (u32 i = 0; i < peers->n; i++)
		put_count(page, 1, LABELS(OF_PEER, { "state", peer_state_names[PEER.state] }));
}

static void put_peer_updates(struct page *page, const struct status *status)
{
	const struct peers *peers = &status->peers;

	for (u32 i = 0; i < peers->n; i++) {
		put_count(page, PEER.fulls, LABELS(OF_PEER, { "kind", "full" }));
		put_count(page, PEER.deltas, LABELS(OF_PEER, { "kind", "delta" }));
	}
}

static void put_modelled(struct page *page, const struct status *status, double rate)
{
	if (status_is_modelled(status))
		put_real(page, rate, NO_LABELS);
}

static void put_fpr_modelled(struct page *page, const struct status *status)
{
	put_modelled(page, status, status->fullness.fpr);
}

static void put_fpr_at_capacity(struct page *page, const struct status *status)
{
	if (status->instance->meta.capacity_keys)
		put_real(page, status->fullness.fpr_full, NO_LABELS);
}

static void put_fnr_modelled(struct page *page, const struct status *status)
{
	put_modelled(page, status, status->fullness.fnr);
}

#define AUDITED(name, what)                                                    \
	static void put_##name(struct page *page, const struct status *status) \
	{                                                                      \
		if (status->audit.share)                                       \
			put_real(page, status->audit.what, NO_LABELS);         \
	}
AUDITED(fpr_measured, fpr.rate)
AUDITED(fpr_measured_low, fpr.low)
AUDITED(fpr_measured_high, fpr.high)
AUDITED(fnr_measured, fnr.rate)
AUDITED(fnr_measured_low, fnr.low)
AUDITED(fnr_measured_high, fnr.high)

static void put_audit_sampled(struct page *page, const struct status *status)
{
	if (status->audit.share)
		put_count(page, status->audit.counts.sampled, NO_LABELS);
}

/* Buckets count all copies up to their end. */
static void put_copy_distance_seconds(struct page *page, const struct status *status)
{
	const struct distances *d = &status->distances;
	char end[32];
	u64 until = 0;

	if (!d->known)
		return;
	page->suffix = "_bucket";
	for (u32 i = 0; i < XDD_DISTANCE_BUCKETS; i++) {
		until += d->counts.copies[i];
		if (i + 1 < XDD_DISTANCE_BUCKETS)
			snprintf(end, sizeof(end), "%.10g", distances_end_ns(i) / 1e9);
		else
			strcpy(end, "+Inf");
		put_count(page, until, LABELS({ "le", end }));
	}
	page->suffix = "_sum";
	put_real(page, d->counts.sum_ns / 1e9, NO_LABELS);
	page->suffix = "_count";
	put_count(page, d->copies, NO_LABELS);
}

static void put_false_positives_expected(struct page *page, const struct status *status)
{
	(void)status;
	put_real(page, page->about->lost, NO_LABELS);
}

static void put_ager_last_sweep_timestamp_seconds(struct page *page, const struct status *status)
{
	const struct fullness *f = &status->fullness;

	if (f->known)
		put_real(page, (clock_ns(CLOCK_REALTIME) - f->since_sweep_ns) / 1000000 / 1e3,
			 NO_LABELS);
}

static void put_ager_missed(struct page *page, const struct status *status)
{
	put_count(page, status->fullness.missed, NO_LABELS);
}

static void put_warnings(struct page *page, const struct status *status)
{
	put_count(page, status->warnings, NO_LABELS);
}

enum type { gauge, counter, histogram };
static const char *const type_names[] = { "gauge", "counter", "histogram" };

struct family {
	const char *name;
	enum type type;
	const char *help;
	void (*put)(struct page *page, const struct status *status);
};

#define FAMILY(name, type, labels, help) { #name, type, help, put_##name },
static const struct family families[] = { METRICS(FAMILY) };

/* OpenMetrics has a counter's family without the _total of its samples. */
static void put_head(struct page *page, const char *name, enum type type, const char *help)
{
	page->family = name;
	page->suffix = type == counter ? "_total" : "";
	fprintf(page->to, "# HELP xdp_dedup_%s%s %s\n# TYPE xdp_dedup_%s%s %s\n", name,
		page->openmetrics ? "" : page->suffix, help, name,
		page->openmetrics ? "" : page->suffix, type_names[type]);
}

static void put_family(struct page *page, const struct family *family, const struct subject *all,
		       size_t n)
{
	put_head(page, family->name, family->type, family->help);
	for (size_t i = 0; i < n; i++) {
		page->about = &all[i];
		if (all[i].status || family->put == put_up)
			family->put(page, all[i].status);
	}
}

int page_make(const struct subject *all, size_t n, bool openmetrics, char **text, size_t *length)
{
	struct page page = { .openmetrics = openmetrics };
	bool failed;

	page.to = open_memstream(text, length);
	if (!page.to)
		return -ENOMEM;
	put_head(&page, "build_info", gauge, "1: which version exports this");
	fprintf(page.to, "xdp_dedup_build_info{version=\"%s\",commit=\"%s\"} 1\n", program_version,
		program_commit);
	for (size_t i = 0; i < XDD_ARRAY_SIZE(families); i++)
		put_family(&page, &families[i], all, n);
	if (openmetrics)
		fprintf(page.to, "# EOF\n");
	failed = ferror(page.to);
	if (!fclose(page.to) && !failed)
		return 0;
	free(*text);
	return -ENOMEM;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/derive.h"
#include "user/metrics/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/names.h"
#include "user/policy.h"
#include "user/utf8.h"
#include "xdd/key.h"

#define HOUR 3600.0
#define DAY (24 * HOUR)
#define YEAR (365 * DAY)

const char *status_loss_text(double fpr, double distinct_per_s, char text[STATUS_LOSS_MAX])
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {
		{ 1, "a second" }, { HOUR, "an hour" }, { DAY, "a day" }, { YEAR, "a year" }
	};
	double per_second = fpr * distinct_per_s, lost;

	for (size_t i = 0; i < XDD_ARRAY_SIZE(units); i++) {
		lost = per_second * units[i].seconds;
		if (lost < 0.95)
			continue;
		snprintf(text, STATUS_LOSS_MAX, "about %.*f distinct packet%s %s at this rate", 0,
			 lost, lost < 1.5 ? "" : "s", units[i].name);
		return text;
	}
	snprintf(text, STATUS_LOSS_MAX, "less than one distinct packet a year at this rate");
	return text;
}

static void print_interfaces(const struct status *status)
{
	const struct instance *in = status->instance;
	char name[XDD_META_IFNAME];

	printf("%s:", in->name);
	for (u32 i = 0; i < in->ifaces_used; i++) {
		const char *fault = link_fault(&status->links.iface[i]);

		printf("%s %s (%s, %s mode%s%s)", i ? "," : "",
		       instance_iface_text(&in->ifaces[i], name),
		       iface_state_names[in->ifaces[i].state],
		       in->ifaces[i].generic ? "generic" : "native", fault ? ", " : "",
		       fault ?: "");
	}
	putchar('\n');
}

static void print_config(const struct status *status)
{
	char window[UNITS_TEXT_MAX], tick[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
	const struct instance *in = status->instance;
	char policy[POLICY_TEXT_MAX];

	printf("  filter      %s, %s, %s, key %s, hash %s\n", engine_names[in->fixed.engine],
	       units_size_text(in->meta.memory_bytes, memory), placement_names[in->fixed.placement],
	       key_names[in->fixed.key], hash_names[in->fixed.hash]);
	if (*policy_text(&in->fixed, policy))
		printf("  policy      %s\n", policy);
	printf("  window      %s", derive_window_text(&in->fixed, in->live.window_ns, window));
	if (xdd_engine_has_bits(in->fixed.engine)) {
		printf(": keys are forgotten by chance\n");
		return;
	}
	if (xdd_engine_has_timers(in->fixed.engine))
		printf(" in %u ticks of %s", in->live.window_ticks,
		       units_time_text(in->fixed.tick_ns, tick));
	printf(", %s clock%s\n", clock_names[in->fixed.clock],
	       in->fixed.refresh ? ", restarted by each copy" : "");
	printf("              copies are surely found up to %s apart, never beyond %s\n",
	       units_time_text(status->sure_ns, window), units_time_text(status->never_ns, tick));
}

static void print_count(const char *name, struct xdd_count count, const char *more)
{
	char bytes[UNITS_TEXT_MAX];

	printf("  %-11s %14" PRIu64 " packets %12s%s\n", name, (uint64_t)count.packets,
	       units_size_text(count.bytes, bytes), more);
}

#define PRINT_REASON(name, help)                                                      \
	if (c->name.packets) {                                                        \
		printf("%s" #name " %" PRIu64, separator, (uint64_t)c->name.packets); \
		separator = ", ";                                                     \
	}

static void print_reasons(const struct xdd_counters *c)
{
	const char *separator = "                (";

	if (!counters_bypassed(c).packets)
		return;
	XDD_BYPASSES(PRINT_REASON)
	printf(")\n");
}

#define SHOWN_ETHERTYPES 5

static void print_ethertypes(const struct ethertypes *types)
{
	char type[ETHERTYPE_TEXT_MAX];
	u64 other = types->other;

	for (u32 i = 0; i < types->n; i++) {
		if (i < SHOWN_ETHERTYPES)
			printf("%s%s %" PRIu64, i ? ", " : "                (not_ip: ",
			       ethertype_text(types->row[i].type, type),
			       (uint64_t)types->row[i].packets);
		else
			other += types->row[i].packets;
	}
	if (other)
		printf(", other %" PRIu64, (uint64_t)other);
	if (types->n)
		printf(")\n");
}

#define PRINT_INNER(name, help)                                               \
	if (c->name) {                                                        \
		printf("%s" #name " %" PRIu64, separator, (uint64_t)c->name); \
		separator = ", ";                                             \
	}

static void print_inner(const struct xdd_counters *c)
{
	const char *separator = "                (known by a packet further out: ";

	XDD_INNERS(PRINT_INNER)
	if (*separator == ',')
		printf(")\n");
}

#define PRINT_CLASS(name, word, help)                                                            \
	if (c->ambiguous_##name.packets) {                                                       \
		printf("%s" word " %" PRIu64, separator, (uint64_t)c->ambiguous_##name.packets); \
		separator = ", ";                                                                \
	}

/* Of the duplicates: which may be real repeats, and which were kept. */
static void print_repeats(const struct status *status, const struct xdd_counters *c)
{
	const char *separator = "                (without identification, copies or sent twice: ";
	char policy[AMBIGUOUS_TEXT_MAX];

	XDD_CLASSES(PRINT_CLASS)
	if (*separator == ',')
		printf("; %s)\n", ambiguous_text(&status->instance->live, policy));
	if (c->let_through)
		printf("                (kept by --max-suppress: %" PRIu64 ")\n",
		       (uint64_t)c->let_through);
}

const char *status_target(const struct status *status, enum xdd_dev dev)
{
	const struct target_view *target = &status->links.target[dev];

	return target->known ? target->name : status->instance->meta.targets[dev];
}

#define PRINT_ACTION(name, help) \
	if (c->name.packets)     \
		print_count(#name, c->name, "");

static void print_counters(const struct status *status)
{
	const struct xdd_counters *c = &status->counters.total;
	u64 asked = c->distinct.packets + c->duplicate.packets;
	char share[64] = "", action[ACTION_TEXT_MAX];

	if (asked)
		snprintf(share, sizeof(share), "   %.3g %% of what was compared",
			 100.0 * c->duplicate.packets / asked);
	print_count("received", c->received, "");
	print_count("distinct", c->distinct, "");
	print_count("duplicate", c->duplicate, share);
	print_repeats(status, c);
	print_count("bypassed", counters_bypassed(c), "");
	print_reasons(c);
	print_ethertypes(&status->ethertypes);
	print_inner(c);
	if (c->rogue)
		printf("                (rogue %" PRIu64 ": numbers outside their stream's "
		       "history, passed)\n",
		       (uint64_t)c->rogue);
	action_text(&status->instance->live, status_target(status, XDD_DEV_DUPLICATES), action);
	printf("  action      %s%s", utf8_mask(action),
	       *status_target(status, XDD_DEV_FORWARD) ? ", what is kept goes to " : "");
	snprintf(action, sizeof(action), "%s", status_target(status, XDD_DEV_FORWARD));
	printf("%s\n", utf8_mask(action));
	XDD_ACTIONS(PRINT_ACTION)
}

/* Engines with whole digests are not swept: what they lose does not depend on how full they
 * are.
 */
static void print_exact_loss(const struct status *status)
{
	if (status->fullness.fpr)
		printf("  lost        below %.1g of the distinct packets (a 128-bit digest of each "
		       "key)\n",
		       status->fullness.fpr);
	else
		printf("  lost        no distinct packet: whole keys are compared\n");
}

/* What is lost follows from how full the filter is; what is missed depends on the stream. */
static void print_bits_loss(const struct status *status)
{
	const struct fullness *f = &status->fullness;

	printf("  lost        %.2g of the keys that are new now, whose %u cells others have set; "
	       "what is missed\n"
	       "              depends on the stream: xdp-dedup simulate measures both\n",
	       f->fpr, status->instance->fixed.hashes);
	printf("  load       ");
	for (u32 i = 0; i < f->loads.filters; i++)
		printf(" %.3g %%", 100 * loads_mean(&f->loads, i));
	printf(" of the cells of %s%s\n", f->loads.filters > 1 ? "each filter" : "the filter",
	       f->loads.sites > 1 ? ", the mean over the CPUs" : "");
}

static double distinct_per_s(const struct status *status)
{
	return (double)status->counters.total.distinct.packets / (status->loaded_s ?: 1);
}

/* What came at once is not missed, so this is the most that mirrored traffic loses. */
static void print_missed(const struct status *status)
{
	const struct fullness *f = &status->fullness;

	if (f->known && f->fnr > 0)
		printf("  missed      %.2g of the copies by the model, if they come at any time "
		       "within the window; less if sooner\n",
		       f->fnr);
}

static void print_model(const struct status *status)
{
	const struct fullness *f = &status->fullness;
	char text[STATUS_LOSS_MAX];

	if (xdd_digest_is_wide(&status->instance->fixed)) {
		print_exact_loss(status);
		return;
	}
	if (f->loads.share) {
		print_bits_loss(status);
		return;
	}
	if (!f->known)
		printf("  lost        not known: nobody has measured how full the filter is\n");
	else if (!f->fpr)
		printf("  lost        no key is live now%s, so none is mistaken for another\n",
		       status_fpr(status) ? " in its own filter" : "");
	else
		printf("  lost        %.2g of the distinct packets by the model: %s\n", f->fpr,
		       status_loss_text(f->fpr, distinct_per_s(status), text));
	printf("              %.2g of them with %" PRIu64 " keys live, which it is meant for\n",
	       f->fpr_full, (uint64_t)status->instance->meta.capacity_keys);
	print_missed(status);
}

/* What the own filter loses is not all. */
static void print_replicas_loss(const struct status *status)
{
	const struct peers *peers = &status->peers;
	double replicas = peers_fpr(status->instance, peers);
	char text[STATUS_LOSS_MAX];

	if (replicas)
		printf("              and %.2g by the replicas of %u peers, as these predict; "
		       "together %.2g: %s\n",
		       replicas, peers->believed, status_fpr(status),
		       status_loss_text(status_fpr(status), distinct_per_s(status), text));
}

static void print_audit(const struct status *status)
{
	const struct audit *a = &status->audit;
	const struct expected model = { status->fullness.fpr, status->fullness.fnr };
	char memory[UNITS_TEXT_MAX];

	if (!a->share)
		return;
	printf("  audit       of one key in %.4g, in %s: %" PRIu64 " packets of %" PRIu64 " keys\n",
	       1 / a->share, units_size_text(a->memory_bytes, memory), (uint64_t)a->counts.sampled,
	       (uint64_t)a->counts.keys);
	audit_print(a, &model, stdout, "              ", "packets", distinct_per_s(status));
}

/* Within which @share of the copies came: the end of a bucket, or of the window. */
static const char *apart_text(const struct status *status, double share, char text[UNITS_TEXT_MAX])
{
	u32 bucket = distances_quantile(&status->distances, share);

	return distances_end_text(bucket, bucket, status->never_ns, text);
}

static void print_distances(const struct status *status)
{
	const struct distances *d = &status->distances;
	char half[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	if (!d->known || !d->copies)
		return;
	printf("  apart       half of the copies came within %s of the first one, 90 %% within %s, "
	       "all within %s\n",
	       apart_text(status, 0.5, half), apart_text(status, 0.9, most),
	       apart_text(status, 1, all));
	printf("              (%" PRIu64 " copies of the audit's sample)\n", (uint64_t)d->copies);
}

/* Slices of a line each are not shown one by one. */
static void print_slices(const struct fullness *f)
{
	double most = 0;

	for (u32 i = 0; i < f->slices_used; i++)
		most = fmax(most, f->slices[i]);
	if (most)
		printf("  slices      %u, the fullest with %.3g %% live, fairness %.4f\n",
		       f->slices_used, 100 * most, f->fairness);
}

static void print_growth(const struct status *status)
{
	const struct chains *c = &status->fullness.chains;
	char chains[32] = "";

	if (!c->number)
		return;
	if (c->number > 1)
		snprintf(chains, sizeof(chains), " in each of %u slices", c->number);
	printf("  growth      by %s: %.2f filters live%s, at most %u of %u; %" PRIu64
	       " opened, %" PRIu64 " retired so far\n",
	       growth_names[status->instance->fixed.grow], c->live, chains, c->most,
	       status->instance->fixed.filters, (uint64_t)c->opened, (uint64_t)c->retired);
}

static void print_fullness(const struct status *status)
{
	const struct fullness *f = &status->fullness;
	u64 seconds = f->since_sweep_ns / 1000000000;

	if (!f->known)
		return;
	printf("  live        %.3g %% of the cells, measured ", 100 * f->density);
	if (seconds)
		printf("%" PRIu64 " s ago", (uint64_t)seconds);
	else
		printf("just now");
	if (status->ageing)
		printf("; aged by process %d\n", status->ageing);
	else
		printf("; no agent runs, verdicts need none\n");
	if (f->slices)
		print_slices(f);
}

static void print_health(const struct status *status)
{
	char policy[HEALTH_POLICY_TEXT_MAX], text[HEALTH_TEXT_MAX];

	if (status->health.n)
		printf("  faults      policy %s; %s; %" PRIu64 " look-ups not answered\n",
		       health_policy_text(&status->instance->fixed, policy),
		       health_view_text(&status->health, text), (uint64_t)status->health.asked);
}

static void print_watch(const struct status *status)
{
	const struct watch_view *view = &status->watch;
	u32 action = status->instance->live.watch_action;
	char text[WATCH_SHARE_TEXT];

	if (!view->there)
		return;
	printf("  watch set   %s: %s\n", watch_names[action], watch_help[action]);
	if (!view->lost)
		printf("              %" PRIu64 " of %" PRIu64 " keys; a packet of another key is "
		       "taken for one of them with a chance of %.2g\n",
		       (uint64_t)view->keys, (uint64_t)view->capacity, view->fpr);
	if (view->shared)
		printf("              %s\n", watch_view_share_text(view, text));
}

static void print_top(const struct status *status)
{
	if (!status->instance->live.top || !status->top.used)
		return;
	printf("  suppressed most often, at least so many times:\n");
	top_print(&status->top, status->instance->fixed.key, TOP_KEYS, "  ", stdout);
}

void status_print(const struct status *status)
{
	print_interfaces(status);
	print_config(status);
	print_watch(status);
	collected_print(&status->collected);
	print_counters(status);
	print_top(status);
	print_model(status);
	print_replicas_loss(status);
	print_audit(status);
	print_distances(status);
	print_growth(status);
	print_fullness(status);
	print_health(status);
	tree_print(status->instance, &status->tree);
	peers_print(status->instance, &status->peers);
	for (int i = 0; i < status->warnings; i++)
		printf("  warning     %s\n", status->warning[i]);
	for (int i = 0; i < status->notes; i++)
		printf("  since load  %s\n", status->note[i]);
}

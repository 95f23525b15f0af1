/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stream through a filter whose slices are on sites (koloniari-2011 sections 3 and 7): what it sends, as it is
 * encoded, how that spreads, and its errors when sites fail.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/model.h"
#include "user/names.h"
#include "user/provenance.h"
#include "user/simulate/judged.h"
#include "user/simulate/kinds.h"
#include "user/simulate/simulate.h"
#include "user/simulate/values.h"
#include "user/sites/local.h"

/* What a run came to: X(JSON's name, digits of text, words). */
#define SITES_VALUES(X)                                                       \
	X(distinct, 6, "share of records that are distinct by the truth")     \
	X(fpr, 6, "share of distinct records that are taken for copies")      \
	X(fnr, 6, "share of copies that are taken for distinct")              \
	X(visits_per_lookup, 4, "visits of slices for a record")              \
	X(messages_per_lookup, 4, "questions sent to sites for a record")     \
	X(bytes_per_lookup, 2, "bytes of questions and answers for a record") \
	X(max_share, 5, "greatest share of the visits that a slice has")      \
	X(fairness, 4, "Jain's fairness of the visits over slices")           \
	X(unknown_per_lookup, 4, "slices of a record that have failed")       \
	X(differences, 0, "verdicts that differ from one filter's on one machine")

#define SITES_VALUE(name, digits, words) VALUE_##name,
enum sites_value { SITES_VALUES(SITES_VALUE) VALUE_MAX };

static const struct value_about about[] = {
#define SITES_ABOUT(name, digits, words) { #name, words, digits },
	SITES_VALUES(SITES_ABOUT)
};

/* One run: sites, the producer, and what it is compared with. */
struct run {
	const struct simulation *sim;
	struct local local;
	struct producer *p;
	struct judged judged;
	struct record record[PRODUCER_BATCH];
	u64 tick[PRODUCER_BATCH];
	struct xdd_digest digest[PRODUCER_BATCH];
};

/* One for each slice, where so many can be told apart. */
static u32 default_sites(const struct xdd_fixed *fixed)
{
	u32 slices = xdd_slices_count(fixed);

	return slices < SITES_MAX ? slices : SITES_MAX;
}

static struct producer_plan plan_of(const struct simulation *sim)
{
	const struct options *o = sim->o;
	struct producer_plan plan = { .fixed = sim->derived.fixed,
				      .window_ticks = sim->derived.live.window_ticks,
				      .sites = option_given(o, OPT_hosts)
						       ? o->hosts
						       : default_sites(&plan.fixed),
				      .protocol = o->protocol,
				      .test_and_set = o->primitive == SITES_test_and_set,
				      .id = 1 };

	return plan;
}

/* The first @o->faults slices fail before the first record, with the whole of the sites that have them. */
static void run_fail(struct run *run, const struct producer_plan *plan)
{
	const struct xdd_fixed *fixed = &plan->fixed;

	for (u32 site = 0; site < run->sim->o->faults; site++) {
		u32 first = site_first(fixed, site, plan->sites);
		u32 end = site_first(fixed, site + 1, plan->sites);

		local_fail(&run->local, site);
		producer_fail(run->p, site);
		for (u32 i = first; i < end; i++)
			store_fail(&run->judged.store,
				   xdd_part_of(fixed, i * xdd_slice_lines(fixed)));
	}
}

static int run_open(struct run *run, const struct simulation *sim, u32 number)
{
	struct producer_plan plan = plan_of(sim);
	u64 seed = xdd_mix64(sim->derived.fixed.seed + number);
	int rc;

	run->sim = sim;
	rc = local_open(&run->local, &plan.fixed, plan.window_ticks, plan.sites, &plan.key);
	if (rc)
		return rc;
	run->p = producer_open(&plan);
	rc = run->p ? judged_open(&run->judged, sim, &plan.fixed, seed) : -ENOMEM;
	if (rc)
		return rc;
	run_fail(run, &plan);
	return 0;
}

static void run_close(struct run *run)
{
	local_close(&run->local);
	producer_close(run->p);
	judged_close(&run->judged);
	free(run);
}

static void run_draw(struct run *run, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		run->record[i] = judged_draw(&run->judged);
		run->digest[i] = run->record[i].digest;
		run->tick[i] = run->record[i].tick;
	}
}

static void run_judge(struct run *run, u32 n)
{
	for (u32 i = 0; i < n; i++)
		judged_take(&run->judged, &run->record[i], producer_seen(run->p, i));
}

static void run_measure(const struct run *run, double *value)
{
	const struct producer_counts *counts = producer_counts(run->p);
	struct model_spread visits =
		model_spread(producer_visits(run->p), xdd_slices_count(&run->sim->derived.fixed));
	const struct judged *j = &run->judged;
	struct judged_rates rates = judged_rates(j);
	double n = j->asked;

	value[VALUE_distinct] += rates.distinct;
	value[VALUE_fpr] += rates.fpr;
	value[VALUE_fnr] += rates.fnr;
	value[VALUE_visits_per_lookup] += counts->visits / n;
	value[VALUE_messages_per_lookup] += counts->messages / n;
	value[VALUE_bytes_per_lookup] += (counts->bytes_in + counts->bytes_out) / n;
	value[VALUE_max_share] += visits.max_share;
	value[VALUE_fairness] += visits.fairness;
	value[VALUE_unknown_per_lookup] += counts->unknown / n;
	value[VALUE_differences] += j->differences;
}

static int run_once(const struct simulation *sim, u32 number, double *value)
{
	struct run *run = calloc(1, sizeof(*run));
	int rc = run ? run_open(run, sim, number) : -ENOMEM;

	while (!rc && run->judged.asked < sim->records) {
		u64 left = sim->records - run->judged.asked;
		u32 n = left < sim->o->batch ? left : sim->o->batch;

		run_draw(run, n);
		producer_start(run->p, run->digest, run->tick, n);
		local_finish(&run->local, run->p);
		run_judge(run, n);
	}
	if (!rc)
		run_measure(run, value);
	if (run)
		run_close(run);
	return rc;
}

static void print_json(const struct simulation *sim, const double *value)
{
	struct producer_plan plan = plan_of(sim);
	json_t *all =
		json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:i}", "simulation", "sites",
			  "protocol", protocol_names[plan.protocol], "primitive",
			  primitive_names[plan.test_and_set], "sites", (int)plan.sites, "slices",
			  (int)xdd_slices_count(&plan.fixed), "batch", (int)sim->o->batch,
			  "records", (json_int_t)sim->records, "runs", (int)sim->runs);

	values_json(all, about, VALUE_MAX, value, sim->runs);
	provenance_json(all, sim->o);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static int simulate(const struct simulation *sim)
{
	struct producer_plan plan = plan_of(sim);
	const char *wrong = producer_wrong(&plan);
	double value[VALUE_MAX] = { 0 };
	int rc = 0;

	if (!wrong && sim->o->faults > plan.sites)
		wrong = "more --faults than there are sites";
	if (wrong) {
		complain("simulate sites: %s", wrong);
		return EXIT_USAGE;
	}
	for (u32 run = 0; !rc && run < sim->runs; run++)
		rc = run_once(sim, run, value);
	if (rc)
		complain("simulate sites: %s: less --memory, or fewer sites", strerror(-rc));
	else if (sim->o->json)
		print_json(sim, value);
	else
		values_print(about, VALUE_MAX, value, sim->runs);
	return rc ? EXIT_FAILED : EXIT_OK;
}

int simulate_sites(struct options *o)
{
	struct simulation sim;
	int code = simulation_plan(&sim, o);

	code = code ?: simulate(&sim);
	simulation_close(&sim);
	return code;
}

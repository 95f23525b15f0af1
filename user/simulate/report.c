/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What xdp-dedup simulate prints. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "user/chain.h"
#include "user/health.h"
#include "user/names.h"
#include "user/provenance.h"
#include "user/simulate/simulate.h"
#include "user/store.h"
#include "user/units.h"
#include "xdd/slices.h"

#define RATE_NAME(name) [RATE_##name] = #name,
static const char *const rate_names[] = { SIMULATE_RATES(RATE_NAME)
						  SIMULATE_SLICE_RATES(RATE_NAME) };

/* Mean and standard deviation of a rate over the runs. */
struct mean {
	double mean, deviation;
};

static struct mean mean_of(const struct tally *tallies, u32 n, enum simulate_rate rate)
{
	struct mean m = { 0, 0 };
	double squares = 0;

	for (u32 i = 0; i < n; i++)
		m.mean += tallies[i].rate[rate];
	m.mean /= n;
	for (u32 i = 0; i < n; i++)
		squares += pow(tallies[i].rate[rate] - m.mean, 2);
	if (n > 1)
		m.deviation = sqrt(squares / (n - 1));
	return m;
}

/* Set @name and, if there are several, @name_sd. Rates that say nothing are left out. */
static void set_mean(json_t *to, const char *name, const struct tally *tallies, u32 n,
		     enum simulate_rate rate)
{
	struct mean m = mean_of(tallies, n, rate);
	char name_sd[64];

	if (isnan(m.mean))
		return;
	json_object_set_new(to, name, json_real(m.mean));
	if (n == 1)
		return;
	snprintf(name_sd, sizeof(name_sd), "%s_sd", name);
	json_object_set_new(to, name_sd, json_real(m.deviation));
}

/* The rates from @first up to @end. */
static void set_means(json_t *to, const struct tally *tallies, u32 n, u32 first, u32 end)
{
	for (u32 i = first; i < end; i++)
		set_mean(to, rate_names[i], tallies, n, i);
}

/* By level from the root. */
static json_t *tree_levels_json(const struct xdd_fixed *fixed, const struct tally *t)
{
	json_t *levels = json_array();

	for (u32 i = 0; i < fixed->levels; i++) {
		json_t *level = json_pack("{s:I, s:I}", "level", (json_int_t)i, "nodes",
					  (json_int_t)xdd_tree_width(fixed, i));

#define SET_LEVEL(name, help) json_object_set_new(level, #name, json_integer(t->level[i].name));
		XDD_TREE_COUNTS(SET_LEVEL)
		json_array_append_new(levels, level);
	}
	return levels;
}

/* Of the first run, as all counts are. */
static void set_tree(json_t *to, const struct simulation *sim, const struct tally *t)
{
	const struct xdd_fixed *fixed = &sim->derived.fixed;
	json_t *tree;

	if (fixed->placement != XDD_PLACEMENT_tree)
		return;
	tree = json_pack("{s:s, s:I, s:I, s:I, s:o}", "kind", tree_names[fixed->tree], "fan_out",
			 (json_int_t)fixed->tree_fan_out, "depth", (json_int_t)fixed->levels,
			 "top_down", (json_int_t)fixed->top_down, "levels",
			 tree_levels_json(fixed, t));
	if (!sim->o->trace)
		json_object_set_new(tree, "locality", json_real(sim->o->locality));
	json_object_set_new(to, "tree", tree);
}

static json_t *counts_json(const struct tally *t)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "records", (json_int_t)t->records,
			 "distinct", (json_int_t)t->errors.distinct, "fp", (json_int_t)t->errors.fp,
			 "fn", (json_int_t)t->errors.fn, "seconds", t->seconds, "filter_seconds",
			 t->filter_seconds, "cpu_seconds", t->cpu_seconds);
}

/* @n runs as one row: the first one's counts and audit, and the means of the rates. */
static json_t *row_json(const struct tally *tallies, u32 n)
{
	json_t *row = counts_json(&tallies[0]), *slices;

	set_means(row, tallies, n, 0, RATE_SLICES);
	if (tallies[0].audit.share)
		json_object_set_new(row, "audit", audit_json(&tallies[0].audit));
	if (!tallies[0].slices)
		return row;
	slices = json_pack("{s:I}", "count", (json_int_t)tallies[0].slices);
	set_means(slices, tallies, n, RATE_SLICES, RATE_MAX);
	json_object_set_new(row, "slices", slices);
	return row;
}

void report_head(void)
{
	printf("%14s %14s %9s %9s %7s %7s %8s\n", "records", "distinct", "FPR %", "FNR %", "load",
	       "model", "seconds");
}

void report_row(const struct tally *t)
{
	const struct expected expected = { t->rate[RATE_fpr_model], t->rate[RATE_fnr_model] };
	char model[16] = "-";

	if (!isnan(t->rate[RATE_load_model]))
		snprintf(model, sizeof(model), "%.4f", t->rate[RATE_load_model]);
	printf("%14llu %14llu %9.4f %9.4f %7.4f %7s %8.2f\n", (unsigned long long)t->records,
	       (unsigned long long)t->errors.distinct, 100 * t->rate[RATE_fpr],
	       100 * t->rate[RATE_fnr], t->rate[RATE_load], model, t->seconds);
	audit_print(&t->audit, &expected, stdout, "  ", "records", 0);
	fflush(stdout);
}

/* "0.0123 % (deviation 0.0002)" */
static void print_mean(const char *name, struct mean m, u32 runs)
{
	printf("%s %.4f %%", name, 100 * m.mean);
	if (runs > 1)
		printf(" (deviation %.4f)", 100 * m.deviation);
}

static void print_rates(const struct simulation *sim, const struct tally *tallies,
			enum simulate_rate fpr, enum simulate_rate fnr)
{
	print_mean("FPR", mean_of(tallies, sim->runs, fpr), sim->runs);
	print_mean(", FNR", mean_of(tallies, sim->runs, fnr), sim->runs);
	putchar('\n');
}

static void print_faults(const struct simulation *sim)
{
	const struct xdd_fixed *fixed = &sim->derived.fixed;
	char policy[HEALTH_POLICY_TEXT_MAX];

	if (!fixed->fault_policy)
		return;
	printf("faults: %u of %u slices, or ranges of slices, have failed, --fault-policy %s; %u "
	       "slices, %s\n",
	       sim->o->faults, xdd_parts(fixed), health_policy_text(fixed, policy),
	       xdd_slices_count(fixed), slicing_names[fixed->slicing]);
}

static void print_slices(const struct simulation *sim, const struct tally *tallies)
{
	u32 runs = sim->runs;

	if (tallies[0].slices < 2)
		return;
	printf("slices: %u, %.4f messages a look-up, fairness %.4f, at most %.4f %% of them to one "
	       "(%.4f %% if even)\n",
	       tallies[0].slices, mean_of(tallies, runs, RATE_messages_per_lookup).mean,
	       mean_of(tallies, runs, RATE_fairness).mean,
	       100 * mean_of(tallies, runs, RATE_max_share).mean, 100.0 / tallies[0].slices);
}

static void print_tree(const struct xdd_fixed *fixed, const struct tally *t)
{
	if (fixed->placement != XDD_PLACEMENT_tree)
		return;
	for (u32 i = fixed->levels; i-- > 0;)
		printf("level %u: %llu hits, %llu accesses of %u filters, %llu matches refuted\n",
		       i, (unsigned long long)t->level[i].hits,
		       (unsigned long long)t->level[i].accesses, xdd_tree_width(fixed, i),
		       (unsigned long long)t->level[i].refuted);
}

void report_text(const struct simulation *sim, const struct tally *tallies)
{
	const struct derived *d = &sim->derived;
	char tick[UNITS_TEXT_MAX], window[UNITS_TEXT_MAX];

	if (sim->runs > 1) {
		printf("mean of %u runs: ", sim->runs);
		print_rates(sim, tallies, RATE_fpr, RATE_fnr);
	}
	print_faults(sim);
	print_slices(sim, tallies);
	print_tree(&d->fixed, tallies);
	if (d->fixed.filters)
		printf("filters: %.2f at the end, at most %.4g at once of %u, each open up to %llu "
		       "%s\n",
		       mean_of(tallies, sim->runs, RATE_filters_live).mean,
		       mean_of(tallies, sim->runs, RATE_filters_most).mean, d->fixed.filters,
		       (unsigned long long)chain_limit(&d->fixed),
		       d->fixed.grow == XDD_GROWTH_cardinality ? "keys" : "live cells");
	if (!xdd_engine_has_timers(d->fixed.engine))
		return;
	if (d->window_records)
		snprintf(tick, sizeof(tick), "%llu", (unsigned long long)d->fixed.tick_ns);
	else
		units_time_text(d->fixed.tick_ns, tick);
	printf("window: %u ticks of %s; against %s without ticks: ", d->live.window_ticks, tick,
	       derive_events_text(d, window));
	print_rates(sim, tallies, RATE_given_fpr, RATE_given_fnr);
}

/* What can be had of the filter's size, as it is. */
static u64 cells_of(const struct xdd_fixed *fixed)
{
	if (!xdd_engine_has_bits(fixed->engine) || xdd_bits_one_array(fixed))
		return xdd_cells(fixed) / xdd_cell_bits(fixed);
	return xdd_bits_filter(fixed) * fixed->hashes;
}

static void set_filter(json_t *to, const struct derived *d)
{
	const struct xdd_fixed *fixed = &d->fixed;

	json_object_set_new(to, "algorithm", json_string(engine_names[fixed->engine]));
	json_object_set_new(to, "hashes", json_integer(fixed->hashes));
	if (fixed->equal)
		json_object_set_new(to, "equal", json_integer(fixed->equal));
	if (fixed->fault_policy)
		json_object_set_new(to, "fault_policy",
				    json_string(fault_names[fixed->fault_policy]));
	if (fixed->fault_policy)
		json_object_set_new(to, "slicing", json_string(slicing_names[fixed->slicing]));
	if (fixed->vote)
		json_object_set_new(to, "vote", json_integer(fixed->vote));
	json_object_set_new(to, "memory_bytes", json_integer(d->memory_bytes));
	if (fixed->engine != XDD_ENGINE_exact)
		json_object_set_new(to, "cells", json_integer(cells_of(fixed)));
	if (fixed->engine == XDD_ENGINE_rsbf)
		json_object_set_new(to, "variant", json_string(variant_names[fixed->variant]));
}

static void set_stream(json_t *to, const struct simulation *sim)
{
	const char *name = sim->o->distribution ? "zipf" : "uniform";

	json_object_set_new(to, "generator", json_string(sim->o->trace ? "trace" : name));
	json_object_set_new(to, "domain", json_integer(sim->domain));
	if (sim->o->distribution)
		json_object_set_new(to, "zipf", json_real(sim->o->distribution));
}

/* In records, or in nanoseconds. */
static void set_window(json_t *to, const struct derived *d)
{
	json_t *window;

	if (xdd_engine_has_bits(d->fixed.engine) || d->live.window_ns == STORE_FOREVER_NS)
		return;
	window = json_pack("{s:s, s:I}", "unit", d->window_records ? "records" : "ns", "given",
			   (json_int_t)(d->window_records ?: d->live.window_ns));
	if (xdd_engine_has_timers(d->fixed.engine)) {
		json_object_set_new(window, "ticks", json_integer(d->live.window_ticks));
		json_object_set_new(window, "tick", json_integer(d->fixed.tick_ns));
	}
	json_object_set_new(to, "window", window);
}

static json_t *runs_json(const struct tally *tallies, u32 n)
{
	json_t *runs = json_array();

	for (u32 i = 0; i < n; i++)
		json_array_append_new(runs, row_json(&tallies[i], 1));
	return runs;
}

/* The rows of --every: each is what all runs had come to by then. */
static json_t *series_json(const struct simulation *sim)
{
	struct tally *row = calloc(sim->runs, sizeof(*row));
	json_t *series = json_array();

	for (u64 at = 0; row && at < sim->rows_each; at++) {
		for (u32 run = 0; run < sim->runs; run++)
			row[run] = sim->rows[run * sim->rows_each + at];
		json_array_append_new(series, row_json(row, sim->runs));
	}
	free(row);
	return series;
}

/* The share of the messages that each slice got, over all runs. */
static json_t *shares_json(const struct simulation *sim)
{
	json_t *shares = json_array();
	double sum = 0;

	for (u32 i = 0; i < sim->slices; i++)
		sum += sim->messages[i];
	for (u32 i = 0; i < sim->slices; i++)
		json_array_append_new(shares, json_real(sim->messages[i] / sum));
	return shares;
}

void report_json(const struct simulation *sim, const struct tally *tallies)
{
	json_t *all = row_json(tallies, sim->runs);

	if (sim->messages)
		json_object_set_new(json_object_get(all, "slices"), "shares", shares_json(sim));
	set_filter(all, &sim->derived);
	set_window(all, &sim->derived);
	set_stream(all, sim);
	set_tree(all, sim, tallies);
	json_object_set_new(all, "seed", json_integer(sim->derived.fixed.seed));
	warnings_json(all);
	provenance_json(all, sim->o);
	if (sim->o->every)
		json_object_set_new(all, "series", series_json(sim));
	if (sim->runs > 1)
		json_object_set_new(all, "runs", runs_json(tallies, sim->runs));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

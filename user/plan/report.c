/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What xdp-dedup plan prints. */
#include <math.h>
#include <stdio.h>

#include "user/model.h"
#include "user/names.h"
#include "user/plan/plan.h"
#include "user/provenance.h"
#include "user/units.h"

#define OPTIONS_MAX 384

static const char *const binds_names[] = {
	[BINDS_MEMORY] = "memory", [BINDS_FPR] = "fpr",	      [BINDS_FNR] = "fnr",
	[BINDS_GROWTH] = "growth", [BINDS_SLICES] = "slices", [BINDS_LEAST] = "least",
	[BINDS_NEVER] = "never",
};

static json_t *number(double value)
{
	return isinf(value) ? json_null() : json_real(value);
}

/* Bits a second: of what comes in; of the look-ups, if slices are on other machines (section 3.1). */
static void set_bandwidth(json_t *to, const struct plan *p, const struct plan_demand *d)
{
	const struct xdd_fixed *f = &p->fixed;
	json_t *bandwidth = json_object();
	double bits;

	if (d->packet_bytes)
		json_object_set_new(bandwidth, "packets_bits_per_s",
				    json_real(d->rate * d->packet_bytes * 8));
	if (xdd_engine_is_sliced(f->engine)) {
		u32 picks = xdd_slices_pick_one(f) ? 1 : f->slice_hashes ?: f->hashes;

		bits = model_lookup_bits(p->cells, xdd_slices_pick_one(f) ? f->slices : 1,
					 f->hashes);
		json_object_set_new(bandwidth, "messages_per_lookup",
				    json_real(model_messages(xdd_slices_count(f), picks)));
		json_object_set_new(bandwidth, "lookup_bits", json_real(bits));
		if (d->rate)
			json_object_set_new(bandwidth, "lookups_bits_per_s",
					    json_real(bits * d->rate));
	}
	json_object_set_new(to, "bandwidth", bandwidth);
}

static json_t *faults_json(const struct plan *p, const struct plan_demand *d)
{
	const struct plan_faults *f = &p->faults;

	return json_pack("{s:I, s:o, s:o, s:I, s:f, s:f}", "failed", (json_int_t)d->failed,
			 "slices_fn", number(f->slices_fn), "slices_fp", number(f->slices_fp),
			 "vote", (json_int_t)f->vote, "fpr", f->fpr, "fnr", f->fnr);
}

static json_t *growth_json(const struct plan *p, const struct plan_demand *d)
{
	const struct plan_growth *g = &p->growth;

	return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f}", "grow", growth_names[p->fixed.grow],
			 "max_filters", (json_int_t)p->fixed.filters, "burst", d->burst, "filters",
			 g->filters, "filter_fpr", g->fpr, "filter_keys", g->threshold, "usual_fpr",
			 g->usual_fpr);
}

/* What is the same in a plan and in a row of --compare. */
static json_t *filter_json(const struct plan *p)
{
	const struct xdd_fixed *f = &p->fixed;

	return json_pack("{s:s, s:I, s:I, s:s, s:I, s:I, s:I, s:f, s:f, s:s, s:b}", "engine",
			 engine_names[f->engine], "hashes", (json_int_t)f->hashes, "cells",
			 (json_int_t)p->cells, "slicing", slicing_names[f->slicing], "slices",
			 (json_int_t)f->slices, "subslices", (json_int_t)f->subslices,
			 "memory_bytes", (json_int_t)p->memory_bytes, "fpr", p->fpr, "fnr", p->fnr,
			 "formula", plan_formula(p), "met", p->met);
}

json_t *plan_json(const struct plan *p, const struct plan_demand *d, const struct options *o)
{
	json_t *all = filter_json(p);
	char options[OPTIONS_MAX];

	plan_options(p, d, o, options, sizeof(options));
	json_object_set_new(all, "binds", json_string(binds_names[p->binds]));
	json_object_set_new(all, "keys", json_real(d->keys));
	json_object_set_new(all, "copies_per_key", json_real(d->copies));
	if (d->rate)
		json_object_set_new(all, "packets_per_s", json_real(d->rate));
	if (d->packet_bytes)
		json_object_set_new(all, "packet_bytes", json_real(d->packet_bytes));
	if (d->window_ns)
		json_object_set_new(all, "window_ns", json_integer(d->window_ns));
	if (d->window_ns && xdd_engine_has_timers(p->fixed.engine)) {
		json_object_set_new(all, "ticks", json_integer(d->ticks));
		json_object_set_new(all, "tick_fnr", json_real(model_tick_missed(d->ticks)));
	}
	if (d->failed && xdd_engine_may_fail(p->fixed.engine))
		json_object_set_new(all, "faults", faults_json(p, d));
	if (p->fixed.filters)
		json_object_set_new(all, "growth", growth_json(p, d));
	if (p->fixed.equal)
		json_object_set_new(all, "equal", json_integer(p->fixed.equal));
	set_bandwidth(all, p, d);
	json_object_set_new(all, "explanation", plan_explain(p, d, o));
	json_object_set_new(all, "use", json_string(options));
	provenance_json(all, o);
	return all;
}

/* "12.5 Gbit/s" */
static void print_bits(double bits)
{
	static const char *const units[] = { "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s" };
	u32 unit = 0;

	while (bits >= 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
		bits /= 1000;
		unit++;
	}
	printf("%.3g %s", bits, units[unit]);
}

static void print_bandwidth(const struct plan *p, const struct plan_demand *d)
{
	const struct xdd_fixed *f = &p->fixed;
	double slices = xdd_slices_pick_one(f) ? f->slices : 1;

	if (!d->rate)
		return;
	printf("bandwidth ");
	if (d->packet_bytes) {
		print_bits(d->rate * d->packet_bytes * 8);
		printf(" of packets, ");
	}
	printf("%.6g packets/s", d->rate);
	if (xdd_engine_is_sliced(f->engine) && f->slices > 1) {
		printf("; if slices are elsewhere, look-ups take ");
		print_bits(d->rate * model_lookup_bits(p->cells, slices, f->hashes));
	}
	putchar('\n');
}

static void print_slices(const struct plan *p, const struct plan_demand *d)
{
	const struct xdd_fixed *f = &p->fixed;

	if (xdd_engine_is_sliced(f->engine)) {
		printf("slices    %u, %s", f->slices, slicing_names[f->slicing]);
		if (f->subslices)
			printf(", each in %u", f->subslices);
		putchar('\n');
	}
	if (f->filters)
		printf("filters   %u, of which a burst of %gx needs %.0f at the most\n", f->filters,
		       d->burst, p->growth.filters);
	if (f->equal)
		printf("equal     %u of %u timers\n", f->equal, f->hashes);
	if (!d->failed || !xdd_engine_may_fail(f->engine))
		return;
	if (p->faults.vote != f->hashes)
		printf("vote      %u of %u cells\n", p->faults.vote, f->hashes);
	printf("faults    with %u slices failed: FPR %.3g, FNR %.3g\n", d->failed, p->faults.fpr,
	       p->faults.fnr);
}

void plan_print(const struct plan *p, const struct plan_demand *d, const struct options *o)
{
	json_t *lines = plan_explain(p, d, o), *line;
	char memory[UNITS_TEXT_MAX], options[OPTIONS_MAX];
	size_t i;

	printf("engine    %s\n", engine_names[p->fixed.engine]);
	printf("memory    %s: %.0f bytes, %.0f cells\n", units_size_text(p->memory_bytes, memory),
	       p->memory_bytes, p->cells);
	if (p->fixed.engine == XDD_ENGINE_timer || xdd_engine_has_bits(p->fixed.engine))
		printf("hashes    %u\n", p->fixed.hashes);
	print_slices(p, d);
	if (xdd_engine_has_timers(p->fixed.engine) && d->window_ns)
		printf("ticks     %u\n", d->ticks);
	printf("FPR       %.3g\nFNR       %.3g\nby        %s\n", p->fpr, p->fnr, plan_formula(p));
	print_bandwidth(p, d);
	plan_options(p, d, o, options, sizeof(options));
	printf("use       xdp-dedup load IFACE %s\n", options);
	json_array_foreach (lines, i, line)
		printf("- %s\n", json_string_value(line));
	json_decref(lines);
}

void plan_print_rows(const struct plan *plans, u32 n, const struct plan_demand *d)
{
	char memory[UNITS_TEXT_MAX];

	printf("\n%-9s %6s %12s %12s %10s %10s  %s\n", "engine", "hashes", "slices", "memory",
	       "FPR", "FNR", "targets");
	for (u32 i = 0; i < n; i++) {
		const struct plan *p = &plans[i];
		bool failed = d->failed && xdd_engine_may_fail(p->fixed.engine);

		printf("%-9s %6u %12u %12s %10.3g %10.3g  %s\n", engine_names[p->fixed.engine],
		       p->fixed.hashes, p->fixed.slices, units_size_text(p->memory_bytes, memory),
		       failed ? p->faults.fpr : p->fpr, failed ? p->faults.fnr : p->fnr,
		       p->met ? "met" : "not met");
	}
}

json_t *plan_rows_json(const struct plan *plans, u32 n, const struct plan_demand *d)
{
	json_t *rows = json_array(), *row;

	for (u32 i = 0; i < n; i++) {
		row = filter_json(&plans[i]);
		if (d->failed && xdd_engine_may_fail(plans[i].fixed.engine))
			json_object_set_new(row, "faults", faults_json(&plans[i], d));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup plan: the filter for a rate, a window and errors that are bearable. */
#include "cmd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "names.h"
#include "plan/cluster.h"
#include "plan/plan.h"
#include "units.h"

/* Engines with a window, and what each needs. */
static const u32 windowed[] = { XDD_ENGINE_tagged, XDD_ENGINE_timer, XDD_ENGINE_exact };

/* Does @engine have what was asked for beside targets? */
static bool has_structure(const struct options *o, u32 engine)
{
	if (o->faults && !xdd_engine_may_fail(engine))
		return false;
	if (!o->hashes && o->slicing == OPTION_AUTO && !o->slices && !o->cost_ratio && !o->grow &&
	    o->equal <= 1)
		return true;
	return engine == XDD_ENGINE_timer;
}

/* Meets the targets with less memory; or, in what was given, errs less; or is at least nearer to them. */
static bool is_better(const struct plan *one, const struct plan *other, const struct plan_demand *d)
{
	if (one->met != other->met)
		return one->met;
	if ((one->binds == BINDS_NEVER) != (other->binds == BINDS_NEVER))
		return other->binds == BINDS_NEVER;
	if (one->met && !d->memory && one->memory_bytes != other->memory_bytes)
		return one->memory_bytes < other->memory_bytes;
	return plan_cost(one, d) < plan_cost(other, d);
}

static void choose_engine(const struct options *o, const struct plan_demand *d, struct plan *best)
{
	struct plan plan;
	bool any = false;

	if (o->engine != OPTION_AUTO) {
		plan_engine(o, d, o->engine, best);
		return;
	}
	for (u32 i = 0; i < XDD_ARRAY_SIZE(windowed); i++) {
		if (!has_structure(o, windowed[i]))
			continue;
		plan_engine(o, d, windowed[i], &plan);
		if (!any || is_better(&plan, best, d))
			*best = plan;
		any = true;
	}
}

/* All engines in the memory of @plan, but recovery, which compares no keys; options of its structure are for
 * those that have it. How many rows.
 */
static u32 compare(const struct options *o, const struct plan_demand *d, const struct plan *plan,
		   struct plan rows[XDD_ENGINE_MAX])
{
	struct plan_demand same = *d;
	u32 n = 0;

	same.memory = plan->memory_bytes;
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++)
		if (engine != XDD_ENGINE_recovery)
			plan_engine(o, &same, engine, &rows[n++]);
	return n;
}

/* One line, where the targets are not met. */
static int conclude(const struct plan *plan, const struct plan_demand *d)
{
	const char *engine = engine_names[plan->fixed.engine];
	char memory[UNITS_TEXT_MAX];

	units_size_text(plan->memory_bytes, memory);
	if (plan->met)
		return EXIT_OK;
	if (plan->binds == BINDS_NEVER)
		complain("plan: engine %s comes to FPR %.3g and FNR %.3g even in %s: another "
			 "--engine, or other targets",
			 engine, plan->fpr, plan->fnr, memory);
	else if (d->memory && plan->memory_bytes > d->memory)
		complain("plan: %u slices of at least 64 bytes take %s: fewer, or more --memory",
			 plan_unit(plan), memory);
	else if (plan->fixed.filters && !plan_growth_fits(plan, d))
		complain("plan: %u filters in %s are not room for %g keys, and %g in a burst: "
			 "more --max-filters or --memory",
			 plan->fixed.filters, memory, d->keys, d->burst * d->keys);
	else if (d->failed && xdd_engine_may_fail(plan->fixed.engine) &&
		 isinf(plan->faults.slices_fn))
		complain(
			"plan: a filter has states for %u slices, with which at most %.0f can have "
			"failed at an FNR of %.3g, not %u: fewer --faults, or another --fnr-target",
			XDD_MAX_PARTS, plan_most_faults(plan, d), d->fnr, d->failed);
	else if (d->failed && xdd_engine_may_fail(plan->fixed.engine))
		complain("plan: engine %s in %s with %u of %u slices failed: FPR %.3g, FNR %.3g, "
			 "which is not what the targets ask: more --slices or --memory",
			 engine, memory, d->failed, xdd_slices_count(&plan->fixed),
			 plan->faults.fpr, plan->faults.fnr);
	else
		complain("plan: engine %s in %s: FPR %.3g, FNR %.3g, which is not what the targets "
			 "ask: more --memory",
			 engine, memory, plan->fpr, plan->fnr);
	return EXIT_FAILED;
}

static void print_json(const struct options *o, const struct plan_demand *d,
		       const struct plan *plan, const struct plan *rows, u32 n)
{
	json_t *all = plan_json(plan, d, o);

	if (n)
		json_object_set_new(all, "compare", plan_rows_json(rows, n, d));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

/* plan WHAT: another plan than one of a filter. */
static int plan_of(const struct options *o, const char *what)
{
	if (!strcmp(what, "cluster"))
		return plan_cluster(o);
	complain("plan %s: there is plan cluster, and plan, which is of a filter", what);
	return EXIT_USAGE;
}

int cmd_plan(struct options *o)
{
	struct plan rows[XDD_ENGINE_MAX], plan = { 0 };
	struct plan_demand demand;
	u32 n = 0;
	int code;

	if (o->n_args)
		return plan_of(o, o->args[0]);
	code = plan_demand(o, &demand);
	if (code)
		return code;
	choose_engine(o, &demand, &plan);
	if (plan.binds == BINDS_NEVER)
		return conclude(&plan, &demand);
	if (o->compare)
		n = compare(o, &demand, &plan, rows);
	if (o->json) {
		print_json(o, &demand, &plan, rows, n);
	} else {
		plan_print(&plan, &demand, o);
		if (n)
			plan_print_rows(rows, n, &demand);
	}
	return conclude(&plan, &demand);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From what is asked to a filter: the least memory, or the best k in the memory that is given. */
#include <math.h>
#include <stdint.h>

#include <xdd/bits.h>
#include <xdd/line.h>

#include "user/derive.h"
#include "user/plan/plan.h"

#define MOST_LINES ((double)UINT32_MAX)
#define MOST_BITS 0x1p32 /* of each filter of a bit engine */
/* Fewer cells a key cost less time: a larger k must gain so much. */
#define WORTH_A_HASH 0.98

/* @d as @engine takes it: its own target where none was given, and half of the FNR for what it forgets where
 * failed slices take the other half.
 */
static struct plan_demand demand_of(const struct plan_demand *d, u32 engine)
{
	struct plan_demand own = *d;

	if (!own.fpr && xdd_engine_is_sliced(engine))
		own.fpr = DERIVE_FPR;
	if (!own.fpr && xdd_engine_has_bits(engine))
		own.fpr = DERIVE_BIT_FPR;
	if (!xdd_engine_may_fail(engine))
		own.failed = 0;
	return own;
}

static bool is_met(const struct plan *plan, const struct plan_demand *d)
{
	if (plan->fixed.filters && !plan_growth_fits(plan, d))
		return false;
	return (!d->fpr || plan->fpr <= d->fpr) && plan->fnr <= plan_own_fnr(plan, d);
}

static bool try_lines(struct plan *plan, const struct plan_demand *d, double lines)
{
	plan->fixed.blocks = lines;
	plan_rates(plan, d);
	return is_met(plan, d);
}

/* The fewest lines that there can be: whole units, and of bit engines a line for each hash. */
static double least_lines(const struct plan *plan)
{
	double unit = plan_unit(plan);
	u32 lines = xdd_engine_has_bits(plan->fixed.engine) ? plan->fixed.hashes : 1;

	return ceil(lines / unit) * unit;
}

/* What forbids less memory: @lines are one unit too few. */
static enum plan_binds what_binds(struct plan *plan, const struct plan_demand *d, double lines)
{
	if (lines < least_lines(plan))
		return plan_unit(plan) > 1 ? BINDS_SLICES : BINDS_LEAST;
	try_lines(plan, d, lines);
	if (plan->fixed.filters)
		return BINDS_GROWTH;
	return d->fpr && plan->fpr > d->fpr ? BINDS_FPR : BINDS_FNR;
}

/* Lines of each of its filters: numbers of lines are 32 bits, and so are those of a bit filter's bits,
 * which of bloom are those of a line.
 */
static double most_lines(const struct plan *plan)
{
	const struct xdd_fixed *f = &plan->fixed;

	if (xdd_engine_has_bits(f->engine) && f->engine != XDD_ENGINE_bloom)
		return fmin(MOST_LINES, MOST_BITS / XDD_LINE_BITS * f->hashes);
	return floor(MOST_LINES / xdd_filters(f));
}

/* The least memory, to a thousandth, in whole units. */
static bool least_memory(struct plan *plan, const struct plan_demand *d)
{
	double unit = plan_unit(plan), high = least_lines(plan), low = high - unit, middle;

	while (!try_lines(plan, d, high)) {
		if (high * 2 > most_lines(plan)) {
			plan->binds = BINDS_NEVER;
			return false;
		}
		low = high;
		high *= 2;
	}
	while (high - low > fmax(unit, low / 1024)) {
		middle = floor((low + high) / 2 / unit) * unit;
		if (try_lines(plan, d, middle))
			high = middle;
		else
			low = middle;
	}
	plan->binds = what_binds(plan, d, low);
	return try_lines(plan, d, high);
}

/* Lines of each filter in the memory that was given. */
static double given_lines(const struct plan *plan, const struct plan_demand *d)
{
	double lines = floor(d->memory / (double)XDD_LINE_BYTES / xdd_filters(&plan->fixed));

	return fmin(lines, floor(most_lines(plan)));
}

/* All whole units of the memory that was given. */
static bool given_memory(struct plan *plan, const struct plan_demand *d)
{
	double unit = plan_unit(plan), lines = floor(given_lines(plan, d) / unit) * unit;

	plan->binds = BINDS_MEMORY;
	return try_lines(plan, d, fmax(lines, least_lines(plan)));
}

/* As many lines as make whole slices. Of a given memory as much as can be is used: so many slices more
 * than are needed as there are lines for.
 */
static void whole_slices(struct plan *plan, const struct plan_demand *d)
{
	u32 unit = plan_unit(plan), lines = d->memory ? given_lines(plan, d) : plan->fixed.blocks;

	if (d->memory && lines > unit) {
		plan->fixed.slices = unit = lines / (lines / unit);
		lines -= lines % unit;
	}
	plan->fixed.blocks = (lines + unit - 1) / unit * unit;
	if (plan->fixed.blocks == unit && !d->memory)
		plan->binds = BINDS_SLICES;
}

/* Add what faults take: as many slices, unless their number was given. */
static void add_faults(struct plan *plan, const struct plan_demand *d, bool choose)
{
	plan_faults(plan, d, choose);
	if (!choose)
		return;
	whole_slices(plan, d);
	plan_rates(plan, d);
	plan->met = is_met(plan, d);
	plan_faults(plan, d, false);
}

/* The way a filter is sliced where nothing was said: a line each; with faults horizontal, in which a copy is lost
 * with one slice, or vertical for a vote.
 */
static u32 default_slicing(const struct options *o, const struct plan_demand *d, u32 engine)
{
	if (d->failed && d->vote)
		return XDD_SLICING_vertical;
	if (d->burst || (engine == XDD_ENGINE_bloom && !d->failed && o->slices <= 1))
		return XDD_SLICING_none;
	return XDD_SLICING_horizontal;
}

static void structure(const struct options *o, const struct plan_demand *d, u32 engine, u32 filters,
		      struct plan *plan)
{
	struct xdd_fixed *f = &plan->fixed;

	*plan = (struct plan){ .fixed = { .engine = engine, .key = o->key, .lines_per_block = 1 } };
	f->hashes = 1;
	f->slices = 1;
	f->slicing = engine == XDD_ENGINE_tagged ? XDD_SLICING_horizontal : XDD_SLICING_none;
	plan->line_slices = engine == XDD_ENGINE_tagged;
	if (!xdd_engine_is_sliced(engine))
		return;
	f->slicing = o->slicing == OPTION_AUTO ? default_slicing(o, d, engine) : (u32)o->slicing;
	f->slice_hashes = o->slice_hashes;
	f->subslices = o->subslices;
	f->slices = o->slices ?: f->slice_hashes ?: 1;
	plan->line_slices = !o->slices && !d->failed && f->slicing == XDD_SLICING_horizontal;
	if (engine != XDD_ENGINE_timer)
		return;
	f->equal = o->equal > 1 ? o->equal : 0;
	f->grow = o->grow;
	f->filters = filters;
}

/* With @k hashes, and @filters of a filter that grows. */
static void solve(const struct options *o, const struct plan_demand *d, u32 engine, u32 k,
		  u32 filters, struct plan *plan)
{
	bool choose;

	structure(o, d, engine, filters, plan);
	plan->fixed.hashes = k;
	plan->fpr_target = d->fpr;
	choose = d->failed && xdd_engine_is_sliced(engine) && !o->slices;
	if (choose && !d->vote)
		plan->fixed.slices = plan_slices_fn(plan, d);
	plan->met = d->memory ? given_memory(plan, d) : least_memory(plan, d);
	if (d->failed)
		add_faults(plan, d, choose);
	/* slices of a line each took more than was given */
	if (d->memory && plan->memory_bytes > d->memory)
		plan->met = false;
}

double plan_cost(const struct plan *plan, const struct plan_demand *d)
{
	if (d->failed && xdd_engine_may_fail(plan->fixed.engine))
		return d->cost * plan->faults.fpr + plan->faults.fnr;
	return d->cost * plan->fpr + plan->fnr;
}

/* Is @one, with more hashes, to be preferred to @other? */
static bool better(const struct plan *one, const struct plan *other, const struct plan_demand *d)
{
	if (one->met != other->met)
		return one->met;
	if (one->binds != other->binds &&
	    (one->binds == BINDS_NEVER || other->binds == BINDS_NEVER))
		return other->binds == BINDS_NEVER;
	if (d->memory || one->binds == BINDS_NEVER)
		return plan_cost(one, d) < WORTH_A_HASH * plan_cost(other, d);
	return one->memory_bytes < WORTH_A_HASH * other->memory_bytes;
}

/* With @k hashes, the best number of filters where one may grow. */
static void plan_chain(const struct options *o, const struct plan_demand *d, u32 engine, u32 k,
		       struct plan *plan)
{
	bool grows = o->grow && engine == XDD_ENGINE_timer;
	u32 first = grows ? o->max_filters ?: 2 : 0;
	u32 last = grows ? o->max_filters ?: XDD_MAX_FILTERS : 0;
	struct plan other;

	solve(o, d, engine, k, first, plan);
	for (u32 filters = first + 1; filters <= last; filters++) {
		solve(o, d, engine, k, filters, &other);
		if (better(&other, plan, d))
			*plan = other;
	}
}

void plan_engine(const struct options *o, const struct plan_demand *demand, u32 engine,
		 struct plan *plan)
{
	const struct plan_demand d = demand_of(demand, engine);
	u32 given = o->slicing == XDD_SLICING_K1xK2 ? o->slice_hashes * o->slice_cells : o->hashes;
	bool hashed = engine == XDD_ENGINE_timer || xdd_engine_has_bits(engine);
	u32 first = hashed ? given ?: 1 : 1, last = hashed ? given ?: XDD_MAX_HASHES : 1;
	struct plan other;

	if (!given && engine == XDD_ENGINE_timer && o->equal)
		first = o->equal;
	plan_chain(o, &d, engine, first, plan);
	for (u32 k = first + 1; k <= last; k++) {
		plan_chain(o, &d, engine, k, &other);
		if (better(&other, plan, &d))
			*plan = other;
	}
}

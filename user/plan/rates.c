/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which formula says what an engine errs. */
#include <math.h>

#include <xdd/bits.h>
#include <xdd/line.h>

#include "user/derive.h"
#include "user/model.h"
#include "user/plan/plan.h"

#define SBF_MOST_CLEARED 64 /* cells of a word */

static double bytes_of(const struct plan *plan)
{
	return (double)plan->fixed.blocks * xdd_filters(&plan->fixed) * XDD_LINE_BYTES;
}

/* Of engine exact, which has no lines but as many entries as fit into their bytes. */
static double entries_of(const struct plan *plan)
{
	u32 key = plan->fixed.key;
	bool digest = key == XDD_KEY_packet || key == XDD_KEY_frame || key == XDD_KEY_offset;

	return floor(bytes_of(plan) /
		     (digest ? DERIVE_EXACT_DIGEST_BYTES : DERIVE_EXACT_FLOW_BYTES));
}

static double cells_of(const struct plan *plan)
{
	switch (plan->fixed.engine) {
	case XDD_ENGINE_exact:
		return entries_of(plan);
	case XDD_ENGINE_tagged:
		return (double)plan->fixed.blocks * XDD_LINE_CELLS;
	case XDD_ENGINE_timer:
		return (double)plan->fixed.blocks * xdd_filters(&plan->fixed) * XDD_LINE_TIMERS;
	}
	return (double)plan->fixed.blocks * XDD_LINE_BITS;
}

/* P so that the end is at the target; whatever the memory is. */
static void rates_sbf(struct plan *plan, const struct plan_demand *d)
{
	struct xdd_fixed *f = &plan->fixed;
	double p = model_sbf_p(plan->cells, f->hashes, 1, d->fpr ?: DERIVE_BIT_FPR);

	f->reset_bits = fmin(fmax(ceil(p), 1), SBF_MOST_CLEARED);
	plan->fpr = model_sbf(plan->cells, f->hashes, 1, f->reset_bits);
	plan->fnr =
		model_missed_reset(d->keys, plan->cells, f->hashes, f->reset_bits, 1, f->hashes);
}

/* A stream of new keys without end. rsbf as published: of each filter's bits, one is set and one is reset by
 * each, so half are set in the end.
 */
static void rates_biased(struct plan *plan, const struct plan_demand *d)
{
	u32 k = plan->fixed.hashes, engine = plan->fixed.engine;
	double bits = plan->cells / k;

	if (engine == XDD_ENGINE_rsbf) {
		plan->fpr = pow(0.5, k);
		plan->fnr = model_missed_reset(d->keys, bits, 1, 1, 1, k);
		return;
	}
	plan->fpr = pow(model_load_stationary(k, engine), k);
	plan->fnr = model_missed_biased(d->keys, bits, k, engine);
}

/* Engine timer under the rule of equal timers. */
static void rates_equal(struct plan *plan, const struct plan_demand *d)
{
	const struct xdd_fixed *f = &plan->fixed;
	double slices = xdd_slices_pick_one(f) ? f->slices : 1;
	const struct model_equal rule = {
		.keys = d->keys,
		.slices = slices,
		.cells = plan->cells / slices,
		.ticks = d->ticks,
		.hashes = f->hashes,
		.equal = f->equal,
	};

	plan->fpr = model_equal_fpr(&rule);
	plan->fnr = model_equal_fnr(&rule);
}

void plan_rates(struct plan *plan, const struct plan_demand *d)
{
	struct xdd_fixed *f = &plan->fixed;

	if (plan->line_slices)
		f->slices = f->blocks;
	plan->memory_bytes = bytes_of(plan);
	plan->cells = cells_of(plan);
	plan->fnr = 0;
	if (f->engine == XDD_ENGINE_tagged) {
		plan->fpr = model_tagged(d->keys, f->blocks);
		plan->fnr = model_tagged_fnr(d->keys, d->copies, f->blocks);
	} else if (f->engine == XDD_ENGINE_exact) {
		plan->fpr = ldexp(d->keys, -128);
		plan->fnr = fmax(1 - plan->cells / d->keys, 0);
	} else if (f->filters) {
		plan_growth_rates(plan, d);
	} else if (f->equal) {
		rates_equal(plan, d);
	} else if (xdd_engine_is_sliced(f->engine)) {
		plan->fpr = model_sliced(f, d->keys, f->slices, plan->cells);
	} else if (f->engine == XDD_ENGINE_sbf) {
		rates_sbf(plan, d);
	} else {
		rates_biased(plan, d);
	}
}

u32 plan_unit(const struct plan *plan)
{
	const struct xdd_fixed *f = &plan->fixed;

	if (xdd_engine_is_sliced(f->engine) && !plan->line_slices)
		return xdd_slices_count(f);
	return xdd_engine_has_bits(f->engine) && f->engine != XDD_ENGINE_sbf &&
			       f->engine != XDD_ENGINE_bloom
		       ? f->hashes
		       : 1;
}

const char *plan_formula(const struct plan *plan)
{
	const struct xdd_fixed *f = &plan->fixed;

	switch (f->engine) {
	case XDD_ENGINE_tagged:
		return "tagged: live cells of a line x 2^-24; evictions by a Markov chain";
	case XDD_ENGINE_exact:
		return "exact: digests of 128 bits; the least recent keys are forgotten";
	case XDD_ENGINE_sbf:
		return "Deng and Rafiei 2006, stable point";
	case XDD_ENGINE_rsbf:
	case XDD_ENGINE_bsbf:
	case XDD_ENGINE_bsbfsd:
	case XDD_ENGINE_rlbsbf:
		return "bera-2012, recurrence corrected, stationary load";
	}
	if (f->filters)
		return "koloniari-2011 section 5, 1 - (1 - P)^F";
	if (f->equal)
		return "koloniari-2011 section 4, equal timers, sum over the window";
	if (xdd_slices_pick_one(f))
		return "koloniari-2011 eq. 4, mean over Poisson slices";
	if (f->slicing == XDD_SLICING_K1xK2)
		return "koloniari-2011 section 3.3, mean over Poisson slices";
	return "koloniari-2011 eq. 1";
}

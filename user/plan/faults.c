/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slices that fail: how many it takes to bear it, and what is erred then. */
#include <math.h>

#include "user/model.h"
#include "user/plan/plan.h"

/* Of more slices neighbours share a state, so that a fault takes all of them. */
#define MOST_STATES ((double)XDD_MAX_PARTS)

static bool is_diced(const struct plan *plan)
{
	return plan->fixed.slicing == XDD_SLICING_hv || plan->fixed.slicing == XDD_SLICING_vh;
}

/* Slices that a key picks, so that it is hit by the loss of each. */
static u32 picks_of(const struct plan *plan)
{
	const struct xdd_fixed *f = &plan->fixed;

	if (f->engine == XDD_ENGINE_tagged || xdd_slices_pick_one(f))
		return 1;
	return f->slicing == XDD_SLICING_K1xK2 ? f->slice_hashes : f->hashes;
}

/* The chance that a new key finds all that it asks of one picked slice. */
static double fill_of(const struct plan *plan)
{
	return pow(plan->fpr, 1.0 / picks_of(plan));
}

double plan_fault_fpr(const struct plan *plan, const struct plan_demand *d)
{
	return d->fault_fpr ?: 2 * (plan->fpr_target ?: plan->fpr);
}

/* The share of all slices that fails, of @slices. */
static double share_of(const struct plan_demand *d, double slices)
{
	return fmin(d->failed / fmin(slices, MOST_STATES), 1);
}

double plan_with_states(double needed)
{
	return needed > MOST_STATES ? INFINITY : needed;
}

/* The part of the FNR that faults may add to the engine's own. */
static double most_fnr(const struct plan *plan, const struct plan_demand *d)
{
	return (d->fnr - plan->fnr) / (1 - plan->fnr);
}

/* Innermost slices of @count that fail: as if they lay apart, which costs most, where they share states. */
static u32 failed_of(const struct plan_demand *d, u32 count)
{
	return ceil(share_of(d, count) * count);
}

/* Diced, with @slices outer slices: the share of keys that lose none of their cells. */
static double diced_whole(const struct plan *plan, const struct plan_demand *d, double slices)
{
	u32 parts = xdd_subslices(&plan->fixed), count = slices * parts;
	u32 width = plan->fixed.slicing == XDD_SLICING_hv ? parts : slices;

	return model_failed_diced(0, count, count - failed_of(d, count), width, plan->fixed.hashes);
}

/* ... and the FPR where what is lost is taken as set. */
static double diced_fpr(const struct plan *plan, const struct plan_demand *d, double slices)
{
	u32 parts = xdd_subslices(&plan->fixed), count = slices * parts;
	u32 width = plan->fixed.slicing == XDD_SLICING_hv ? parts : slices;

	return model_failed_diced(pow(plan->fpr, 1.0 / plan->fixed.hashes), count,
				  failed_of(d, count), width, plan->fixed.hashes);
}

static bool bears_fn(const struct plan *plan, const struct plan_demand *d, double slices)
{
	return 1 - diced_whole(plan, d, slices) <= most_fnr(plan, d);
}

static bool bears_fp(const struct plan *plan, const struct plan_demand *d, double slices)
{
	return diced_fpr(plan, d, slices) <= plan_fault_fpr(plan, d);
}

/* The vote with @slices vertical slices. */
static bool bears_vote(const struct plan *plan, const struct plan_demand *d, double slices)
{
	double share = share_of(d, slices), fill = fill_of(plan);
	u32 k = plan->fixed.hashes, vote = model_vote_best(fill, share, k, d->cost);

	return model_vote_fpr(fill, share, k, vote) <= plan_fault_fpr(plan, d) &&
	       model_vote_fnr(share, k, vote) <= most_fnr(plan, d);
}

/* The fewest slices from @least on that @bears says are enough: of more, all are. */
static double fewest(const struct plan *plan, const struct plan_demand *d, double least,
		     bool (*bears)(const struct plan *, const struct plan_demand *, double))
{
	double high = floor(MOST_STATES / xdd_subslices(&plan->fixed)), low = fmax(least, 1) - 1;

	if (high <= low || !bears(plan, d, high))
		return INFINITY;
	while (high - low > 1) {
		double middle = floor((low + high) / 2);

		if (bears(plan, d, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static void slices_needed(struct plan *plan, const struct plan_demand *d)
{
	struct plan_faults *f = &plan->faults;
	double least = ceil((double)d->failed / xdd_subslices(&plan->fixed));

	if (is_diced(plan)) {
		f->slices_fn = fewest(plan, d, least, bears_fn);
		f->slices_fp = fewest(plan, d, least, bears_fp);
		return;
	}
	f->slices_fn = most_fnr(plan, d) > 0
			       ? plan_with_states(model_slices_fn(d->failed, most_fnr(plan, d),
								  picks_of(plan)))
			       : INFINITY;
	if (picks_of(plan) == 1)
		f->slices_fp =
			model_slices_fp_horizontal(d->failed, plan->fpr, plan_fault_fpr(plan, d));
	else
		f->slices_fp = model_slices_fp_vertical(d->failed, fill_of(plan),
							plan_fault_fpr(plan, d), picks_of(plan));
	f->slices_fp = plan_with_states(f->slices_fp);
	if (f->vote)
		f->slices_fn = fewest(plan, d, d->failed, bears_vote);
}

/* What is erred with so many failed of the slices that there are. */
static void rates_failed(struct plan *plan, const struct plan_demand *d)
{
	struct plan_faults *f = &plan->faults;
	u32 picks = picks_of(plan), count = xdd_slices_count(&plan->fixed);
	double share = share_of(d, count), fill = fill_of(plan), whole;

	if (is_diced(plan)) {
		whole = diced_whole(plan, d, plan->fixed.slices);
		f->fpr = plan->fpr * whole;
		f->fnr = 1 - whole;
		f->vote = plan->fixed.hashes;
		return;
	}
	if (f->vote)
		picks = plan->fixed.hashes;
	f->vote = f->vote ? model_vote_best(fill, share, picks, d->cost) : picks;
	f->fpr = model_vote_fpr(fill, share, picks, f->vote);
	f->fnr = plan->fnr + (1 - plan->fnr) * model_vote_fnr(share, picks, f->vote);
	if (f->vote == picks)
		f->vote = plan->fixed.hashes;
}

void plan_faults(struct plan *plan, const struct plan_demand *d, bool choose)
{
	struct plan_faults *f = &plan->faults;

	f->vote = d->vote && plan->fixed.slicing == XDD_SLICING_vertical;
	slices_needed(plan, d);
	if (choose && f->slices_fn <= MOST_STATES)
		plan->fixed.slices = fmax(f->slices_fn, plan->fixed.slice_hashes);
	rates_failed(plan, d);
	plan->met = plan->met && f->fpr <= plan_fault_fpr(plan, d) && f->fnr <= d->fnr;
}

u32 plan_slices_fn(const struct plan *plan, const struct plan_demand *d)
{
	double slices = fmin(model_slices_fn(d->failed, d->fnr, picks_of(plan)), MOST_STATES);

	return fmax(slices, plan->fixed.slice_hashes);
}

double plan_own_fnr(const struct plan *plan, const struct plan_demand *d)
{
	double lost = model_vote_fnr(share_of(d, MOST_STATES), picks_of(plan), picks_of(plan));

	if (!d->failed)
		return d->fnr;
	return lost < d->fnr ? fmin(d->fnr / 2, (d->fnr - lost) / (1 - lost)) : d->fnr / 2;
}

double plan_most_faults(const struct plan *plan, const struct plan_demand *d)
{
	double slices = floor(MOST_STATES / xdd_subslices(&plan->fixed));
	bool voted = d->vote && plan->fixed.slicing == XDD_SLICING_vertical;
	struct plan_demand more = *d;

	if (!voted && !is_diced(plan))
		return floor(MOST_STATES * -expm1(log1p(-d->fnr) / picks_of(plan)));
	for (more.failed = 1; more.failed < XDD_MAX_PARTS; more.failed++)
		if (!(voted ? bears_vote : bears_fn)(plan, &more, slices))
			break;
	return more.failed - 1;
}

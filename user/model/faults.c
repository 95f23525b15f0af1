/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/faults.h"

#include <math.h>
#include <string.h>

#include "user/model/binomial.h"
#include "user/model/tagged.h"

double model_failed_horizontal(double rate, double share)
{
	return share + (1 - share) * rate;
}

double model_failed_vertical(double fill, double share, u32 hashes)
{
	return pow(share + (1 - share) * fill, hashes);
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double model_failed_diced(double fill, u32 slices, u32 failed, u32 width, u32 hashes)
{
	u32 least = failed + width > slices ? failed + width - slices : 0;
	u32 most = failed < width ? failed : width;
	double sum = 0;

	for (u32 f = least; f <= most; f++)
		sum += exp(log_choose(failed, f) + log_choose(slices - failed, width - f) -
			   log_choose(slices, width)) *
		       model_failed_vertical(fill, (double)f / width, hashes);
	return sum;
}

double model_vote_fpr(double fill, double share, u32 hashes, u32 vote)
{
	return binomial_tail(hashes, vote, (1 - share) * fill);
}

double model_vote_fnr(double share, u32 hashes, u32 vote)
{
	return binomial_tail(hashes, hashes - vote + 1, share);
}

u32 model_vote_best(double fill, double share, u32 hashes, double cost)
{
	double least = INFINITY;
	u32 best = hashes;

	for (u32 vote = hashes; vote > 0; vote--) {
		double costs = cost * model_vote_fpr(fill, share, hashes, vote) +
			       model_vote_fnr(share, hashes, vote);

		if (costs >= least)
			continue;
		least = costs;
		best = vote;
	}
	return best;
}

/* The slices of which @failed are a share of at most @share. */
static double slices_of_share(double failed, double share)
{
	return share > 0 ? fmax(ceil(failed / share * (1 - 1e-12)), failed) : INFINITY;
}

double model_slices_fp_horizontal(double failed, double rate, double most)
{
	return slices_of_share(failed, (most - rate) / (1 - rate));
}

double model_slices_fp_vertical(double failed, double fill, double most, u32 hashes)
{
	return slices_of_share(failed, (pow(most, 1.0 / hashes) - fill) / (1 - fill));
}

double model_slices_fn(double failed, double most, u32 picks)
{
	return slices_of_share(failed, -expm1(log1p(-most) / picks));
}

/* A key picks @picks times one of @slices slices from @first on, and has @cells cells in it. */
struct picks {
	u32 first, slices, picks, cells;
};

/* A new key if @density is given, else one that is in the filter. */
struct question {
	const double *density;
	const bool *failed;
	struct model_policy policy;
};

static double chance_of_cell(const struct question *q, u32 slice)
{
	if (q->failed && q->failed[slice])
		return q->policy.set;
	return q->density ? q->density[slice] : 1;
}

/* How many cells of one pick are set. */
static void one_pick(const struct question *q, const struct picks *p, double *chance)
{
	memset(chance, 0, (XDD_MAX_HASHES + 1) * sizeof(*chance));
	for (u32 i = p->first; i < p->first + p->slices; i++)
		for (u32 hits = 0; hits <= p->cells; hits++)
			chance[hits] += binomial(p->cells, hits, chance_of_cell(q, i)) / p->slices;
}

/* The chance that enough cells of all picks are set. */
static double enough_set(const struct question *q, const struct picks *p)
{
	double one[XDD_MAX_HASHES + 1], all[XDD_MAX_HASHES + 1] = { 1 }, sum = 0;
	u32 hashes = p->picks * p->cells, vote = q->policy.vote ?: hashes;

	one_pick(q, p, one);
	for (u32 pick = 1; pick <= p->picks; pick++)
		for (u32 n = pick * p->cells + 1; n-- > 0;) {
			double hits = 0;

			for (u32 j = 0; j <= n && j <= p->cells; j++)
				hits += all[n - j] * one[j];
			all[n] = hits;
		}
	for (u32 n = vote; n <= hashes; n++)
		sum += all[n];
	return fmin(sum, 1);
}

/* Slices that a key picks: one (horizontal, and hv, in which it then picks any), K1, or any for each cell
 * (vertical; vh, as in model_sliced()).
 */
static double mean_enough(const struct xdd_fixed *fixed, const struct question *q)
{
	u32 parts = xdd_subslices(fixed), k1 = fixed->slice_hashes ?: fixed->hashes;
	struct picks p = { 0, xdd_slices_count(fixed), k1, fixed->hashes / k1 };
	double sum = 0;

	if (fixed->slicing == XDD_SLICING_horizontal || fixed->engine == XDD_ENGINE_tagged)
		p = (struct picks){ 0, fixed->slices, 1, fixed->hashes };
	if (fixed->slicing != XDD_SLICING_hv)
		return enough_set(q, &p);
	p.slices = parts;
	for (u32 i = 0; i < fixed->slices; i++) {
		p.first = i * parts;
		sum += enough_set(q, &p);
	}
	return sum / fixed->slices;
}

/* A failed line is all or nothing; one that works has so many tags to agree with. */
static double tagged_fpr(const struct xdd_fixed *fixed, const struct question *q)
{
	double sum = 0;

	for (u32 i = 0; i < fixed->slices; i++)
		sum += chance_of_cell(q, i) * (q->failed && q->failed[i] ? 1 : model_tagged_full());
	return sum / fixed->slices;
}

double model_fpr_of_slices(const struct xdd_fixed *fixed, const double *density, const bool *failed,
			   struct model_policy policy)
{
	const struct question q = { density, failed, policy };

	if (fixed->engine == XDD_ENGINE_tagged)
		return tagged_fpr(fixed, &q);
	return mean_enough(fixed, &q);
}

double model_fnr_of_slices(const struct xdd_fixed *fixed, const bool *failed,
			   struct model_policy policy)
{
	const struct question q = { NULL, failed, policy };

	return 1 - mean_enough(fixed, &q);
}

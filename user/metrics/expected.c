/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/expected.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <xdd/bits.h>
#include <xdd/key.h>
#include <xdd/slices.h>

#include "user/health.h"
#include "user/model.h"
#include "user/model/binomial.h"
#include "user/store.h"

static const struct model_policy none_failed = { 0 };

/* What is not believed: of each innermost slice, and how large a part of them. */
struct failed {
	bool *slice; /* NULL: everything is */
	double share;
	struct model_policy policy;
};

/* Returns 0, and then @failed->slice is to be freed, or -ENOMEM. */
static int find_failed(const struct xdd_fixed *fixed, const struct xdd_health *health, u64 now_ns,
		       struct failed *failed)
{
	u32 count = xdd_slices_count(fixed), lines = xdd_slice_lines(fixed), n = 0;

	*failed = (struct failed){ NULL, 0, none_failed };
	if (!health || !xdd_disbelieved(&health[0], now_ns))
		return 0;
	failed->slice = calloc(count, sizeof(*failed->slice));
	if (!failed->slice)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		u32 part = xdd_part_of(fixed, i * lines);

		failed->slice[i] = health_state(&health[1 + part], now_ns) != HEALTH_OK;
		n += failed->slice[i];
	}
	failed->share = (double)n / count;
	failed->policy.set = fixed->fault_policy == XDD_FAULTS_duplicate;
	failed->policy.vote = fixed->vote;
	return 0;
}

/* Keys that meet a line @picks times: the mean over the lines of @cells cells of it all live. */
static double rate_of_lines(const struct xdd_fixed *fixed, const struct xdd_fill *fill, u32 picks)
{
	double cells = xdd_line_cells(fixed), rate = 0;

	for (u32 live = 0; live <= XDD_LINE_TIMERS; live++)
		rate += pow(live / cells, fixed->hashes / picks) * fill->histogram[live];
	return pow(rate / xdd_slices_count(fixed), picks);
}

/* The keys whose cells are so many live ones. */
static double keys_of(const struct xdd_fixed *fixed, const struct xdd_fill *fill)
{
	double cells = xdd_cells(fixed), density = fmin(fill->live / cells, 1 - 1 / cells);

	return log1p(-density) / log1p(-1 / cells) / fixed->hashes;
}

static double rate_of_timers(const struct xdd_fixed *fixed, const struct xdd_fill *fill,
			     const double *slices)
{
	bool diced = fixed->slicing == XDD_SLICING_K1xK2;

	if (slices)
		return model_fpr_of_slices(fixed, slices, NULL, none_failed);
	if (fixed->slices == 1 || !(diced || xdd_slices_pick_one(fixed)))
		return pow(fill->live / (double)xdd_cells(fixed), fixed->hashes);
	if (xdd_slice_lines(fixed) > 1 || fixed->slicing == XDD_SLICING_hv)
		return model_sliced(fixed, keys_of(fixed, fill), fixed->slices, xdd_cells(fixed));
	return rate_of_lines(fixed, fill, diced ? fixed->slice_hashes : 1);
}

static struct expected equal_timers(const struct xdd_fixed *fixed, const struct xdd_live *live,
				    const struct xdd_fill *fill)
{
	u32 slices = xdd_slices_pick_one(fixed) ? fixed->slices : 1;
	struct model_equal f = { .keys = keys_of(fixed, fill),
				 .slices = slices,
				 .cells = (double)xdd_cells(fixed) / slices,
				 .ticks = live->window_ticks,
				 .hashes = fixed->hashes,
				 .equal = fixed->equal };

	return (struct expected){ model_equal_fpr(&f), model_equal_fnr(&f) };
}

/* Lines that work, at most all: what is live lies in them. */
static double working_lines(const struct xdd_fill *fill, const struct failed *failed)
{
	return fmax(fill->lines * (1 - failed->share), 1);
}

/* A key whose cells lie in one line: it has failed, or so many of @vote cells are live there. */
static double rate_of_failed_lines(const struct xdd_fixed *fixed, const struct xdd_fill *fill,
				   const struct failed *failed)
{
	double cells = xdd_line_cells(fixed), rate = 0;

	for (u32 live = 1; live <= XDD_LINE_TIMERS; live++)
		rate += binomial_tail(fixed->hashes, failed->policy.vote ?: fixed->hashes,
				      live / cells) *
			fill->histogram[live];
	return failed->share * failed->policy.set +
	       (1 - failed->share) * fmin(rate / working_lines(fill, failed), 1);
}

/* Where slices were not counted, those that work are taken as equally full. */
static double rate_of_failed(const struct xdd_fixed *fixed, const struct contents *in,
			     const struct failed *failed)
{
	u32 count = xdd_slices_count(fixed);
	double *even, rate, cells = xdd_line_cells(fixed);

	if (in->slices)
		return model_fpr_of_slices(fixed, in->slices, failed->slice, failed->policy);
	if (fixed->engine == XDD_ENGINE_timer && xdd_slices_one_line(fixed))
		return rate_of_failed_lines(fixed, in->fill, failed);
	even = malloc(count * sizeof(*even));
	if (!even)
		return NAN;
	for (u32 i = 0; i < count; i++)
		even[i] = fmin(in->fill->live / (cells * working_lines(in->fill, failed)), 1);
	rate = model_fpr_of_slices(fixed, even, failed->slice, failed->policy);
	free(even);
	return rate;
}

/* With everything believed. */
static struct expected expected_of_sound(const struct xdd_fixed *fixed, const struct xdd_live *live,
					 const struct contents *in, const struct failed *failed)
{
	struct expected e = { 0, 0 };

	if (!in->fill->live)
		return e;
	if (fixed->engine == XDD_ENGINE_tagged) {
		double cells = in->fill->live / working_lines(in->fill, failed);

		e.fpr = model_tagged_live_fpr(cells);
		e.fnr = model_tagged_live_fnr(fmin(cells, XDD_LINE_CELLS), in->copies);
		return e;
	}
	if (fixed->equal > 1)
		e = equal_timers(fixed, live, in->fill);
	else
		e.fpr = rate_of_timers(fixed, in->fill, in->slices);
	if (!fixed->refresh)
		e.fnr += model_left_out(e.fpr, fixed->hashes, in->copies);
	return e;
}

/* @fnr: with everything believed. What a failed slice is taken to have is not left out: its copies are as well. */
static struct expected expected_of_failed(const struct xdd_fixed *fixed, const struct contents *in,
					  const struct failed *failed, double fnr)
{
	double lost = model_fnr_of_slices(fixed, failed->slice, failed->policy), left;
	struct expected e = { rate_of_failed(fixed, in, failed), fnr };

	if (fixed->engine == XDD_ENGINE_timer && !fixed->refresh) {
		left = e.fpr -
		       (xdd_slices_pick_one(fixed) ? failed->share * failed->policy.set : 0);
		e.fnr = model_left_out(left, fixed->hashes, in->copies);
	}
	e.fnr = lost + (1 - lost) * e.fnr;
	return e;
}

struct expected expected_of_timers(const struct xdd_fixed *fixed, const struct xdd_live *live,
				   const struct contents *in)
{
	struct failed failed;
	struct expected e;

	if (find_failed(fixed, in->health, in->now_ns, &failed))
		return (struct expected){ NAN, NAN };
	e = expected_of_sound(fixed, live, in, &failed);
	if (failed.slice)
		e = expected_of_failed(fixed, in, &failed, e.fnr);
	free(failed.slice);
	return e;
}

struct expected expected_of_bloom(const struct xdd_fixed *fixed, const double *slices,
				  const struct xdd_health *health, u64 now_ns)
{
	struct expected e = { NAN, NAN };
	struct failed failed;

	if (find_failed(fixed, health, now_ns, &failed))
		return e;
	e.fpr = model_fpr_of_slices(fixed, slices, failed.slice, failed.policy);
	e.fnr = failed.slice ? model_fnr_of_slices(fixed, failed.slice, failed.policy) : 0;
	free(failed.slice);
	return e;
}

struct expected expected_of_chains(const struct xdd_fixed *fixed, double fpr, double copies)
{
	return (struct expected){ fpr,
				  fixed->refresh ? 0 : model_left_out(fpr, fixed->hashes, copies) };
}

struct expected expected_of_bits(const struct xdd_fixed *fixed, double fpr)
{
	return (struct expected){ fpr, fixed->engine == XDD_ENGINE_bloom ? 0 : NAN };
}

/* The shares that are set of the whole, or of each of the k filters. */
static double rate_of_bits(const struct xdd_store *store)
{
	const struct xdd_fixed *fixed = &store->fixed;
	u32 filters = xdd_bits_one_array(fixed) ? 1 : fixed->hashes, bits = xdd_cell_bits(fixed);
	u64 words = xdd_lines(fixed) / filters * XDD_LINE_WORDS, ones[XDD_MAX_HASHES] = {};
	double cells = words * 64. / bits, rate = 1;

	if (xdd_bits_in_line(fixed))
		return store_parts_ones(fixed, store->lines, xdd_lines(fixed), ones) /
		       xdd_lines(fixed);
	for (u32 i = 0; i < filters; i++)
		rate *= store_cells_used(store->lines->word + i * words, words, bits) / cells;
	return pow(rate, (double)fixed->hashes / filters);
}

static struct expected timers_expected(const struct xdd_store *store, const double *slices,
				       double copies, u64 now_ns)
{
	struct xdd_fill fill;
	const struct contents in = { &fill, slices, store->health, now_ns, copies };

	store_fill(store, now_ns, &fill);
	return expected_of_timers(&store->fixed, &store->live, &in);
}

static struct expected sliced_expected(const struct xdd_store *store, double copies, u64 now_ns)
{
	const struct xdd_fixed *fixed = &store->fixed;
	double *slices = calloc(xdd_slices_count(fixed), sizeof(*slices));
	struct expected e = { NAN, NAN };

	if (!slices)
		return e;
	store_densities(store, now_ns, slices);
	if (fixed->engine == XDD_ENGINE_bloom)
		e = expected_of_bloom(fixed, slices, store->health, now_ns);
	else
		e = timers_expected(store, slices, copies, now_ns);
	free(slices);
	return e;
}

static struct expected exact_expected(const struct xdd_store *store, u64 distinct)
{
	bool all = store->fixed.engine == XDD_ENGINE_exact && !store->forgotten;

	return (struct expected){ ldexp(distinct, -63), all ? 0 : NAN };
}

struct expected store_expected(const struct xdd_store *store, u64 distinct, u64 duplicate,
			       u64 now_ns)
{
	const struct xdd_fixed *fixed = &store->fixed;
	double copies = distinct ? (double)duplicate / distinct : 0;

	if (xdd_digest_is_wide(fixed))
		return exact_expected(store, distinct);
	if (xdd_grows(fixed))
		return expected_of_chains(fixed, store_growth_fpr(store, now_ns), copies);
	if (xdd_engine_is_sliced(fixed->engine))
		return sliced_expected(store, copies, now_ns);
	if (xdd_engine_has_bits(fixed->engine))
		return expected_of_bits(fixed, rate_of_bits(store));
	return timers_expected(store, NULL, copies, now_ns);
}

json_t *expected_rate_json(double rate)
{
	return isnan(rate) ? json_null() : json_real(rate);
}

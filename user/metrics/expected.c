/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/expected.h"

#include <math.h>
#include <stdlib.h>

#include <xdd/bits.h>
#include <xdd/key.h>
#include <xdd/slices.h>

#include "user/model.h"
#include "user/store.h"

static const struct model_policy none_failed = { 0 };

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

struct expected expected_of_fill(const struct xdd_fixed *fixed, const struct xdd_live *live,
				 const struct xdd_fill *fill, const double *slices, double copies)
{
	struct expected e = { 0, 0 };

	if (!fill->live)
		return e;
	if (fixed->engine == XDD_ENGINE_tagged) {
		double live = (double)fill->live / fill->lines;

		e.fpr = model_tagged_live_fpr(live);
		e.fnr = model_tagged_live_fnr(live, copies);
		return e;
	}
	if (fixed->equal > 1)
		e = equal_timers(fixed, live, fill);
	else
		e.fpr = rate_of_timers(fixed, fill, slices);
	if (!fixed->refresh)
		e.fnr += model_left_out(e.fpr, fixed->hashes, copies);
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

static struct expected sliced_expected(const struct xdd_store *store, double copies, u64 now_ns)
{
	const struct xdd_fixed *fixed = &store->fixed;
	struct expected e = { NAN, NAN };
	struct xdd_fill fill;
	double *slices = calloc(xdd_slices_count(fixed), sizeof(*slices));

	if (!slices)
		return e;
	store_densities(store, now_ns, slices);
	if (fixed->engine == XDD_ENGINE_bloom) {
		e = expected_of_bits(fixed, model_fpr_of_slices(fixed, slices, NULL, none_failed));
	} else {
		store_fill(store, now_ns, &fill);
		e = expected_of_fill(fixed, &store->live, &fill, slices, copies);
	}
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
	struct xdd_fill fill;

	if (xdd_digest_is_wide(fixed))
		return exact_expected(store, distinct);
	if (xdd_grows(fixed))
		return expected_of_chains(fixed, store_growth_fpr(store, now_ns), copies);
	if (xdd_engine_is_sliced(fixed->engine))
		return sliced_expected(store, copies, now_ns);
	if (xdd_engine_has_bits(fixed->engine))
		return expected_of_bits(fixed, rate_of_bits(store));
	store_fill(store, now_ns, &fill);
	return expected_of_fill(fixed, &store->live, &fill, NULL, copies);
}

json_t *expected_rate_json(double rate)
{
	return isnan(rate) ? json_null() : json_real(rate);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/slices.h"

#include <math.h>

#include "user/model/size.h"

#define EVEN_KEYS 100000 /* in a slice: their spread no longer shows */

struct slice {
	double cells;
	u32 hashes;
};

double model_mean_over_slices(double keys, double slices,
			      double (*value)(double keys, const void *context),
			      const void *context)
{
	double mean = keys / slices, spread = 12 * sqrt(mean) + 40, sum = 0;
	double step =
		fmax(floor(sqrt(mean) / 8), 1); /* an eighth of the deviation is fine enough */

	if (slices <= 1 || mean > EVEN_KEYS)
		return value(mean, context);
	for (double n = fmax(floor(mean - spread), 1); n <= mean + spread; n += step)
		sum += step * exp(n * log(mean) - mean - lgamma(n + 1)) * value(n, context);
	return sum;
}

static double slice_rate(double keys, const void *context)
{
	const struct slice *slice = context;

	return model_bloom_rate(keys, slice->cells, slice->hashes);
}

double model_timer(double keys, double slices, double cells, u32 hashes)
{
	const struct slice slice = { cells, hashes };

	return fmin(model_mean_over_slices(keys, slices, slice_rate, &slice), 1);
}

double model_sliced(const struct xdd_fixed *fixed, double keys, double slices, double cells)
{
	u32 k1 = fixed->slice_hashes, hashes = fixed->hashes;

	if (xdd_slices_pick_one(fixed))
		return model_timer(keys, slices, cells / slices, hashes);
	if (fixed->slicing == XDD_SLICING_K1xK2)
		return pow(model_timer(keys * k1, slices, cells / slices, hashes / k1), k1);
	return model_timer(keys, 1, cells, hashes);
}

double model_fairness(double sum, double squares, u32 n)
{
	return squares ? sum * sum / (n * squares) : NAN;
}

struct model_spread model_spread(const u64 *counts, u32 n)
{
	double sum = 0, squares = 0, most = 0;

	for (u32 i = 0; i < n; i++) {
		double count = counts[i];

		sum += count;
		squares += count * count;
		most = count > most ? count : most;
	}
	if (!sum)
		return (struct model_spread){ 0, 0, 1 };
	return (struct model_spread){ sum, most / sum, model_fairness(sum, squares, n) };
}

double model_fairness_expected(double slices, double squares, u32 picks)
{
	return 1 / (1 + (slices - 1) * squares / picks);
}

double model_messages(double slices, u32 picks)
{
	return slices == 1 ? 1 : -slices * expm1(picks * log1p(-1 / slices));
}

double model_pipelined(double slices, u32 hashes, double fill)
{
	double sum = 0;

	for (u32 i = 0; i < hashes; i++)
		sum += pow((1 - 1 / slices) * fill, i);
	return sum;
}

double model_lookup_bits(double cells, double slices, u32 hashes)
{
	return hashes * log2(cells / slices);
}

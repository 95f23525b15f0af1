/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model.h"

#include <math.h>

#include <xdd/line.h>

#define TAG_VALUES 16777216.0

/* Rate of a Bloom filter of @cells cells that holds @keys keys. */
static double bloom_rate(double keys, double cells, u32 hashes)
{
	double filled = -expm1(keys * hashes * log1p(-1 / cells));

	return pow(filled, hashes);
}

double model_timer(double keys, double slices, double cells, u32 hashes)
{
	double mean = keys / slices, spread = 12 * sqrt(mean) + 40, rate = 0;

	/* With that many keys in a slice, their spread no longer shows. */
	if (slices <= 1 || mean > 100000)
		return bloom_rate(mean, cells, hashes);
	for (double n = fmax(floor(mean - spread), 1); n <= mean + spread; n++)
		rate += exp(n * log(mean) - mean - lgamma(n + 1)) * bloom_rate(n, cells, hashes);
	return fmin(rate, 1);
}

double model_tagged(double keys, double lines)
{
	double mean = keys / lines, probability = exp(-mean), live = 0, rest = 1 - probability;

	for (int n = 1; n < XDD_LINE_CELLS; n++) {
		probability *= mean / n;
		live += n * probability;
		rest -= probability;
	}
	return (live + fmax(rest, 0) * XDD_LINE_CELLS) / TAG_VALUES;
}

double model_tagged_full(void)
{
	return XDD_LINE_CELLS / TAG_VALUES;
}

double model_bloom_cells(double keys, double fpr, u32 hashes)
{
	return -(double)hashes * keys / log1p(-pow(fpr, 1.0 / hashes));
}

double model_sbf(double cells, u32 hashes, u32 max, double p)
{
	double zero = pow(1 + 1 / (p * (1.0 / hashes - 1 / cells)), -(double)max);

	return pow(1 - zero, hashes);
}

double model_sbf_p(double cells, u32 hashes, u32 max, double fpr)
{
	double zero = 1 - pow(fpr, 1.0 / hashes);

	return 1 / ((pow(zero, -1.0 / max) - 1) * (1.0 / hashes - 1 / cells));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/bits.h"

#include <math.h>

#define LAGS 200 /* over which a mean is taken */

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

double model_load_bloom(double keys, double cells, u32 hashes, u32 slices, u32 picks)
{
	double set = -expm1((double)hashes / picks * log1p(-(double)slices / cells));

	return -expm1(keys * picks * log1p(-set / slices));
}

/* r: the chance that an insertion resets the bit that it picks in a filter. */
static double reset_chance(double q, u32 hashes, u32 engine)
{
	if (engine == XDD_ENGINE_bsbfsd)
		return 1.0 / hashes;
	return engine == XDD_ENGINE_rlbsbf ? q : 1;
}

/* Bits that are set, less those that are reset, in a filter of load @q. */
static double load_drift(double q, const struct model_arrivals *in, u32 hashes, u32 engine)
{
	double reset = reset_chance(q, hashes, engine) * q;
	double lost = in->copies ? 1 - pow(1 - in->forgotten / in->copies, 1.0 / hashes) : 0;

	return in->keys * (1 - q - (1 - pow(q, hashes)) * reset) + in->copies * lost -
	       in->forgotten * reset;
}

static bool load_is_biased(u32 engine)
{
	return engine == XDD_ENGINE_bsbf || engine == XDD_ENGINE_bsbfsd ||
	       engine == XDD_ENGINE_rlbsbf;
}

/* Runge and Kutta's method, of the fourth order, in steps of at most an eighth of the filter. */
double model_load_biased(double load, const struct model_arrivals *in, double bits, u32 hashes,
			 u32 engine)
{
	double steps = ceil(8 * (in->keys + in->forgotten) / bits), h = 1 / bits / steps;
	double k1, k2, k3, k4;

	if (!load_is_biased(engine))
		return NAN;
	for (double i = 0; i < steps; i++) {
		k1 = load_drift(load, in, hashes, engine);
		k2 = load_drift(load + h / 2 * k1, in, hashes, engine);
		k3 = load_drift(load + h / 2 * k2, in, hashes, engine);
		k4 = load_drift(load + h * k3, in, hashes, engine);
		load += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
	}
	return load;
}

/* The lowest zero of the drift, which is positive below it. */
double model_load_stationary(u32 hashes, u32 engine)
{
	const struct model_arrivals key = { .keys = 1 };
	double low = 0, high = 1, middle;

	if (!load_is_biased(engine))
		return NAN;
	for (int i = 0; i < 50; i++) {
		middle = (low + high) / 2;
		if (load_drift(middle, &key, hashes, engine) > 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Whether a cell is above 0 that is set with probability @set and counted down with @clear by
 * each record: looking back, the last @records have the setting before @max steps down. The i-th step,
 * from 0, is that with probability (clear / both)^i set / both, and is among them with that of more than i
 * steps where records * both are expected.
 */
static double reset_cell(double records, double set, double clear, u32 max)
{
	double both = set + clear, expected = records * both, rate = 0;
	double here = set / both, exactly = exp(-expected), at_most = exactly;

	for (u32 i = 0; i < max; i++) {
		rate += here * (1 - at_most);
		here *= clear / both;
		exactly *= expected / (i + 1);
		at_most += exactly;
	}
	return rate;
}

double model_reservoir(double records, double bits, double all)
{
	double sampled = fmin(records, fmax(all, bits));

	if (records <= bits)
		return records;
	return bits * (1 + log(sampled / bits)) + records - sampled;
}

double model_load_reset(double records, double domain, double cells, u32 hashes, u32 cleared,
			u32 max)
{
	double mean = hashes * domain / cells, spread = 12 * sqrt(mean) + 40, load = 0;

	for (double j = fmax(floor(mean - spread), 1); j <= mean + spread; j++)
		load += exp(j * log(mean) - mean - lgamma(j + 1)) *
			reset_cell(records, j / domain, cleared / cells, max);
	return load;
}

double model_missed_biased(double keys, double bits, u32 hashes, u32 engine)
{
	double q = model_load_stationary(hashes, engine), sum = 0;

	/* a + b = b / q */
	for (u32 i = 0; i < LAGS; i++)
		sum += pow(q + (1 - q) * exp(-(i + 0.5) / LAGS * keys / bits / q), hashes);
	return 1 - sum / LAGS;
}

double model_missed_reset(double keys, double cells, u32 hashes, u32 cleared, u32 max, u32 asked)
{
	double set = hashes / cells, clear = cleared / cells, sum = 0;

	for (u32 i = 0; i < LAGS; i++) {
		double later = keys * (i + 0.5) / LAGS, kept = exp(-set * later);
		double term = exp(-clear * later), steps = 0;

		/* not set again, and counted down less often than it takes */
		for (u32 step = 0; step < max; step++) {
			steps += term;
			term *= clear * later / (step + 1);
		}
		sum += pow(kept * steps + reset_cell(later, set, clear, max), asked);
	}
	return 1 - sum / LAGS;
}

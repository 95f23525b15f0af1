/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/timers.h"

#include <math.h>
#include <string.h>

#include "user/model/slices.h"

u32 model_timer_bits(u64 ticks)
{
	u32 bits = 0;

	while (bits < 64 && ticks >> bits)
		bits++;
	return bits;
}

double model_sweep_ticks(u32 bits, u64 ticks)
{
	return ldexp(1, bits) - (double)ticks - 1;
}

double model_passes(double events, double ticks)
{
	return ceil(events / ticks);
}

#define STEPS 200 /* of Simpson's rule: an even number */

double model_left_out(double fpr, u32 hashes, double copies)
{
	double density = pow(fpr, 1.0 / hashes), rate = -log1p(-density), few = fmax(copies, 1);
	double found = 0;

	if (density <= 0 || density >= 1)
		return 0;
	for (u32 i = 0; i <= STEPS; i++) {
		double x = (double)i / STEPS;
		double live = (2 * density - 1 + exp(-rate * (1 + x))) / density;
		u32 weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;

		found += weight * few * pow(x, few - 1) * pow(live, hashes) / (3 * STEPS);
	}
	return fpr * fmax(1 - found, 0) / few;
}

double model_tick_missed(double ticks)
{
	return 1 / (2 * ticks);
}

/*
 * Multiply the generating function of how @hashes timers fall into ticks, @ways by degree, by that of one
 * more tick of chance @p, in which fewer than @equal fall.
 */
static void add_tick(double *ways, double p, u32 hashes, u32 equal)
{
	for (u32 n = hashes; n > 0; n--) {
		double term = 1, sum = 0;

		for (u32 j = 0; j < equal && j <= n; j++) {
			sum += ways[n - j] * term;
			term *= p / (j + 1);
		}
		ways[n] = sum;
	}
}

/* Of a slice with @keys keys: in how many ticks they came, and the chance that those of one tick set a cell. */
static double slice_ticks(const struct model_equal *f, double keys)
{
	return fmin(f->ticks, ceil(keys));
}

static double slice_set(const struct model_equal *f, double keys)
{
	return -expm1(f->hashes * keys / slice_ticks(f, keys) * log1p(-1 / f->cells));
}

/* A timer was set last in the tick @age ticks ago with chance set (1 - set)^age. Those of which fewer than they
 * must agree are taken from all that are live.
 */
static double equal_rate(double keys, const void *context)
{
	const struct model_equal *f = context;
	double set = slice_set(f, keys), ticks = slice_ticks(f, keys), live = 0, p = set;
	double ways[XDD_MAX_HASHES + 1] = { 1 };

	for (double age = 0; age < ticks; age++) {
		live += p;
		add_tick(ways, p, f->hashes, f->equal);
		p *= 1 - set;
	}
	return fmax(pow(live, f->hashes) - ways[f->hashes] * tgamma(f->hashes + 1), 0);
}

double model_equal_fpr(const struct model_equal *filter)
{
	if (filter->equal <= 1)
		return model_timer(filter->keys, filter->slices, filter->cells, filter->hashes);
	return model_mean_over_slices(filter->keys, filter->slices, equal_rate, filter);
}

/* The same for a copy: its first set all timers, and those that nobody set since still agree. Of the other
 * keys' ticks none to all are later than the first's.
 */
static double equal_missed(double keys, const void *context)
{
	const struct model_equal *f = context;
	double set = slice_set(f, keys), ticks = slice_ticks(f, keys), kept = 1, sum = 0;
	double later[XDD_MAX_HASHES + 1] = { 1 }, ways[XDD_MAX_HASHES + 1];

	for (double age = 0; age <= ticks; age++) {
		memcpy(ways, later, sizeof(ways));
		add_tick(ways, kept, f->hashes, f->equal);
		sum += ways[f->hashes] * tgamma(f->hashes + 1);
		add_tick(later, set * kept, f->hashes, f->equal);
		kept *= 1 - set;
	}
	return sum / (ticks + 1);
}

double model_equal_fnr(const struct model_equal *filter)
{
	if (filter->equal <= 1)
		return 0;
	return model_mean_over_slices(filter->keys, filter->slices, equal_missed, filter);
}

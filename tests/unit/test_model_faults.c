/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Failed slices and votes: koloniari-2011's values, and what random filters do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/model.h"

static void near(double found, double want, double share)
{
	if (!(fabs(found - want) <= share * fabs(want)))
		fail_msg("%.9g instead of %.9g, to within %g of it", found, want, share);
}

/* Section 3.2: x of k = 8 with a fifth of the slices failed; one lost cell of all. */
static void test_votes(void **state)
{
	(void)state;
	near(model_vote_fnr(.2, 8, 3), .00123, .005);
	near(model_vote_fnr(.2, 8, 4), .01041, .0005);
	near(model_vote_fnr(.2, 8, 5), .05628, .0001);
	near(model_vote_fnr(.2, 8, 8), 1 - pow(.8, 8), 1e-12);
	near(model_vote_fnr(.2, 4, 4), 1 - pow(.8, 4), 1e-12);
	near(model_vote_fpr(.5, .2, 8, 8), pow(.4, 8), 1e-12);
	near(model_vote_fpr(.5, .2, 8, 1), 1 - pow(.6, 8), 1e-12);
	near(model_vote_fpr(.5, .2, 2, 1), .64, 1e-12);
	assert_true(model_vote_fnr(0, 8, 8) == 0);
	/* A filter for P = .02 that fills up is .354 full on average, where the rates as they are prefer 5; full,
	 * 6. What a false positive costs moves it up.
	 */
	assert_int_equal(model_vote_best(.354, .2, 8, 1), 5);
	assert_int_equal(model_vote_best(pow(.02, 1. / 8), .2, 8, 1), 6);
	assert_int_equal(model_vote_best(.354, .2, 8, 1e6), 8);
	assert_int_equal(model_vote_best(.354, .2, 8, 1e-6), 1);
	assert_int_equal(model_vote_best(.5, 0, 8, 1), 8);
}

/* S_f for P_max = .15, f = 4, k = 4. */
static void test_slices(void **state)
{
	static const struct {
		double fpr, horizontal, vertical;
	} rows[] = { { .02, 31, 11 }, { .05, 38, 15 }, { .08, 53, 21 } };

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		double fpr = rows[i].fpr, fill = pow(fpr, .25), s;

		s = model_slices_fp_horizontal(4, fpr, .15);
		assert_true(s == rows[i].horizontal);
		assert_true(model_failed_horizontal(fpr, 4 / s) <= .15);
		assert_true(model_failed_horizontal(fpr, 4 / (s - 1)) > .15);
		s = model_slices_fp_vertical(4, fill, .15, 4);
		assert_true(s == rows[i].vertical);
		assert_true(model_failed_vertical(fill, 4 / s, 4) <= .15);
		assert_true(model_failed_vertical(fill, 4 / (s - 1), 4) > .15);
	}
	assert_true(model_slices_fn(4, .15, 1) == 27);
	assert_true(model_slices_fn(4, .15, 4) == 101);
	assert_true(model_vote_fnr(4. / 101, 4, 4) <= .15 && model_vote_fnr(4. / 100, 4, 4) > .15);
	/* An exact quotient is not rounded up; there are at least as many as have failed. */
	assert_true(model_slices_fn(1, .01, 1) == 100);
	assert_true(model_slices_fn(4, 1 - 1e-9, 1) == 5);
	assert_true(model_slices_fp_horizontal(4, 1e-9, 1 - 1e-15) == 4);
	assert_true(isinf(model_slices_fp_horizontal(4, .15, .15)));
	assert_true(isinf(model_slices_fp_vertical(1, .9, .15, 4)));
}

/* Eq. 5 and 6 in other words, Eq. 7 by a count of all ways to fail. */
static void test_diced(void **state)
{
	(void)state;
	near(model_failed_diced(.4, 40, 8, 40, 4), model_failed_vertical(.4, .2, 4), 1e-9);
	near(model_failed_diced(.4, 40, 0, 4, 4), pow(.4, 4), 1e-9);
	near(model_failed_diced(.4, 40, 8, 1, 4), model_failed_horizontal(pow(.4, 4), .2), 1e-9);
	near(model_failed_diced(.4, 40, 40, 4, 4), 1, 1e-9);
	/* 2 of 4 failed, a key in 2: none of its failed 1/6, one 4/6, both 1/6 */
	near(model_failed_diced(.5, 4, 2, 2, 2),
	     pow(.5, 2) / 6 + 4 * model_failed_vertical(.5, .5, 2) / 6 + 1. / 6, 1e-9);
	/* as printed, with its second factor put right, it is a lower bound */
	assert_true(model_failed_diced(.4, 40, 8, 4, 4) > pow(.2 + .8 * .4, 4) * 1.01);
}

#define KEYS 200000

/* A random cell's slice of those of a key, where the core would place it (slices.h). */
static u32 slice_of(const struct xdd_fixed *fixed, u64 *seed, u32 *pick, u32 i)
{
	u32 k1 = fixed->slice_hashes;

	switch (fixed->slicing) {
	case XDD_SLICING_horizontal:
		return pick[0];
	case XDD_SLICING_hv:
		return pick[0] * fixed->subslices + random_below(seed, fixed->subslices);
	case XDD_SLICING_K1xK2:
		return pick[i % k1];
	}
	return random_below(seed, xdd_slices_count(fixed));
}

/* The share of keys of which enough cells are set: in slices that work by their density. */
static double voted(const struct xdd_fixed *fixed, const double *density, const bool *failed,
		    struct model_policy policy)
{
	u64 seed = 3, duplicates = 0;
	u32 pick[XDD_MAX_HASHES];

	for (u32 key = 0; key < KEYS; key++) {
		u32 set = 0;

		for (u32 i = 0; i < XDD_MAX_HASHES; i++)
			pick[i] = random_below(&seed, fixed->slices);
		for (u32 i = 0; i < fixed->hashes; i++) {
			u32 slice = slice_of(fixed, &seed, pick, i);

			if (failed[slice])
				set += policy.set;
			else
				set += !density ||
				       random_below(&seed, 1 << 20) < ldexp(density[slice], 20);
		}
		duplicates += set >= (policy.vote ?: fixed->hashes);
	}
	return (double)duplicates / KEYS;
}

static const struct xdd_fixed sliced[] = {
	{ .engine = XDD_ENGINE_bloom, .slicing = XDD_SLICING_none, .hashes = 4, .slices = 1 },
	{ .engine = XDD_ENGINE_bloom,
	  .slicing = XDD_SLICING_horizontal,
	  .hashes = 4,
	  .slices = 24 },
	{ .engine = XDD_ENGINE_bloom, .slicing = XDD_SLICING_vertical, .hashes = 6, .slices = 24 },
	{ .engine = XDD_ENGINE_bloom,
	  .slicing = XDD_SLICING_hv,
	  .hashes = 4,
	  .slices = 6,
	  .subslices = 4 },
	{ .engine = XDD_ENGINE_bloom,
	  .slicing = XDD_SLICING_K1xK2,
	  .hashes = 6,
	  .slice_hashes = 2,
	  .slices = 24 },
	{ .engine = XDD_ENGINE_bloom,
	  .slicing = XDD_SLICING_K1xK2,
	  .hashes = 6,
	  .slice_hashes = 3,
	  .slices = 24 },
};

/* Every way of slicing, uneven slices, a fifth of them failed, every policy; the deviation is .0011. */
static void test_densities(void **state)
{
	double density[24];
	bool failed[24];

	(void)state;
	for (u32 i = 0; i < 24; i++) {
		density[i] = .3 + .02 * i;
		failed[i] = i % 5 == 2;
	}
	for (size_t i = 0; i < XDD_ARRAY_SIZE(sliced); i++)
		for (u32 vote = 0; vote <= sliced[i].hashes; vote++) {
			const struct model_policy policy = { .set = vote == 1, .vote = vote };
			double fpr = model_fpr_of_slices(&sliced[i], density, failed, policy);
			double fnr = model_fnr_of_slices(&sliced[i], failed, policy);

			assert_true(fabs(voted(&sliced[i], density, failed, policy) - fpr) < .005);
			assert_true(fabs(1 - voted(&sliced[i], NULL, failed, policy) - fnr) < .005);
		}
}

/* The closed forms, where all slices are equally full. */
static void test_closed(void **state)
{
	const struct model_policy as_set = { .set = true }, five = { .vote = 5 }, not_set = { 0 };
	struct xdd_fixed f = { .engine = XDD_ENGINE_bloom,
			       .hashes = 8,
			       .slices = 40,
			       .slicing = XDD_SLICING_horizontal };
	bool failed[40] = { true, true, true, true, true, true, true, true };
	double density[40];

	(void)state;
	for (u32 i = 0; i < 40; i++)
		density[i] = .6;
	near(model_fpr_of_slices(&f, density, NULL, not_set), pow(.6, 8), 1e-9);
	near(model_fpr_of_slices(&f, density, failed, as_set),
	     model_failed_horizontal(pow(.6, 8), .2), 1e-9);
	near(model_fnr_of_slices(&f, failed, not_set), .2, 1e-9);
	assert_true(model_fnr_of_slices(&f, failed, as_set) < 1e-12);
	f.slicing = XDD_SLICING_vertical;
	near(model_fpr_of_slices(&f, density, failed, as_set), model_failed_vertical(.6, .2, 8),
	     1e-9);
	near(model_fpr_of_slices(&f, density, failed, five), model_vote_fpr(.6, .2, 8, 5), 1e-9);
	near(model_fnr_of_slices(&f, failed, five), .05628, .0001);
	near(model_fnr_of_slices(&f, failed, not_set), 1 - pow(.8, 8), 1e-9);
	f.engine = XDD_ENGINE_tagged;
	f.hashes = 1;
	near(model_fpr_of_slices(&f, density, NULL, not_set), .6 * 15 / (1 << 24), 1e-9);
	near(model_fpr_of_slices(&f, density, failed, not_set), .8 * .6 * 15 / (1 << 24), 1e-9);
	near(model_fpr_of_slices(&f, density, failed, as_set), .2 + .8 * .6 * 15 / (1 << 24), 1e-9);
	near(model_fnr_of_slices(&f, failed, not_set), .2, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_votes),  cmocka_unit_test(test_slices),
		cmocka_unit_test(test_diced),  cmocka_unit_test(test_densities),
		cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

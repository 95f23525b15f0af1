/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sizes, slices, growth and timers: koloniari-2011's values, and limits that are known. */
#include <math.h>

#include "tests/common/test.h"
#include "user/model.h"

static void near(double found, double want, double share)
{
	if (!(fabs(found - want) <= share * fabs(want)))
		fail_msg("%.9g instead of %.9g, to within %g of it", found, want, share);
}

/* Section 7: printed sizes, k = 4. The web log has about 16850 different URLs, the synthetic stream 5706, the
 * Yahoo flows 2049.
 */
static void test_sizes(void **state)
{
	static const struct {
		double keys, fpr, cells;
	} sizes[] = {
		{ 16850, .02, 143000 }, { 16850, .05, 105000 }, { 16850, .08, 89000 },
		{ 5706, .02, 48400 },	{ 5706, .05, 35600 },	{ 5706, .08, 30000 },
		{ 2049, .02, 17400 },	{ 2049, .05, 12800 },	{ 2049, .08, 10800 },
	};

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(sizes); i++) {
		double cells = model_bloom_cells(sizes[i].keys, sizes[i].fpr, 4);

		near(cells, sizes[i].cells, .005);
		near(model_bloom_rate(sizes[i].keys, cells, 4), sizes[i].fpr, .001);
		near(model_growth_keys(cells, sizes[i].fpr, 4), sizes[i].keys, 1e-9);
	}
	near(model_bloom_rate(1, 1, 4), 1, 0);
	assert_true(model_bloom_rate(0, 100, 4) == 0);
}

/* The mean over the fill: measured by independent prototypes. */
static void test_stream(void **state)
{
	(void)state;
	near(model_bloom_stream(5706, 48400, 4), .00467, .003);
	near(model_bloom_stream(5706, 35600, 4), .0124, .005);
	near(model_bloom_stream(5706, 30000, 4), .0204, .012);
	/* k = 1, few keys: half of what it is in the end */
	near(model_bloom_stream(100, 1e9, 1), 50e-9, .001);
}

static double square(double n, const void *context)
{
	(void)context;
	return n * n;
}

static void test_slices(void **state)
{
	struct xdd_fixed fixed = { .engine = XDD_ENGINE_bloom, .hashes = 4 };

	(void)state;
	/* of Poisson's law: mean + mean^2 */
	near(model_mean_over_slices(3000, 1000, square, NULL), 12, 1e-9);
	near(model_mean_over_slices(3000, 1, square, NULL), 9e6, 1e-9);
	fixed.slicing = XDD_SLICING_vertical;
	near(model_sliced(&fixed, 5706, 40, 48400), model_bloom_rate(5706, 48400, 4), 1e-12);
	fixed.slicing = XDD_SLICING_hv;
	near(model_sliced(&fixed, 5706, 40, 48400), model_timer(5706, 40, 1210, 4), 1e-12);
	fixed.slicing = XDD_SLICING_K1xK2;
	fixed.slice_hashes = 4;
	/* four picks of a cell each: vertical, but each slice has a load of its own */
	near(model_sliced(&fixed, 5706, 40, 48400), model_bloom_rate(5706, 48400, 4), .01);
	fixed.slice_hashes = 1;
	near(model_sliced(&fixed, 5706, 40, 48400), model_timer(5706, 40, 1210, 4), 1e-12);
}

/* Zipf's law over 6000 events: horizontal 1/(1 + (S-1) sum p^2), vertical with sum p^2 / k. */
static void test_fairness(void **state)
{
	double sum = 0, squares = 0;

	(void)state;
	for (u32 i = 1; i <= 6000; i++) {
		sum += 1.0 / i;
		squares += 1.0 / i / i;
	}
	squares /= sum * sum;
	near(model_fairness_expected(40, squares, 1), .57294, .0001);
	near(model_fairness_expected(40, squares, 4), .84293, .0001);
	near(model_fairness_expected(1, squares, 1), 1, 0);
	near(model_fairness(10, 30, 4), 100. / 120, 1e-12);
	assert_true(isnan(model_fairness(0, 0, 4)));
	near(model_messages(40, 1), 1, 1e-12);
	near(model_messages(40, 4), 3.852, .0002);
	near(model_messages(1, 4), 1, 0);
	near(model_lookup_bits(48400, 1, 4), 4 * log2(48400), 1e-12);
	near(model_lookup_bits(48400, 40, 4), 4 * log2(1210), 1e-12);
}

/* Slices a look-up, k = 4, S = 40, where so much of the stream is distinct: a filter that fills up to .02. */
static void test_pipelined(void **state)
{
	static const struct {
		double distinct, slices;
	} streams[] = { { .8, 1.79 }, { .5, 2.56 }, { .2, 3.33 } };
	double visited = 0;

	(void)state;
	for (double keys = .5; keys < 5706; keys++)
		visited += model_pipelined(40, 4, model_load_bloom(keys, 48400, 4, 1, 1)) / 5706;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(streams); i++)
		near(streams[i].distinct * visited +
			     (1 - streams[i].distinct) * model_messages(40, 4),
		     streams[i].slices, .015);
	near(model_pipelined(40, 4, 0), 1, 0);
	near(model_pipelined(40, 4, 1), model_messages(40, 4), 1e-12);
}

/* Section 5, P = .05, k = 4; filters alive for a stream of new keys whose filter is sized for 1.05 windows. */
static void test_growth(void **state)
{
	(void)state;
	near(model_growth_keys(1, .05, 4), .16008, .00005);
	near(model_growth_density(.05, 4), .47287, .00001);
	near(model_chain_fpr(.05, 1), .05, 1e-12);
	near(model_chain_fpr(.05, 3), 1 - .95 * .95 * .95, 1e-12);
	assert_true(model_chain_filters(1, 1.05) == 2);
	assert_true(model_chain_filters(2, 1.05) == 3);
	assert_true(model_chain_filters(5, 1.05) == 6);
}

static void test_timers(void **state)
{
	(void)state;
	for (u64 ticks = 1; ticks < 5000; ticks++)
		assert_int_equal(model_timer_bits(ticks), (u32)ceil(log2(ticks + 1)));
	assert_int_equal(model_timer_bits(8), 4); /* where ceil(log2 w) is 3 */
	assert_int_equal(model_timer_bits(UINT64_MAX), 64);
	assert_true(model_sweep_ticks(4, 7) == 8);
	assert_true(model_passes(10, 10) == 1);
	assert_true(model_passes(21, 10) == 3);
	near(model_tick_missed(16), 1. / 32, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	  cmocka_unit_test(test_stream),
		cmocka_unit_test(test_slices),	  cmocka_unit_test(test_fairness),
		cmocka_unit_test(test_pipelined), cmocka_unit_test(test_growth),
		cmocka_unit_test(test_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

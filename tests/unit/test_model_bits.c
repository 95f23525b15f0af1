/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The models of load: known ends, and the load that engines really have. */
#include <math.h>
#include <stdlib.h>

#include "tests/common/ask.h"
#include "user/model.h"
#include "user/stream.h"

static double biased(double keys, double bits, u32 hashes, u32 engine)
{
	const struct model_arrivals in = { .keys = keys };

	return model_load_biased(0, &in, bits, hashes, engine);
}

/* Values of bera-2012's filters as they were measured, and the equations that they solve: with r = 1
 * q + q^2 = 1 for k = 2 and q + q^2 + q^3 = 1 for k = 3, with r = q one power more.
 */
static void test_stationary(void **state)
{
	static const struct {
		u32 engine, hashes;
		double load;
	} ends[] = {
		{ XDD_ENGINE_bsbf, 2, 0.6180 },	  { XDD_ENGINE_bsbf, 3, 0.5437 },
		{ XDD_ENGINE_bsbfsd, 2, 1 },	  { XDD_ENGINE_bsbfsd, 3, 1 },
		{ XDD_ENGINE_rlbsbf, 2, 0.7549 }, { XDD_ENGINE_rlbsbf, 3, 0.6823 },
	};

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(ends); i++) {
		double end = model_load_stationary(ends[i].hashes, ends[i].engine);
		double late = biased(1e9, 1e5, ends[i].hashes, ends[i].engine);

		assert_true(fabs(end - ends[i].load) < 0.00006);
		assert_true(fabs(late - end) < 0.0001);
	}
	assert_true(isnan(biased(1, 1, 2, XDD_ENGINE_sbf)));
	assert_true(isnan(model_load_stationary(2, XDD_ENGINE_tagged)));
}

/* Before anything is reset that is set, load is what a Bloom filter of k parts has. */
static void test_start(void **state)
{
	(void)state;
	assert_true(fabs(biased(1000, 1e6, 2, XDD_ENGINE_bsbf) - 0.001) < 2e-6);
	assert_true(biased(0, 1e6, 2, XDD_ENGINE_bsbf) == 0);
	assert_true(model_load_bloom(0, 1e6, 4, 1, 1) == 0);
	/* 5706 keys, 4 bits each, 48400 bits: koloniari-2011's rate of .02 */
	assert_true(fabs(pow(model_load_bloom(5706, 48400, 4, 1, 1), 4) - 0.02) < 0.0002);
	/* A key in one slice of one bit: of 100 slices 1 - .99^50 are hit. */
	assert_true(fabs(model_load_bloom(50, 100, 4, 100, 1) - (1 - pow(0.99, 50))) < 1e-9);
	assert_true(fabs(model_load_bloom(50, 100, 4, 100, 4) - (1 - pow(0.99, 200))) < 1e-9);
	assert_true(model_load_reset(0, 1e6, 1e6, 2, 4, 1) == 0);
	assert_true(model_reservoir(1000, 1000, 30000) == 1000);
	assert_true(model_reservoir(5000, 1000, 0) == 5000);
	assert_true(fabs(model_reservoir(2000, 1000, 30000) - 1693.1) < 0.1);
	assert_true(fabs(model_reservoir(40000, 1000, 30000) - 14401.2) < 0.1);
	/* of keys without number, K of K + P */
	assert_true(fabs(model_load_reset(1e9, 1e8, 1e4, 2, 4, 1) - 1.0 / 3) < 0.001);
}

#define RESERVOIR 200000

static double measured(u32 engine, u32 hashes, u64 domain, u32 records, u32 max)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
	struct xdd_store store;
	struct stream stream;
	double load;

	fixed.slicing = XDD_SLICING_none;
	fixed.slices = 1;
	fixed.blocks = 120;
	fixed.hashes = hashes;
	fixed.reservoir_events = RESERVOIR;
	fixed.sbf_max = max;
	fixed.sbf_bits = max > 3 ? 4 : max > 1 ? 2 : 1;
	stream_open(&stream, domain, 0, 7);
	ask_open(&store, &fixed);
	for (u32 i = 0; i < records; i++)
		ask_at(&store, xdd_mix64(stream_next(&stream)), 1);
	load = store_load(&store, 1);
	store_close(&store);
	return load;
}

/* Keys that are all different, then few of them. 61440 bits: the standard deviation of a load is
 * below .002 if they were independent.
 */
static void test_engines(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_bsbf, XDD_ENGINE_bsbfsd, XDD_ENGINE_rlbsbf };
	const double bits = 120 * XDD_LINE_BITS;

	(void)state;
	for (u32 records = 10000; records <= 640000; records *= 4) {
		for (u32 i = 0; i < 6; i++) {
			u32 engine = engines[i / 2], hashes = 2 + i % 2;
			double load = measured(engine, hashes, 1ull << 60, records, 1);

			assert_true(fabs(load - biased(records, bits / hashes, hashes, engine)) <
				    0.008);
		}
		for (u32 cell = 1; cell <= 4; cell *= 2) {
			u32 max = (1 << cell) - 1;
			double load = measured(XDD_ENGINE_sbf, 2, 20000, records, max);

			assert_true(fabs(load - model_load_reset(records, 20000, bits / cell, 2, 4,
								 max)) < 0.008);
		}
		assert_true(fabs(measured(XDD_ENGINE_rsbf, 3, 20000, records, 1) -
				 model_load_reset(model_reservoir(records, bits / 3, RESERVOIR),
						  20000, bits / 3, 1, 1, 1)) < 0.008);
	}
	assert_true(fabs(measured(XDD_ENGINE_bloom, 3, 1ull << 60, 20000, 1) -
			 model_load_bloom(20000, bits, 3, 1, 1)) < 0.008);
}

/* A stream with copies, some of which are forgotten: the model that is told how many comes closer
 * than the one of new keys.
 */
static void test_copies(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_bsbf, XDD_ENGINE_bsbfsd, XDD_ENGINE_rlbsbf };
	const u64 domain = 10000;

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		struct xdd_fixed fixed = config_fixed(engines[i], XDD_KEY_packet);
		double new = 0, all = 0, load;
		bool seen[10000] = {};
		struct xdd_store store;
		u64 random = 9;

		fixed.slicing = XDD_SLICING_none;
		fixed.slices = 1;
		fixed.blocks = 80;
		fixed.hashes = 2;
		ask_open(&store, &fixed);
		for (u32 round = 0; round < 100; round++) {
			struct model_arrivals in = {}, keys = {};

			for (u32 n = 0; n < 1000; n++) {
				u32 id = random_below(&random, domain);
				bool distinct = !ask_at(&store, xdd_mix64(id), 1);

				in.keys += !seen[id];
				in.copies += seen[id];
				in.forgotten += seen[id] && distinct;
				seen[id] = true;
			}
			keys.keys = in.keys;
			new = model_load_biased(new, &keys, 40 * XDD_LINE_BITS, 2, engines[i]);
			all = model_load_biased(all, &in, 40 * XDD_LINE_BITS, 2, engines[i]);
		}
		load = store_load(&store, 1);
		print_message("# load %.4f, of new keys %.4f, with copies %.4f\n", load, new, all);
		assert_true(fabs(all / load - 1) < 0.03);
		assert_true(fabs(new / load - 1) > 2 * fabs(all / load - 1));
		store_close(&store);
	}
}

static void close_to(double found, double want)
{
	if (fabs(found - want) > .012 + .05 * want)
		fail_msg("%.5f instead of %.5f", found, want);
}

/*
 * Copies that are forgotten: after new keys until nothing changes any more, one in 16 new ones comes again,
 * once, up to @window keys later.
 */
static double missed(u32 engine, u32 hashes, u32 max, u32 window)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
	u64 seed = 5, copies = 0, lost = 0, total = 600000;
	u32 *at = calloc(total + window, sizeof(*at));
	struct xdd_store store;

	fixed.slicing = XDD_SLICING_none;
	fixed.slices = 1;
	fixed.blocks = 24;
	fixed.hashes = hashes;
	fixed.reservoir_events = 1;
	fixed.sbf_max = max;
	fixed.sbf_bits = max > 1 ? 2 : 1;
	assert_non_null(at);
	ask_open(&store, &fixed);
	for (u32 i = 1; i <= total; i++) {
		if (i > total / 2 && i % 16 == 0)
			at[i + random_below(&seed, window)] = i;
		ask_at(&store, xdd_mix64(i), 1);
		if (!at[i])
			continue;
		copies++;
		lost += !(ask_at(&store, xdd_mix64(at[i]), 1) & XDD_SEEN);
	}
	store_close(&store);
	free(at);
	return (double)lost / copies;
}

/* About 18000 copies in 12288 bits: a standard deviation of at most .004, and copies that find their place
 * taken by a later copy.
 */
static void test_missed(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_bsbf, XDD_ENGINE_rlbsbf };
	const double bits = 24 * XDD_LINE_BITS;

	(void)state;
	for (u32 window = 500; window <= 8000; window *= 4) {
		for (u32 i = 0; i < 4; i++) {
			u32 engine = engines[i / 2], hashes = 2 + i % 2 * 2;

			close_to(missed(engine, hashes, 1, window),
				 model_missed_biased(window, bits / hashes, hashes, engine));
		}
		close_to(missed(XDD_ENGINE_sbf, 2, 1, window),
			 model_missed_reset(window, bits, 2, 4, 1, 2));
		close_to(missed(XDD_ENGINE_sbf, 2, 3, window),
			 model_missed_reset(window, bits / 2, 2, 4, 3, 2));
		close_to(missed(XDD_ENGINE_rsbf, 2, 1, window),
			 model_missed_reset(window, bits / 2, 1, 1, 1, 2));
	}
	assert_true(isnan(model_missed_biased(1, 1, 2, XDD_ENGINE_tagged)));
	assert_true(model_missed_biased(0, 100, 2, XDD_ENGINE_bsbf) < 1e-12);
	assert_true(model_missed_reset(0, 100, 2, 4, 3, 2) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stationary), cmocka_unit_test(test_start),
		cmocka_unit_test(test_engines),	   cmocka_unit_test(test_copies),
		cmocka_unit_test(test_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

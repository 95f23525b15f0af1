/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Defaults of the bit engines: what follows from a target, and what cannot be reached. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/model.h"
#include "xdd/bits.h"

#define GIVE(o, field, value) ((o)->field = (value), (o)->given[OPT_##field] = true)

static char err[MESSAGE_MAX];

static struct options of_engine(u32 engine)
{
	struct options o;

	options_init(&o, "test");
	GIVE(&o, engine, engine);
	GIVE(&o, memory, 1 << 20);
	return o;
}

static struct derived derived(const struct options *o)
{
	struct derived d;

	if (derive_config(o, DERIVE_FILE, 1, 1, 1, &d, err, sizeof(err)))
		fail_msg("%s", err);
	return d;
}

static void refused(const struct options *o, const char *word)
{
	struct derived d;

	*err = 0;
	assert_int_equal(derive_config(o, DERIVE_FILE, 1, 1, 1, &d, err, sizeof(err)), -ERANGE);
	if (!strstr(err, word))
		fail_msg("no \"%s\" in: %s", word, err);
}

static u32 hashes_for(u32 engine, double target, u32 given)
{
	struct options o = of_engine(engine);

	if (target > 0)
		GIVE(&o, fpr_target, target);
	if (given)
		GIVE(&o, hashes, given);
	return derived(&o).fixed.hashes;
}

/* rsbf: eq. 6.1 gives 5.02 at .1; its tables' column used 2. */
static void test_hashes(void **state)
{
	(void)state;
	assert_int_equal(hashes_for(XDD_ENGINE_rsbf, 0.1, 0), 3);
	assert_int_equal(hashes_for(XDD_ENGINE_rsbf, 0.01, 0), 6);
	assert_int_equal(hashes_for(XDD_ENGINE_rsbf, 0.9, 0), 1);
	assert_int_equal(hashes_for(XDD_ENGINE_rsbf, 1e-9, 0), XDD_MAX_HASHES);
	assert_int_equal(hashes_for(XDD_ENGINE_rsbf, 0.1, 5), 5);
	for (u32 engine = XDD_ENGINE_sbf; engine <= XDD_ENGINE_rlbsbf; engine++)
		assert_int_equal(hashes_for(engine, 0, 0), 2);
	assert_int_equal(hashes_for(XDD_ENGINE_bloom, 0, 0), 4);
}

/* bera-2012's tables: K 2, MAX 1 and a rate of .1 make P 4. */
static void test_sbf_default(void **state)
{
	struct options o = of_engine(XDD_ENGINE_sbf);
	struct derived d = derived(&o);

	(void)state;
	assert_int_equal(d.fixed.reset_bits, 4);
	assert_int_equal(d.fixed.sbf_max, 1);
	assert_int_equal(d.fixed.sbf_bits, 1);
	assert_true(fabs(d.fpr_model - 1.0 / 9) < 1e-4);
	assert_string_equal(d.warning, "");
	GIVE(&o, fpr_target, 0.1);
	assert_int_equal(derived(&o).fixed.reset_bits, 4);
	GIVE(&o, fpr_target, 0.01);
	d = derived(&o);
	assert_int_equal(d.fixed.reset_bits, 18);
	assert_true(fabs(d.fpr_model - 0.01) < 0.001);
}

static void test_sbf_max(void **state)
{
	static const struct {
		u32 max, bits;
	} rows[] = { { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 4 }, { 15, 4 }, { 16, 8 }, { 255, 8 } };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		struct options o = of_engine(XDD_ENGINE_sbf);
		struct derived d;

		GIVE(&o, sbf_max, rows[i].max);
		d = derived(&o);
		assert_int_equal(d.fixed.sbf_max, rows[i].max);
		assert_int_equal(d.fixed.sbf_bits, rows[i].bits);
		assert_in_range(d.fixed.reset_bits, 1, 64 / rows[i].bits);
		GIVE(&o, sbf_p, 64 / rows[i].bits);
		assert_int_equal(derived(&o).fixed.reset_bits, 64 / rows[i].bits);
		GIVE(&o, sbf_p, 64 / rows[i].bits + 1);
		if (rows[i].max > 1)
			refused(&o, "which is the most");
	}
}

/* A rate that no P of a word reaches is refused if asked for, and said if it is the default. */
static void test_sbf_unreachable(void **state)
{
	struct options o = of_engine(XDD_ENGINE_sbf);
	struct derived d;

	(void)state;
	GIVE(&o, sbf_max, 200);
	d = derived(&o);
	assert_int_equal(d.fixed.reset_bits, 8);
	assert_non_null(strstr(d.warning, "at most 8"));
	assert_true(d.fpr_model > 0.9);
	GIVE(&o, fpr_target, 0.1);
	refused(&o, "a word has 8");
	GIVE(&o, sbf_max, 3);
	d = derived(&o);
	assert_int_equal(d.fixed.reset_bits, 15);
	assert_true(fabs(d.fpr_model - 0.1) < 0.003);
}

/* In line on a NIC, where a key costs one access to memory; apart, as published, elsewhere. */
static void test_line(void **state)
{
	(void)state;
	for (u32 engine = XDD_ENGINE_bloom; engine < XDD_ENGINE_MAX; engine++) {
		struct options o = of_engine(engine);
		struct derived d;

		assert_int_equal(derived(&o).fixed.slicing, XDD_SLICING_none);
		if (derive_config(&o, DERIVE_NIC, 1, 1, 1, &d, err, sizeof(err)))
			fail_msg("%s", err);
		assert_int_equal(xdd_bits_in_line(&d.fixed), xdd_engine_is_lined(engine));
		if (!xdd_engine_is_lined(engine))
			continue;
		assert_int_equal(d.fixed.slices, xdd_lines(&d.fixed));
		GIVE(&o, slicing, XDD_SLICING_none);
		if (derive_config(&o, DERIVE_NIC, 1, 1, 1, &d, err, sizeof(err)))
			fail_msg("%s", err);
		assert_false(xdd_bits_in_line(&d.fixed));
		GIVE(&o, slicing, XDD_SLICING_horizontal);
		GIVE(&o, hashes, 3);
		d = derived(&o);
		assert_int_equal(xdd_bits_filter(&d.fixed), (1 << 20) / 64 * (512 / 3));
	}
}

/* bloom keeps what its size promises, and one key more would not fit. */
static void test_bloom(void **state)
{
	struct options o = of_engine(XDD_ENGINE_bloom);
	struct derived d;
	u64 capacity;

	(void)state;
	d = derived(&o);
	capacity = d.capacity_keys;
	assert_in_range(capacity, 400000, 500000);
	assert_true(fabs(d.fpr_model / 0.001 - 1) < 0.01);
	o.given[OPT_memory] = false;
	GIVE(&o, capacity, 1000000);
	GIVE(&o, fpr_target, 0.01);
	d = derived(&o);
	assert_int_equal(d.capacity_keys, 1000000);
	assert_int_equal(d.lines, ceil(-4e6 / log(1 - pow(0.01, 0.25)) / 512));
	assert_true(d.fpr_model <= 0.01 && d.fpr_model > 0.0099);
}

/* A bit filter's bits are numbered by 32 bits, those of bloom by line. */
static void test_large(void **state)
{
	struct options o = of_engine(XDD_ENGINE_sbf);
	struct derived d;

	(void)state;
	GIVE(&o, memory, 1ull << 31);
	refused(&o, "at most 512MiB for each of the 2 --hashes");
	o = of_engine(XDD_ENGINE_bloom);
	GIVE(&o, memory, 1ull << 32);
	d = derived(&o);
	assert_int_equal(d.lines, 1 << 26);
	assert_int_equal(d.memory_bytes, 1ull << 32);
}

/* What is on other machines needs no memory here. */
static void test_share(void **state)
{
	struct options o = of_engine(XDD_ENGINE_bloom);
	struct derived d;

	(void)state;
	GIVE(&o, slicing, XDD_SLICING_vertical);
	GIVE(&o, slices, 4000);
	GIVE(&o, memory, 255ull << 30);
	o.slice_first = 3998;
	o.slice_end = 4000;
	d = derived(&o);
	assert_int_equal(d.lines, (255ull << 24) / 4000 * 4000);
	GIVE(&o, memory, 1ull << 60);
	assert_int_equal(derive_config(&o, DERIVE_FILE, 1, 1, 1, &d, err, sizeof(err)), -ENOMEM);
	assert_non_null(strstr(err, "these slices of the filter would take"));
	o.slice_end = 0;
	o.sites = true;
	refused(&o, "less than 256GiB");
	GIVE(&o, memory, UINT64_MAX);
	refused(&o, "less than 256GiB");
	GIVE(&o, memory, 255ull << 30);
	derived(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes),	cmocka_unit_test(test_sbf_default),
		cmocka_unit_test(test_sbf_max), cmocka_unit_test(test_sbf_unreachable),
		cmocka_unit_test(test_bloom),	cmocka_unit_test(test_line),
		cmocka_unit_test(test_large),	cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

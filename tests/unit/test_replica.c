/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stale replicas: zhu-jiang-2006's formulas, and when an update is due. */
#include <math.h>

#include "tests/common/test.h"
#include "user/cluster/update.h"
#include "user/model/replica.h"

#define CELLS 1200

static void near(double found, double want, double off)
{
	if (!(fabs(found - want) <= off))
		fail_msg("%.9g instead of %.9g, to within %g", found, want, off);
}

/* Table 1: of n_hat keys 25 are deleted, then 50, 100 or 150 added. Percent. */
static void test_false_positives(void **state)
{
	static const struct {
		u32 k, keys, added;
		double delta0, delta1, percent;
	} rows[] = {
		{ 6, 25, 50, .0942, .2042, .0002 },	{ 6, 25, 150, .0600, .4875, .0001 },
		{ 6, 75, 100, .0600, .2833, .0794 },	{ 6, 150, 50, .0533, .1042, 2.2749 },
		{ 6, 150, 150, .0325, .2508, 2.1872 },	{ 6, 300, 50, .0250, .0417, 23.6555 },
		{ 6, 300, 100, .0183, .0692, 25.4016 }, { 8, 75, 50, .0792, .1767, .0525 },
		{ 8, 150, 100, .0350, .1758, 2.6783 },	{ 8, 300, 150, .0083, .0817, 32.1779 },
	};

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		double fill = model_fill(rows[i].keys - 25 + rows[i].added, CELLS, rows[i].k);

		near(100 * model_replica_fpr(fill, rows[i].delta1, rows[i].delta0, rows[i].k),
		     rows[i].percent, .03);
	}
}

/* Table 2: 5 hosts, eq. 16. */
static void test_hosts(void **state)
{
	static const struct {
		u32 k, keys;
		double delta0, delta1, percent;
	} rows[] = { { 6, 240, .0100, .1705, 46.223 }, { 8, 100, .1377, .1732, 2.198 } };

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		u32 k = rows[i].k;
		double fill = model_fill(rows[i].keys, CELLS, k);
		double fpr = model_replica_fpr(fill, rows[i].delta1, rows[i].delta0, k);
		double fnr = model_replica_fnr(fill, rows[i].delta1, k);

		near(100 * model_host_rate(model_host_fpr(pow(fill, k), fpr, 4),
					   model_host_fnr(fnr, 4)),
		     rows[i].percent, .001);
	}
}

/* What theorem 3 says of any key, and what the members miss: k=6, n_hat=150, 25 deleted, 50 added. */
static void test_members(void **state)
{
	double fill = model_fill(175, CELLS, 6), before = model_fill(150, CELLS, 6);

	(void)state;
	near(model_replica_member_fnr(50, 175, before, 6), .2795, .0001);
	near(model_replica_fnr(fill, .1042, 6), .0273, .0015);
	near(model_fill_keys(fill, CELLS, 6), 175, 1e-9);
	assert_true(model_replica_member_fnr(0, 0, 0, 6) == 0);
}

static struct staleness fresh(double keys, double cells)
{
	return (struct staleness){
		.cells = cells, .hashes = 6, .keys = keys, .fill = model_fill(keys, cells, 6)
	};
}

/* Above 38.1 keys in 200 bits, or 228.7 in 1200, even a fresh replica is above a target of 10 %. */
static void test_guard(void **state)
{
	struct update_policy policy = {
		.rule = UPDATE_printed, .target = .1, .fp_weight = 1, .fn_weight = 1
	};
	struct staleness s = fresh(38.0, 200);

	(void)state;
	assert_false(update_due(&policy, &s));
	s = fresh(38.2, 200);
	assert_true(update_due(&policy, &s));
	near(update_rate(&policy, &s), update_floor(&policy, &s), 1e-12);
	s = fresh(228.6, 1200);
	assert_false(update_due(&policy, &s));
	s = fresh(228.8, 1200);
	assert_true(update_due(&policy, &s));
	policy.rule = UPDATE_false_rate;
	assert_false(update_due(&policy, &s));
	/* New keys only turn false positives of the replica into false negatives. */
	s.delta1 = .05;
	assert_false(update_due(&policy, &s));
	s.delta0 = .05;
	assert_true(update_due(&policy, &s));
}

/* Each rule alone; what counts as a miss; weights. */
static void test_due(void **state)
{
	struct update_policy policy = {
		.every = 5, .dirty = .1, .target = .05, .fp_weight = 1, .fn_weight = 1
	};
	struct staleness s = fresh(100, 1200);

	(void)state;
	s.unpublished = 10;
	s.delta1 = .04;
	s.delta0 = .05;
	s.since = 4;
	assert_false(update_due(&policy, &s));
	policy.rule = UPDATE_every;
	assert_false(update_due(&policy, &s));
	s.since = 5;
	assert_true(update_due(&policy, &s));
	policy.rule = UPDATE_dirty;
	assert_false(update_due(&policy, &s));
	s.delta0 = .07;
	assert_true(update_due(&policy, &s));
	policy.rule = UPDATE_false_rate;
	assert_false(update_due(&policy, &s));
	policy.bound = BOUND_member;
	assert_true(update_due(&policy, &s));
	policy.fn_weight = .1;
	assert_false(update_due(&policy, &s));
}

static void test_compare(void **state)
{
	u64 home[2] = { 0xff00, 1 }, sent[2] = { 0x0ff0, 0 };
	struct staleness s = {};

	(void)state;
	update_compare(&s, home, sent, 100);
	assert_true(s.cells == 100 && s.fill == .09 && s.delta1 == .05 && s.delta0 == .04);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_positives),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_guard),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

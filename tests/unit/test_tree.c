// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees of filters (koloniari-2011 section 6): they decide as one filter does, and miss no copy. */
#include <errno.h>

#include "tests/common/config.h"
#include "user/accessors.h"

#define LEAVES 8
#define KEYS 3000

/* A filter that errs: its cells are few. */
static struct xdd_fixed small(u32 engine, u32 slicing)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);

	fixed.blocks = 16;
	fixed.slices = slicing == XDD_SLICING_none ? 1 : 16;
	fixed.slicing = slicing;
	if (engine == XDD_ENGINE_bloom)
		fixed.line_cells = 500;
	fixed.tick_ns = 1;
	return fixed;
}

static struct xdd_fixed tree(const struct xdd_fixed *single, u32 kind, u32 levels, u32 top_down)
{
	struct xdd_fixed fixed = *single;

	fixed.placement = XDD_PLACEMENT_tree;
	fixed.tree = kind;
	fixed.levels = levels;
	fixed.tree_leaves = LEAVES;
	fixed.tree_fan_out = 2;
	fixed.top_down = top_down;
	return fixed;
}

static void open_store(struct xdd_store *store, const struct xdd_fixed *fixed)
{
	const struct xdd_live live = config_live();

	assert_int_equal(store_open(store, fixed, &live, 1 << 20), 0);
}

static bool ask_single(struct xdd_store *store, struct xdd_digest digest, u64 tick)
{
	const struct xdd_identity identity = { .digest = digest };
	struct xdd_verdict verdict;

	verdict = xdd_judge(&store->fixed, &store->live, store, &identity, tick, 0);
	assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
	return verdict.found & XDD_SEEN;
}

/* What a run over random keys from random leaves came to. */
struct run {
	u32 different, copies, wrong, missed;
};

/* Steps of time: mostly none, at times past windows and horizons; @back: also backwards. */
static u64 step(u64 *seed, bool back)
{
	u32 pick = random_below(seed, 10000);

	if (back && pick < 100)
		return -(u64)random_below(seed, 6);
	if (pick < 9980)
		return pick % 50 == 0;
	return random_below(seed, pick < 9995 ? 20 : 600);
}

/* Ask a tree and one filter of its nodes' size the same, and who knows: a copy is what came less
 * than a window after its key was last found distinct. Without @steps all is within a window.
 */
static struct run compare(const struct xdd_fixed *single, const struct xdd_fixed *fixed, u32 n,
			  bool steps, bool back)
{
	u64 seed = 7, tick = 1 << 20, at[KEYS] = {};
	struct xdd_store one, nodes;
	struct run run = {};

	open_store(&one, single);
	open_store(&nodes, fixed);
	for (u32 i = 0; i < n; i++) {
		u32 key = random_below(&seed, KEYS) * random_below(&seed, KEYS) / KEYS;
		struct xdd_digest digest = { xdd_mix64(key + 1), 0 };
		u32 leaf = random_below(&seed, 2) ? key % LEAVES : random_below(&seed, LEAVES);
		bool copy = at[key] && (!steps || tick - at[key] < CONFIG_WINDOW_TICKS);
		bool seen = store_tree_ask(&nodes, &digest, tick, leaf);

		run.different += seen != ask_single(&one, digest, tick);
		run.copies += copy;
		run.wrong += !copy && seen;
		run.missed += copy && !seen;
		if (!seen)
			at[key] = tick;
		tick += steps ? step(&seed, back) : 0;
	}
	assert_int_equal(nodes.unanswered, 0);
	store_close(&one);
	store_close(&nodes);
	return run;
}

/* Sparse, dense and a single filter decide identically (Prop. 3 and 4), in every layout. */
static void test_identical(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_bloom, XDD_ENGINE_timer, XDD_ENGINE_timer };
	static const u32 slicings[] = { XDD_SLICING_none, XDD_SLICING_none,
					XDD_SLICING_horizontal };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed single = small(engines[i], slicings[i]);

		for (u32 kind = 0; kind < XDD_TREE_MAX; kind++)
			for (u32 levels = 2; levels <= 4; levels++) {
				struct xdd_fixed fixed = tree(&single, kind, levels, 0);
				struct run run = compare(&single, &fixed, 40000,
							 engines[i] == XDD_ENGINE_timer, false);

				assert_int_equal(run.different, 0);
				assert_true(run.copies > 5000 && run.wrong > 50);
			}
	}
}

/* Where time steps back a leaf's line may be behind the root's: a few verdicts differ, no more. */
static void test_time_back(void **state)
{
	struct xdd_fixed single = small(XDD_ENGINE_timer, XDD_SLICING_none);
	struct xdd_fixed fixed = tree(&single, XDD_TREE_dense, 3, 0);
	struct run run = compare(&single, &fixed, 40000, true, true);

	(void)state;
	print_message("# time that steps back: %u of 40000 verdicts differ\n", run.different);
	assert_in_range(run.different, 0, 400);
}

/* Tagged: the same as long as no line is full; then a leaf may know what the root evicted. */
static void test_tagged(void **state)
{
	struct xdd_fixed single = small(XDD_ENGINE_tagged, XDD_SLICING_horizontal);
	struct xdd_fixed fixed = tree(&single, XDD_TREE_dense, 2, 0);
	struct run full = compare(&single, &fixed, 40000, true, false), roomy;

	(void)state;
	single.blocks = single.slices = 4096;
	fixed = tree(&single, XDD_TREE_dense, 2, 0);
	roomy = compare(&single, &fixed, 40000, true, false);
	print_message("# full lines: %u verdicts differ, %u of %u copies missed\n", full.different,
		      full.missed, full.copies);
	assert_int_equal(roomy.different, 0);
	assert_int_equal(roomy.missed, 0);
	assert_true(roomy.copies > 5000);
	assert_true(full.different && full.missed);
}

/* Top-down testing misses no copy, and is wrong less often the further down it looks. */
static void test_top_down(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_bloom, XDD_ENGINE_timer };

	(void)state;
	for (u32 i = 0; i < 2 * XDD_TREE_MAX; i++) {
		struct xdd_fixed single = small(engines[i / 2], XDD_SLICING_none), fixed;
		u32 wrong = ~0;

		for (u32 top_down = 0; top_down < 4; top_down++) {
			struct run run;

			fixed = tree(&single, i % 2, 4, top_down);
			run = compare(&single, &fixed, 40000, i >= 2, false);
			print_message("# engine %u, %s, D %u: %u of %u wrong\n", engines[i / 2],
				      i % 2 ? "dense" : "sparse", top_down, run.wrong,
				      40000 - run.copies);
			assert_int_equal(run.missed, 0);
			assert_true(run.wrong <= wrong);
			wrong = run.wrong;
		}
		assert_true(wrong > 0);
	}
}

/* A leaf that is filled from the root forgets when the root does, not a window later. */
static void test_least_timer(void **state)
{
	struct xdd_fixed single = small(XDD_ENGINE_timer, XDD_SLICING_none);
	struct xdd_fixed fixed = tree(&single, XDD_TREE_dense, 2, 0);
	struct xdd_digest key = { 12345, 0 };
	struct xdd_store store;
	u64 tick = 1000;

	(void)state;
	open_store(&store, &fixed);
	assert_false(store_tree_ask(&store, &key, tick, 0));
	tick += CONFIG_WINDOW_TICKS - 1;
	assert_true(store_tree_ask(&store, &key, tick, 5));
	assert_int_equal(store.tree.level[0].hits, 1);
	assert_true(store_tree_ask(&store, &key, tick, 5));
	assert_int_equal(store.tree.level[1].hits, 1);
	assert_false(store_tree_ask(&store, &key, tick + 1, 5));
	store_close(&store);
}

/* What is counted is what koloniari-2011 counts: the root of a dense tree is visited by every miss of
 * the leaves, that of a sparse one also to set.
 */
static void check_counts(u32 engine, u32 kind)
{
	struct xdd_fixed single = small(engine, XDD_SLICING_none);
	struct xdd_fixed fixed = tree(&single, kind, 2, 0);
	u64 misses, distinct = 0, seed = 3;
	const struct xdd_tree_level *level;
	struct xdd_store store;

	open_store(&store, &fixed);
	level = store.tree.level;
	for (u32 i = 0; i < 5000; i++) {
		struct xdd_digest digest = { xdd_mix64(random_below(&seed, 200)), 0 };

		distinct += !store_tree_ask(&store, &digest, 1000, random_below(&seed, LEAVES));
	}
	misses = 5000 - level[1].hits;
	assert_int_equal(level[0].hits + level[1].hits + distinct, 5000);
	assert_int_equal(level[0].accesses, misses + (kind == XDD_TREE_sparse ? distinct : 0));
	if (kind == XDD_TREE_sparse)
		assert_int_equal(level[1].accesses, 5000 + distinct);
	else
		assert_int_equal(level[1].accesses,
				 5000 + (engine == XDD_ENGINE_bloom ? 0 : misses));
	assert_true(level[0].hits && level[1].hits);
	store_close(&store);
}

static void test_counts(void **state)
{
	(void)state;
	for (u32 kind = 0; kind < XDD_TREE_MAX; kind++) {
		check_counts(XDD_ENGINE_bloom, kind);
		check_counts(XDD_ENGINE_timer, kind);
		check_counts(XDD_ENGINE_tagged, kind);
	}
}

/* Trees that cannot be. */
static void test_refused(void **state)
{
	const struct xdd_fixed single = small(XDD_ENGINE_timer, XDD_SLICING_none);
	const struct xdd_live live = config_live();
	struct xdd_fixed bad[7];
	struct xdd_store store;

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(bad); i++)
		bad[i] = tree(&single, XDD_TREE_dense, 3, 0);
	bad[0].engine = XDD_ENGINE_rlbsbf;
	bad[1].levels = 1;
	bad[2].levels = XDD_TREE_MAX_LEVELS + 1;
	bad[3].top_down = 3;
	bad[4].refresh = 1;
	bad[5].tree_leaves = 0;
	bad[6].tree = XDD_TREE_MAX;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(bad); i++) {
		assert_int_equal(store_open(&store, &bad[i], &live, 0), -EINVAL);
		store_close(&store);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identical),   cmocka_unit_test(test_time_back),
		cmocka_unit_test(test_tagged),	    cmocka_unit_test(test_top_down),
		cmocka_unit_test(test_least_timer), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two CPUs show the same million keys to one shared filter at the same time: no key passes
 * twice, and hardly more never pass than the engine's model of false positives predicts.
 */
#include "tests/bpf/two_cpus.h"
#include "tests/common/structures.h"
#include "user/model.h"
#include "xdd/line.h"
#include "xdd/slices.h"

#define BYTES_PER_KEY 32

/*
 * A million keys in made-up time that ends before the first one's window does; or each key two
 * ticks later than the one before, so that few are live and most lines are stale when one of
 * the CPUs, or both, come to them. The CPUs are then up to 6 ticks apart (XDD_SKEW_TICKS).
 */
struct row {
	u32 engine, slicing, hashes;
	u32 keys, lines;
	u64 step_ns;
};

struct shape {
	struct row row;
	u32 levels, tree, top_down;
};

#define MANY_KEYS (1u << 20)
#define MANY MANY_KEYS, MANY_KEYS / XDD_LINE_BYTES *BYTES_PER_KEY, 10
#define STALE (1u << 18), 1024, 2 * TICK_NS

/* The model's false positives, key by key while the filter fills up. */
static double expected_false(const struct row *row, const struct xdd_fixed *fixed)
{
	double window = (double)XDD_MAX_WINDOW_TICKS * TICK_NS / row->step_ns, sum = 0;
	double cells = (double)row->lines * XDD_LINE_TIMERS;
	const u32 steps = 1024;

	for (u32 i = 0; i < steps; i++) {
		double live = fmin((i + 0.5) * row->keys / steps, window);

		if (fixed->engine == XDD_ENGINE_tagged)
			sum += model_tagged(live, row->lines);
		else if (fixed->engine == XDD_ENGINE_bloom)
			sum += pow(-expm1(-(double)fixed->hashes * live / xdd_cells(fixed)),
				   fixed->hashes);
		else if (fixed->engine == XDD_ENGINE_timer)
			sum += model_timer(live, fixed->slices, cells / fixed->slices,
					   fixed->hashes);
	}
	return sum * row->keys / steps;
}

static struct xdd_fixed row_fixed(const struct row *row)
{
	bool recovery = row->engine == XDD_ENGINE_recovery;
	struct xdd_fixed fixed =
		config_fixed(row->engine, recovery ? XDD_KEY_redundancy : XDD_KEY_packet);

	fixed.verify_checksum = 0;
	fixed.blocks = row->lines;
	fixed.slicing = row->slicing;
	fixed.slices = row->slicing == XDD_SLICING_horizontal ? row->lines : 1;
	fixed.hashes = row->hashes;
	fixed.stripes = 4096;
	fixed.tick_ns = TICK_NS;
	return fixed;
}

static struct xdd_fixed tree_fixed(const struct shape *shape)
{
	struct xdd_fixed fixed = row_fixed(&shape->row);

	structure_tree(&fixed, shape->levels, libbpf_num_possible_cpus(), shape->tree,
		       shape->top_down);
	fixed.blocks = shape->row.lines / XDD_CPU_BLOCK_LINES;
	fixed.lines_per_block = XDD_CPU_BLOCK_LINES;
	if (fixed.slicing == XDD_SLICING_horizontal)
		fixed.slices = xdd_lines(&fixed);
	return fixed;
}

/* @twice_too: a key that is taken for a duplicate wrongly may pass twice instead. */
static void check_filter(const struct row *row, const struct xdd_fixed *fixed, bool twice_too)
{
	u32 never, twice, bound = 0;
	struct hammer *skel;
	int cpus[2];

	two_cpus_need(cpus);
	skel = open_filter(fixed, row->keys, row->step_ns, cpus[0]);
	run_sides(skel, row->keys, cpus);
	count_passes(skel, row->keys, &never, &twice);
	if (row->engine != XDD_ENGINE_exact)
		bound = poisson_bound(expected_false(row, fixed));
	print_message("# expected to be called duplicates wrongly: %.2f, bound %u\n",
		      expected_false(row, fixed), bound);
	hammer__destroy(skel);
	assert_in_range(twice, 0, twice_too ? bound : 0);
	assert_in_range(never, 0, bound);
}

static void check(const struct row *row)
{
	struct xdd_fixed fixed = row_fixed(row);

	check_filter(row, &fixed, false);
}

static void test_tagged(void **state)
{
	const struct row many = { XDD_ENGINE_tagged, XDD_SLICING_horizontal, 1, MANY };

	(void)state;
	check(&many);
}

static void test_timer_one_line(void **state)
{
	const struct row many = { XDD_ENGINE_timer, XDD_SLICING_horizontal, 4, MANY };

	(void)state;
	check(&many);
}

static void test_timer_k_lines(void **state)
{
	const struct row many = { XDD_ENGINE_timer, XDD_SLICING_none, 4, MANY };

	(void)state;
	check(&many);
}

static void test_exact(void **state)
{
	const struct row many = { XDD_ENGINE_exact, XDD_SLICING_none, 1, MANY };

	(void)state;
	check(&many);
}

/* One stream, whose numbers go round: each passes once. */
static void test_recovery(void **state)
{
	const struct row few = { XDD_ENGINE_recovery, XDD_SLICING_none, 1, 1u << 19, 1024, 100 };

	(void)state;
	check(&few);
}

/* Trees: the root's lock decides, whichever leaf a key was shown at first. */
static void test_trees(void **state)
{
	static const struct shape shapes[] = {
		{ { XDD_ENGINE_tagged, XDD_SLICING_horizontal, 1, MANY }, 2, XDD_TREE_dense, 0 },
		{ { XDD_ENGINE_timer, XDD_SLICING_horizontal, 4, MANY }, 3, XDD_TREE_dense, 0 },
		{ { XDD_ENGINE_timer, XDD_SLICING_none, 4, MANY }, 2, XDD_TREE_sparse, 0 },
		{ { XDD_ENGINE_timer, XDD_SLICING_none, 4, MANY }, 2, XDD_TREE_dense, 1 },
		{ { XDD_ENGINE_bloom, XDD_SLICING_none, 4, MANY }, 2, XDD_TREE_dense, 0 },
		{ { XDD_ENGINE_bloom, XDD_SLICING_none, 4, MANY }, 3, XDD_TREE_sparse, 1 },
		{ { XDD_ENGINE_timer, XDD_SLICING_none, 4, STALE }, 2, XDD_TREE_dense, 1 },
	};

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(shapes); i++) {
		struct xdd_fixed fixed = tree_fixed(&shapes[i]);

		print_message("# engine %u, %u levels, %s, D %u\n", fixed.engine, fixed.levels,
			      fixed.tree ? "dense" : "sparse", fixed.top_down);
		check_filter(&shapes[i].row, &fixed, fixed.top_down);
	}
}

static void test_tagged_stale(void **state)
{
	const struct row stale = { XDD_ENGINE_tagged, XDD_SLICING_horizontal, 1, STALE };

	(void)state;
	check(&stale);
}

static void test_timer_one_line_stale(void **state)
{
	const struct row stale = { XDD_ENGINE_timer, XDD_SLICING_horizontal, 4, STALE };

	(void)state;
	check(&stale);
}

static void test_timer_k_lines_stale(void **state)
{
	const struct row stale = { XDD_ENGINE_timer, XDD_SLICING_none, 4, STALE };

	(void)state;
	check(&stale);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tagged),
		cmocka_unit_test(test_timer_one_line),
		cmocka_unit_test(test_timer_k_lines),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_tagged_stale),
		cmocka_unit_test(test_timer_one_line_stale),
		cmocka_unit_test(test_timer_k_lines_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees of filters on two CPUs: both builds agree on every verdict, cell and count, and both say
 * what one filter of a node's size says.
 */
#include "both.h"
#include "tests/common/numbered.h"

#define FRAMES 6000
#define KEYS 1200

static u32 frames = FRAMES;
static int cpus; /* that may be used: one or two */

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static int usable_cpus(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return CPU_ISSET(0, &set) && CPU_ISSET(1, &set) ? 2 : 1;
}

/* One that errs: its lines have few cells. */
static struct xdd_fixed small_tree(u32 engine, u32 slicing, u32 levels, u32 kind, u32 top_down)
{
	struct xdd_fixed fixed = structure_fixed(engine, slicing, XDD_PLACEMENT_tree, false);

	structure_tree(&fixed, levels, libbpf_num_possible_cpus(), kind, top_down);
	fixed.blocks = 1;
	fixed.verify_checksum = 0;
	fixed.slices = slicing == XDD_SLICING_none ? 1 : XDD_CPU_BLOCK_LINES;
	if (engine != XDD_ENGINE_tagged)
		fixed.line_cells = 4;
	return fixed;
}

static void open_single(struct xdd_store *store, const struct xdd_fixed *fixed,
			const struct xdd_live *live)
{
	struct xdd_fixed single = *fixed;

	single.placement = XDD_PLACEMENT_percpu;
	single.top_down = 0;
	assert_int_equal(store_open(store, &single, live, 0), 0);
}

/* What a run came to. */
struct run {
	u32 seen, differs;
	struct xdd_tree_level level[XDD_TREE_MAX_LEVELS];
};

/* Show frame @number to both builds on a CPU, and to the single filter. */
static void show(struct both *both, struct xdd_store *single, u32 number, int cpu, u64 now,
		 struct run *run)
{
	struct xdd_packet packet = { .len = NUMBERED_BYTES, .wire_len = NUMBERED_BYTES };
	u8 frame[NUMBERED_BYTES];
	bool seen;

	numbered_make(frame, number);
	packet.data = frame;
	packet.end = frame + sizeof(frame);
	packet.link = both->store.fixed.link;
	run_on(cpu);
	both->store.tree.leaf = cpu;
	seen = both_decide(both, frame, sizeof(frame), now).found & XDD_SEEN;
	run->seen += seen;
	run->differs += seen != (store_decide(single, &packet, now).found & XDD_SEEN);
}

static struct run check(const struct xdd_fixed *fixed)
{
	u64 seed = 11, now = 70000ULL * CONFIG_TICK_NS;
	struct xdd_live live = config_live();
	struct xdd_store single;
	struct run run = {};
	struct both both;

	both_open(&both, fixed, &live);
	open_single(&single, fixed, &live);
	for (u32 i = 0; i < frames; i++) {
		u32 number = random_below(&seed, KEYS) * random_below(&seed, KEYS) / KEYS;

		show(&both, &single, number, random_below(&seed, cpus), now, &run);
		if (!random_below(&seed, 50))
			now += CONFIG_TICK_NS * (random_below(&seed, 100) ? 1 : 200);
	}
	memcpy(run.level, both.store.tree.level, sizeof(run.level));
	both_compare(&both);
	both_close(&both);
	store_close(&single);
	run_on(0);
	return run;
}

static void test_identical(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_bloom, XDD_ENGINE_timer, XDD_ENGINE_timer,
				       XDD_ENGINE_tagged };
	static const u32 slicings[] = { XDD_SLICING_none, XDD_SLICING_none, XDD_SLICING_horizontal,
					XDD_SLICING_horizontal };

	(void)state;
	both_need_root();
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines) * 4; i++) {
		struct xdd_fixed fixed =
			small_tree(engines[i / 4], slicings[i / 4], 2 + (i & 1), i / 2 & 1, 0);
		struct run run = check(&fixed);
		u64 upper = run.level[0].hits + run.level[1].hits * (fixed.levels == 3);

		print_message("# engine %u slicing %u levels %u %s: %u of %u duplicates, %lu found "
			      "above the leaves\n",
			      fixed.engine, fixed.slicing, fixed.levels,
			      fixed.tree ? "dense" : "sparse", run.seen, frames,
			      (unsigned long)upper);
		assert_int_equal(run.differs, 0);
		assert_true(run.seen > frames / 4);
		assert_true(upper > frames / 50 || cpus == 1);
		assert_true(run.level[fixed.levels - 1].hits > frames / 50);
	}
}

/* Matches that top-down testing refutes: the filters are wrong, and the tree is not. */
static void test_top_down(void **state)
{
	(void)state;
	both_need_root();
	for (u32 i = 0; i < 8; i++) {
		u32 engine = i & 1 ? XDD_ENGINE_timer : XDD_ENGINE_bloom, levels = 2 + (i >> 2);
		struct xdd_fixed fixed =
			small_tree(engine, XDD_SLICING_none, levels, i / 2 & 1, levels - 1);
		struct run run = check(&fixed);
		u64 refuted = 0;

		for (u32 level = 0; level < levels; level++)
			refuted += run.level[level].refuted;
		print_message("# engine %u levels %u %s: %lu matches refuted\n", engine, levels,
			      fixed.tree ? "dense" : "sparse", (unsigned long)refuted);
		/* of timers, a key that is distinct in one of both goes on to differ */
		assert_true(run.differs <= refuted || engine == XDD_ENGINE_timer);
		assert_true(refuted > 10 || cpus == 1);
	}
}

/* --few: fewer frames. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identical),
		cmocka_unit_test(test_top_down),
	};

	if (argc > 1 && !strcmp(argv[1], "--few"))
		frames = FRAMES / 10;
	cpus = usable_cpus();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

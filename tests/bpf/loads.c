/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two CPUs show the same keys to bit engines at the same time. The loads of rlbsbf are the bits
 * that are set, in a filter so small that the CPUs meet in its words all the time, and in each
 * CPU's own. In a large filter each key passes once, but for what chance forgets or mistakes.
 */
#include <stdlib.h>

#include "tests/bpf/two_cpus.h"
#include "user/store.h"
#include "xdd/bits.h"

#define KEYS (1u << 18)
#define SMALL_LINES 67	       /* not a multiple of k: some are left over */
#define LARGE_LINES (1u << 20) /* 64 MiB */
#define HAMMER_APART 8	       /* more events than lie between a key's two showings */

static struct xdd_fixed bits_fixed(u32 engine, u32 hashes, u32 lines)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);

	fixed.verify_checksum = 0;
	fixed.slicing = XDD_SLICING_none;
	fixed.slices = 1;
	fixed.blocks = lines;
	fixed.hashes = hashes;
	fixed.stripes = 4096;
	return fixed;
}

/* The same with its k filters in line. */
static struct xdd_fixed lined_fixed(u32 engine, u32 hashes, u32 lines)
{
	struct xdd_fixed fixed = bits_fixed(engine, hashes, lines);

	fixed.slicing = XDD_SLICING_horizontal;
	fixed.slices = lines;
	return fixed;
}

static u64 ones_in(const u64 *words, u64 n)
{
	u64 ones = 0;

	for (u64 i = 0; i < n; i++)
		ones += __builtin_popcountll(words[i]);
	return ones;
}

/* The bits of each of k filters, counted; those that are left over in the last. */
static void count_shared(struct hammer *skel, const struct xdd_fixed *fixed,
			 u64 ones[XDD_MAX_HASHES + 1])
{
	size_t size = (fixed->blocks * sizeof(struct xdd_line) + 4095) & ~4095ul;
	u32 lines = fixed->blocks / fixed->hashes, used = lines * fixed->hashes;
	struct xdd_line *all =
		mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(skel->maps.lines), 0);

	assert_true(all != MAP_FAILED);
	memset(ones, 0, (XDD_MAX_HASHES + 1) * sizeof(*ones));
	if (xdd_bits_in_line(fixed)) {
		store_parts_ones(fixed, all, fixed->blocks, ones);
		ones[XDD_MAX_HASHES] = ones_in(all->word, (u64)fixed->blocks * XDD_LINE_WORDS);
		for (u32 i = 0; i < fixed->hashes; i++)
			ones[XDD_MAX_HASHES] -= ones[i];
	} else {
		for (u32 i = 0; i < fixed->hashes; i++)
			ones[i] = ones_in(all[i * lines].word, (u64)lines * XDD_LINE_WORDS);
		ones[XDD_MAX_HASHES] =
			ones_in(all[used].word, (u64)(fixed->blocks - used) * XDD_LINE_WORDS);
	}
	munmap(all, size);
}

static void check_shared(struct xdd_fixed fixed, const int *cpus)
{
	struct hammer *skel = open_filter(&fixed, KEYS, 1, cpus[0]);
	u64 ones[XDD_MAX_HASHES + 1];
	struct xdd_loads loads;
	u32 zero = 0;

	run_sides(skel, KEYS, cpus);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.loads), &zero, &loads), 0);
	count_shared(skel, &fixed, ones);
	for (u32 i = 0; i < fixed.hashes; i++) {
		print_message("# k %u, filter %u: load %lu, bits set %lu\n", fixed.hashes, i,
			      (unsigned long)loads.ones[i], (unsigned long)ones[i]);
		assert_int_equal(loads.ones[i], ones[i]);
		assert_true(ones[i] > 1000);
	}
	assert_int_equal(ones[XDD_MAX_HASHES], 0);
	hammer__destroy(skel);
}

static void test_shared_loads(void **state)
{
	static const u32 hashes[] = { 1, 2, 3, 8 };
	int cpus[2];

	(void)state;
	two_cpus_need(cpus);
	for (u32 i = 0; i < XDD_ARRAY_SIZE(hashes); i++) {
		check_shared(bits_fixed(XDD_ENGINE_rlbsbf, hashes[i], SMALL_LINES), cpus);
		check_shared(lined_fixed(XDD_ENGINE_rlbsbf, hashes[i], SMALL_LINES), cpus);
	}
}

/* Two blocks for each of two filters: where lines begin in a block does not matter then. */
static void test_percpu_loads(void **state)
{
	struct xdd_fixed fixed = bits_fixed(XDD_ENGINE_rlbsbf, 2, 4);
	u64 possible = libbpf_num_possible_cpus(), words = XDD_CPU_BLOCK_BYTES / 8;
	u64 *values = malloc(possible * XDD_CPU_BLOCK_BYTES);
	struct xdd_loads *loads = malloc(possible * sizeof(*loads));
	struct hammer *skel;
	int cpus[2], fd;
	u32 zero = 0;

	(void)state;
	two_cpus_need(cpus);
	fixed.placement = XDD_PLACEMENT_percpu;
	fixed.lines_per_block = XDD_CPU_BLOCK_LINES;
	skel = open_filter(&fixed, KEYS, 1, cpus[0]);
	run_sides(skel, KEYS, cpus);
	fd = bpf_map__fd(skel->maps.cpu_loads);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, loads), 0);
	fd = bpf_map__fd(skel->maps.cpu_blocks);
	for (u32 block = 0; block < fixed.blocks; block++) {
		assert_int_equal(bpf_map_lookup_elem(fd, &block, values), 0);
		for (u64 cpu = 0; cpu < possible; cpu++)
			loads[cpu].ones[block / 2] -= ones_in(values + cpu * words, words);
		for (int i = 0; i < 2; i++)
			assert_true(ones_in(values + cpus[i] * words, words) > 1000);
	}
	for (u64 cpu = 0; cpu < possible; cpu++) {
		assert_int_equal(loads[cpu].ones[0], 0);
		assert_int_equal(loads[cpu].ones[1], 0);
	}
	hammer__destroy(skel);
	free(values);
	free(loads);
}

/* By chance, an event between a key's two showings resets one of its cells (@resets: those that one
 * resets, in all), or all of its cells are others', which are at most KEYS. In line all may be those
 * of one other key, if it has the same line.
 */
static void check_once(struct xdd_fixed fixed, double resets, const int *cpus)
{
	double cells = (double)LARGE_LINES * XDD_LINE_BITS / fixed.sbf_bits / fixed.hashes;
	double forgotten = KEYS * HAMMER_APART * resets / cells;
	double mistaken = KEYS * pow(KEYS / cells, fixed.hashes), part = xdd_bits_of_line(&fixed);
	struct hammer *skel = open_filter(&fixed, KEYS, 1, cpus[0]);
	u32 never, twice;

	if (xdd_bits_in_line(&fixed))
		mistaken += KEYS * (double)KEYS / LARGE_LINES * pow(part, -(double)fixed.hashes);
	run_sides(skel, KEYS, cpus);
	count_passes(skel, KEYS, &never, &twice);
	print_message("# engine %u: by chance at most %u and %u\n", fixed.engine,
		      poisson_bound(mistaken), poisson_bound(forgotten));
	hammer__destroy(skel);
	assert_in_range(never, 0, poisson_bound(mistaken));
	assert_in_range(twice, 0, poisson_bound(forgotten));
}

static void test_once(void **state)
{
	struct xdd_fixed counting = bits_fixed(XDD_ENGINE_sbf, 2, LARGE_LINES);
	int cpus[2];

	(void)state;
	two_cpus_need(cpus);
	check_once(bits_fixed(XDD_ENGINE_rlbsbf, 2, LARGE_LINES), 2, cpus);
	check_once(bits_fixed(XDD_ENGINE_bsbf, 2, LARGE_LINES), 2, cpus);
	check_once(bits_fixed(XDD_ENGINE_bsbfsd, 2, LARGE_LINES), 1, cpus);
	check_once(lined_fixed(XDD_ENGINE_rlbsbf, 2, LARGE_LINES), 2, cpus);
	check_once(lined_fixed(XDD_ENGINE_bsbf, 2, LARGE_LINES), 2, cpus);
	check_once(lined_fixed(XDD_ENGINE_bsbfsd, 2, LARGE_LINES), 1, cpus);
	check_once(bits_fixed(XDD_ENGINE_bloom, 2, LARGE_LINES), 0, cpus);
	/* Two events would have to count a cell of MAX 2 down: less than this. */
	counting.sbf_bits = 2;
	counting.sbf_max = 2;
	check_once(counting, 4, cpus);
}

/* Words of a small filter that both CPUs count down and set: no cell ends beyond MAX, except where
 * a CPU lost XDD_SBF_TRIES times in a row.
 */
static void test_counting_cells(void **state)
{
	struct xdd_fixed fixed = bits_fixed(XDD_ENGINE_sbf, 2, SMALL_LINES);
	u64 size = 8192, beyond = 0, used = 0;
	struct hammer *skel;
	u64 *words;
	int cpus[2];

	(void)state;
	two_cpus_need(cpus);
	fixed.sbf_bits = 4;
	fixed.sbf_max = 8;
	skel = open_filter(&fixed, KEYS, 1, cpus[0]);
	run_sides(skel, KEYS, cpus);
	words = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(skel->maps.lines), 0);
	assert_true(words != MAP_FAILED);
	for (u32 i = 0; i < SMALL_LINES * XDD_LINE_WORDS; i++) {
		for (u32 shift = 0; shift < 64; shift += 4) {
			beyond += (words[i] >> shift & 15) > 8;
			used += (words[i] >> shift & 15) > 0;
		}
	}
	munmap(words, size);
	hammer__destroy(skel);
	print_message("# %lu cells used, %lu of them beyond MAX\n", (unsigned long)used,
		      (unsigned long)beyond);
	assert_true(used > 1000);
	assert_in_range(beyond, 0, used / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_loads),
		cmocka_unit_test(test_percpu_loads),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_counting_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

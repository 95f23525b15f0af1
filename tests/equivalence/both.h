/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One configuration, built twice: the native store, and the BPF program equiv run by
 * BPF_PROG_RUN. Every packet goes to both; at the end their memories are compared.
 */
#ifndef TESTS_BOTH_H
#define TESTS_BOTH_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "tests/common/structures.h"
#include "user/health.h"
#include "user/loader/program.h"
#include "user/store.h"
#include "xdd/decide.h"

/* A value of map audit; what the lock holds is not shown. */
struct xdd_audit_slot {
	u64 lock;
	struct xdd_audit_bucket bucket;
};

#include "equiv.skel.h"

#define BOTH_EXACT_ENTRIES 65536

struct both {
	struct xdd_store store;
	struct equiv *skel;
	int program;
};

/* Verdicts of per-CPU filters are those of one CPU. */
static inline void both_pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

/* BPF needs root: without it, the test that called is skipped. */
static inline void both_need_root(void)
{
	if (geteuid()) {
		print_message("# SKIP loading BPF programs needs root\n");
		skip();
	}
}

static inline void both_print(const struct xdd_fixed *fixed)
{
	print_message("# engine %u key %u hash %u slicing %u/%u placement %u refresh %u\n",
		      fixed->engine, fixed->key, fixed->hash, fixed->slicing, fixed->slices,
		      fixed->placement, fixed->refresh);
}

/* The same watch set in both builds, of which four positions in five are 1. */
static inline void both_watch(struct both *both)
{
	u32 words = (both->store.fixed.watch_bits + 63) / 64;
	u64 seed = both->store.fixed.watch_bits;

	both->store.watch = calloc(words, sizeof(*both->store.watch));
	for (u32 i = 0; i < words; i++) {
		for (u32 bit = 0; bit < 64; bit++)
			both->store.watch[i] |= (u64)(random_below(&seed, 5) > 0) << bit;
		assert_int_equal(bpf_map_update_elem(bpf_map__fd(both->skel->maps.watch), &i,
						     &both->store.watch[i], BPF_ANY),
				 0);
	}
}

static inline void both_open(struct both *both, const struct xdd_fixed *fixed,
			     const struct xdd_live *live)
{
	assert_int_equal(store_open(&both->store, fixed, live, 64 << 20), 0);
	both->skel = equiv__open();
	assert_non_null(both->skel);
	assert_int_equal(program_prepare(both->skel->obj, fixed, &both->store.secret,
					 BOTH_EXACT_ENTRIES),
			 0);
	if (equiv__load(both->skel)) {
		both_print(fixed);
		fail_msg("refused by the verifier");
	}
	assert_int_equal(program_set_live(bpf_map__fd(both->skel->maps.config), live), 0);
	if (fixed->watch_bits)
		both_watch(both);
	both->program = bpf_program__fd(both->skel->progs.equiv);
}

static inline void both_close(struct both *both)
{
	free(both->store.watch);
	store_close(&both->store);
	equiv__destroy(both->skel);
}

/* Of each build, mapped: under per-CPU placement, of CPU 0, where these tests run. */
static inline struct xdd_health *both_kernel_health(struct both *both)
{
	size_t bytes = xdd_healths(&both->store.fixed) * sizeof(struct xdd_health);
	struct xdd_health *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				     bpf_map__fd(both->skel->maps.health), 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

/* Let part @part fail in both builds, or, @back at that time above 0, come back with all that it held. */
static inline void both_fail(struct both *both, u32 part, u64 back)
{
	const struct xdd_fixed *fixed = &both->store.fixed;
	struct xdd_health *kernel = both_kernel_health(both),
			  *sites[] = { kernel, both->store.health };

	for (u32 i = 0; i < XDD_ARRAY_SIZE(sites); i++) {
		if (back)
			health_recover(fixed, sites[i], part, HEALTH_CAUSE_command, back,
				       both->store.live.window_ticks);
		else
			health_fail(fixed, sites[i], part, HEALTH_CAUSE_command);
	}
	munmap(kernel, xdd_healths(fixed) * sizeof(*kernel));
}

static inline void both_compare_health(struct both *both)
{
	u32 n = xdd_healths(&both->store.fixed);
	struct xdd_health *kernel = both_kernel_health(both);

	for (u32 i = 0; i < n; i++)
		assert_memory_equal(&kernel[i], &both->store.health[i], sizeof(*kernel));
	munmap(kernel, n * sizeof(*kernel));
}

/* The verdict on a frame, which both builds must agree on. */
static inline struct xdd_verdict both_decide(struct both *both, const u8 *at, u32 len, u64 now_ns)
{
	static u32 iface = 1; /* as BPF_PROG_RUN has it */
	struct xdd_packet packet = { at, at + len, &iface, len, len, both->store.fixed.link };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = at, .data_size_in = len);
	struct xdd_verdict native;

	both->skel->bss->equiv_now_ns = now_ns;
	both->skel->bss->equiv_random = store_random_ahead(&both->store, 0);
	both->skel->bss->equiv_bypass = ~0;
	assert_int_equal(bpf_prog_test_run_opts(both->program, &run), 0);
	native = store_decide(&both->store, &packet, now_ns);
	if (both->skel->bss->equiv_bypass != native.bypass ||
	    both->skel->bss->equiv_found != native.found ||
	    both->skel->bss->equiv_inner != native.inner ||
	    both->skel->bss->equiv_class != native.class) {
		both_print(&both->store.fixed);
		fail_msg("%u bytes: bypass %u found %u inner %u class %u natively, %u %u %u %u in "
			 "the kernel",
			 len, native.bypass, native.found, native.inner, native.class,
			 both->skel->bss->equiv_bypass, both->skel->bss->equiv_found,
			 both->skel->bss->equiv_inner, both->skel->bss->equiv_class);
	}
	return native;
}

static inline void both_compare_shared(struct both *both)
{
	size_t bytes = (size_t)xdd_shared_filters(&both->store.fixed) *
		       xdd_lines(&both->store.fixed) * xdd_filters(&both->store.fixed) *
		       sizeof(struct xdd_line);
	size_t mapped = (bytes + 4095) & ~4095ul;
	void *lines =
		mmap(NULL, mapped, PROT_READ, MAP_SHARED, bpf_map__fd(both->skel->maps.lines), 0);

	assert_true(lines != MAP_FAILED);
	assert_memory_equal(lines, both->store.lines, bytes);
	munmap(lines, mapped);
}

/* A block's lines start at its first 64-byte boundary, which user space does not see: all
 * else in it is zero.
 */
static inline bool both_block_equal(const u8 *block, const struct xdd_line *lines, u32 n)
{
	static const u8 zeros[XDD_CPU_BLOCK_BYTES];
	const u32 bytes = n * XDD_LINE_BYTES;

	for (u32 skip = 0; skip < XDD_LINE_BYTES; skip += 8) {
		if (!memcmp(block, zeros, skip) && !memcmp(block + skip, lines, bytes) &&
		    !memcmp(block + skip + bytes, zeros, XDD_CPU_BLOCK_BYTES - skip - bytes))
			return true;
	}
	return false;
}

/* Of each CPU that has a leaf of a tree, or of the first. */
static inline void both_compare_percpu(struct both *both)
{
	bool tree = both->store.fixed.placement == XDD_PLACEMENT_tree;
	u32 lines = xdd_lines(&both->store.fixed);
	const struct xdd_line *first = both->store.lines;
	u8 *values = malloc((size_t)libbpf_num_possible_cpus() * XDD_CPU_BLOCK_BYTES);
	u32 n = both->store.fixed.lines_per_block * xdd_filters(&both->store.fixed);
	int fd = bpf_map__fd(both->skel->maps.cpu_blocks);

	if (tree)
		first += (size_t)xdd_shared_filters(&both->store.fixed) * lines;
	for (u32 block = 0; block < both->store.fixed.blocks; block++) {
		assert_int_equal(bpf_map_lookup_elem(fd, &block, values), 0);
		for (u32 cpu = 0; cpu < (tree ? both->store.fixed.tree_leaves : 1); cpu++)
			assert_true(both_block_equal(values + (size_t)cpu * XDD_CPU_BLOCK_BYTES,
						     first + cpu * lines + block * n, n));
	}
	free(values);
}

/* What was counted at each level, on all CPUs. Top-down the kernel asks all nodes of level D, at each
 * match, and the host only those below it.
 */
static inline void both_compare_levels(struct both *both)
{
	struct xdd_tree_level counts[libbpf_num_possible_cpus()], sum;

	for (u32 level = 0; level < both->store.fixed.levels; level++) {
		memset(&sum, 0, sizeof(sum));
		assert_int_equal(
			bpf_map_lookup_elem(bpf_map__fd(both->skel->maps.tree), &level, counts), 0);
		for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
#define ADD_LEVEL_COUNT(name, help) sum.name += counts[cpu].name;
			XDD_TREE_COUNTS(ADD_LEVEL_COUNT)
		}
		if (both->store.fixed.top_down && both->store.fixed.levels > 2)
			sum.accesses = both->store.tree.level[level].accesses;
		assert_memory_equal(&sum, &both->store.tree.level[level], sizeof(sum));
	}
}

static inline void both_compare_lines(struct both *both)
{
	if (both->store.fixed.placement != XDD_PLACEMENT_percpu)
		both_compare_shared(both);
	if (both->store.fixed.placement != XDD_PLACEMENT_shared)
		both_compare_percpu(both);
	if (both->store.fixed.placement == XDD_PLACEMENT_tree)
		both_compare_levels(both);
}

/* The bits, and what was counted beside them. */
static inline void both_compare_bits(struct both *both)
{
	bool shared = both->store.fixed.placement == XDD_PLACEMENT_shared;
	struct xdd_loads loads[libbpf_num_possible_cpus()];
	u32 zero = 0;
	int fd;

	both_compare_lines(both);
	if (both->store.fixed.placement == XDD_PLACEMENT_tree)
		return;
	fd = bpf_map__fd(shared ? both->skel->maps.loads : both->skel->maps.cpu_loads);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, loads), 0);
	assert_memory_equal(&loads[0], &both->store.loads, sizeof(loads[0]));
}

/* An entry of the exact engine, as both builds know it. */
struct both_entry {
	struct xdd_digest digest;
	struct xdd_seen seen;
};

static inline int both_order(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct both_entry));
}

/* The kernel's entries; flow keys are kept whole there, and show only what is known of them. */
static inline u32 both_kernel_entries(struct both *both, struct both_entry *entries)
{
	bool flow = xdd_key_is_flow(both->store.fixed.key);
	int fd = bpf_map__fd(flow ? both->skel->maps.flows : both->skel->maps.digests);
	union {
		struct xdd_head head;
		struct xdd_digest digest;
	} key, *last = NULL;
	u32 n = 0;

	while (!bpf_map_get_next_key(fd, last, &key) && n < BOTH_EXACT_ENTRIES) {
		memset(&entries[n], 0, sizeof(entries[n]));
		assert_int_equal(bpf_map_lookup_elem(fd, &key, &entries[n].seen), 0);
		if (!flow)
			entries[n].digest = key.digest;
		last = &key;
		n++;
	}
	return n;
}

static inline u32 both_native_entries(struct both *both, struct both_entry *entries)
{
	bool flow = xdd_key_is_flow(both->store.fixed.key);
	u32 used = 0;

	for (size_t i = 0; i < both->store.size; i++) {
		const struct store_entry *entry = &both->store.entries[i];

		if (entry->time_ns == STORE_FREE)
			continue;
		entries[used].seen.time_ns = entry->time_ns;
		if (both->store.suppressed)
			entries[used].seen.suppressed = both->store.suppressed[i];
		if (!flow)
			entries[used].digest = entry->digest;
		used++;
	}
	return used;
}

static inline void both_compare_exact(struct both *both)
{
	struct both_entry *kernel = calloc(BOTH_EXACT_ENTRIES, sizeof(*kernel));
	struct both_entry *native = calloc(BOTH_EXACT_ENTRIES, sizeof(*native));
	u32 n = both_kernel_entries(both, kernel);

	assert_int_equal(n, both->store.used);
	assert_int_equal(n, both_native_entries(both, native));
	qsort(kernel, n, sizeof(*kernel), both_order);
	qsort(native, n, sizeof(*native), both_order);
	assert_memory_equal(kernel, native, n * sizeof(*kernel));
	free(kernel);
	free(native);
}

/* How the memories of an engine's two builds are compared: a new engine is a new row. */
static void (*const both_compares[XDD_ENGINE_MAX])(struct both *both) = {
	[XDD_ENGINE_tagged] = both_compare_lines, [XDD_ENGINE_timer] = both_compare_lines,
	[XDD_ENGINE_exact] = both_compare_exact,  [XDD_ENGINE_bloom] = both_compare_bits,
	[XDD_ENGINE_sbf] = both_compare_bits,	  [XDD_ENGINE_rsbf] = both_compare_bits,
	[XDD_ENGINE_bsbf] = both_compare_bits,	  [XDD_ENGINE_bsbfsd] = both_compare_bits,
	[XDD_ENGINE_rlbsbf] = both_compare_bits,  [XDD_ENGINE_recovery] = both_compare_lines,
};

/* How long after the first packet copies came; one CPU ran all. */
static inline void both_compare_distances(struct both *both)
{
	struct xdd_distances distances[libbpf_num_possible_cpus()];
	u32 zero = 0;

	assert_int_equal(
		bpf_map_lookup_elem(bpf_map__fd(both->skel->maps.distances), &zero, distances), 0);
	assert_memory_equal(&distances[0], &both->store.distances, sizeof(distances[0]));
}

/* The shadow, and what it counted. */
static inline void both_compare_audit(struct both *both)
{
	int fd = bpf_map__fd(both->skel->maps.audit);
	struct xdd_audit_counts counts;
	struct xdd_audit_slot slot;
	u32 zero = 0;

	assert_int_equal(
		bpf_map_lookup_elem(bpf_map__fd(both->skel->maps.audit_counts), &zero, &counts), 0);
	assert_memory_equal(&counts, &both->store.audit_counts, sizeof(counts));
	if (xdd_audit_has_times(&both->store.fixed))
		both_compare_distances(both);
	for (u32 i = 0; i < both->store.fixed.audit_buckets; i++) {
		assert_int_equal(bpf_map_lookup_elem(fd, &i, &slot), 0);
		assert_memory_equal(&slot.bucket, &both->store.audit[i], sizeof(slot.bucket));
	}
}

/* The keys most often suppressed, with counts, places and descriptions. */
static inline void both_compare_top(struct both *both)
{
	struct xdd_top tops[libbpf_num_possible_cpus()];
	int fd = bpf_map__fd(both->skel->maps.top);

	for (u32 i = 0; i < XDD_TOP_BUCKETS; i++) {
		assert_int_equal(bpf_map_lookup_elem(fd, &i, tops), 0);
		assert_memory_equal(&tops[0], &both->store.top[i], sizeof(tops[0]));
	}
}

static inline void both_compare(struct both *both)
{
	u32 engine = both->store.fixed.engine;

	both_compare_top(both);
	assert_non_null(both_compares[engine]);
	both_compares[engine](both);
	if (both->store.audit)
		both_compare_audit(both);
	if (both->store.health)
		both_compare_health(both);
}

#endif

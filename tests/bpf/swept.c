// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ager's program: a swept filter and one that nobody sweeps give the same verdicts; it counts
 * what is live, and loses no insertion that runs beside it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/common/config.h"
#include "tests/common/numbered.h"
#include "tests/common/structures.h"
#include "user/chain.h"
#include "user/loader/program.h"
#include "user/metrics/counters.h"
#include "user/secret.h"
#include "user/store.h"
#include "xdd/age.h"
#include "xdd/counters.h"
#include "xdd/decide.h"
#include "xdd/key.h"
#include "xdd/tree.h"

#include "swept.skel.h"

#define KEYS 600
#define WRAPS 10
#define FEW_WRAPS 3

static bool few; /* an emulated machine is slow */

struct filter {
	struct swept *skel;
	int xdp, ager;
	u32 lines, sites;
};

static void filter_open(struct filter *filter, const struct xdd_fixed *fixed)
{
	struct xdd_live live = config_live();
	struct xdd_secret secret;

	secret_from_seed(&secret, 1);
	filter->skel = swept__open();
	assert_non_null(filter->skel);
	assert_int_equal(program_prepare(filter->skel->obj, fixed, &secret, 0), 0);
	assert_int_equal(swept__load(filter->skel), 0);
	assert_int_equal(program_set_live(bpf_map__fd(filter->skel->maps.config), &live), 0);
	filter->xdp = bpf_program__fd(filter->skel->progs.xdp_at);
	filter->ager = bpf_program__fd(filter->skel->progs.xdp_ager);
	filter->lines = fixed->blocks * fixed->lines_per_block;
	filter->sites = xdd_sites(fixed, libbpf_num_possible_cpus());
}

static void filter_close(struct filter *filter)
{
	swept__destroy(filter->skel);
}

/* Key @number at @now_ns; 0: by the clock. Returns whether it is a duplicate. */
static bool ask(struct filter *filter, u32 number, u64 now_ns)
{
	u8 frame[NUMBERED_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame));

	numbered_make(frame, number);
	filter->skel->bss->test_now_ns = now_ns;
	assert_int_equal(bpf_prog_test_run_opts(filter->xdp, &run), 0);
	assert_in_range(run.retval, XDP_DROP, XDP_PASS);
	return run.retval == XDP_DROP;
}

/* Sweep @n lines of each site from @first on, at @now_ns, and return what was found. */
static struct xdd_fill sweep(struct filter *filter, u32 first, u32 n, u64 now_ns)
{
	int tally = bpf_map__fd(filter->skel->maps.tally);
	struct xdd_fill fill = { 0 };
	u32 zero = 0;

	assert_int_equal(bpf_map_update_elem(tally, &zero, &fill, 0), 0);
	for (u32 site = 0; site < filter->sites; site++) {
		struct xdd_age_run run = { site, first, n, 0, now_ns };
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &run, .ctx_size_in = sizeof(run));

		assert_int_equal(bpf_prog_test_run_opts(filter->ager, &opts), 0);
		assert_int_equal(opts.retval, n);
	}
	assert_int_equal(bpf_map_lookup_elem(tally, &zero, &fill), 0);
	return fill;
}

#define TREES 10 /* and the rest, which do not grow */

/* Every structure that the ager tells apart. */
static struct xdd_fixed structure(u32 i)
{
	struct xdd_fixed fixed = config_fixed(
		i < 2 || i == TREES ? XDD_ENGINE_tagged : XDD_ENGINE_timer, XDD_KEY_packet);

	if (i & 1 || i >= TREES) {
		fixed.placement = XDD_PLACEMENT_percpu;
		fixed.blocks = 1;
		fixed.lines_per_block = XDD_CPU_BLOCK_LINES;
		fixed.slices = XDD_CPU_BLOCK_LINES;
	}
	if (i >= TREES)
		structure_tree(&fixed, i - 8, libbpf_num_possible_cpus(), i & 1, 0);
	if (i >= TREES)
		return fixed;
	if (i >= 4)
		fixed.slices = i & 1 ? 7 : 8;
	if (i >= 6) {
		fixed.slicing = XDD_SLICING_none;
		fixed.slices = 1;
	}
	if (i >= 8) {
		fixed.slicing = i & 1 ? XDD_SLICING_vh : XDD_SLICING_hv;
		fixed.slices = 7;
		fixed.subslices = 3;
	}
	return fixed;
}
#define STRUCTURES 12

static void same_verdicts(void **state)
{
	u64 random = 5, now = 1000 * CONFIG_TICK_NS;
	u64 end = now + (few ? FEW_WRAPS : WRAPS) * 255ull * CONFIG_TICK_NS;

	(void)state;
	for (u32 i = 0; i < STRUCTURES; i++) {
		struct xdd_fixed fixed = structure(i);
		struct filter swept, unswept;
		u32 duplicates = 0, part = 0;

		filter_open(&swept, &fixed);
		filter_open(&unswept, &fixed);
		for (u64 at = now; at < end; at += random64(&random) % (CONFIG_TICK_NS / 2)) {
			u32 key = random_below(&random, KEYS);
			bool duplicate = ask(&swept, key, at);

			assert_int_equal(duplicate, ask(&unswept, key, at));
			duplicates += duplicate;
			sweep(&swept, part * (swept.lines / 8), swept.lines / 8, at);
			part = (part + 1) % 8;
			/* Now and then it idles, for up to more than the horizon. */
			if (!random_below(&random, 1000))
				at += random_below(&random, 300) * CONFIG_TICK_NS;
		}
		assert_true(duplicates > 50);
		filter_close(&swept);
		filter_close(&unswept);
	}
}

/* What is counted is what was put in, until the window ends; then nothing is left in memory. */
static void counts_live(void **state)
{
	(void)state;
	for (u32 i = 0; i < STRUCTURES; i++) {
		struct xdd_fixed fixed = structure(i);
		u64 now = 5000ull * CONFIG_TICK_NS, live = 0, lines = 0, in_slices = 0, n = 0;
		struct filter filter;
		struct xdd_fill fill;
		u32 slices;

		filter_open(&filter, &fixed);
		slices = xdd_slices_counted(&fixed) ? filter.sites * xdd_slices_count(&fixed) : 0;
		for (u32 key = 0; key < 200; key++)
			n += !ask(&filter, key, now);
		fill = sweep(&filter, 0, filter.lines, now);
		for (u32 cells = 0; cells <= XDD_LINE_TIMERS; cells++) {
			lines += fill.histogram[cells];
			live += fill.histogram[cells] * cells;
		}
		assert_int_equal(fill.lines, filter.lines * filter.sites);
		assert_int_equal(lines, fill.lines);
		assert_int_equal(live, fill.live);
		/* in a tree on a path of so many filters */
		n *= fixed.levels ?: 1;
		if (fixed.engine == XDD_ENGINE_tagged)
			assert_int_equal(live, n);
		else
			assert_in_range(live, 3 * n, 4 * n);
		for (u32 at = 0; at < slices; at++) {
			struct xdd_slice slice;

			assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(filter.skel->maps.slices),
							     &at, &slice),
					 0);
			in_slices += slice.live;
		}
		/* 511 lines are 7 slices of 73, or 21 of 24; those beyond the last are not used. */
		if (slices)
			assert_int_equal(in_slices, live);
		now += CONFIG_WINDOW_TICKS * CONFIG_TICK_NS;
		assert_int_equal(sweep(&filter, 0, filter.lines, now).live, 0);
		filter_close(&filter);
	}
}

/* The same for the filters of chains, of which the kernel's is mapped and the host's is in heap memory. */
struct grown {
	struct filter kernel;
	struct xdd_store host;
	struct xdd_chain *chains;
	u32 n; /* of them, on all sites */
};

static void grown_open(struct grown *grown, const struct xdd_fixed *fixed)
{
	struct xdd_live live = config_live();

	filter_open(&grown->kernel, fixed);
	assert_int_equal(store_open(&grown->host, fixed, &live, 0), 0);
	secret_from_seed(&grown->host.secret, 1);
	grown->n = grown->kernel.sites * xdd_chains(fixed);
	grown->chains = mmap(NULL, grown->n * sizeof(*grown->chains), PROT_READ | PROT_WRITE,
			     MAP_SHARED, bpf_map__fd(grown->kernel.skel->maps.chains), 0);
	assert_true(grown->chains != MAP_FAILED);
	for (u32 i = 0; i < xdd_chains(fixed); i++)
		grown->host.growth[i].enough = ~0ULL;
}

static void grown_close(struct grown *grown)
{
	munmap(grown->chains, grown->n * sizeof(*grown->chains));
	filter_close(&grown->kernel);
	store_close(&grown->host);
}

/* Walk over both at the end of tick @tick, and let the chains grow and shrink by what is found. */
static void grown_walk(struct grown *grown, u64 tick)
{
	const struct xdd_fixed *fixed = &grown->host.fixed;
	u32 chains = xdd_chains(fixed);

	sweep(&grown->kernel, 0, xdd_lines(fixed), tick * CONFIG_TICK_NS);
	for (u32 i = 0; i < grown->n; i++) {
		chain_shrink(&grown->chains[i], fixed, tick, 0);
		chain_grow(&grown->chains[i], fixed, tick);
	}
	for (u32 i = 0; i < chains; i++) {
		grown->host.growth[i].expires_tick = 1;
		store_grow_all(&grown->host, tick * CONFIG_TICK_NS);
		/* the host is not to look again by itself */
		grown->host.growth[i].enough = ~0ULL;
		grown->host.growth[i].expires_tick = 0;
	}
}

/* The host's chains are those of the CPU that asks; those of the others are as they were made. */
static void grown_compare(struct grown *grown)
{
	u32 chains = xdd_chains(&grown->host.fixed);
	const u32 counting = offsetof(struct xdd_chain, counting);

	for (u32 i = 0; i < grown->n; i++) {
		if (i < chains)
			assert_memory_equal(&grown->chains[i], &grown->host.chains[i], counting);
		else
			assert_int_equal(grown->chains[i].opened, 0);
	}
}

static bool grown_ask(struct grown *grown, u32 number, u64 now_ns)
{
	u8 frame[NUMBERED_BYTES];
	struct xdd_packet packet = { .data = frame,
				     .end = frame + sizeof(frame),
				     .len = sizeof(frame),
				     .wire_len = sizeof(frame),
				     .link = XDD_LINK_ETHERNET };
	bool seen = ask(&grown->kernel, number, now_ns);

	numbered_make(frame, number);
	assert_int_equal(store_decide(&grown->host, &packet, now_ns).found & XDD_SEEN, seen);
	return seen;
}

/* A few keys in each tick, then five times as many, then few again: chains grow and shrink, and those of
 * the kernel are at all times those of the host.
 */
static void check_growth(u32 i, u32 grow)
{
	static const u32 rates[] = { 6, 30, 2 };
	struct xdd_fixed fixed = structure(i);
	u32 ticks = few ? 60 : 150, key = 0, most = 1, copies = 0;
	u64 tick = 1000;
	struct grown grown;

	structure_grow(&fixed, grow, 6);
	fixed.line_cells = 8;
	grown_open(&grown, &fixed);
	for (u32 part = 0; part < XDD_ARRAY_SIZE(rates); part++) {
		for (u64 end = tick + ticks; tick < end; tick++) {
			for (u32 n = 0; n < rates[part]; n++, key++) {
				grown_ask(&grown, key, tick * CONFIG_TICK_NS);
				copies += grown_ask(&grown, key - n % 8, tick * CONFIG_TICK_NS);
			}
			grown_walk(&grown, tick);
			grown_compare(&grown);
			most = chain_live(grown.chains) > most ? chain_live(grown.chains) : most;
		}
	}
	assert_in_range(most, 2, 6);
	assert_in_range(chain_live(grown.chains), 1, 2);
	assert_true(grown.chains->retired && copies > 10 * ticks);
	grown_close(&grown);
}

static void grows_alike(void **state)
{
	cpu_set_t all, first;

	(void)state;
	libbpf_set_print(NULL); /* lines side by side have no type, which it says each time */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	for (u32 i = 4; i < TREES; i++) {
		check_growth(i, XDD_GROWTH_density);
		check_growth(i, XDD_GROWTH_cardinality);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

static u64 clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Packets that passed unasked. */
static u64 stale_packets(const struct filter *filter)
{
	struct counters counters;
	u64 packets;

	assert_int_equal(counters_read(bpf_map__fd(filter->skel->maps.counters), &counters), 0);
	packets = counters.total.stale.packets;
	counters_free(&counters);
	return packets;
}

struct beside {
	struct filter *filter;
	atomic_bool stop;
	u64 rounds;
};

static void *sweep_on(void *arg)
{
	struct beside *beside = arg;

	for (; !atomic_load(&beside->stop); beside->rounds++) {
		struct xdd_age_run run = { .n = beside->filter->lines };
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &run, .ctx_size_in = sizeof(run));

		bpf_prog_test_run_opts(beside->filter->ager, &opts);
	}
	return NULL;
}

/* Beside a thread that sweeps all the time, by the clock, a key that came is known until the
 * window ends. Ticks are so short that lines go stale between two keys.
 */
static void loses_nothing(void **state)
{
	struct xdd_fixed fixed = structure(0);
	struct xdd_live live = config_live();
	struct filter filter;
	struct beside beside = { .filter = &filter };
	pthread_t thread;
	u32 judged = 0;
	u64 stale = 0;

	(void)state;
	fixed.tick_ns = 1000;
	live.window_ticks = XDD_MAX_WINDOW_TICKS;
	filter_open(&filter, &fixed);
	program_set_live(bpf_map__fd(filter.skel->maps.config), &live);
	assert_int_equal(pthread_create(&thread, NULL, sweep_on, &beside), 0);
	for (u32 key = 0; key < 100000; key++) {
		u64 before = clock_now(), apart;
		bool known;

		ask(&filter, key, 0);
		known = ask(&filter, key, 0);
		apart = clock_now() - before;
		/* Where the test itself was held up, either answer is right. */
		if (apart >= (live.window_ticks - 1) * fixed.tick_ns)
			continue;
		judged++;
		if (known)
			continue;
		/* Both cleaned the line at once: the packet passed, and that was counted. */
		assert_true(stale_packets(&filter) > stale);
		stale = stale_packets(&filter);
	}
	atomic_store(&beside.stop, true);
	pthread_join(thread, NULL);
	assert_true(beside.rounds > 100);
	assert_true(judged > 50000);
	assert_true(stale < judged / 1000);
	filter_close(&filter);
}

/* Where there is nothing to sweep, and lines that do not exist. */
static void nothing_to_sweep(void **state)
{
	struct xdd_fixed fixed = structure(0);
	struct xdd_age_run run = { 0, CONFIG_LINES - 1, 5, 0, 1 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &run, .ctx_size_in = sizeof(run));
	struct filter filter;

	(void)state;
	filter_open(&filter, &fixed);
	assert_int_equal(bpf_prog_test_run_opts(filter.ager, &opts), 0);
	assert_int_equal(opts.retval, 2);
	filter_close(&filter);
}

/* --few: shorter, and without what needs a machine that keeps time. */
int main(int argc, char **argv)
{
	const struct CMUnitTest slow[] = {
		cmocka_unit_test(same_verdicts),
		cmocka_unit_test(counts_live),
		cmocka_unit_test(grows_alike),
		cmocka_unit_test(nothing_to_sweep),
	};
	const struct CMUnitTest fast[] = {
		cmocka_unit_test(loses_nothing),
	};
	int failed;

	few = argc > 1 && !strcmp(argv[1], "--few");
	failed = cmocka_run_group_tests(slow, NULL, NULL);
	return few ? failed : failed + cmocka_run_group_tests(fast, NULL, NULL);
}

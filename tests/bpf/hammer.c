/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two CPUs show the same million keys to one shared filter at the same time: no key passes
 * twice, and hardly more never pass than the engine's model of false positives predicts.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "user/loader/program.h"
#include "user/model.h"
#include "user/secret.h"
#include "xdd/line.h"

#include "hammer.h"
#include "hammer.skel.h"

#define BYTES_PER_KEY 32
#define TICK_NS 100000
#define RUNS_PER_CALL 4096

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

#define MANY_KEYS (1u << 20)
#define MANY MANY_KEYS, MANY_KEYS / XDD_LINE_BYTES *BYTES_PER_KEY, 10
#define STALE (1u << 18), 1024, 2 * TICK_NS

struct side {
	int program, cpu;
	u32 keys;
	const volatile u64 *next;
	int failed;
};

static void *run_side(void *arg)
{
	struct side *side = arg;
	struct frame frame;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(side->cpu, &cpus);
	side->failed = sched_setaffinity(0, sizeof(cpus), &cpus);
	frame_build(&frame, "eth ip4 udp pay:18");
	while (!side->failed && *side->next < side->keys) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame.byte,
			    .data_size_in = frame.len, .repeat = RUNS_PER_CALL);

		side->failed = bpf_prog_test_run_opts(side->program, &run);
	}
	return NULL;
}

/* The first two CPUs this process may use. Returns how many there are. */
static int two_cpus(int *cpus)
{
	cpu_set_t allowed;
	int n = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			cpus[n++] = cpu;
	}
	return n;
}

static struct hammer *open_filter(const struct row *row, const struct xdd_fixed *fixed,
				  int first_cpu)
{
	struct xdd_live live = config_live();
	struct hammer *skel = hammer__open();
	struct xdd_secret secret;

	assert_non_null(skel);
	live.window_ticks = XDD_MAX_WINDOW_TICKS;
	live.window_ns = (u64)XDD_MAX_WINDOW_TICKS * TICK_NS;
	secret_from_seed(&secret, fixed->seed);
	skel->rodata->hammer_keys = row->keys;
	skel->rodata->hammer_step_ns = row->step_ns;
	skel->rodata->hammer_cpu = first_cpu;
	bpf_map__set_max_entries(skel->maps.passes, row->keys);
	assert_int_equal(program_prepare(skel->obj, fixed, &secret, 2 * row->keys), 0);
	assert_int_equal(hammer__load(skel), 0);
	assert_int_equal(program_set_live(bpf_map__fd(skel->maps.config), &live), 0);
	return skel;
}

static void run_sides(struct hammer *skel, u32 keys, const int *cpus)
{
	struct side sides[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		sides[i].program = bpf_program__fd(skel->progs.hammer);
		sides[i].cpu = cpus[i];
		sides[i].keys = keys;
		sides[i].next = &skel->bss->hammer_sides[i].next;
		assert_int_equal(pthread_create(&threads[i], NULL, run_side, &sides[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(sides[i].failed, 0);
		assert_int_equal(skel->bss->hammer_sides[i].next, keys);
		assert_int_equal(skel->bss->hammer_sides[i].bypassed, 0);
		/* Else the CPUs hardly met, and this proved nothing. */
		assert_true(skel->bss->hammer_sides[i].beside > keys / 100);
	}
}

/* How many keys never passed. Those that passed twice fail the test. */
static u32 keys_never_passed(struct hammer *skel, u32 keys)
{
	const u64 *passes = mmap(NULL, keys * sizeof(u64), PROT_READ, MAP_SHARED,
				 bpf_map__fd(skel->maps.passes), 0);
	u32 never = 0, twice = 0;

	assert_true(passes != MAP_FAILED);
	for (u32 i = 0; i < keys; i++) {
		never += passes[i] == 0;
		twice += passes[i] > 1;
	}
	munmap((void *)passes, keys * sizeof(u64));
	print_message("# %u never passed, %u passed twice; %lu and %lu keys side by side\n", never,
		      twice, (unsigned long)skel->bss->hammer_sides[0].beside,
		      (unsigned long)skel->bss->hammer_sides[1].beside);
	assert_int_equal(twice, 0);
	return never;
}

/* The model's false positives, key by key while the filter fills up; and, in a small filter, of
 * keys whose k cells are one (double hashing: about one in the number of cells).
 */
static double expected_false(const struct row *row, const struct xdd_fixed *fixed)
{
	double window = (double)XDD_MAX_WINDOW_TICKS * TICK_NS / row->step_ns, sum = 0;
	double cells = (double)row->lines * XDD_LINE_TIMERS;
	const u32 steps = 1024;

	for (u32 i = 0; i < steps; i++) {
		double live = fmin((i + 0.5) * row->keys / steps, window);

		if (fixed->engine == XDD_ENGINE_tagged)
			sum += model_tagged(live, row->lines);
		else if (fixed->engine == XDD_ENGINE_timer)
			sum += model_timer(live, fixed->slices, cells / fixed->slices,
					   fixed->hashes) +
			       live * fixed->hashes / cells / cells;
	}
	return sum * row->keys / steps;
}

/* The number that a Poisson variable of mean @mean exceeds with probability below 0.1 %. */
static u32 poisson_bound(double mean)
{
	double sum = 0;
	u32 n = 0;

	for (;; n++) {
		sum += exp(n * log(mean) - mean - lgamma(n + 1.0));
		if (sum >= 0.999)
			return n;
	}
}

static struct xdd_fixed row_fixed(const struct row *row)
{
	struct xdd_fixed fixed = config_fixed(row->engine, XDD_KEY_packet);

	fixed.verify_checksum = 0;
	fixed.blocks = row->lines;
	fixed.slicing = row->slicing;
	fixed.slices = row->slicing == XDD_SLICING_horizontal ? row->lines : 1;
	fixed.hashes = row->hashes;
	fixed.stripes = 4096;
	fixed.tick_ns = TICK_NS;
	return fixed;
}

static void check(const struct row *row)
{
	struct xdd_fixed fixed = row_fixed(row);
	u32 never, bound = 0;
	struct hammer *skel;
	int cpus[2];

	if (geteuid() || two_cpus(cpus) < 2) {
		print_message("# SKIP needs root and two CPUs\n");
		skip();
	}
	skel = open_filter(row, &fixed, cpus[0]);
	run_sides(skel, row->keys, cpus);
	never = keys_never_passed(skel, row->keys);
	if (row->engine != XDD_ENGINE_exact)
		bound = poisson_bound(expected_false(row, &fixed));
	print_message("# expected to be called duplicates wrongly: %.2f, bound %u\n",
		      expected_false(row, &fixed), bound);
	hammer__destroy(skel);
	assert_in_range(never, 0, bound);
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
		cmocka_unit_test(test_tagged_stale),
		cmocka_unit_test(test_timer_one_line_stale),
		cmocka_unit_test(test_timer_k_lines_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

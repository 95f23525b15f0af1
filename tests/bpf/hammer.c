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

#define KEYS (1u << 20)
#define BYTES_PER_KEY 32
#define LINES (KEYS / XDD_LINE_BYTES * BYTES_PER_KEY)
#define TICK_NS 100000 /* the run takes 105 ticks of made-up time: less than the window */
#define RUNS_PER_CALL 4096

struct side {
	int program, cpu;
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
	while (!side->failed && *side->next < KEYS) {
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

static struct hammer *open_filter(const struct xdd_fixed *fixed, int first_cpu)
{
	struct xdd_live live = config_live();
	struct hammer *skel = hammer__open();
	struct xdd_secret secret;

	assert_non_null(skel);
	live.window_ticks = XDD_MAX_WINDOW_TICKS;
	live.window_ns = (u64)XDD_MAX_WINDOW_TICKS * TICK_NS;
	secret_from_seed(&secret, fixed->seed);
	skel->rodata->hammer_keys = KEYS;
	skel->rodata->hammer_cpu = first_cpu;
	bpf_map__set_max_entries(skel->maps.passes, KEYS);
	assert_int_equal(program_prepare(skel->obj, fixed, &secret, 2 * KEYS), 0);
	assert_int_equal(hammer__load(skel), 0);
	assert_int_equal(program_set_live(bpf_map__fd(skel->maps.config), &live), 0);
	return skel;
}

static void run_sides(struct hammer *skel, const int *cpus)
{
	struct side sides[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		sides[i].program = bpf_program__fd(skel->progs.hammer);
		sides[i].cpu = cpus[i];
		sides[i].next = &skel->bss->hammer_sides[i].next;
		assert_int_equal(pthread_create(&threads[i], NULL, run_side, &sides[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(sides[i].failed, 0);
		assert_int_equal(skel->bss->hammer_sides[i].next, KEYS);
		assert_int_equal(skel->bss->hammer_sides[i].bypassed, 0);
		/* Else the CPUs hardly met, and this proved nothing. */
		assert_true(skel->bss->hammer_sides[i].beside > KEYS / 100);
	}
}

/* How many keys never passed. Those that passed twice fail the test. */
static u32 keys_never_passed(struct hammer *skel)
{
	const u64 *passes = mmap(NULL, KEYS * sizeof(u64), PROT_READ, MAP_SHARED,
				 bpf_map__fd(skel->maps.passes), 0);
	u32 never = 0, twice = 0;

	assert_true(passes != MAP_FAILED);
	for (u32 i = 0; i < KEYS; i++) {
		never += passes[i] == 0;
		twice += passes[i] > 1;
	}
	munmap((void *)passes, KEYS * sizeof(u64));
	print_message("# %u never passed, %u passed twice; %lu and %lu keys side by side\n", never,
		      twice, (unsigned long)skel->bss->hammer_sides[0].beside,
		      (unsigned long)skel->bss->hammer_sides[1].beside);
	assert_int_equal(twice, 0);
	return never;
}

/* The model's false positives while the filter fills up, key by key. */
static double expected_false(const struct xdd_fixed *fixed)
{
	const u32 steps = 1024;
	double sum = 0;

	for (u32 i = 0; i < steps; i++) {
		double live = (i + 0.5) * KEYS / steps;

		if (fixed->engine == XDD_ENGINE_tagged)
			sum += model_tagged(live, LINES);
		else if (fixed->engine == XDD_ENGINE_timer)
			sum += model_timer(live, fixed->slices,
					   (double)LINES * XDD_LINE_TIMERS / fixed->slices,
					   fixed->hashes);
	}
	return sum * KEYS / steps;
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

static void check(u32 engine, u32 slicing, u32 hashes)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
	struct hammer *skel;
	u32 never, bound = 0;
	int cpus[2];

	if (geteuid() || two_cpus(cpus) < 2) {
		print_message("# SKIP needs root and two CPUs\n");
		skip();
	}
	fixed.verify_checksum = 0;
	fixed.blocks = LINES;
	fixed.slicing = slicing;
	fixed.slices = slicing == XDD_SLICING_horizontal ? LINES : 1;
	fixed.hashes = hashes;
	fixed.stripes = 4096;
	fixed.tick_ns = TICK_NS;
	skel = open_filter(&fixed, cpus[0]);
	run_sides(skel, cpus);
	never = keys_never_passed(skel);
	if (engine != XDD_ENGINE_exact)
		bound = poisson_bound(expected_false(&fixed));
	print_message("# expected to be called duplicates wrongly: %.2f, bound %u\n",
		      expected_false(&fixed), bound);
	hammer__destroy(skel);
	assert_in_range(never, 0, bound);
}

static void test_tagged(void **state)
{
	(void)state;
	check(XDD_ENGINE_tagged, XDD_SLICING_horizontal, 1);
}

static void test_timer_one_line(void **state)
{
	(void)state;
	check(XDD_ENGINE_timer, XDD_SLICING_horizontal, 4);
}

static void test_timer_k_lines(void **state)
{
	(void)state;
	check(XDD_ENGINE_timer, XDD_SLICING_none, 4);
}

static void test_exact(void **state)
{
	(void)state;
	check(XDD_ENGINE_exact, XDD_SLICING_none, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tagged),
		cmocka_unit_test(test_timer_one_line),
		cmocka_unit_test(test_timer_k_lines),
		cmocka_unit_test(test_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

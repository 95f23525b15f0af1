/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two CPUs run hammer.bpf.c at the same time: include once in a test that asks what came of it. */
#ifndef TESTS_TWO_CPUS_H
#define TESTS_TWO_CPUS_H

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
#include "user/secret.h"

#include "hammer.h"
#include "hammer.skel.h"

#define TICK_NS 100000
#define RUNS_PER_CALL 4096

struct side {
	int program, cpu;
	const char *spec; /* of the frame that is shown */
	u32 keys;
	const volatile u64 *next;
	int failed;
};

static inline void *run_side(void *arg)
{
	struct side *side = arg;
	struct frame frame;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(side->cpu, &cpus);
	side->failed = sched_setaffinity(0, sizeof(cpus), &cpus);
	frame_build(&frame, side->spec);
	while (!side->failed && *side->next < side->keys) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame.byte,
			    .data_size_in = frame.len, .repeat = RUNS_PER_CALL);

		side->failed = bpf_prog_test_run_opts(side->program, &run);
	}
	return NULL;
}

/* The first two CPUs this process may use. Returns how many there are. */
static inline int two_cpus(int *cpus)
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

/* The same, or the test that called is skipped. */
static inline void two_cpus_need(int *cpus)
{
	if (geteuid() || two_cpus(cpus) < 2) {
		print_message("# SKIP needs root and two CPUs\n");
		skip();
	}
}

/* The program over a filter as @fixed says, with @keys keys at made-up times @step_ns apart. */
static inline struct hammer *open_filter(const struct xdd_fixed *fixed, u32 keys, u64 step_ns,
					 int first_cpu)
{
	struct xdd_live live = config_live();
	struct hammer *skel = hammer__open();
	struct xdd_secret secret;

	assert_non_null(skel);
	live.window_ticks = XDD_MAX_WINDOW_TICKS;
	live.window_ns = (u64)XDD_MAX_WINDOW_TICKS * TICK_NS;
	secret_from_seed(&secret, fixed->seed);
	skel->rodata->hammer_keys = keys;
	skel->rodata->hammer_step_ns = step_ns;
	skel->rodata->hammer_cpu = first_cpu;
	bpf_map__set_max_entries(skel->maps.passes, keys);
	assert_int_equal(program_prepare(skel->obj, fixed, &secret, 2 * keys), 0);
	assert_int_equal(hammer__load(skel), 0);
	assert_int_equal(program_set_live(bpf_map__fd(skel->maps.config), &live), 0);
	return skel;
}

static inline void run_sides(struct hammer *skel, u32 keys, const int *cpus)
{
	struct side sides[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		sides[i].program = bpf_program__fd(skel->progs.hammer);
		sides[i].cpu = cpus[i];
		sides[i].keys = keys;
		sides[i].spec = skel->rodata->xdd_fixed.key == XDD_KEY_redundancy
					? "eth hsr ip4 udp pay:18"
					: "eth ip4 udp pay:18";
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

/* How many keys never passed, and how many did more than once. */
static inline void count_passes(struct hammer *skel, u32 keys, u32 *never, u32 *twice)
{
	const u64 *passes = mmap(NULL, keys * sizeof(u64), PROT_READ, MAP_SHARED,
				 bpf_map__fd(skel->maps.passes), 0);

	*never = *twice = 0;
	assert_true(passes != MAP_FAILED);
	for (u32 i = 0; i < keys; i++) {
		*never += passes[i] == 0;
		*twice += passes[i] > 1;
	}
	munmap((void *)passes, keys * sizeof(u64));
	print_message("# %u never passed, %u passed twice; %lu and %lu keys side by side\n", *never,
		      *twice, (unsigned long)skel->bss->hammer_sides[0].beside,
		      (unsigned long)skel->bss->hammer_sides[1].beside);
}

/* The number that a Poisson variable of mean @mean exceeds with probability below 0.1 %. */
static inline u32 poisson_bound(double mean)
{
	double term = exp(-mean), sum = term;
	u32 n = 0;

	while (sum < 0.999) {
		term *= mean / ++n;
		sum += term;
	}
	return n;
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pairs PROGRAM-PIN SURE-NS NEVER-NS PAIRS: give a loaded program PAIRS packets twice, by
 * BPF_PROG_RUN, at random distances around SURE-NS and NEVER-NS. Prints four numbers: pairs surely
 * no further apart than SURE-NS, how many of their copies were found; pairs surely further apart
 * than NEVER-NS, how many were found. The clock is read on both sides of each run, so that a pair
 * counts only where its distance is certain.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/common/numbered.h"

struct run {
	u64 before, after;
	bool dropped;
};

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static struct run ask(int program, u8 frame[NUMBERED_BYTES])
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = NUMBERED_BYTES);
	struct run run = { .before = now_ns() };

	if (bpf_prog_test_run_opts(program, &opts)) {
		perror("pairs: BPF_PROG_RUN");
		exit(1);
	}
	run.after = now_ns();
	run.dropped = opts.retval == XDP_DROP;
	return run;
}

static void wait_until(u64 when)
{
	u64 now = now_ns();

	if (when > now + 200000) {
		struct timespec left = { 0, (when - now - 100000) % 1000000000 };

		nanosleep(&left, NULL);
	}
	while (now_ns() < when)
		;
}

int main(int argc, char **argv)
{
	u64 sure, never, counts[4] = { 0 };
	u8 frame[NUMBERED_BYTES];
	cpu_set_t cpu;
	int program;

	if (argc != 5) {
		fprintf(stderr, "usage: pairs PROGRAM-PIN SURE-NS NEVER-NS PAIRS\n");
		return 2;
	}
	program = bpf_obj_get(argv[1]);
	if (program < 0) {
		perror(argv[1]);
		return 1;
	}
	sure = strtoull(argv[2], NULL, 10);
	never = strtoull(argv[3], NULL, 10);
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu); /* a filter per CPU knows only its own packets */
	sched_setaffinity(0, sizeof(cpu), &cpu);
	srand48(1);
	for (u32 i = 0; i < strtoul(argv[4], NULL, 10); i++) {
		struct run first, second;

		numbered_make(frame, (u32)lrand48());
		first = ask(program, frame);
		wait_until(first.before + (u64)(drand48() * 1.2 * never));
		second = ask(program, frame);
		if (second.after - first.before <= sure) {
			counts[0]++;
			counts[1] += second.dropped;
		} else if (second.before - first.after > never) {
			counts[2]++;
			counts[3] += second.dropped;
		}
	}
	printf("%llu %llu %llu %llu\n", counts[0], counts[1], counts[2], counts[3]);
	return 0;
}

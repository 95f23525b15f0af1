// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The XDP program at a time that the test sets, or (0) by the clock, and the ager's program. */
#include "bpf/sweep.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

volatile u64 test_now_ns;

/* A function, or xdp_at() needs more stack than kernel 6.1 leaves it. */
__attribute__((noinline)) u64 test_clock_ns(void)
{
	u64 now_ns = test_now_ns;

	return now_ns ? now_ns : clock_ns();
}

SEC("xdp")
int xdp_at(struct xdp_md *ctx)
{
	return dedup(ctx, test_clock_ns());
}

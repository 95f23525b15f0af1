// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The XDP program at a time that the test sets, or (0) by the clock, and the ager's program. */
#include "bpf/sweep.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

volatile u64 test_now_ns;

SEC("xdp")
int xdp_at(struct xdp_md *ctx)
{
	u64 now_ns = test_now_ns;

	return dedup(ctx, now_ns ? now_ns : clock_ns());
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is loaded on a NIC. */
#include "sweep.h"
#include "meta.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("xdp")
int xdp_dedup(struct xdp_md *ctx)
{
	return dedup(ctx, clock_ns());
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The core's verdict as it is, on packets of any link type, at a time that the test sets. */
#include "bpf/accessors.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

volatile u64 equiv_now_ns;
volatile u64 equiv_random;
volatile u32 equiv_bypass;
volatile u32 equiv_found;
volatile u32 equiv_inner;
volatile u32 equiv_class;

SEC("xdp")
int equiv(struct xdp_md *ctx)
{
	struct xdd_packet packet = packet_open(ctx, bpf_xdp_get_buff_len(ctx));
	struct xdd_verdict verdict;
	struct xdd_live *live;
	u32 zero = 0;

	live = bpf_map_lookup_elem(&config, &zero);
	if (!live)
		return XDP_ABORTED;
	verdict = xdd_decide(&xdd_fixed, live, &xdd_secret, NULL, &packet, equiv_now_ns,
			     equiv_random);
	equiv_bypass = verdict.bypass;
	equiv_found = verdict.found;
	equiv_inner = verdict.inner;
	equiv_class = verdict.class;
	return XDP_PASS;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The engine alone: what a verifier has to say about it, without parser, key and hash. */
#include "bpf/accessors.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("xdp")
int ask_alone(struct xdp_md *ctx)
{
	struct xdd_identity identity = {};
	u64 now = bpf_ktime_get_ns();

	(void)ctx;
	identity.digest.lo = now;
	identity.digest.hi = ~now;
	return ask(&identity, now, 1, 1, random_at(now, 0)) ? XDP_DROP : XDP_PASS;
}

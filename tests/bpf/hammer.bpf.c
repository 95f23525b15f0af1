// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two CPUs show the same keys, in the same order, to one filter. Each run takes the next
 * number of its CPU and counts what passes; a CPU that is ahead waits for the other.
 */
#include "bpf/accessors.h"
#include "hammer.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define HAMMER_LEAD 2	 /* keys that one CPU may be ahead */
#define HAMMER_WAIT 1000 /* looks at the other CPU in one run */

const volatile u32 hammer_keys = 1;
const volatile u32 hammer_cpu;	       /* the first of the two */
const volatile u64 hammer_step_ns = 1; /* made-up time from one key to the next */

volatile struct hammer_side hammer_sides[2] __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} passes SEC(".maps");

static long is_close(u32 i, u32 *side)
{
	u32 mine = *side & 1;

	(void)i;
	return hammer_sides[!mine].next + HAMMER_LEAD >= hammer_sides[mine].next;
}

SEC("xdp")
int hammer(struct xdp_md *ctx)
{
	u32 side = bpf_get_smp_processor_id() != hammer_cpu, zero = 0, number;
	volatile struct hammer_side *mine = &hammer_sides[side & 1];
	struct xdd_packet packet;
	struct xdd_verdict verdict;
	struct xdd_live *live;
	u64 apart, *pass;
	u8 *data;

	number = mine->next;
	live = bpf_map_lookup_elem(&config, &zero);
	pass = bpf_map_lookup_elem(&passes, &number);
	if (number >= hammer_keys || !live || !pass)
		return XDP_DROP;
	if (bpf_loop(HAMMER_WAIT, is_close, &side, 0) == HAMMER_WAIT)
		return XDP_DROP; /* wait on in the next run */
	apart = hammer_sides[!(side & 1)].next - number + 1;
	mine->beside += apart <= 2;
	data = (u8 *)(long)ctx->data;
	if (data + 34 > (u8 *)(long)ctx->data_end)
		return XDP_DROP;
	if (xdd_fixed.key == XDD_KEY_redundancy)
		*(u16 *)(data + 16) = xdd_ntohs(number); /* behind EtherType and path of HSR */
	else
		*(u32 *)(data + 26) = number;
	packet = packet_open(ctx, bpf_xdp_get_buff_len(ctx));
	verdict = xdd_decide(&xdd_fixed, live, &xdd_secret, NULL, &packet,
			     (1ULL << 40) + number * hammer_step_ns, random_at(number, 0));
	if (verdict.bypass != XDD_BYPASS_MAX)
		mine->bypassed++;
	else if (!(verdict.found & XDD_SEEN))
		__sync_fetch_and_add(pass, 1);
	mine->next = number + 1;
	return XDP_PASS;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is recorded of single packets. Functions of their own, which the verifier checks by
 * themselves: the way of the other packets stays as it is.
 */
#ifndef BPF_SAMPLE_H
#define BPF_SAMPLE_H

#include "accessors.h"
#include "counters.h"
#include "ethertypes.h"
#include "events.h"

XDD_INLINE u64 clock_ns(void)
{
	return xdd_fixed.clock == XDD_CLOCK_coarse ? bpf_ktime_get_coarse_ns() : bpf_ktime_get_ns();
}

/* The bytes of the frame that is recorded. Returns their number, or 0. */
XDD_INLINE u32 sample_bytes(struct xdp_md *ctx, struct event_copy *copy, u32 most)
{
	u32 n = bpf_xdp_get_buff_len(ctx);

	copy->event.wire_len = n;
	n = bounded(n < most ? n : most, XDD_EVENT_BYTES);
	copy->event.cap_len = n;
	return bpf_xdp_load_bytes(ctx, 0, copy->bytes, n) ? 0 : n;
}

XDD_INLINE bool sample_send(struct xdp_md *ctx, struct event_copy *copy, u32 most)
{
	u32 n = sample_bytes(ctx, copy, most);

	return n && !bpf_ringbuf_output(&events, copy, sizeof(copy->event) + n, 0);
}

/*
 * Hand a verdict of @kind to whoever reads events, if this second has room for it. The clock is read
 * again: the caller's stack has no room to keep the time until here.
 */
__attribute__((noinline)) int sample(struct xdp_md *ctx, struct xdd_counters *counters, u32 kind,
				     u64 key, u32 found)
{
	u64 now_ns = clock_ns();
	struct event_copy *copy;
	struct xdd_live *live;
	u32 zero = 0;
	u64 *budget;

	live = bpf_map_lookup_elem(&config, &zero);
	budget = bpf_map_lookup_elem(&event_budget, &zero);
	copy = bpf_map_lookup_elem(&event_copy, &zero);
	if (!counters || !live || !budget || !copy)
		return -1;
	if (!xdd_event_take(budget, now_ns, live->event_rate)) {
		counters->events_limited++;
		return 0;
	}
	copy->event.time_ns = now_ns;
	copy->event.window_ns = live->window_ns;
	copy->event.key = key;
	copy->event.ifindex = ctx->ingress_ifindex;
	copy->event.kind = kind;
	copy->event.action = kind == XDD_BYPASS_watch ? live->watch_action
						      : xdd_dup_action(&xdd_fixed, live, found);
	copy->event.kept = kind == XDD_EVENT_duplicate && found & (XDD_PASSES | XDD_LET_THROUGH);
	copy->event.peer = xdd_fixed.peers && found & XDD_ELSEWHERE ? xdd_found_peer(found) + 1 : 0;
	if (sample_send(ctx, copy, live->event_bytes))
		counters->events_sent++;
	else
		counters->events_lost++;
	return 0;
}

/* Count the type of a frame that passed as not_ip. */
__attribute__((noinline)) int count_ethertype(struct xdp_md *ctx)
{
	struct xdd_ethertypes *types;
	struct xdd_layers layers = {};
	u32 zero = 0;

	types = bpf_map_lookup_elem(&ethertypes, &zero);
	if (!types)
		return -1;
	parse_link(ctx, bpf_xdp_get_buff_len(ctx), &layers);
	xdd_ethertype_count(types, xdd_ethertype_of(&layers));
	return 0;
}

#endif

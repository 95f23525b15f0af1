/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a context to an action: the core's verdict, counted, and what is done about it. */
#ifndef BPF_DEDUP_H
#define BPF_DEDUP_H

#include "accessors.h"
#include "counters.h"
#include "sample.h"
#include "xdd/mark.h"

XDD_INLINE void count(struct xdd_count *at, u32 bytes)
{
	at->packets++;
	at->bytes += bytes;
}

#define COUNT_BYPASS(name, help)               \
	case XDD_BYPASS_##name:                \
		count(&counters->name, bytes); \
		break;

#define COUNT_INNER(name, help)   \
	case XDD_##name:          \
		counters->name++; \
		break;

XDD_INLINE void count_inner(struct xdd_counters *counters, u32 inner)
{
	switch (inner) {
		XDD_INNERS(COUNT_INNER)
	}
}

#define COUNT_CLASS(name, word, help)                      \
	case XDD_CLASS_##name:                             \
		count(&counters->ambiguous_##name, bytes); \
		break;

XDD_INLINE void count_duplicate(struct xdd_counters *counters, struct xdd_verdict verdict,
				u32 bytes)
{
	count(&counters->duplicate, bytes);
	if (verdict.found & XDD_LET_THROUGH)
		counters->let_through++;
	switch (verdict.class) {
		XDD_CLASSES(COUNT_CLASS)
	}
}

XDD_INLINE void count_verdict(struct xdd_counters *counters, struct xdd_verdict verdict, u32 bytes)
{
	count(&counters->received, bytes);
	switch (verdict.bypass) {
		XDD_BYPASSES(COUNT_BYPASS)
	default:
		if (verdict.found & XDD_SEEN)
			count_duplicate(counters, verdict, bytes);
		else
			count(&counters->distinct, bytes);
	}
	if (xdd_fixed.inner)
		count_inner(counters, verdict.inner);
	if (verdict.found & XDD_TIME_BACK)
		counters->time_back++;
	if (verdict.found & XDD_EVICTED)
		counters->evictions++;
	if (xdd_fixed.engine == XDD_ENGINE_recovery && verdict.found & XDD_ROGUE)
		counters->rogue++;
}

/* Where a peer had seen the packet, of which @found is known. By the context: with any more to keep until here
 * the program's stack would grow.
 */
__attribute__((noinline)) int count_peer(struct xdp_md *ctx, struct xdd_counters *counters,
					 u32 found)
{
	struct xdd_peer_hits *hits;
	u32 peer = xdd_found_peer(found);

	if (!counters || !xdd_fixed.peers || !(found & XDD_ELSEWHERE))
		return -1;
	counters->elsewhere++;
	hits = bpf_map_lookup_elem(&peer_hits, &peer);
	if (!hits)
		return -1;
	hits->packets++;
	hits->bytes += bpf_xdp_get_buff_len(ctx);
	return 0;
}

/* What is recorded beyond the counters; @key: half of the key's digest, or 0. */
XDD_INLINE void show(struct xdp_md *ctx, struct xdd_counters *counters, const struct xdd_live *live,
		     struct xdd_verdict verdict, u64 key)
{
	u32 kind = verdict.bypass;
	bool kept;

	if (kind == XDD_BYPASS_not_ip)
		count_ethertype(ctx);
	if (!live->event_kinds)
		return;
	if (kind == XDD_BYPASS_MAX)
		kind = verdict.found & XDD_SEEN ? XDD_EVENT_duplicate : XDD_EVENT_distinct;
	kept = kind == XDD_EVENT_duplicate && !xdd_is_suppressed(verdict);
	if (kept && live->event_kinds & XDD_EVENT_ACTED_ON)
		return;
	if (live->event_kinds >> kind & 1)
		sample(ctx, counters, kind, key, verdict.found);
}

/* The counter slot of an interface. */
__attribute__((noinline)) u32 interface_slot(u32 ifindex)
{
	struct xdd_live *live;
	u32 zero = 0;

	live = bpf_map_lookup_elem(&config, &zero);
	if (!live)
		return XDD_SLOT_ELSEWHERE;
	for (u32 i = 0; i < XDD_MAX_IFACES; i++) {
		if (live->ifaces[i].ifindex == ifindex)
			return i;
	}
	return XDD_SLOT_ELSEWHERE;
}

/* Write the DSCP of a duplicate. Returns 0, or -1 where its IP header cannot be written. */
__attribute__((noinline)) int mark_dscp(struct xdp_md *ctx, u32 dscp)
{
	struct xdd_packet packet = packet_open(ctx, bpf_xdp_get_buff_len(ctx));
	struct xdd_layers layers;
	const u8 *at;

	xdd_packet_layers(&xdd_fixed, &packet, &layers);
	if (layers.bypass != XDD_BYPASS_MAX)
		return -1;
	if (layers.version == 4) {
		at = xdd_packet_at(&packet, layers.l3, sizeof(struct xdd_ipv4));
		if (!at)
			return -1;
		xdd_mark_ipv4((struct xdd_ipv4 *)at, dscp);
		return 0;
	}
	at = xdd_packet_at(&packet, layers.l3, sizeof(struct xdd_ipv6));
	if (!at)
		return -1;
	xdd_mark_ipv6((struct xdd_ipv6 *)at, dscp);
	return 0;
}

/* Four bytes of metadata, which tc BPF reads as __sk_buff.data_meta. */
__attribute__((noinline)) int mark_meta(struct xdp_md *ctx)
{
	u32 *meta;

	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*meta)))
		return -1;
	meta = (u32 *)(long)ctx->data_meta;
	if ((void *)(meta + 1) > (void *)(long)ctx->data)
		return -1;
	*meta = XDD_META_DUPLICATE;
	return 0;
}

/* Send to entry @at of map targets; where that is impossible the packet passes. */
XDD_INLINE int redirect(struct xdd_counters *counters, u32 at, u32 bytes)
{
	int action = bpf_redirect_map(&targets, at, XDP_PASS);

	count(action == XDP_REDIRECT ? &counters->redirected : &counters->redirect_errors, bytes);
	return action;
}

XDD_INLINE int keep(struct xdd_counters *counters, const struct xdd_live *live, u32 bytes)
{
	if (live->forward)
		return redirect(counters, XDD_DEV_FORWARD, bytes);
	count(&counters->passed, bytes);
	return XDP_PASS;
}

XDD_INLINE int act(struct xdp_md *ctx, struct xdd_counters *counters, const struct xdd_live *live,
		   struct xdd_verdict verdict, u32 bytes)
{
	if (!xdd_is_suppressed(verdict))
		return keep(counters, live, bytes);
	switch (xdd_dup_action(&xdd_fixed, live, verdict.found)) {
	case XDD_ACTION_drop:
		count(&counters->dropped, bytes);
		return XDP_DROP;
	case XDD_ACTION_redirect:
		return redirect(counters, XDD_DEV_DUPLICATES, bytes);
	case XDD_ACTION_mark:
		if (live->mark_meta ? mark_meta(ctx) : mark_dscp(ctx, live->mark_dscp))
			counters->mark_failed++;
	}
	return keep(counters, live, bytes);
}

/* What an XDP program returns for @ctx, seen at @now_ns. As xdd_decide(), but that the random number
 * is made when it is needed: on the stack it has no place.
 */
XDD_INLINE int dedup(struct xdp_md *ctx, u64 now_ns)
{
	struct xdd_packet packet = packet_open(ctx, bpf_xdp_get_buff_len(ctx));
	struct xdd_identity identity = {};
	struct xdd_counters *counter;
	struct xdd_verdict verdict;
	u32 zero = 0, slot = 0, bypass;
	struct xdd_live *live;

	live = bpf_map_lookup_elem(&config, &zero);
	if (!live)
		return XDP_PASS;
	if (live->ifaces[0].ifindex != ctx->ingress_ifindex)
		slot = interface_slot(ctx->ingress_ifindex);
	counter = bpf_map_lookup_elem(&counters, &slot);
	if (!counter)
		return XDP_PASS;
	bypass = xdd_identify(&xdd_fixed, &xdd_secret, &packet, &identity);
	verdict = xdd_conclude(&xdd_fixed, live, NULL, &packet, &identity, bypass, now_ns,
			       random_at(counter->received.packets, slot));
	count_verdict(counter, verdict, packet.wire_len);
	if (xdd_fixed.peers)
		count_peer(ctx, counter, verdict.found);
	if (xdd_fixed.collect_keys)
		collect(ctx, &identity);
	show(ctx, counter, live, verdict, identity.digest.lo);
	if (xdd_fixed.watch_bits && xdd_is_unwanted(verdict)) {
		count(&counter->dropped, packet.wire_len);
		return XDP_DROP;
	}
	return act(ctx, counter, live, verdict, packet.wire_len);
}

#endif

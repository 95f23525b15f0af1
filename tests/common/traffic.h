/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random traffic: frames of every kind the parser knows, copies of them, damage and garbage. */
#ifndef TESTS_TRAFFIC_H
#define TESTS_TRAFFIC_H

#include <stdio.h>

#include "tests/common/frame.h"

#define TRAFFIC_RECENT 48
#define TRAFFIC_MIN 14 /* what BPF_PROG_RUN takes */

struct traffic {
	u64 seed;
	u32 link;
	u32 max_payload;
	u32 n;
	struct frame recent[TRAFFIC_RECENT];
};

static inline const char *traffic_pick(struct traffic *traffic, const char *const *words, u32 n)
{
	return words[random_below(&traffic->seed, n)];
}

static inline const char *traffic_link(struct traffic *traffic)
{
	switch (traffic->link) {
	case XDD_LINK_ETHERNET:
		return "eth";
	case XDD_LINK_SLL:
		return "sll";
	case XDD_LINK_SLL2:
		return "sll2";
	case XDD_LINK_NULL:
		return random_below(&traffic->seed, 2) ? "null" : "nullbe";
	case XDD_LINK_LOOP:
		return "loop";
	default:
		return "raw";
	}
}

static inline void traffic_new(struct traffic *traffic, struct frame *frame)
{
	static const char *const tags[] = {
		"",
		"",
		"",
		"",
		"vlan",
		"qinq vlan",
		"mpls",
		"mpls mpls mpls",
		"vlan mpls",
		"vlan qinq91 qinq92 vlan",
		"vlan vlan vlan vlan vlan",
		"hsr:77",
		"vlan rtag:0xffff",
		"rtag vlan mpls",
		"mpls mpls mpls mpls mpls mpls mpls mpls mpls",
		"arp",
	};
	static const char *const networks[] = {
		"ip4 tcp",
		"ip4 udp",
		"ip4 sctp",
		"ip4 icmp:8",
		"ip4 icmp:3",
		"ip4:3 tcp",
		"ip4:10 udp",
		"ip4first udp",
		"ip4later proto:17",
		"ip4 ip4 udp",
		"ip4 proto:89",
		"ip4 dccp",
		"ip4df segment:16",
		"ip4df tcp",
		"ip4df udp",
		"ip6 segment:4",
		"ip6 tcp",
		"ip6 udp",
		"ip6 icmp6:128",
		"ip6 icmp6:135",
		"ip6 hop dst route:2 ah:4 udp",
		"ip6 frag:1 udp",
		"ip6 frag:2 proto:17",
		"ip6 frag tcp",
		"ip6 dst dst dst dst dst dst dst dst dst udp",
		"ip6 proto:59",
		"ip6 dst:5 shim hip mobility udplite",
		"ip4 udp:4789 vxlan eth vlan ip4 tcp",
		"ip6 gre:0x3000 eth ip6 udp",
		"ip4 gre:0x1000 erspan2 eth ip4 udp:2152 gtpu:4 ip4 tcp",
	};
	bool tagged = traffic->link == XDD_LINK_ETHERNET || traffic->link == XDD_LINK_SLL ||
		      traffic->link == XDD_LINK_SLL2;
	u64 *seed = &traffic->seed;
	u32 kind = random_below(seed, 10), payload;
	char spec[256];

	payload = random_below(seed, kind == 0 ? traffic->max_payload : kind < 4 ? 1400 : 90);
	if (kind == 9)
		payload = 0;
	snprintf(spec, sizeof(spec), "%s %s %s pay:%u pad:%u %s", traffic_link(traffic),
		 tagged ? traffic_pick(traffic, tags, XDD_ARRAY_SIZE(tags)) : "",
		 traffic_pick(traffic, networks, XDD_ARRAY_SIZE(networks)), payload,
		 random_below(seed, 5) ? 0 : random_below(seed, 40),
		 traffic->link == XDD_LINK_ETHERNET && !random_below(seed, 8) ? "rct:9" : "");
	frame_build(frame, spec);
	frame->link = traffic->link;
	if (random_below(seed, 2))
		frame_number(frame, random64(seed));
}

/* Change, or cut off, what any byte may hold. */
static inline void traffic_damage(struct traffic *traffic, struct frame *frame)
{
	u64 *seed = &traffic->seed;
	u32 flips = random_below(seed, 3);

	for (u32 i = 0; i < flips; i++)
		frame->byte[random_below(seed, frame->len < 100 ? frame->len : 100)] ^=
			1 << random_below(seed, 8);
	if (random_below(seed, 2))
		frame_fix_sum(frame);
	if (!random_below(seed, 3) && frame->len > TRAFFIC_MIN)
		frame->len = TRAFFIC_MIN + random_below(seed, frame->len - TRAFFIC_MIN);
}

/* The next frame; half of them are copies of recent ones, some with a lower TTL. */
static inline const struct frame *traffic_next(struct traffic *traffic)
{
	u32 kind = random_below(&traffic->seed, 100);
	struct frame *frame;

	if (traffic->n > TRAFFIC_RECENT && kind < 50) {
		frame = &traffic->recent[random_below(&traffic->seed, TRAFFIC_RECENT)];
		if (kind < 15 && frame->version) {
			frame->byte[frame->l3 + (frame->version == 4 ? 8 : 7)]--;
			frame_fix_sum(frame);
		}
		return frame;
	}
	frame = &traffic->recent[traffic->n++ % TRAFFIC_RECENT];
	traffic_new(traffic, frame);
	if (kind > 90) {
		frame->len = TRAFFIC_MIN + random_below(&traffic->seed, 200);
		random_bytes(&traffic->seed, frame->byte, frame->len);
		frame->version = 0;
	} else if (kind > 75) {
		traffic_damage(traffic, frame);
	}
	return frame;
}

#endif

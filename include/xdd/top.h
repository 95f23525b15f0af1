/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The keys most often suppressed, in bounded memory: buckets of a few counted keys. A key that is
 * in its bucket counts; one that is not weakens the least of those there, the less likely the more
 * that has counted, and takes its place when nothing is left of it (the exponential decay of
 * HeavyKeeper and HeavyGuardian, Yang et al. 2018). So the many keys that are suppressed once, as
 * between two taps, drive out each other and never one that counted in hundreds. A count is never
 * above the true number; what was suppressed before the key had its place is missing from it.
 */
#ifndef XDD_TOP_H
#define XDD_TOP_H

#include "key.h"

#define XDD_TOP_BUCKETS 128 /* a power of two */
#define XDD_TOP_WAYS 4	    /* a power of two */

/* A key's count falls with a chance of 2^-(count / 8), but at least 2^-10: else what was often
 * suppressed long ago would block its bucket for ever.
 */
#define XDD_TOP_FIRM 8
#define XDD_TOP_FIRMEST 10

/* What a key is of, for people. Network order where it comes from the packet. */
struct xdd_about {
	u8 version; /* 4, 6; 0: no IP, or not looked for */
	u8 proto;
	u16 ethertype; /* version 0: host order; 0: not Ethernet */
	u16 sport;     /* as in struct xdd_layers */
	u16 dport;
	union {
		u32 v4[2]; /* source, destination */
		u64 v6[4];
		u8 macs[12]; /* version 0 and Ethernet: destination, source */
	};
};

/* A bucket. In BPF the entries of map `top`, per CPU. */
struct xdd_top {
	u64 turns;			      /* duplicates that came here so far */
	u64 key[XDD_TOP_WAYS];		      /* the digest's first half */
	u64 packets[XDD_TOP_WAYS];	      /* 0: free */
	struct xdd_about about[XDD_TOP_WAYS]; /* valid from the second packet on */
};

XDD_ASSERT(sizeof(struct xdd_about) == 40, "xdd_about has no holes");
XDD_ASSERT(sizeof(struct xdd_top) == 8 + XDD_TOP_WAYS * 56, "xdd_top has no holes");

/* Ports of a packet key, which has them in its tail. */
XDD_INLINE void xdd_about_ports(const struct xdd_packet *packet, const struct xdd_key *key,
				struct xdd_about *about)
{
	struct xdd_layers layers = {};

	xdd_key_transport(packet, key, key->tail + key->head.tail_len, &layers);
	if (layers.bypass == XDD_BYPASS_MAX)
		xdd_parse_ports(packet, &layers);
	about->proto = layers.proto;
	about->sport = layers.sport;
	about->dport = layers.dport;
}

XDD_INLINE void xdd_about_frame(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
				const struct xdd_key *key, struct xdd_about *about)
{
	bool known = key->head.kind == XDD_KEY_frame && fixed->key != XDD_KEY_frame;
	u16 ethertype = key->head.a;

	if (packet->link != XDD_LINK_ETHERNET ||
	    xdd_packet_read(packet, 0, about->macs, sizeof(about->macs)) ||
	    (!known && xdd_read_be16(packet, 12, &ethertype)))
		return;
	about->ethertype = ethertype;
}

/* Describe the packet of @key. */
XDD_INLINE void xdd_about(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			  const struct xdd_key *key, struct xdd_about *about)
{
	const struct xdd_head *head = &key->head;

	xdd_memset(about, 0, sizeof(*about));
	about->version = head->version;
	if (!head->version) {
		xdd_about_frame(fixed, packet, key, about);
		return;
	}
	for (u32 i = 0; i < 4; i++)
		about->v6[i] = head->version == 6 || i == 0 ? head->v6[i] : 0;
	about->proto = head->proto;
	about->sport = head->a;
	about->dport = head->a >> 16;
	if (fixed->key == XDD_KEY_packet)
		xdd_about_ports(packet, key, about);
}

/* Whether the least of a bucket, which has counted @packets, is weakened; @random: 64 bits. */
XDD_INLINE bool xdd_top_weakens(u64 packets, u64 random)
{
	u64 shift = packets / XDD_TOP_FIRM;

	if (shift > XDD_TOP_FIRMEST)
		shift = XDD_TOP_FIRMEST;
	return !(random & ((1ULL << shift) - 1));
}

/* A packet whose key is not in the bucket. */
XDD_INLINE void xdd_top_push(struct xdd_top *top, u64 key, u64 random)
{
	u32 least = 0;

	for (u32 i = 1; i < XDD_TOP_WAYS; i++)
		if (top->packets[i] < top->packets[least & (XDD_TOP_WAYS - 1)])
			least = i;
	xdd_opaque(least);
	least &= XDD_TOP_WAYS - 1;
	if (!xdd_top_weakens(top->packets[least], random))
		return;
	if (top->packets[least] > 1) {
		top->packets[least]--;
		return;
	}
	top->key[least] = key;
	top->packets[least] = 1;
}

/*
 * Count a suppressed packet whose digest starts with @key in @top, the bucket of its key.
 *
 * Returns the way that is to be described now, which is from the second packet on, or
 * XDD_TOP_WAYS.
 */
XDD_INLINE u32 xdd_top_count(struct xdd_top *top, u64 key, u64 random)
{
	for (u32 i = 0; i < XDD_TOP_WAYS; i++) {
		if (top->key[i] != key || !top->packets[i])
			continue;
		return ++top->packets[i] == 2 ? i : XDD_TOP_WAYS;
	}
	xdd_top_push(top, key, random);
	return XDD_TOP_WAYS;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is done about a duplicate. Content cannot tell a copy from a packet that its sender sent
 * twice unless each has an identification of its own: an IPv4 packet with the flag DF and
 * identification 0 (RFC 6864 section 4.1), an IPv6 packet without a fragment header, a frame
 * without IP. Such duplicates are ambiguous: counted by class, and kept where the class says so.
 * Of any duplicate, one is kept after so many suppressed ones of its key, if so configured.
 */
#ifndef XDD_REPEAT_H
#define XDD_REPEAT_H

#include "store.h"
#include "top.h"

#define XDD_IPV4_DONT_FRAGMENT 0x4000
#define XDD_TCP_FIN 0x01
#define XDD_TCP_SYN 0x02

/* The bucket of map `top`, of this CPU, or NULL. */
extern struct xdd_top *xdd_top_at(struct xdd_store *store, u32 bucket);

/* How many duplicates of the key the exact engine has suppressed since it was last distinct, or
 * NULL where it has just been forgotten.
 */
extern u64 *xdd_exact_suppressed(struct xdd_store *store, const struct xdd_identity *identity);

/* Whether the packet of @key may have no identification: of IPv6 only the packet says it. Where
 * the identification is ignored no IPv4 packet has one.
 */
XDD_INLINE bool xdd_may_repeat(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_key *key)
{
	if (fixed->key != XDD_KEY_packet)
		return false;
	if (key->head.version != 4)
		return true;
	if (key->head.a & 0xffff)
		return false;
	return xdd_ntohs(key->head.a >> 16) & XDD_IPV4_DONT_FRAGMENT ||
	       !xdd_field_in(fixed, XDD_FIELD_ipid);
}

/* Where the packet of @key ends by its own length: the tail may end before, with --payload. */
XDD_INLINE u32 xdd_key_end(const struct xdd_key *key)
{
	u32 stated = xdd_ntohs(key->head.version == 4 ? key->head.b : key->head.a);

	if (!stated)
		return key->tail + key->head.tail_len;
	return key->tail + stated - (key->head.version == 4 ? sizeof(struct xdd_ipv4) : 0);
}

/* Data, SYN and FIN take sequence numbers, so that a repeat of them is a retransmission. */
XDD_INLINE u32 xdd_class_tcp(const struct xdd_packet *packet, const struct xdd_layers *layers)
{
	u8 head[2];

	if (layers->l4 + 20 > layers->end ||
	    xdd_packet_read(packet, layers->l4 + 12, head, sizeof(head)))
		return XDD_CLASS_other;
	if (head[1] & (XDD_TCP_SYN | XDD_TCP_FIN) || layers->l4 + (head[0] >> 4) * 4 < layers->end)
		return XDD_CLASS_tcp_data;
	return XDD_CLASS_ack_rst;
}

/* The class of the packet of @key, or XDD_CLASS_identified where a duplicate of it is a copy. */
XDD_INLINE u32 xdd_class(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			 const struct xdd_key *key)
{
	struct xdd_layers layers = {};

	if (!xdd_may_repeat(fixed, key))
		return XDD_CLASS_identified;
	if (!key->head.version)
		return XDD_CLASS_other;
	xdd_key_transport(packet, key, xdd_key_end(key), &layers);
	if (key->head.version == 6 && layers.fragment != XDD_WHOLE)
		return XDD_CLASS_identified;
	if (layers.bypass != XDD_BYPASS_MAX || layers.fragment == XDD_FRAGMENT_LATER)
		return XDD_CLASS_other;
	if (layers.proto == XDD_PROTO_UDP || layers.proto == XDD_PROTO_UDPLITE)
		return XDD_CLASS_udp;
	return layers.proto == XDD_PROTO_TCP ? xdd_class_tcp(packet, &layers) : XDD_CLASS_other;
}

/* Whether this duplicate passes because @most of its key were suppressed: of the exact engine, which
 * counts them, each so many, of the others by @random on average.
 */
XDD_INLINE bool xdd_let_through(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_identity *identity, u32 most, u64 random)
{
	u64 *suppressed;
	u32 rest;

	if (fixed->engine != XDD_ENGINE_exact)
		return !xdd_range(random >> 32, most + 1, &rest);
	suppressed = xdd_exact_suppressed(store, identity);
	return suppressed && xdd_fetch_add64(suppressed, 1) % (most + 1) == most;
}

/* Whether there is anything to be done about a duplicate with @key. */
XDD_INLINE bool xdd_repeat_matters(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
				   const struct xdd_key *key)
{
	return live->top || live->max_suppress || xdd_may_repeat(fixed, key);
}

XDD_INLINE void xdd_top_take(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			     const struct xdd_identity *identity, u64 random, struct xdd_top *top)
{
	u32 way = xdd_top_count(top, identity->digest.lo, random);

	if (way < XDD_TOP_WAYS)
		xdd_about(fixed, packet, &identity->key, &top->about[way]);
}

/* Whether the duplicate is let through; if not it is counted among the suppressed ones of its key. */
XDD_INLINE bool xdd_suppress(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			     struct xdd_store *store, const struct xdd_packet *packet,
			     const struct xdd_identity *identity)
{
	u64 key = identity->digest.lo, random;
	struct xdd_top *top;

	if (!live->max_suppress && !live->top)
		return false;
	top = xdd_top_at(store, key & (XDD_TOP_BUCKETS - 1));
	if (!top)
		return false;
	random = xdd_mix64(key ^ top->turns++);
	if (live->max_suppress &&
	    xdd_let_through(fixed, store, identity, live->max_suppress, random))
		return true;
	if (live->top)
		xdd_top_take(fixed, packet, identity, random, top);
	return false;
}

/* What xdd_repeat() returns: enum xdd_found bits, and above them the class. */
#define XDD_CLASS_SHIFT 20

/* The class of the duplicate @packet, and whether it is kept: XDD_PASSES, XDD_LET_THROUGH or none.
 * In one number: the caller's stack frame in BPF has no room for more.
 */
XDD_INLINE u32 xdd_repeat(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			  struct xdd_store *store, const struct xdd_packet *packet,
			  const struct xdd_identity *identity)
{
	u32 class = xdd_class(fixed, packet, &identity->key);
	u32 found = 0;

	if (live->ambiguous_pass >> class & 1)
		found = XDD_PASSES;
	else if (xdd_suppress(fixed, live, store, packet, identity))
		found = XDD_LET_THROUGH;
	return found | class << XDD_CLASS_SHIFT;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key: the bytes that make two packets the same event.
 *
 * A key is a head of fixed layout, in which what may differ between copies is absent, and
 * a tail that lies in the packet. The packet key's head holds what identifies an IP header
 * behind its first hop (no TOS, TTL, checksum); its tail is everything behind the fixed
 * header up to the packet's own length, never the Ethernet padding.
 */
#ifndef XDD_KEY_H
#define XDD_KEY_H

#include "hash.h"
#include "mask.h"
#include "redundancy.h"
#include "site.h"
#include "tunnel.h"

/* All fields that come from the packet are in network order. */
struct xdd_head {
	u8 kind;      /* enum xdd_key_kind */
	u8 version;   /* 4, 6; 0 where the key does not look for IP */
	u8 proto;     /* redundancy: enum xdd_scheme */
	u8 ihl;	      /* packet key, IPv4: header length in words */
	u32 tail_len; /* bytes of the tail */
	/* packet: IPv4 identification, fragment; IPv6 length. flows: ports. frame: link.
	 * redundancy: the number, but for engine recovery
	 */
	u32 a;
	/* packet, IPv4: total length, TOS, TTL; IPv6: flow label. frame: wire length. redundancy:
	 * VLANs
	 */
	u32 b;
	union {
		/* source, destination, site policy's word in two, or 0. redundancy: the address and
		 * 16 bits of the VLANs in two, that word
		 */
		u32 v4[4];
		u64 v6[6]; /* source, destination, that word, 0; but see xdd_key_complete() */
	};
};

#define XDD_HEAD_SHORT XDD_STRIPE

XDD_ASSERT(sizeof(struct xdd_head) == 64, "a head is one or two stripes");
XDD_ASSERT(offsetof(struct xdd_head, v4) + 16 == XDD_HEAD_SHORT, "IPv4 heads are one stripe");

struct xdd_key {
	struct xdd_head head;
	u16 head_len; /* XDD_HEAD_SHORT or sizeof(head) */
	u16 inner;    /* enum xdd_inner: why it is not known by a packet further in */
	union {
		u32 tail;     /* offset of the tail in the packet */
		u32 sequence; /* redundancy, which has none: the number */
	};
};

/* Accessor: xdd_parse_link() and xdd_parse_ip(). In BPF functions, which the verifier checks once
 * and not for each offset at which the IP header may lie.
 */
extern void xdd_packet_layers(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_layers *layers);

/* Accessor: xdd_walk_in(), in BPF a function. */
extern void xdd_packet_inner(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			     struct xdd_walk *walk, struct xdd_layers *layers,
			     struct xdd_around *around);

/* Accessor: xdd_find_number(), in BPF a function. */
extern u32 xdd_packet_number(const struct xdd_packet *packet, struct xdd_number *number);

/* Accessor: xdd_skip_extensions(), in BPF a function. */
extern void xdd_packet_extensions(const struct xdd_packet *packet, struct xdd_layers *layers);

/* Accessors: feed @n bytes of @packet from @off to @hash, by xdd_hash_block() (32..XDD_BLOCK
 * bytes in whole stripes) and xdd_hash_rest() (1..31). Return 0, or -1 where they could not
 * be read.
 */
extern int xdd_packet_block(XDD_FIXED struct xdd_fixed *fixed, XDD_FIXED struct xdd_secret *secret,
			    const struct xdd_packet *packet, struct xdd_hash *hash, u32 off, u32 n);
extern int xdd_packet_rest(const struct xdd_packet *packet, struct xdd_hash *hash, u32 off, u32 n);

/* Accessor: xdd_hash_blocks(), in BPF as a function. */
extern int xdd_packet_blocks(XDD_FIXED struct xdd_fixed *fixed, XDD_FIXED struct xdd_secret *secret,
			     const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
			     u32 blocks);

/* Accessor: feed @n bytes (32..XDD_BLOCK in whole stripes, or 1..31) of the tail of @key, masked.
 * Returns 0 or -1.
 */
extern int xdd_packet_masked(XDD_FIXED struct xdd_fixed *fixed, XDD_FIXED struct xdd_secret *secret,
			     const struct xdd_packet *packet, struct xdd_hash *hash, u32 off, u32 n,
			     const struct xdd_key *key);

/* Whether the engine needs both halves of the digest. */
XDD_INLINE bool xdd_digest_is_wide(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_exact || fixed->engine == XDD_ENGINE_recovery;
}

/* Addresses in one order for both directions: true where they must be exchanged. */
XDD_INLINE bool xdd_is_reversed(const struct xdd_head *head, u16 sport, u16 dport)
{
	if (head->version == 4)
		return head->v4[0] > head->v4[1] || (head->v4[0] == head->v4[1] && sport > dport);
	if (head->v6[0] != head->v6[2])
		return head->v6[0] > head->v6[2];
	if (head->v6[1] != head->v6[3])
		return head->v6[1] > head->v6[3];
	return sport > dport;
}

XDD_INLINE void xdd_reverse(struct xdd_head *head)
{
	if (head->version == 4) {
		u32 src = head->v4[0];

		head->v4[0] = head->v4[1];
		head->v4[1] = src;
		return;
	}
	for (u32 i = 0; i < 2; i++) {
		u64 word = head->v6[i];

		head->v6[i] = head->v6[i + 2];
		head->v6[i + 2] = word;
	}
}

XDD_INLINE bool xdd_is_icmp(u8 proto)
{
	return proto == XDD_PROTO_ICMP || proto == XDD_PROTO_ICMPV6;
}

/* Protocol and ports; biflow: echo replies (type 0, 129) count as their requests. */
XDD_INLINE void xdd_head_flow(struct xdd_head *head, const struct xdd_layers *layers, bool both)
{
	u16 sport = layers->sport, dport = layers->dport;

	head->proto = layers->proto;
	if (both && xdd_is_icmp(head->proto)) {
		if (sport == 0 || sport == 129)
			sport = head->proto == XDD_PROTO_ICMP ? 8 : 128;
		if (xdd_is_reversed(head, 0, 0))
			xdd_reverse(head);
	} else if (both && xdd_is_reversed(head, sport, dport)) {
		u16 port = sport;

		xdd_reverse(head);
		sport = dport;
		dport = port;
	}
	head->a = sport | (u32)dport << 16;
}

/* TOS, at bit 16, as far as the key has it. */
XDD_INLINE u32 xdd_head_tos(XDD_FIXED struct xdd_fixed *fixed, u8 tos)
{
	u32 dscp = xdd_field_in(fixed, XDD_FIELD_dscp) ? 0xfc : 0;
	u32 ecn = xdd_field_in(fixed, XDD_FIELD_ecn) ? 0x03 : 0;

	return (tos & (dscp | ecn)) << 16;
}

/* TTL or hop limit, at bit 24. */
XDD_INLINE u32 xdd_head_ttl(XDD_FIXED struct xdd_fixed *fixed, u8 ttl)
{
	return xdd_field_in(fixed, XDD_FIELD_ttl) ? (u32)ttl << 24 : 0;
}

/* The fields of the packet key beside addresses. */
XDD_INLINE void xdd_head_ipv4(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_ipv4 *ip,
			      struct xdd_head *head)
{
	head->proto = ip->proto;
	head->ihl = ip->version_ihl & 15;
	head->a = ip->id | (u32)ip->fragment << 16;
	head->b = ip->total_length;
	if (!fixed->changed_fields)
		return;
	if (!xdd_field_in(fixed, XDD_FIELD_ipid))
		head->a = (u32)ip->fragment << 16;
	head->b = ip->total_length | xdd_head_tos(fixed, ip->tos) | xdd_head_ttl(fixed, ip->ttl);
}

XDD_INLINE void xdd_head_ipv6(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_ipv6 *ip,
			      struct xdd_head *head)
{
	u32 first = xdd_ntohl(ip->version_class_flow);

	head->proto = ip->next_header;
	head->a = ip->payload_length;
	if (!fixed->changed_fields)
		return;
	head->a = ip->payload_length | xdd_head_tos(fixed, first >> 20) |
		  xdd_head_ttl(fixed, ip->hop_limit);
	if (xdd_field_in(fixed, XDD_FIELD_flowlabel))
		head->b = first & 0xfffff;
}

/* Addresses that the key names; the others stay 0. Returns 0 or a bypass reason. */
XDD_INLINE int xdd_head_addresses(XDD_FIXED struct xdd_fixed *fixed,
				  const struct xdd_packet *packet, const struct xdd_layers *layers,
				  struct xdd_key *key)
{
	const u32 kind = fixed->key;
	bool src = kind != XDD_KEY_dst, dst = kind != XDD_KEY_src;
	struct xdd_head *head = &key->head;
	struct xdd_ipv4 ip4;
	struct xdd_ipv6 ip6;

	if (layers->version == 4) {
		if (xdd_packet_read(packet, layers->l3, &ip4, sizeof(ip4)))
			return -1;
		head->v4[0] = src ? ip4.src : 0;
		head->v4[1] = dst ? ip4.dst : 0;
		if (kind != XDD_KEY_packet)
			return 0;
		xdd_head_ipv4(fixed, &ip4, head);
		key->tail = layers->l3 + sizeof(ip4);
		return 0;
	}
	if (xdd_packet_read(packet, layers->l3, &ip6, sizeof(ip6)))
		return -1;
	for (u32 i = 0; i < 2; i++) {
		head->v6[i] = src ? ip6.src[i] : 0;
		head->v6[i + 2] = dst ? ip6.dst[i] : 0;
	}
	if (kind != XDD_KEY_packet)
		return 0;
	xdd_head_ipv6(fixed, &ip6, head);
	key->tail = layers->l3 + sizeof(ip6);
	return 0;
}

/* Key of an IP packet. Returns XDD_BYPASS_MAX, or the reason why there is none. */
XDD_INLINE u32 xdd_key_ip(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			  const struct xdd_layers *layers, struct xdd_key *key)
{
	struct xdd_head *head = &key->head;

	head->version = layers->version;
	key->head_len = layers->version == 4 ? XDD_HEAD_SHORT : sizeof(*head);
	if (xdd_head_addresses(fixed, packet, layers, key))
		return XDD_BYPASS_truncated;
	if (fixed->key == XDD_KEY_packet && layers->end > key->tail)
		head->tail_len = layers->end - key->tail;
	if (fixed->payload_bytes && head->tail_len > fixed->payload_bytes)
		head->tail_len = fixed->payload_bytes;
	if (fixed->key == XDD_KEY_flow || fixed->key == XDD_KEY_biflow)
		xdd_head_flow(head, layers, fixed->key == XDD_KEY_biflow);
	return XDD_BYPASS_MAX;
}

/* Key of the whole frame as captured. */
XDD_INLINE void xdd_key_frame(const struct xdd_packet *packet, struct xdd_key *key)
{
	key->head.kind = XDD_KEY_frame;
	key->head.a = packet->link;
	key->head.b = packet->wire_len;
	key->head.tail_len = packet->len;
	key->head_len = XDD_HEAD_SHORT;
	key->tail = 0;
}

/* Whether the frame is for the next switch only (IEEE 802.1Q table 8-1): each has its own. */
XDD_INLINE bool xdd_is_link_local(const struct xdd_packet *packet)
{
	u8 to[6];

	if (packet->link != XDD_LINK_ETHERNET || xdd_packet_read(packet, 0, to, sizeof(to)))
		return false;
	return to[0] == 0x01 && to[1] == 0x80 && to[2] == 0xc2 && !to[3] && !to[4] && to[5] < 16;
}

/* Key of a frame without IP, whose tags end at ->l3: EtherType and what follows, without padding
 * and trailers where these can be told. Returns XDD_BYPASS_MAX, or not_ip for frames between neighbours.
 */
XDD_INLINE u32 xdd_key_other(const struct xdd_packet *packet, const struct xdd_layers *layers,
			     struct xdd_key *key)
{
	u32 len = packet->len - layers->l3;
	u32 trailer;

	if (xdd_is_link_local(packet))
		return XDD_BYPASS_not_ip;
	trailer = xdd_packet_trailer(packet, layers->l3);
	if (trailer)
		len = trailer - layers->l3;
	if (layers->ethertype == XDD_ETH_ARP && len > 28)
		len = 28;
	else if (layers->ethertype && layers->ethertype < 0x600 && len > layers->ethertype)
		len = layers->ethertype;
	key->head.kind = XDD_KEY_frame;
	key->head.a = layers->ethertype;
	key->head.tail_len = len;
	key->head_len = XDD_HEAD_SHORT;
	key->tail = layers->l3;
	return XDD_BYPASS_MAX;
}

/* The VLANs around the outermost packet. */
XDD_INLINE u64 xdd_key_vids(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet)
{
	struct xdd_layers link = {};
	u32 off = xdd_link_header(packet, &link);

	return xdd_packet_vids(fixed, packet, off, link.ethertype);
}

/* To the innermost packet, and what is around that. */
XDD_INLINE void xdd_key_inner(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_layers *layers, struct xdd_around *around,
			      struct xdd_key *key)
{
	struct xdd_walk walk;

	xdd_packet_inner(fixed, packet, &walk, layers, around);
	key->inner = walk.note;
}

XDD_INLINE void xdd_key_site(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			     const struct xdd_around *around, struct xdd_head *head)
{
	u64 site = xdd_site(fixed, packet, around);

	if (head->version == 6) {
		head->v6[4] = site;
	} else {
		head->v4[2] = site;
		head->v4[3] = site >> 32;
	}
}

/*
 * Key of a frame by its sequence number. The stream is that of the source address, or of FRER that of
 * destination and VLAN (null stream identification, IEEE 802.1CB 6.4). Engine recovery has a memory
 * for each stream: the number is no part of its key. Returns XDD_BYPASS_MAX, or why there is none.
 */
XDD_INLINE u32 xdd_key_redundancy(XDD_FIXED struct xdd_fixed *fixed,
				  const struct xdd_packet *packet, struct xdd_key *key)
{
	struct xdd_around around = {};
	struct xdd_head *head = &key->head;
	struct xdd_number number = {};
	u32 bypass = xdd_packet_number(packet, &number);
	u64 vids = 0;

	if (bypass != XDD_BYPASS_MAX)
		return bypass;
	if (number.scheme == XDD_SCHEME_FRER || fixed->vlan_key)
		vids = xdd_key_vids(fixed, packet);
	key->head_len = XDD_HEAD_SHORT;
	key->sequence = number.sequence;
	head->proto = number.scheme;
	head->a = fixed->engine == XDD_ENGINE_recovery ? 0 : number.sequence;
	head->b = vids >> 16;
	head->v4[0] = number.address[0];
	head->v4[1] = number.address[1] | vids << 16;
	if (fixed->scope_iface)
		xdd_key_site(fixed, packet, &around, head);
	return XDD_BYPASS_MAX;
}

/* Key of the packet, or frame, in @layers. Returns XDD_BYPASS_MAX, or why there is none. */
XDD_INLINE u32 xdd_key_layers(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_layers *layers, struct xdd_key *key)
{
	struct xdd_around around = {};
	u32 bypass;

	if (fixed->vlan_key)
		around.vids = xdd_key_vids(fixed, packet);
	if (fixed->inner)
		xdd_key_inner(fixed, packet, layers, &around, key);
	bypass = layers->bypass;
	if (bypass == XDD_BYPASS_MAX)
		bypass = xdd_key_ip(fixed, packet, layers, key);
	else if (bypass == XDD_BYPASS_not_ip && fixed->non_ip_frame)
		bypass = xdd_key_other(packet, layers, key);
	if (xdd_has_site(fixed))
		xdd_key_site(fixed, packet, &around, &key->head);
	return bypass;
}

/*
 * The key of @packet under the configuration @fixed.
 *
 * Returns XDD_BYPASS_MAX with @key filled, or the enum xdd_bypass that says why the packet
 * has no key.
 */
XDD_INLINE u32 xdd_key_build(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			     struct xdd_key *key)
{
	struct xdd_layers layers;

	xdd_memset(key, 0, sizeof(*key));
	key->head.kind = fixed->key;
	if (fixed->key == XDD_KEY_frame) {
		xdd_key_frame(packet, key);
		return XDD_BYPASS_MAX;
	}
	if (fixed->key == XDD_KEY_offset) {
		if (fixed->offset_pos + fixed->offset_len > packet->len)
			return XDD_BYPASS_truncated;
		key->head.tail_len = fixed->offset_len;
		key->head_len = XDD_HEAD_SHORT;
		key->tail = fixed->offset_pos;
		return XDD_BYPASS_MAX;
	}
	if (fixed->key == XDD_KEY_redundancy)
		return xdd_key_redundancy(fixed, packet, key);
	xdd_packet_layers(fixed, packet, &layers);
	return xdd_key_layers(fixed, packet, &layers, key);
}

/* Whether the key is kept whole by the exact engine, not as a digest. */
XDD_INLINE bool xdd_key_is_flow(u32 kind)
{
	return kind != XDD_KEY_packet && kind != XDD_KEY_frame && kind != XDD_KEY_offset;
}

/* Feed @blocks blocks of XDD_BLOCK bytes from @off. Returns 0 or -1. */
XDD_INLINE int xdd_hash_blocks(XDD_FIXED struct xdd_fixed *fixed,
			       XDD_FIXED struct xdd_secret *secret, const struct xdd_packet *packet,
			       struct xdd_hash *hash, u32 off, u32 blocks)
{
	for (u32 i = 0; i < XDD_MAX_BLOCKS; i++) {
		if (i >= blocks)
			return 0;
		if (xdd_packet_block(fixed, secret, packet, hash, off, XDD_BLOCK))
			return -1;
		off += XDD_BLOCK;
	}
	return -1;
}

/* Feed @len bytes of @packet from @off to @hash. Returns 0, or -1 where they are not there. */
XDD_INLINE int xdd_hash_tail(XDD_FIXED struct xdd_fixed *fixed, XDD_FIXED struct xdd_secret *secret,
			     const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
			     u32 len)
{
	u32 stripes = len % XDD_BLOCK & -XDD_STRIPE, rest = len % XDD_STRIPE;

	if (len >= XDD_BLOCK) {
		if (xdd_packet_blocks(fixed, secret, packet, hash, off, len / XDD_BLOCK))
			return -1;
		off += len & -XDD_BLOCK;
	}
	if (stripes && xdd_packet_block(fixed, secret, packet, hash, off, stripes))
		return -1;
	return rest ? xdd_packet_rest(packet, hash, off + stripes, rest) : 0;
}

/* Where the transport header of a packet key lies that ends at @end, found again from the key:
 * ->l4, ->proto, ->fragment, or ->bypass. @layers is all zeroes.
 */
XDD_INLINE void xdd_key_transport(const struct xdd_packet *packet, const struct xdd_key *key,
				  u32 end, struct xdd_layers *layers)
{
	layers->l4 = key->tail;
	layers->end = end;
	layers->bypass = XDD_BYPASS_MAX;
	layers->proto = key->head.proto;
	if (key->head.version == 6) {
		xdd_packet_extensions(packet, layers);
		return;
	}
	layers->l4 += key->head.ihl * 4 - sizeof(struct xdd_ipv4);
	if (xdd_ntohs(key->head.a >> 16) & XDD_IPV4_OFFSET_MASK)
		layers->fragment = XDD_FRAGMENT_LATER;
}

/* What the key's transport header hides. */
XDD_INLINE void xdd_key_masks(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      const struct xdd_key *key, struct xdd_masks *masks)
{
	struct xdd_layers layers = {};

	xdd_key_transport(packet, key, key->tail + key->head.tail_len, &layers);
	xdd_masks_find(fixed, packet, &layers, masks);
}

/* xdd_hash_tail() of a packet with masks, all of which are in the first block. */
XDD_INLINE int xdd_hash_masked_tail(XDD_FIXED struct xdd_fixed *fixed,
				    XDD_FIXED struct xdd_secret *secret,
				    const struct xdd_packet *packet, const struct xdd_key *key,
				    struct xdd_hash *hash)
{
	u32 off = key->tail, len = key->head.tail_len, stripes, rest = len % XDD_STRIPE;

	stripes = len < XDD_BLOCK ? len & -XDD_STRIPE : XDD_BLOCK;
	if (stripes && xdd_packet_masked(fixed, secret, packet, hash, off, stripes, key))
		return -1;
	if (len >= XDD_BLOCK)
		return xdd_hash_tail(fixed, secret, packet, hash, off + XDD_BLOCK, len - XDD_BLOCK);
	if (!rest)
		return 0;
	return xdd_packet_masked(fixed, secret, packet, hash, off + stripes, rest, key);
}

XDD_INLINE int xdd_hash_key_tail(XDD_FIXED struct xdd_fixed *fixed,
				 XDD_FIXED struct xdd_secret *secret,
				 const struct xdd_packet *packet, const struct xdd_key *key,
				 struct xdd_hash *hash)
{
	if (fixed->changed_fields && xdd_has_masks(fixed) && key->head.version)
		return xdd_hash_masked_tail(fixed, secret, packet, key, hash);
	return xdd_hash_tail(fixed, secret, packet, hash, key->tail, key->head.tail_len);
}

/*
 * Hash @key, the tail from @packet.
 *
 * Returns 0 with @digest filled, or -1 where the tail could not be read.
 */
XDD_INLINE int xdd_key_hash(XDD_FIXED struct xdd_fixed *fixed, XDD_FIXED struct xdd_secret *secret,
			    const struct xdd_packet *packet, const struct xdd_key *key,
			    struct xdd_digest *digest)
{
	const u64 *head = (const u64 *)(const void *)&key->head;
	const bool wide = xdd_digest_is_wide(fixed);
	struct xdd_hash hash;

	xdd_hash_start(&hash, fixed->hash, wide, secret, fixed->seed);
	xdd_hash_stripe(hash.v, fixed->hash, wide, secret, head, 0);
	if (key->head_len > XDD_HEAD_SHORT)
		xdd_hash_stripe(hash.v, fixed->hash, wide, secret, head + 4, 1);
	hash.len = key->head_len;
	xdd_hash_end_block(&hash, fixed->hash, wide, secret);
	if (xdd_hash_key_tail(fixed, secret, packet, key, &hash))
		return -1;
	*digest = xdd_hash_finish(&hash, fixed->hash, wide, secret);
	return 0;
}

/* Where flow keys are kept whole, a frame without IP has a tail: its digest stands for it. */
XDD_INLINE void xdd_key_complete(XDD_FIXED struct xdd_fixed *fixed, struct xdd_key *key,
				 const struct xdd_digest *digest)
{
	if (!xdd_key_is_flow(fixed->key) || !fixed->non_ip_frame || !key->head.tail_len)
		return;
	key->head.v6[4] = digest->lo;
	key->head.v6[5] = digest->hi;
}

/* What is known of a packet before the filter is asked. */
struct xdd_identity {
	struct xdd_key key;
	struct xdd_digest digest;
};

/* Accessors: xdd_key_build() and xdd_key_hash(), in BPF functions: the verifier checks each once,
 * and each has a stack frame of its own.
 */
extern u32 xdd_packet_key(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			  struct xdd_key *key);
extern int xdd_packet_digest(XDD_FIXED struct xdd_fixed *fixed, XDD_FIXED struct xdd_secret *secret,
			     const struct xdd_packet *packet, const struct xdd_key *key,
			     struct xdd_digest *digest);

/* Key and digest of @packet. Returns XDD_BYPASS_MAX, or enum xdd_bypass where there is none. */
XDD_INLINE u32 xdd_identify(XDD_FIXED struct xdd_fixed *fixed, XDD_FIXED struct xdd_secret *secret,
			    const struct xdd_packet *packet, struct xdd_identity *identity)
{
	u32 bypass = xdd_packet_key(fixed, packet, &identity->key);

	if (bypass != XDD_BYPASS_MAX)
		return bypass;
	if (xdd_packet_digest(fixed, secret, packet, &identity->key, &identity->digest))
		return XDD_BYPASS_truncated;
	xdd_key_complete(fixed, &identity->key, &identity->digest);
	return XDD_BYPASS_MAX;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The innermost IP packet of a frame: one header at a time, from what is known to the next. An
 * inner IP packet takes the place of the one around it only when it was read as a whole; what is
 * wrong behind that is noted, and leaves the layers as they were.
 *
 * Read are IP in IP (RFC 2003, 2473, 4213), GRE (RFC 1701, 2784, 2890) with PPP in version 1 (PPTP,
 * RFC 2637), NVGRE (RFC 7637), ERSPAN I, II and III (draft-foschiano-erspan-03), VXLAN (RFC 7348)
 * and its generic extension, Geneve (RFC 8926), GTP-U (3GPP TS 29.281), MPLS behind any of them
 * (RFC 4023, 7510) with Ethernet behind the labels (RFC 4448), PPPoE (RFC 2516), and what stands
 * before an inner Ethernet frame: VN-Tag, 802.1BR, PBB (802.1ah), FabricPath, TRILL (RFC 6325), and
 * Arista's time stamps and the tags of HSR and FRER.
 */
#ifndef XDD_TUNNEL_H
#define XDD_TUNNEL_H

#include "parse.h"

/* What a walk reads next: one of these, or an EtherType. */
enum xdd_header {
	XDD_HEADER_NONE = 0,	      /* nothing: the end */
	XDD_HEADER_PAYLOAD = 0x10000, /* what the IP packet in the layers carries */
	XDD_HEADER_IP,		      /* IPv4 or IPv6, as the first nibble says */
	XDD_HEADER_ETHERNET,
	XDD_HEADER_BOTTOM, /* what the last MPLS label left unnamed */
	XDD_HEADER_PPP,
	XDD_HEADER_EXTENSION,
	XDD_HEADER_UDP,
	XDD_HEADER_GRE,
	XDD_HEADER_ROUTE, /* an entry of a GRE source route */
	XDD_HEADER_ERSPAN_2,
	XDD_HEADER_ERSPAN_3,
	XDD_HEADER_VXLAN,
	XDD_HEADER_GENEVE,
	XDD_HEADER_GTPU,
	XDD_HEADER_GTPU_MORE, /* its extension headers */
};

/* EtherTypes and GRE protocols beside those of parse.h. */
enum xdd_inner_ethertype {
	XDD_ETH_TRILL = 0x22f3,
	XDD_ETH_ERSPAN_3 = 0x22eb,
	XDD_ETH_BRIDGED = 0x6558,
	XDD_ETH_PPP = 0x880b,
	XDD_ETH_PPPOE = 0x8864,
	XDD_ETH_PBB = 0x88e7,
	XDD_ETH_ERSPAN = 0x88be,
	XDD_ETH_FABRICPATH = 0x8903,
	XDD_ETH_VNTAG = 0x8926,
	XDD_ETH_ETAG = 0x893f,
};

enum xdd_inner_proto {
	XDD_PROTO_IPV4 = 4,
	XDD_PROTO_IPV6 = 41,
	XDD_PROTO_GRE = 47,
	XDD_PROTO_MPLS = 137,
};

enum xdd_gre_flag {
	XDD_GRE_CHECKSUM = 0x8000,
	XDD_GRE_ROUTING = 0x4000,
	XDD_GRE_KEY = 0x2000,
	XDD_GRE_SEQUENCE = 0x1000,
	XDD_GRE_ACK = 0x0080, /* version 1 */
	XDD_GRE_VERSION = 0x0007,
};

/* What is around a packet. */
struct xdd_around {
	u64 vids;  /* VLANs of the nearest Ethernet header, 12 bits each, the innermost lowest */
	u32 id;	   /* of the innermost tunnel that has one: VNI, GRE key, TEID */
	u16 eth;   /* offset of that Ethernet header */
	u8 tunnel; /* what kind of tunnel the identifier is of: enum xdd_tunnel + 1; 0: none */
	u8 pad;
};

/* Where a walk is. It ends where ->type is XDD_HEADER_NONE. */
struct xdd_walk {
	u32 off;		/* of the header that is read next */
	u32 end;		/* one past what is around it */
	u32 type;		/* enum xdd_header or EtherType */
	u32 after;		/* ROUTE: the type behind; EXTENSION: its number */
	u16 note;		/* enum xdd_inner */
	u16 inner;		/* inner IP packets read so far */
	struct xdd_around here; /* around what is read next */
};

/* Accessors: xdd_parse_ip(), and xdd_walk_step(); in BPF functions, each checked once. */
extern void xdd_packet_ip(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			  struct xdd_layers *layers);
extern void xdd_packet_step(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			    struct xdd_walk *walk, struct xdd_layers *layers,
			    struct xdd_around *around);

/* Go on with @type, @bytes further. */
XDD_INLINE void xdd_walk_on(struct xdd_walk *walk, u32 bytes, u32 type)
{
	walk->off += bytes;
	walk->type = type;
}

XDD_INLINE void xdd_walk_stop(struct xdd_walk *walk, u32 note)
{
	walk->note = note;
	walk->type = XDD_HEADER_NONE;
}

/* Read @n bytes (a constant) at @at from the header on. Returns 0; or -1 where the packet around
 * it ends before, and the walk with it.
 */
XDD_INLINE int xdd_walk_read(const struct xdd_packet *packet, struct xdd_walk *walk, u32 at,
			     void *to, const u32 n)
{
	u32 off = walk->off + at;

	if (off + n <= walk->end && !xdd_packet_read(packet, off, to, n))
		return 0;
	xdd_walk_stop(walk, XDD_inner_truncated);
	return -1;
}

/* The same, a big-endian 16-bit field. */
XDD_INLINE int xdd_walk_be16(const struct xdd_packet *packet, struct xdd_walk *walk, u32 at,
			     u16 *value)
{
	if (xdd_walk_read(packet, walk, at, value, sizeof(*value)))
		return -1;
	*value = xdd_ntohs(*value);
	return 0;
}

XDD_INLINE void xdd_walk_identify(struct xdd_walk *walk, u32 tunnel, u32 id)
{
	walk->here.tunnel = tunnel + 1;
	walk->here.id = id;
}

/* The tunnel that UDP port @port (host order) belongs to, or XDD_HEADER_NONE. */
XDD_INLINE u32 xdd_port_header(XDD_FIXED struct xdd_fixed *fixed, u16 port)
{
	for (u32 i = 0; i < XDD_TUNNEL_PORTS; i++) {
		if (!port || fixed->tunnel_port[i] != port)
			continue;
		switch (fixed->tunnel_kind[i]) {
		case XDD_TUNNEL_vxlan:
			return XDD_HEADER_VXLAN;
		case XDD_TUNNEL_geneve:
			return XDD_HEADER_GENEVE;
		case XDD_TUNNEL_gtpu:
			return XDD_HEADER_GTPU;
		case XDD_TUNNEL_mpls:
			return XDD_ETH_MPLS;
		}
	}
	return XDD_HEADER_NONE;
}

/* Go on, @bytes further, with what IP protocol @proto stands for. */
XDD_INLINE void xdd_walk_proto(struct xdd_walk *walk, u32 bytes, u8 proto)
{
	walk->after = proto;
	switch (proto) {
	case XDD_PROTO_UDP:
		xdd_walk_on(walk, bytes, XDD_HEADER_UDP);
		return;
	case XDD_PROTO_GRE:
		xdd_walk_on(walk, bytes, XDD_HEADER_GRE);
		return;
	case XDD_PROTO_IPV4:
		xdd_walk_on(walk, bytes, XDD_ETH_IPV4);
		return;
	case XDD_PROTO_IPV6:
		xdd_walk_on(walk, bytes, XDD_ETH_IPV6);
		return;
	case XDD_PROTO_MPLS:
		xdd_walk_on(walk, bytes, XDD_ETH_MPLS);
		return;
	default:
		xdd_walk_on(walk, bytes,
			    xdd_extension_length(proto, 0) ? XDD_HEADER_EXTENSION
							   : XDD_HEADER_NONE);
	}
}

/* What is in the IP packet of @layers. In a fragment nothing that could be read alone. Hop-by-hop
 * options have number 0, which IPv4 has not given away.
 */
XDD_INLINE void xdd_walk_payload(struct xdd_walk *walk, const struct xdd_layers *layers)
{
	walk->off = layers->l4;
	walk->end = layers->end;
	if (layers->fragment == XDD_WHOLE || layers->fragment == XDD_FRAGMENT_ONLY)
		xdd_walk_proto(walk, 0, layers->proto);
	else
		walk->type = XDD_HEADER_NONE;
}

/* An extension header of IPv6, or AH, of which ->after is the number. */
XDD_INLINE void xdd_walk_extension(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 head[4];

	if (xdd_walk_read(packet, walk, 0, head, sizeof(head))) {
		walk->note = XDD_inner_fine; /* no tunnel was seen yet */
		return;
	}
	if (walk->after == XDD_PROTO_FRAGMENT && (head[2] || head[3] & 0xf9))
		walk->type = XDD_HEADER_NONE;
	else
		xdd_walk_proto(walk, xdd_extension_length(walk->after, head[1]), head[0]);
}

/* An inner IP packet: it replaces @layers, and what is around it @around, if it is valid and lies in what is around it, or is cut
 * where the capture cut that, or the frame.
 */
XDD_INLINE void xdd_walk_ip(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			    struct xdd_walk *walk, struct xdd_layers *layers,
			    struct xdd_around *around)
{
	struct xdd_packet within = *packet;
	struct xdd_layers next = {};
	u32 header = walk->type == XDD_ETH_IPV4 ? sizeof(struct xdd_ipv4) : sizeof(struct xdd_ipv6);
	bool may_be_cut = layers->cut || layers->bypass != XDD_BYPASS_MAX;

	if (walk->inner == XDD_MAX_INNER) {
		xdd_walk_stop(walk, XDD_inner_unsupported);
		return;
	}
	next.bypass = XDD_BYPASS_truncated;
	if (walk->off + header <= walk->end) {
		next.bypass = XDD_BYPASS_MAX;
		next.l3 = walk->off;
		next.ethertype = walk->type;
		within.len = walk->end;
		xdd_packet_ip(fixed, &within, &next);
	}
	if (next.bypass == XDD_BYPASS_MAX && (!next.cut || may_be_cut)) {
		*layers = next;
		*around = walk->here;
		walk->inner++;
		walk->type = XDD_HEADER_PAYLOAD;
	} else if (next.bypass == XDD_BYPASS_MAX || next.bypass == XDD_BYPASS_truncated) {
		xdd_walk_stop(walk, XDD_inner_truncated);
	} else if (next.bypass == XDD_BYPASS_unsupported) {
		xdd_walk_stop(walk, XDD_inner_unsupported);
	} else {
		xdd_walk_stop(walk, XDD_inner_malformed);
	}
}

/* IP by its first nibble; behind MPLS labels else Ethernet, with a control word before it where the
 * nibble is 0 (RFC 4448: its sender must not start an address with 4 or 6 then).
 */
XDD_INLINE void xdd_walk_nibble(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	bool bottom = walk->type == XDD_HEADER_BOTTOM;
	u8 first;

	if (xdd_walk_read(packet, walk, 0, &first, 1))
		return;
	walk->type = XDD_HEADER_NONE;
	switch (first >> 4) {
	case 4:
		walk->type = XDD_ETH_IPV4;
		return;
	case 6:
		walk->type = XDD_ETH_IPV6;
		return;
	case 0:
		if (bottom)
			xdd_walk_on(walk, 4, XDD_HEADER_ETHERNET);
		return;
	case 1: /* the channel beside it: no packets of users */
		return;
	default:
		if (bottom)
			walk->type = XDD_HEADER_ETHERNET;
	}
}

XDD_INLINE void xdd_walk_label(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 bottom;

	if (!xdd_walk_read(packet, walk, 2, &bottom, 1))
		xdd_walk_on(walk, 4, bottom & 1 ? XDD_HEADER_BOTTOM : XDD_ETH_MPLS);
}

/* A header of @bytes that ends in an EtherType, of which the last two bytes are at @at. */
XDD_INLINE void xdd_walk_typed(const struct xdd_packet *packet, struct xdd_walk *walk, u32 at)
{
	u16 type;

	if (!xdd_walk_be16(packet, walk, at, &type))
		xdd_walk_on(walk, at + 2, type);
}

/* PPPoE: only a session's data (code 0); what is behind its length is padding. */
XDD_INLINE void xdd_walk_pppoe(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u16 head, length;

	if (xdd_walk_be16(packet, walk, 0, &head) || xdd_walk_be16(packet, walk, 4, &length))
		return;
	xdd_walk_on(walk, 6, head == 0x1100 ? XDD_HEADER_PPP : XDD_HEADER_NONE);
	if (walk->off + length < walk->end)
		walk->end = walk->off + length;
}

/* PPP (RFC 1661): perhaps address and control, then a protocol whose first byte may be left out. */
XDD_INLINE void xdd_walk_ppp(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u16 proto;

	if (xdd_walk_be16(packet, walk, 0, &proto))
		return;
	if (proto == 0xff03) {
		walk->off += 2;
		if (xdd_walk_be16(packet, walk, 0, &proto))
			return;
	}
	walk->off += 2;
	if (proto & 0x0100) {
		walk->off--;
		proto >>= 8;
	}
	walk->type = proto == 0x0021   ? XDD_ETH_IPV4
		     : proto == 0x0057 ? XDD_ETH_IPV6
		     : proto == 0x0281 ? XDD_ETH_MPLS
				       : XDD_HEADER_NONE;
}

XDD_INLINE void xdd_walk_udp(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			     struct xdd_walk *walk)
{
	u16 port;

	if (walk->off + 8 > walk->end)
		walk->type = XDD_HEADER_NONE;
	else if (!xdd_walk_be16(packet, walk, 2, &port))
		xdd_walk_on(walk, 8, xdd_port_header(fixed, port));
}

/* What GRE and Geneve call @proto; @sequence: there was a sequence number, which ERSPAN I lacks. */
XDD_INLINE u32 xdd_proto_header(u16 proto, bool sequence)
{
	switch (proto) {
	case XDD_ETH_BRIDGED:
		return XDD_HEADER_ETHERNET;
	case XDD_ETH_ERSPAN:
		return sequence ? XDD_HEADER_ERSPAN_2 : XDD_HEADER_ETHERNET;
	case XDD_ETH_ERSPAN_3:
		return XDD_HEADER_ERSPAN_3;
	default:
		return proto;
	}
}

/* Version 1 carries PPP, if it has a sequence number: else it only acknowledges. */
XDD_INLINE u32 xdd_gre_header(u16 flags, u16 proto)
{
	bool sequence = flags & XDD_GRE_SEQUENCE;

	if ((flags & XDD_GRE_VERSION) == 0)
		return xdd_proto_header(proto, sequence);
	if ((flags & XDD_GRE_VERSION) == 1 && proto == XDD_ETH_PPP && sequence)
		return XDD_HEADER_PPP;
	return XDD_HEADER_NONE;
}

XDD_INLINE void xdd_walk_gre(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u32 bytes = 4, key;
	u16 flags, proto;

	if (xdd_walk_be16(packet, walk, 0, &flags) || xdd_walk_be16(packet, walk, 2, &proto))
		return;
	if (flags & (XDD_GRE_CHECKSUM | XDD_GRE_ROUTING))
		bytes += 4;
	if (flags & XDD_GRE_KEY) {
		if (xdd_walk_read(packet, walk, bytes, &key, sizeof(key)))
			return;
		if (!(flags & XDD_GRE_VERSION))
			xdd_walk_identify(walk, XDD_TUNNEL_MAX, key);
		bytes += 4;
	}
	if (flags & XDD_GRE_SEQUENCE)
		bytes += 4;
	if ((flags & XDD_GRE_VERSION) && (flags & XDD_GRE_ACK))
		bytes += 4;
	xdd_walk_on(walk, bytes, xdd_gre_header(flags, proto));
	if (walk->type == XDD_HEADER_NONE || !(flags & XDD_GRE_ROUTING))
		return;
	walk->after = walk->type;
	walk->type = XDD_HEADER_ROUTE;
}

/* An entry of a source route (RFC 1701): the last one is all zero. */
XDD_INLINE void xdd_walk_route(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 entry[4];

	if (xdd_walk_read(packet, walk, 0, entry, sizeof(entry)))
		return;
	xdd_walk_on(walk, sizeof(entry) + entry[3], walk->type);
	if (!entry[0] && !entry[1] && !entry[3])
		walk->type = walk->after;
}

/* Version 1 is ERSPAN II; its header says no more than which session mirrored. */
XDD_INLINE void xdd_walk_erspan2(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 head[8];

	if (xdd_walk_read(packet, walk, 0, head, sizeof(head)))
		return;
	xdd_walk_on(walk, sizeof(head), head[0] >> 4 == 1 ? XDD_HEADER_ETHERNET : XDD_HEADER_NONE);
}

/* Version 2 is ERSPAN III. Frame type 0 is Ethernet, 2 is IP; switches that send 7 add the platform
 * subheader without its flag O.
 */
XDD_INLINE void xdd_walk_erspan3(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 head[12], frame;
	u32 bytes = sizeof(head);

	if (xdd_walk_read(packet, walk, 0, head, sizeof(head)))
		return;
	frame = head[10] >> 2 & 31;
	if (head[11] & 1 || frame == 7)
		bytes += 8;
	if (head[0] >> 4 != 2)
		xdd_walk_on(walk, bytes, XDD_HEADER_NONE);
	else if (frame == 2)
		xdd_walk_on(walk, bytes, XDD_HEADER_IP);
	else
		xdd_walk_on(walk, bytes,
			    frame == 0 || frame == 7 ? XDD_HEADER_ETHERNET : XDD_HEADER_NONE);
}

/* The generic extension's next protocol. */
XDD_INLINE u32 xdd_vxlan_next(u8 next)
{
	switch (next) {
	case 1:
		return XDD_ETH_IPV4;
	case 2:
		return XDD_ETH_IPV6;
	case 3:
		return XDD_HEADER_ETHERNET;
	case 5:
		return XDD_ETH_MPLS;
	default:
		return XDD_HEADER_NONE;
	}
}

/* Flag I (8): there is a VNI. Flag P (4), of the generic extension: the fourth byte says what
 * follows, unless flag O (1) says that it is none of the users' business.
 */
XDD_INLINE void xdd_walk_vxlan(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 head[8];

	if (xdd_walk_read(packet, walk, 0, head, sizeof(head)))
		return;
	xdd_walk_identify(walk, XDD_TUNNEL_vxlan, xdd_load32(head + 4) & 0xffffff);
	xdd_walk_on(walk, sizeof(head), XDD_HEADER_ETHERNET);
	if (head[0] & 4)
		walk->type = head[0] & 1 ? XDD_HEADER_NONE : xdd_vxlan_next(head[3]);
	if (!(head[0] & 8))
		walk->type = XDD_HEADER_NONE;
}

/* Version 0; flag O (0x80 of the second byte): for the tunnel's ends. */
XDD_INLINE void xdd_walk_geneve(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 head[8];

	if (xdd_walk_read(packet, walk, 0, head, sizeof(head)))
		return;
	xdd_walk_identify(walk, XDD_TUNNEL_geneve, xdd_load32(head + 4) & 0xffffff);
	xdd_walk_on(walk, sizeof(head) + (head[0] & 63) * 4,
		    xdd_proto_header(head[2] << 8 | head[3], false));
	if (head[0] >> 6 || head[1] & 0x80)
		walk->type = XDD_HEADER_NONE;
}

/* GTP version 1, not GTP': a user's packet (message 255), behind its length nothing more. */
XDD_INLINE void xdd_walk_gtpu(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 head[8], next = 0;
	u32 bytes = sizeof(head), end;

	if (xdd_walk_read(packet, walk, 0, head, sizeof(head)))
		return;
	if (head[0] >> 4 != 3 || head[1] != 255) {
		walk->type = XDD_HEADER_NONE;
		return;
	}
	/* Sequence, N-PDU and next extension lie there if any of their flags is set. */
	if (head[0] & 7) {
		if (xdd_walk_read(packet, walk, 11, &next, 1))
			return;
		bytes += 4;
	}
	xdd_walk_identify(walk, XDD_TUNNEL_gtpu, xdd_load32(head + 4));
	end = walk->off + sizeof(head) + (head[2] << 8 | head[3]);
	if (end < walk->end)
		walk->end = end;
	xdd_walk_on(walk, bytes, head[0] & 4 && next ? XDD_HEADER_GTPU_MORE : XDD_HEADER_IP);
}

/* An extension header: its length in words comes first, the type of what follows last. */
XDD_INLINE void xdd_walk_gtpu_more(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u8 words, next;

	if (xdd_walk_read(packet, walk, 0, &words, 1))
		return;
	if (!words) {
		xdd_walk_stop(walk, XDD_inner_malformed);
		return;
	}
	if (!xdd_walk_read(packet, walk, words * 4 - 1, &next, 1))
		xdd_walk_on(walk, words * 4, next ? XDD_HEADER_GTPU_MORE : XDD_HEADER_IP);
}

XDD_INLINE void xdd_walk_stamp(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u16 subtype, version;
	u32 bytes;

	if (xdd_walk_be16(packet, walk, 0, &subtype) || xdd_walk_be16(packet, walk, 2, &version))
		return;
	bytes = xdd_stamp_bytes(subtype, version);
	if (bytes)
		xdd_walk_typed(packet, walk, bytes - 2);
	else
		xdd_walk_stop(walk, XDD_inner_unsupported);
}

XDD_INLINE void xdd_walk_trill(const struct xdd_packet *packet, struct xdd_walk *walk)
{
	u16 head;

	if (!xdd_walk_be16(packet, walk, 0, &head))
		xdd_walk_on(walk, 6 + (head >> 6 & 31) * 4, XDD_HEADER_ETHERNET);
}

/* @vids with another tag: its VLAN, or what that is mapped to. */
XDD_INLINE u64 xdd_add_vid(XDD_FIXED struct xdd_fixed *fixed, u64 vids, u16 tag)
{
	u16 vid = tag & 0xfff;

	for (u32 i = 0; i < XDD_MAX_VLAN_MAPS; i++) {
		if (i < fixed->vlan_maps && vid == fixed->vlan_from[i]) {
			vid = fixed->vlan_to[i];
			break;
		}
	}
	return vid ? vids << 12 | vid : vids;
}

XDD_INLINE void xdd_walk_vlan(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_walk *walk)
{
	u16 tag;

	if (fixed->vlan_key) {
		if (xdd_walk_be16(packet, walk, 0, &tag))
			return;
		walk->here.vids = xdd_add_vid(fixed, walk->here.vids, tag);
	}
	xdd_walk_typed(packet, walk, 2);
}

/* Headers of a link, by EtherType. Any other ends the walk. */
XDD_INLINE void xdd_walk_link(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_walk *walk)
{
	switch (walk->type) {
	case XDD_HEADER_ETHERNET:
		walk->here.eth = walk->off;
		walk->here.vids = 0;
		xdd_walk_typed(packet, walk, 12);
		return;
	case XDD_ETH_VLAN:
	case XDD_ETH_QINQ:
	case XDD_ETH_QINQ_OLD:
	case XDD_ETH_QINQ_OLDER:
		xdd_walk_vlan(fixed, packet, walk);
		return;
	case XDD_ETH_STAMP:
		xdd_walk_stamp(packet, walk);
		return;
	case XDD_ETH_MACSEC:
		xdd_walk_stop(walk, XDD_inner_unsupported);
		return;
	case XDD_ETH_VNTAG:
	case XDD_ETH_HSR:
	case XDD_ETH_RTAG:
		xdd_walk_typed(packet, walk, 4);
		return;
	case XDD_ETH_ETAG:
		xdd_walk_typed(packet, walk, 6);
		return;
	case XDD_ETH_PBB:
		xdd_walk_on(walk, 4, XDD_HEADER_ETHERNET);
		return;
	case XDD_ETH_FABRICPATH:
		xdd_walk_on(walk, 2, XDD_HEADER_ETHERNET);
		return;
	case XDD_ETH_TRILL:
		xdd_walk_trill(packet, walk);
		return;
	case XDD_ETH_MPLS:
	case XDD_ETH_MPLS_MC:
		xdd_walk_label(packet, walk);
		return;
	case XDD_ETH_PPPOE:
		xdd_walk_pppoe(packet, walk);
		return;
	default:
		walk->type = XDD_HEADER_NONE;
	}
}

XDD_INLINE void xdd_walk_tunnel(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
				struct xdd_walk *walk)
{
	switch (walk->type) {
	case XDD_HEADER_GRE:
		xdd_walk_gre(packet, walk);
		return;
	case XDD_HEADER_ROUTE:
		xdd_walk_route(packet, walk);
		return;
	case XDD_HEADER_ERSPAN_2:
		xdd_walk_erspan2(packet, walk);
		return;
	case XDD_HEADER_ERSPAN_3:
		xdd_walk_erspan3(packet, walk);
		return;
	case XDD_HEADER_VXLAN:
		xdd_walk_vxlan(packet, walk);
		return;
	case XDD_HEADER_GENEVE:
		xdd_walk_geneve(packet, walk);
		return;
	case XDD_HEADER_GTPU:
		xdd_walk_gtpu(packet, walk);
		return;
	case XDD_HEADER_GTPU_MORE:
		xdd_walk_gtpu_more(packet, walk);
		return;
	default:
		xdd_walk_link(fixed, packet, walk);
	}
}

/* Read one header of @packet, whose ->len need not be set: to the next one, or to the end. */
XDD_INLINE void xdd_walk_step(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_walk *walk, struct xdd_layers *layers,
			      struct xdd_around *around)
{
	switch (walk->type) {
	case XDD_ETH_IPV4:
	case XDD_ETH_IPV6:
		xdd_walk_ip(fixed, packet, walk, layers, around);
		return;
	case XDD_HEADER_PAYLOAD:
		xdd_walk_payload(walk, layers);
		return;
	case XDD_HEADER_EXTENSION:
		xdd_walk_extension(packet, walk);
		return;
	case XDD_HEADER_UDP:
		xdd_walk_udp(fixed, packet, walk);
		return;
	case XDD_HEADER_IP:
	case XDD_HEADER_BOTTOM:
		xdd_walk_nibble(packet, walk);
		return;
	case XDD_HEADER_PPP:
		xdd_walk_ppp(packet, walk);
		return;
	default:
		xdd_walk_tunnel(fixed, packet, walk);
	}
}

/* The VLANs of the outermost tags: up to XDD_MAX_TAGS of 12 bits each. The link header ends at @off and
 * names @ethertype.
 */
XDD_INLINE u64 xdd_link_vids(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			     u32 off, u32 ethertype)
{
	struct xdd_layers link = { .ethertype = ethertype, .bypass = XDD_BYPASS_MAX };
	u64 vids = 0;
	u16 tag;

	for (int i = 0; i < XDD_MAX_TAGS; i++) {
		bool vlan = xdd_is_vlan(link.ethertype);
		u32 bytes = xdd_tag_bytes(link.ethertype);

		if (link.ethertype == XDD_ETH_STAMP) {
			off = xdd_skip_stamp(packet, &link, off);
			continue;
		}
		if (!bytes || xdd_read_be16(packet, off, &tag) ||
		    xdd_read_be16(packet, off + bytes - 2, &link.ethertype))
			return vids;
		if (vlan)
			vids = xdd_add_vid(fixed, vids, tag);
		off += bytes;
	}
	return vids;
}

/* Where a walk starts: in the IP packet of @layers, or behind the link header that ends in no IP. */
XDD_INLINE void xdd_walk_start(const struct xdd_packet *packet, const struct xdd_layers *layers,
			       struct xdd_walk *walk)
{
	xdd_memset(walk, 0, sizeof(*walk));
	walk->off = layers->l3;
	walk->end = packet->len;
	if (layers->bypass == XDD_BYPASS_MAX)
		walk->type = XDD_HEADER_PAYLOAD;
	else if (layers->bypass == XDD_BYPASS_not_ip)
		walk->type = layers->labelled ? XDD_HEADER_BOTTOM : layers->ethertype;
}

/*
 * From the outermost IP packet in @layers, or none, to the innermost of at most XDD_MAX_INNER inside
 * it, and from what is around the one to what is around the other in @around. ->note of @walk says
 * what kept it from going deeper.
 */
XDD_INLINE void xdd_walk_in(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			    struct xdd_walk *walk, struct xdd_layers *layers,
			    struct xdd_around *around)
{
	xdd_walk_start(packet, layers, walk);
	walk->here = *around;
	for (u32 i = 0; i < XDD_MAX_HEADERS; i++) {
		if (walk->type == XDD_HEADER_NONE)
			return;
		xdd_packet_step(fixed, packet, walk, layers, around);
	}
	if (walk->type != XDD_HEADER_NONE)
		walk->note = XDD_inner_unsupported;
}

#endif

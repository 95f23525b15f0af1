/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the IP packet and its transport header lie in a frame.
 *
 * Every length comes from the packet and is checked before it is used; what cannot be
 * read ends in a reason for bypassing the filter, never in a guess.
 */
#ifndef XDD_PARSE_H
#define XDD_PARSE_H

#include "config.h"
#include "counters.h"
#include "packet.h"

#define XDD_MAX_TAGS 4
#define XDD_MAX_LABELS 8
#define XDD_MAX_EXTENSIONS 8

/* Fragments: the whole packet, its first fragment, a later one (which has no ports), and the only
 * one: of IPv6, a whole packet with a fragment header.
 */
enum xdd_fragment { XDD_WHOLE, XDD_FRAGMENT_FIRST, XDD_FRAGMENT_LATER, XDD_FRAGMENT_ONLY };

struct xdd_layers {
	u32 l3;	       /* offset of the IP header */
	u32 end;       /* one past the IP packet, at most the captured length */
	u32 l4;	       /* offset behind the IP header and its extensions */
	u16 ethertype; /* of the payload behind all tags, host order; 0 unknown */
	u16 sport;     /* network order; ICMP: type and code */
	u16 dport;     /* network order; ICMP echo: identifier */
	u8 version;    /* 4 or 6 */
	u8 proto;      /* transport protocol */
	u8 fragment;   /* enum xdd_fragment */
	u8 bypass;     /* enum xdd_bypass; XDD_BYPASS_MAX: parsed */
	u8 cut;	       /* the packet's stated end lies beyond the captured one */
	u8 labelled;   /* behind MPLS labels, and no IP by its first nibble */
};

enum xdd_ethertype {
	XDD_ETH_IPV4 = 0x0800,
	XDD_ETH_ARP = 0x0806,
	XDD_ETH_VLAN = 0x8100,
	XDD_ETH_IPV6 = 0x86dd,
	XDD_ETH_MPLS = 0x8847,
	XDD_ETH_MPLS_MC = 0x8848,
	XDD_ETH_QINQ = 0x88a8,
	XDD_ETH_QINQ_OLD = 0x9100,
	XDD_ETH_QINQ_OLDER = 0x9200,
	XDD_ETH_HSR = 0x892f,
	XDD_ETH_RTAG = 0xf1c1,
	XDD_ETH_MACSEC = 0x88e5,
	XDD_ETH_STAMP = 0xd28b, /* Arista */
};

enum xdd_proto {
	XDD_PROTO_HOPOPTS = 0,
	XDD_PROTO_ICMP = 1,
	XDD_PROTO_TCP = 6,
	XDD_PROTO_UDP = 17,
	XDD_PROTO_DCCP = 33,
	XDD_PROTO_ROUTING = 43,
	XDD_PROTO_FRAGMENT = 44,
	XDD_PROTO_AH = 51,
	XDD_PROTO_ICMPV6 = 58,
	XDD_PROTO_DSTOPTS = 60,
	XDD_PROTO_SCTP = 132,
	XDD_PROTO_MOBILITY = 135,
	XDD_PROTO_UDPLITE = 136,
	XDD_PROTO_HIP = 139,
	XDD_PROTO_SHIM6 = 140,
};

/* Accessor: xdd_skip_tags(), in BPF a function: there the verifier knows nothing of @off, so that one
 * walk over the tags does for every link header that may be before them.
 */
extern u32 xdd_packet_tags(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off);

/* The headers as they lie in the packet; their fields are in network order. */
struct xdd_ipv4 {
	u8 version_ihl;
	u8 tos;
	u16 total_length;
	u16 id;
	u16 fragment; /* flags and offset */
	u8 ttl;
	u8 proto;
	u16 checksum;
	u32 src;
	u32 dst;
};

struct xdd_ipv6 {
	u32 version_class_flow;
	u16 payload_length;
	u8 next_header;
	u8 hop_limit;
	u64 src[2];
	u64 dst[2];
};

#define XDD_IPV4_OFFSET_MASK 0x1fff
#define XDD_IPV4_MORE 0x2000

XDD_INLINE bool xdd_is_vlan(u16 ethertype)
{
	return ethertype == XDD_ETH_VLAN || ethertype == XDD_ETH_QINQ ||
	       ethertype == XDD_ETH_QINQ_OLD || ethertype == XDD_ETH_QINQ_OLDER;
}

/* A big-endian 16-bit field at @off. Returns 0 or -1 where the packet ends before. */
XDD_INLINE int xdd_read_be16(const struct xdd_packet *packet, u32 off, u16 *value)
{
	u16 raw;

	if (xdd_packet_read(packet, off, &raw, sizeof(raw)))
		return -1;
	*value = xdd_ntohs(raw);
	return 0;
}

/* Tags with a sequence number: of HSR (IEC 62439-3) and FRER (IEEE 802.1CB 7.8). In both, two
 * bytes lie before it, and the next EtherType behind it.
 */
XDD_INLINE bool xdd_is_numbered(u16 ethertype)
{
	return ethertype == XDD_ETH_HSR || ethertype == XDD_ETH_RTAG;
}

/* Bytes of the tag that @ethertype announces, its next EtherType included; 0: it is none, or a time
 * stamp.
 */
XDD_INLINE u32 xdd_tag_bytes(u16 ethertype)
{
	if (xdd_is_vlan(ethertype))
		return 4;
	return xdd_is_numbered(ethertype) ? 6 : 0;
}

/* Bytes of a time-stamp header of Arista's switches behind its EtherType: two words, the time, and the
 * EtherType that it took the place of. 0: not one that is known. The low byte of @version says in its
 * upper half how long the time is, the rest whose clock it was.
 */
XDD_INLINE u32 xdd_stamp_bytes(u16 subtype, u16 version)
{
	if (subtype != 1)
		return 0;
	switch (version & 0xf0) {
	case 0x10:
		return 14;
	case 0x20:
		return 12;
	default:
		return 0;
	}
}

/* Skip such a header at @off. Updates the EtherType and returns the offset behind it. */
XDD_INLINE u32 xdd_skip_stamp(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off)
{
	u16 head[2];
	u32 bytes;

	layers->bypass = XDD_BYPASS_truncated;
	if (xdd_packet_read(packet, off, head, sizeof(head)))
		return off;
	bytes = xdd_stamp_bytes(xdd_ntohs(head[0]), xdd_ntohs(head[1]));
	if (!bytes)
		layers->bypass = XDD_BYPASS_unsupported;
	else if (!xdd_read_be16(packet, off + bytes - 2, &layers->ethertype))
		layers->bypass = XDD_BYPASS_MAX;
	return off + bytes;
}

/* Skip up to XDD_MAX_TAGS tags at @off, a time stamp counted as one. Updates the EtherType and returns
 * the offset behind them; sets ->bypass where there are more or the frame ends.
 */
XDD_INLINE u32 xdd_skip_typed(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off)
{
	for (int i = 0; i < XDD_MAX_TAGS; i++) {
		u32 bytes = xdd_tag_bytes(layers->ethertype);

		if (layers->ethertype == XDD_ETH_STAMP) {
			off = xdd_skip_stamp(packet, layers, off);
		} else if (!bytes) {
			return off;
		} else {
			if (xdd_read_be16(packet, off + bytes - 2, &layers->ethertype))
				layers->bypass = XDD_BYPASS_truncated;
			off += bytes;
		}
		if (layers->bypass != XDD_BYPASS_MAX)
			return off;
	}
	if (xdd_tag_bytes(layers->ethertype) || layers->ethertype == XDD_ETH_STAMP)
		layers->bypass = XDD_BYPASS_unsupported;
	return off;
}

/* The IP version that a first nibble names becomes the EtherType, 0 where it is none. */
XDD_INLINE int xdd_guess_ip(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off)
{
	u8 first;

	if (xdd_packet_read(packet, off, &first, 1))
		return -1;
	layers->ethertype = (first >> 4) == 4 ? XDD_ETH_IPV4 : (first >> 4) == 6 ? XDD_ETH_IPV6 : 0;
	return 0;
}

/* Skip an MPLS label stack at @off (RFC 3032). Returns the offset behind it. */
XDD_INLINE u32 xdd_skip_labels(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off)
{
	u8 bottom;

	for (int i = 0; i < XDD_MAX_LABELS; i++) {
		if (xdd_packet_read(packet, off + 2, &bottom, 1)) {
			layers->bypass = XDD_BYPASS_truncated;
			return off;
		}
		off += 4;
		if (bottom & 1) {
			if (xdd_guess_ip(packet, layers, off))
				layers->bypass = XDD_BYPASS_truncated;
			layers->labelled = !layers->ethertype;
			return off;
		}
	}
	layers->bypass = XDD_BYPASS_unsupported;
	return off;
}

/* Skip what stands between the link header that ends at @off and the packet. Returns where it ends. */
XDD_INLINE u32 xdd_skip_tags(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off)
{
	off = xdd_skip_typed(packet, layers, off);
	if (layers->bypass == XDD_BYPASS_MAX &&
	    (layers->ethertype == XDD_ETH_MPLS || layers->ethertype == XDD_ETH_MPLS_MC))
		off = xdd_skip_labels(packet, layers, off);
	return off;
}

/* The address family that BSD loopback headers carry, in either byte order. */
XDD_INLINE u16 xdd_family_ethertype(u32 family)
{
	if (family > 0xffff)
		family = __builtin_bswap32(family);
	if (family == 2)
		return XDD_ETH_IPV4;
	return family == 10 || family == 24 || family == 28 || family == 30 ? XDD_ETH_IPV6 : 0;
}

/* Read the link header. Returns its length; sets ->ethertype or ->bypass. */
XDD_INLINE u32 xdd_link_header(const struct xdd_packet *packet, struct xdd_layers *layers)
{
	u32 family, len = 0;
	int err = 0;

	switch (packet->link) {
	case XDD_LINK_ETHERNET:
		len = 14;
		err = xdd_read_be16(packet, 12, &layers->ethertype);
		break;
	case XDD_LINK_SLL:
		len = 16;
		err = xdd_read_be16(packet, 14, &layers->ethertype);
		break;
	case XDD_LINK_SLL2:
		len = 20;
		err = xdd_read_be16(packet, 0, &layers->ethertype);
		break;
	case XDD_LINK_NULL:
	case XDD_LINK_LOOP:
		len = 4;
		err = xdd_packet_read(packet, 0, &family, sizeof(family));
		if (!err)
			layers->ethertype = xdd_family_ethertype(family);
		break;
	case XDD_LINK_RAW:
	case XDD_LINK_RAW_BSD:
	case XDD_LINK_IPV4:
	case XDD_LINK_IPV6:
		err = xdd_guess_ip(packet, layers, 0);
		break;
	default:
		layers->bypass = XDD_BYPASS_unsupported;
	}
	if (err)
		layers->bypass = XDD_BYPASS_truncated;
	return len;
}

/* RFC 1071 sum over the IPv4 header @ip and its options of @options bytes (0..40) behind @off:
 * true where it is right, or where it is 0 and @zero_ok says that this means "not computed".
 */
XDD_INLINE bool xdd_checksum_ok(const struct xdd_packet *packet, u32 off, const struct xdd_ipv4 *ip,
				u32 options, bool zero_ok)
{
	const u32 *part = (const u32 *)(const void *)ip;
	u64 sum = (u64)part[0] + part[1] + part[2] + part[3] + part[4];
	u32 more[10] = {};

	if (zero_ok && !ip->checksum)
		return true;
	xdd_opaque(options);
	if (options >= 4) {
		/* Two comparisons: kernels before 6.18 do not see the bounds in one of options - 4. */
		xdd_opaque(options);
		if (options > sizeof(more) ||
		    xdd_packet_copy(packet, off + sizeof(*ip), more, options))
			return false;
		for (u32 i = 0; i < XDD_ARRAY_SIZE(more); i++)
			sum += more[i];
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* Where the IP packet ends, from its stated length @bytes. */
XDD_INLINE void xdd_set_end(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			    struct xdd_layers *layers, u32 bytes)
{
	layers->end = layers->l3 + bytes;
	if (layers->end <= packet->len)
		return;
	layers->end = packet->len;
	layers->cut = 1;
	if (!fixed->short_capture_ok)
		layers->bypass = XDD_BYPASS_truncated;
}

XDD_INLINE void xdd_parse_ipv4(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			       struct xdd_layers *layers)
{
	struct xdd_ipv4 ip;
	u32 total, header;
	u16 fragment;

	if (xdd_packet_read(packet, layers->l3, &ip, sizeof(ip))) {
		layers->bypass = XDD_BYPASS_truncated;
		return;
	}
	header = (ip.version_ihl & 15) * 4;
	total = xdd_ntohs(ip.total_length);
	if (!total && fixed->zero_length_ok)
		total = packet->len - layers->l3;
	if (ip.version_ihl >> 4 != 4 || header < sizeof(ip) || total < header) {
		layers->bypass = XDD_BYPASS_malformed;
		return;
	}
	xdd_set_end(fixed, packet, layers, total);
	if (layers->bypass == XDD_BYPASS_MAX && fixed->verify_checksum &&
	    !xdd_checksum_ok(packet, layers->l3, &ip, header - sizeof(ip), fixed->zero_checksum_ok))
		layers->bypass = XDD_BYPASS_bad_checksum;
	fragment = xdd_ntohs(ip.fragment);
	if (fragment & XDD_IPV4_OFFSET_MASK)
		layers->fragment = XDD_FRAGMENT_LATER;
	else if (fragment & XDD_IPV4_MORE)
		layers->fragment = XDD_FRAGMENT_FIRST;
	layers->version = 4;
	layers->proto = ip.proto;
	layers->l4 = layers->l3 + header;
}

/* The length of the extension header @proto whose second byte is @len; 0: not one. */
XDD_INLINE u32 xdd_extension_length(u8 proto, u8 len)
{
	switch (proto) {
	case XDD_PROTO_HOPOPTS:
	case XDD_PROTO_ROUTING:
	case XDD_PROTO_DSTOPTS:
	case XDD_PROTO_MOBILITY:
	case XDD_PROTO_HIP:
	case XDD_PROTO_SHIM6:
		return 8 * (len + 1);
	case XDD_PROTO_FRAGMENT:
		return 8;
	case XDD_PROTO_AH:
		return 4 * (len + 2);
	default:
		return 0;
	}
}

/* Walk the extension headers (RFC 8200) to the transport. A later fragment ends the walk. */
XDD_INLINE void xdd_skip_extensions(const struct xdd_packet *packet, struct xdd_layers *layers)
{
	u8 head[4];
	u32 len;

	for (int i = 0; i <= XDD_MAX_EXTENSIONS; i++) {
		if (!xdd_extension_length(layers->proto, 0) ||
		    layers->fragment == XDD_FRAGMENT_LATER)
			return;
		if (i == XDD_MAX_EXTENSIONS) {
			layers->bypass = XDD_BYPASS_unsupported;
			return;
		}
		if (layers->l4 + 8 > layers->end ||
		    xdd_packet_read(packet, layers->l4, head, sizeof(head))) {
			layers->bypass = XDD_BYPASS_truncated;
			return;
		}
		len = xdd_extension_length(layers->proto, head[1]);
		if (layers->proto == XDD_PROTO_FRAGMENT) {
			if (head[2] || head[3] & 0xf8)
				layers->fragment = XDD_FRAGMENT_LATER;
			else if (head[3] & 1)
				layers->fragment = XDD_FRAGMENT_FIRST;
			else if (!layers->fragment)
				layers->fragment = XDD_FRAGMENT_ONLY;
		}
		layers->proto = head[0];
		layers->l4 += len;
	}
}

/* IPv6 payload length 0: a jumbogram (RFC 2675), or in files one that segmentation offload
 * did not fill in: up to the captured end. Else an empty payload.
 */
XDD_INLINE void xdd_parse_ipv6(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			       struct xdd_layers *layers)
{
	struct xdd_ipv6 ip;
	u32 payload;

	if (xdd_packet_read(packet, layers->l3, &ip, sizeof(ip))) {
		layers->bypass = XDD_BYPASS_truncated;
		return;
	}
	if (xdd_ntohl(ip.version_class_flow) >> 28 != 6) {
		layers->bypass = XDD_BYPASS_malformed;
		return;
	}
	payload = xdd_ntohs(ip.payload_length);
	layers->l4 = layers->l3 + sizeof(ip);
	if (!payload && (fixed->zero_length_ok || ip.next_header == XDD_PROTO_HOPOPTS))
		payload = packet->len - layers->l4;
	xdd_set_end(fixed, packet, layers, sizeof(ip) + payload);
	layers->version = 6;
	layers->proto = ip.next_header;
}

/* Ports, or ICMP's type, code and echo identifier. A transport header that the packet is
 * too short for has none: the key then tells such packets apart by protocol only.
 */
XDD_INLINE void xdd_parse_ports(const struct xdd_packet *packet, struct xdd_layers *layers)
{
	u16 word[2];

	if (layers->fragment == XDD_FRAGMENT_LATER || layers->l4 + 8 > layers->end)
		return;
	switch (layers->proto) {
	case XDD_PROTO_TCP:
	case XDD_PROTO_UDP:
	case XDD_PROTO_UDPLITE:
	case XDD_PROTO_DCCP:
	case XDD_PROTO_SCTP:
		if (xdd_packet_read(packet, layers->l4, word, sizeof(word)))
			return;
		layers->sport = word[0];
		layers->dport = word[1];
		return;
	case XDD_PROTO_ICMP:
	case XDD_PROTO_ICMPV6:
		if (xdd_packet_read(packet, layers->l4, &layers->sport, sizeof(layers->sport)))
			return;
		if (xdd_packet_read(packet, layers->l4 + 4, word, sizeof(word[0])))
			return;
		/* Echo request and reply: types 8 and 0, 128 and 129. */
		if (layers->sport == 8 || layers->sport == 0 || layers->sport == 128 ||
		    layers->sport == 129)
			layers->dport = word[0];
		return;
	}
}

/*
 * Start @layers and find where the link header and the tags of @packet end: ->l3 and
 * ->ethertype, or ->bypass, which is XDD_BYPASS_MAX while nothing is wrong.
 */
XDD_INLINE void xdd_parse_link(const struct xdd_packet *packet, struct xdd_layers *layers)
{
	u32 off;

	xdd_memset(layers, 0, sizeof(*layers));
	layers->bypass = XDD_BYPASS_MAX;
	off = xdd_link_header(packet, layers);
	if (layers->bypass == XDD_BYPASS_MAX && layers->ethertype != XDD_ETH_IPV4 &&
	    layers->ethertype != XDD_ETH_IPV6)
		off = xdd_packet_tags(packet, layers, off);
	layers->l3 = off;
}

/* MACsec (802.1AE) hides what it carries; but its frames can be compared as they are. */
XDD_INLINE u32 xdd_no_ip(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_layers *layers)
{
	return layers->ethertype == XDD_ETH_MACSEC && !fixed->non_ip_frame ? XDD_BYPASS_unsupported
									   : XDD_BYPASS_not_ip;
}

/*
 * Parse the IP packet at ->l3 that xdd_parse_link() found. Extension headers and ports are
 * read only for the keys that use them: the default key needs no transport header.
 */
XDD_INLINE void xdd_parse_ip(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			     struct xdd_layers *layers)
{
	if (layers->bypass != XDD_BYPASS_MAX)
		return;
	if (layers->ethertype == XDD_ETH_IPV4)
		xdd_parse_ipv4(fixed, packet, layers);
	else if (layers->ethertype == XDD_ETH_IPV6)
		xdd_parse_ipv6(fixed, packet, layers);
	else
		layers->bypass = xdd_no_ip(fixed, layers);
	if (layers->bypass != XDD_BYPASS_MAX ||
	    (fixed->key != XDD_KEY_flow && fixed->key != XDD_KEY_biflow))
		return;
	if (layers->version == 6)
		xdd_skip_extensions(packet, layers);
	if (layers->bypass == XDD_BYPASS_MAX)
		xdd_parse_ports(packet, layers);
}

#endif

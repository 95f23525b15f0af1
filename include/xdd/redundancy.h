/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sequence numbers of frames that are sent twice on purpose: in the trailer of PRP and the tag of HSR
 * (IEC 62439-3, clauses 4 and 5), and in the R-tag of FRER (IEEE 802.1CB 7.8).
 */
#ifndef XDD_REDUNDANCY_H
#define XDD_REDUNDANCY_H

#include "parse.h"

/* Whose numbers they are: those of the node that sent the frame, in a trailer or a tag alike, as a
 * box between PRP and HSR keeps them; or those of a stream.
 */
enum xdd_scheme { XDD_SCHEME_NODE, XDD_SCHEME_FRER };

struct xdd_number {
	u32 address[2]; /* of the node, or FRER: destination; 6 bytes in memory order */
	u32 off;	/* where it was looked for */
	u16 sequence;	/* host order */
	u8 scheme;	/* enum xdd_scheme */
	u8 pad;
};

/* Accessor: xdd_find_trailer(), in BPF a function. */
extern u32 xdd_packet_trailer(const struct xdd_packet *packet, u32 l3);

#define XDD_TRAILER_BYTES 6
#define XDD_TRAILER_SUFFIX 0x88fb
#define XDD_TRAILER_PAD 4 /* bytes that may follow a trailer; see xdd_find_trailer() */

/* Whether a trailer ends at @end of a frame whose tags end at @l3: a number, 4 bits of the LAN, A
 * or B in hexadecimal, 12 of the bytes from @l3 on, and the suffix.
 */
XDD_INLINE bool xdd_is_trailer(const struct xdd_packet *packet, u32 l3, u32 end)
{
	u32 raw[2] = {}, lan_size;

	if (end > packet->len || end < l3 || end - l3 < XDD_TRAILER_BYTES ||
	    xdd_packet_read(packet, end - XDD_TRAILER_BYTES, raw, XDD_TRAILER_BYTES))
		return false;
	lan_size = xdd_ntohl(raw[0]) & 0xffff;
	if (xdd_ntohs(raw[1]) != XDD_TRAILER_SUFFIX || (lan_size & 0xfff) != end - l3)
		return false;
	return lan_size >> 12 == 0xa || lan_size >> 12 == 0xb;
}

/*
 * Where the trailer starts that lies at the end of the frame, or before 4 bytes more: padding, where
 * a bridge took the VLAN tag off a short frame, or a check sequence that was captured. Returns 0
 * where there is none.
 */
XDD_INLINE u32 xdd_find_trailer(const struct xdd_packet *packet, u32 l3)
{
	u32 end = packet->len;

	if (xdd_is_trailer(packet, l3, end))
		return end - XDD_TRAILER_BYTES;
	end -= XDD_TRAILER_PAD;
	return xdd_is_trailer(packet, l3, end) ? end - XDD_TRAILER_BYTES : 0;
}

/* The number that lies at @off. */
XDD_INLINE u32 xdd_read_number(const struct xdd_packet *packet, u32 off, struct xdd_number *number)
{
	return xdd_read_be16(packet, off, &number->sequence) ? XDD_BYPASS_truncated
							     : XDD_BYPASS_MAX;
}

/* That of a frame whose tags, which end at @l3, have none. */
XDD_INLINE u32 xdd_trailer_number(const struct xdd_packet *packet, u32 l3,
				  struct xdd_number *number)
{
	u32 trailer;

	if (packet->wire_len > packet->len)
		return XDD_BYPASS_truncated;
	trailer = xdd_packet_trailer(packet, l3);
	return trailer ? xdd_read_number(packet, trailer, number) : XDD_BYPASS_untagged;
}

/* Bytes of a tag, or time stamp, of @type at @off; 0: none. */
XDD_INLINE u32 xdd_outer_bytes(const struct xdd_packet *packet, u32 off, u16 type)
{
	u16 head[2];

	if (type != XDD_ETH_STAMP)
		return xdd_tag_bytes(type);
	if (xdd_packet_read(packet, off, head, sizeof(head)))
		return 0;
	return xdd_stamp_bytes(xdd_ntohs(head[0]), xdd_ntohs(head[1]));
}

/* Through the tags of an Ethernet frame to the first that has a number, or to the trailer. */
XDD_INLINE u32 xdd_find_sequence(const struct xdd_packet *packet, struct xdd_number *number)
{
	u16 type;

	number->off = 14;
	for (int i = 0; i <= XDD_MAX_TAGS; i++) {
		u32 off = xdd_forget(number->off), bytes;

		if (xdd_read_be16(packet, off - 2, &type))
			return XDD_BYPASS_truncated;
		if (xdd_is_numbered(type)) {
			number->scheme = type == XDD_ETH_RTAG ? XDD_SCHEME_FRER : XDD_SCHEME_NODE;
			return xdd_read_number(packet, off + 2, number);
		}
		bytes = xdd_outer_bytes(packet, off, type);
		if (!bytes)
			return xdd_trailer_number(packet, off, number);
		number->off = off + bytes;
	}
	return XDD_BYPASS_unsupported;
}

/* The number of @packet and whose it is. Returns XDD_BYPASS_MAX, or the reason why there is none. */
XDD_INLINE u32 xdd_find_number(const struct xdd_packet *packet, struct xdd_number *number)
{
	u32 bypass;

	if (packet->link != XDD_LINK_ETHERNET)
		return XDD_BYPASS_unsupported;
	xdd_memset(number, 0, sizeof(*number));
	bypass = xdd_find_sequence(packet, number);
	if (bypass == XDD_BYPASS_MAX &&
	    xdd_packet_read(packet, number->scheme == XDD_SCHEME_FRER ? 0 : 6, number->address, 6))
		return XDD_BYPASS_truncated;
	return bypass;
}

#endif

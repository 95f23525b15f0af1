/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields of the transport header that site policy ignores: they are hashed as zeros. Only the first
 * XDD_BLOCK bytes behind the IP header are masked; a field behind so many extension headers stays in
 * the key, which then tells more apart, not less.
 */
#ifndef XDD_MASK_H
#define XDD_MASK_H

#include "hash.h"
#include "parse.h"

#define XDD_MASKS 4
#define XDD_MASK_MAX 40 /* bytes of a mask: TCP options */

struct xdd_mask {
	u32 off; /* in the packet */
	u32 len; /* 0: none */
};

struct xdd_masks {
	struct xdd_mask part[XDD_MASKS];
};

XDD_INLINE bool xdd_ignores(XDD_FIXED struct xdd_fixed *fixed, u32 field)
{
	return !xdd_field_in(fixed, field);
}

XDD_INLINE bool xdd_has_masks(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->key == XDD_KEY_packet &&
	       (xdd_ignores(fixed, XDD_FIELD_l4csum) || xdd_ignores(fixed, XDD_FIELD_tcp_seq) ||
		xdd_ignores(fixed, XDD_FIELD_tcp_ack) || xdd_ignores(fixed, XDD_FIELD_tcp_opts));
}

XDD_INLINE void xdd_mask(struct xdd_mask *mask, u32 off, u32 len)
{
	mask->off = off;
	mask->len = len;
}

XDD_INLINE void xdd_mask_checksum(const struct xdd_layers *layers, struct xdd_mask *mask)
{
	u32 at = 0, len = 2;

	switch (layers->proto) {
	case XDD_PROTO_TCP:
		at = 16;
		break;
	case XDD_PROTO_UDP:
	case XDD_PROTO_UDPLITE:
	case XDD_PROTO_DCCP:
		at = 6;
		break;
	case XDD_PROTO_ICMP:
	case XDD_PROTO_ICMPV6:
		at = 2;
		break;
	case XDD_PROTO_SCTP:
		at = 8;
		len = 4;
		break;
	}
	if (at)
		xdd_mask(mask, layers->l4 + at, len);
}

XDD_INLINE void xdd_mask_options(const struct xdd_packet *packet, const struct xdd_layers *layers,
				 struct xdd_mask *mask)
{
	u8 words;

	if (layers->l4 + 20 > layers->end || xdd_packet_read(packet, layers->l4 + 12, &words, 1))
		return;
	words >>= 4;
	if (words > 5)
		xdd_mask(mask, layers->l4 + 20, words * 4 - 20);
}

/* Fill @masks for the packet of @layers: of its transport header, if it has one of its own. */
XDD_INLINE void xdd_masks_find(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			       const struct xdd_layers *layers, struct xdd_masks *masks)
{
	xdd_memset(masks, 0, sizeof(*masks));
	if (layers->bypass != XDD_BYPASS_MAX || layers->fragment == XDD_FRAGMENT_LATER)
		return;
	if (xdd_ignores(fixed, XDD_FIELD_l4csum))
		xdd_mask_checksum(layers, &masks->part[0]);
	if (layers->proto != XDD_PROTO_TCP)
		return;
	if (xdd_ignores(fixed, XDD_FIELD_tcp_seq))
		xdd_mask(&masks->part[1], layers->l4 + 4, 4);
	if (xdd_ignores(fixed, XDD_FIELD_tcp_ack))
		xdd_mask(&masks->part[2], layers->l4 + 8, 4);
	if (xdd_ignores(fixed, XDD_FIELD_tcp_opts))
		xdd_mask_options(packet, layers, &masks->part[3]);
}

/* Zero @len bytes from @from on in @block of XDD_BLOCK bytes, where they lie in it. */
XDD_INLINE void xdd_mask_zero(u8 *block, u32 from, u32 len)
{
	for (u32 i = 0; i < XDD_MASK_MAX; i++) {
		u32 at = from + i;

		if (i >= len)
			return;
		xdd_opaque(at);
		if (at < XDD_BLOCK)
			block[at] = 0;
	}
}

#endif

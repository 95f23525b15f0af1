/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet as the core sees it: a linear part that is read directly, and perhaps
 * fragments behind it that only an accessor reaches.
 */
#ifndef XDD_PACKET_H
#define XDD_PACKET_H

#include "types.h"

struct xdd_packet {
	const u8 *data; /* first byte of the linear part */
	const u8 *end;	/* one past the last linear byte */
	void *source;	/* for the accessors: the XDP context; in files the interface, a u32 */
	u32 len;	/* captured bytes in all, linear and fragments */
	u32 wire_len;	/* bytes on the wire, at least len */
	u32 link;	/* enum xdd_link */
};

/* Read directly only up to here: with what is read there, the verifier's bound of 65535. */
#define XDD_MAX_OFFSET 0x7fff

/* Accessor: copy @n bytes (a constant) from offset @off, fragments included, to @to.
 * Returns 0, or -1 where the packet is shorter.
 */
extern int xdd_packet_copy(const struct xdd_packet *packet, u32 off, void *to, u32 n);

/* Accessor: a number of the interface that the packet came in on. */
extern u32 xdd_packet_iface(const struct xdd_packet *packet);

/* Pointer to @n linear bytes at @off, or NULL. */
XDD_INLINE const u8 *xdd_packet_at(const struct xdd_packet *packet, u32 off, u32 n)
{
	const u8 *at;

	if (off > XDD_MAX_OFFSET)
		return NULL;
	at = packet->data + off;
	return at + n > packet->end ? NULL : at;
}

/* Read @n bytes (a constant) at @off into @to, wherever they lie. Returns 0 or -1. */
XDD_INLINE int xdd_packet_read(const struct xdd_packet *packet, u32 off, void *to, const u32 n)
{
	const u8 *at = xdd_packet_at(packet, off, n);

	if (!at)
		return xdd_packet_copy(packet, off, to, n);
	xdd_copy(to, at, n);
	return 0;
}

#endif

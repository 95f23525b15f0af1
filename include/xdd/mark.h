/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Marking a duplicate: a DSCP (RFC 2474) that packet taps see, the IPv4 checksum kept right. */
#ifndef XDD_MARK_H
#define XDD_MARK_H

#include "parse.h"

/* Four bytes in front of the packet (mark:meta), for tc BPF programs. */
#define XDD_META_DUPLICATE 0x58444431

/* Set the DSCP (0..63); ECN stays. Updates the header checksum (RFC 1624 eq. 3). */
XDD_INLINE void xdd_mark_ipv4(struct xdd_ipv4 *ip, u8 dscp)
{
	u8 tos = dscp << 2 | (ip->tos & 3);
	u32 sum = (u16)~ip->checksum;

	/* The first header word in network order has the TOS in its low byte. */
	sum += (u16) ~(u16)(ip->tos << 8) + (u32)(u16)(tos << 8);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->checksum = ~sum;
	ip->tos = tos;
}

/* Set the DSCP in the first four bytes of an IPv6 header; ECN and flow label stay. */
XDD_INLINE void xdd_mark_ipv6(struct xdd_ipv6 *ip, u8 dscp)
{
	u32 first = xdd_ntohl(ip->version_class_flow);

	first = (first & ~0x0fc00000u) | (u32)dscp << 22;
	ip->version_class_flow = xdd_ntohl(first);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of the frames that pass as not_ip: how many of which EtherType. What has no row is counted
 * together. A flood of many types does not keep a common one out: a frame without a row halves the
 * credit of one row, the next such frame that of another; a row whose credit is spent is given up.
 */
#ifndef XDD_ETHERTYPES_H
#define XDD_ETHERTYPES_H

#include "parse.h"

#define XDD_ETHERTYPE_ROWS 16 /* a power of two */
#define XDD_ETHERTYPE_CREDIT 1024
#define XDD_ETHERTYPE_LEAST \
	0x600 /* less is the length of an 802.3 frame: all in the row of type 0 */

struct xdd_type_count {
	u64 packets; /* 0: a free row; else since the type has it */
	u32 type;    /* host order */
	u32 credit;  /* 0..XDD_ETHERTYPE_CREDIT */
};

/* One per CPU: map `ethertypes`. */
struct xdd_ethertypes {
	struct xdd_type_count row[XDD_ETHERTYPE_ROWS];
	u64 other;
};

/* What a frame is counted as: the type behind its tags; that of MPLS where labels hide it. */
XDD_INLINE u32 xdd_ethertype_of(const struct xdd_layers *layers)
{
	if (layers->labelled)
		return XDD_ETH_MPLS;
	return layers->ethertype < XDD_ETHERTYPE_LEAST ? 0 : layers->ethertype;
}

XDD_INLINE void xdd_ethertype_count(struct xdd_ethertypes *types, u32 type)
{
	struct xdd_type_count *row;

	for (u32 i = 0; i < XDD_ETHERTYPE_ROWS; i++) {
		row = &types->row[i];
		if (row->packets && row->type != type)
			continue;
		row->type = type;
		row->packets++;
		row->credit += row->credit < XDD_ETHERTYPE_CREDIT;
		return;
	}
	row = &types->row[types->other & (XDD_ETHERTYPE_ROWS - 1)];
	if (row->credit) {
		row->credit /= 2;
		types->other++;
		return;
	}
	types->other += row->packets;
	row->type = type;
	row->packets = 1;
	row->credit = 1;
}

XDD_ASSERT(sizeof(struct xdd_ethertypes) == 16 * XDD_ETHERTYPE_ROWS + 8,
	   "xdd_ethertypes has no holes");

#endif

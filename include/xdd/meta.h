/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an instance records about itself when it is loaded, for whoever opens its pins later:
 * the only entry of map `meta`. The XDP program never reads it.
 */
#ifndef XDD_META_H
#define XDD_META_H

#include "config.h"

#define XDD_META_NAME 48
#define XDD_META_IFNAME 16

struct xdd_meta_iface {
	char name[XDD_META_IFNAME]; /* when it was attached, or as it was renamed since */
	u32 ifindex;		    /* when it was attached; 0: removed, its counts stay */
	u8 generic;		    /* attached in generic mode, else native */
	u8 promisc;		    /* we made it promiscuous: that is undone at the end */
	u16 returns;		    /* times that it was gone, came back and was attached again */
};

/* Who made it, and so whether it is meant to outlive that process. */
enum xdd_maker {
	XDD_MADE_BY_LOAD,
	XDD_MADE_BY_RUN,      /* which unloads it when it ends */
	XDD_MADE_BY_RUN_KEEP, /* which leaves it when it ends */
};

struct xdd_meta {
	u32 abi;		   /* XDD_ABI; first in every version */
	u32 ifaces_used;	   /* slots of ifaces[], and of xdd_live.ifaces[] */
	char netns[XDD_META_NAME]; /* --netns NAME, or empty */
	u64 netns_inode;	   /* the network namespace of the interfaces */
	u64 loaded_s;		   /* seconds since 1970 */
	u64 memory_bytes;	   /* of the filter on all CPUs, as derived */
	u64 capacity_keys;	   /* that it was sized for */
	u8 frags;		   /* loaded with xdp.frags */
	u8 maker;		   /* enum xdd_maker */
	u8 secret_own;		   /* not of a --secret-file: no other host has it */
	u8 pad[5];
	u64 watch_counters; /* of the watch set: memory, in counters of 4 bits; or 0 */
	char targets[2][XDD_META_IFNAME]; /* names of the entries of map `targets`, or empty */
	struct xdd_meta_iface ifaces[XDD_MAX_IFACES];
};

XDD_ASSERT(sizeof(struct xdd_meta_iface) == 24, "xdd_meta_iface has no holes");
XDD_ASSERT(sizeof(struct xdd_meta) == 136 + 24 * XDD_MAX_IFACES, "xdd_meta has no holes");
XDD_ASSERT(XDD_DEV_MAX == 2, "a name for each entry of map targets");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The distinct keys of a period, for joint detection (cai-2014): a monitor has seen a key if a packet
 * of it came while the period went on, whatever became of the packet.
 */
#ifndef XDD_COLLECT_H
#define XDD_COLLECT_H

#include "top.h"

/* A key, by the first half of its digest: hosts with the same secret agree on it (xdd_watch_key()). */
struct xdd_collected {
	u64 period; /* in which it came */
	struct xdd_about about;
};

/* Which period goes on. Two cache lines: every packet reads the first, and what counts in the second is
 * no use to them.
 */
struct xdd_collecting {
	u64 period; /* its number; 0: none goes on */
	u64 pad[7];
	u64 overflow; /* packets of this period, or the last one, whose keys found no room */
	/* What the agent counts, since load: */
	u64 periods; /* that ended with all keys read */
	u64 keys;    /* ... of the last one */
	u64 refused; /* questions that were damaged, or of someone without the secret */
	u64 pad2[4];
};

XDD_ASSERT(sizeof(struct xdd_collected) == 48, "xdd_collected has no holes");
XDD_ASSERT(sizeof(struct xdd_collecting) == 128, "xdd_collecting has no holes");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter that grows (koloniari-2011 section 5): a chain of filters of one size. A key is a copy if
 * any live filter of the chain holds all of its cells; a new one goes into the newest. When that is
 * full, one more is opened; a filter whose timers have all run out is retired.
 *
 * A chain belongs to what the paper calls a slice where a key picks one: each slice of horizontal and
 * each outer slice of hv grows by itself. In the other layouts a key's cells lie all over the filter,
 * which is one chain. Slices of a vertical filter share a chain because a key's cells must be found in
 * the generation in which they were set together: if each slice opened filters by itself, either a
 * cell counts as set if any generation of its slice has it, and then two full filters of P = .05 and
 * k = 4 give .27 instead of 1 - (1 - P)^2 = .0975; or every pairing of generations is asked, up to
 * k (F - 1) + 1 of them. Such slices lose nothing by it: hash functions fill them alike, so they are
 * full at the same time. So FPR <= 1 - (1 - P)^F with F live filters, there are no false negatives,
 * and vertical decides exactly as none does.
 *
 * The filters of a chain lie side by side: F lines follow each other at each place, of which a look-up
 * finds the first, and touches those of live filters only. Packets read one word of the chain, under
 * the key's lock where there is one: of two copies at once, one sees what the other has set.
 *
 * The ager opens and retires (user/chain.h). Without it the chain stays as it is and answers right.
 */
#ifndef XDD_GROWTH_H
#define XDD_GROWTH_H

#include "store.h"

/* Entry of map `chains`, site * xdd_chains() + number. The line that packets read, the one that they
 * write, and the rest, which is the ager's.
 */
struct xdd_chain {
	u64 state;   /* bits 0 to 7: the filters that are asked; above: which is the newest */
	u64 opened;  /* so far, beside the first */
	u64 retired; /* so far */
	u64 refused; /* times that it was full and had no filter left to open */
	u64 full;    /* 1: so it is now */
	u64 pad[3];
	u64 inserted; /* --grow cardinality: keys, since the newest was opened */
	u64 pad2[7];
	u64 closed_tick[XDD_MAX_FILTERS]; /* when a filter ceased to be the newest */
	u64 live[XDD_MAX_FILTERS];	  /* live cells, at the last whole walk */
	u64 counting[XDD_MAX_FILTERS];	  /* by the walk under way */
};

XDD_ASSERT(sizeof(struct xdd_chain) == 5 * XDD_LINE_BYTES, "xdd_chain has no holes");

XDD_INLINE bool xdd_grows(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->filters > 1;
}

/* Chains of a filter that grows. */
XDD_INLINE u32 xdd_chains(XDD_FIXED struct xdd_fixed *fixed)
{
	return xdd_slices_pick_one(fixed) ? fixed->slices : 1;
}

/* Lines of each of a chain's filters. */
XDD_INLINE u32 xdd_chain_lines(XDD_FIXED struct xdd_fixed *fixed)
{
	u32 slices = xdd_slices_pick_one(fixed) ? xdd_subslices(fixed) : xdd_slices_count(fixed);

	return xdd_slice_lines(fixed) * slices;
}

/* The chain of a key, 0..xdd_chains() - 1. */
XDD_INLINE u32 xdd_chain_of(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest)
{
	u32 rest;

	return xdd_slices_pick_one(fixed) ? xdd_range(digest->lo >> 32, fixed->slices, &rest) : 0;
}

/* The chain's state with @asked filters, bits by number, of which @newest is written to. All 0, as in
 * new memory: the first filter alone.
 */
XDD_INLINE u64 xdd_chain_state(u32 asked, u32 newest)
{
	return asked | (u64)newest << XDD_MAX_FILTERS;
}

XDD_INLINE u64 xdd_chain_read(const struct xdd_chain *chain)
{
	return *(volatile const u64 *)&chain->state;
}

XDD_INLINE u32 xdd_chain_asked(u64 state)
{
	u32 asked = state & ((1u << XDD_MAX_FILTERS) - 1);

	return asked ? asked : 1;
}

XDD_INLINE u32 xdd_chain_newest(u64 state)
{
	return state >> XDD_MAX_FILTERS & (XDD_MAX_FILTERS - 1);
}

/* The line of filter @filter beside @first, or NULL. Opaque twice: the check is made, and the address
 * is computed behind it.
 */
XDD_INLINE struct xdd_line *xdd_chain_line(XDD_FIXED struct xdd_fixed *fixed,
					   struct xdd_line *first, u32 filter)
{
	xdd_opaque(filter);
	if (filter >= fixed->filters)
		return NULL;
	xdd_opaque(filter);
	return first + filter;
}

#endif

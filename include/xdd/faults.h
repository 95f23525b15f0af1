/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slices that have failed, and what is answered meanwhile (koloniari-2011 section 3.2): engines timer,
 * bloom and tagged. A slice is ok, failed: neither read nor written; or recovering: it came back empty,
 * is written, and is not believed until a window has passed.
 *
 * A key's cells there are unknown. It is a copy if at least so many of its other cells are set:
 * duplicate  all of them
 * distinct   k: none may be unknown
 * vote:X     X, of every key while any slice is not ok
 *
 * Of more than XDD_MAX_PARTS slices, neighbours share one state. Everything here is dead code in a
 * program that was loaded without a policy.
 */
#ifndef XDD_FAULTS_H
#define XDD_FAULTS_H

#include "slices.h"

/* The state of a part: map `health`, entry site * xdd_parts() + part. Times are the filter's clock. */
struct xdd_health {
	u64 until_ns; /* not to be believed before; 0: ok, XDD_FAILED: failed */
	u64 asked;    /* look-ups that it could not answer */
};

#define XDD_FAILED (1ULL << 62)

/* Accessor: how many parts are not ok, or were not when the program last looked. */
extern u32 xdd_faults(struct xdd_store *store);

/* Accessor: the state of part @part (of this CPU's filter under per-CPU placement), or NULL. */
extern struct xdd_health *xdd_health_at(struct xdd_store *store, u32 part);

/* What a look-up cannot know: bits by cell, 0..k-1. */
struct xdd_unknown {
	bool any;      /* some part of the filter is not ok: else nothing below is set */
	u32 n;	       /* cells that are unknown ... */
	u64 cells;     /* ... these, of which ... */
	u64 unwritten; /* ... these are in failed slices */
	u32 enough;    /* cells that make a copy */
};

/* Slices, or ranges of them, that have a state each. */
XDD_INLINE u32 xdd_parts(XDD_FIXED struct xdd_fixed *fixed)
{
	u32 count = xdd_slices_count(fixed);

	return count < XDD_MAX_PARTS ? count : XDD_MAX_PARTS;
}

/* The part that line @line belongs to. */
XDD_INLINE u32 xdd_part_of(XDD_FIXED struct xdd_fixed *fixed, u32 line)
{
	u32 count = xdd_slices_count(fixed), slice = line / xdd_slice_lines(fixed);

	return count <= XDD_MAX_PARTS ? slice : (u64)slice * XDD_MAX_PARTS / count;
}

XDD_INLINE u32 xdd_cells_of_key(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_tagged ? 1 : fixed->hashes;
}

/* Cells that have to be set where @unknown of k are not known. */
XDD_INLINE u32 xdd_enough(XDD_FIXED struct xdd_fixed *fixed, u32 unknown)
{
	if (fixed->fault_policy == XDD_FAULTS_vote)
		return fixed->vote;
	return xdd_cells_of_key(fixed) -
	       (fixed->fault_policy == XDD_FAULTS_duplicate ? unknown : 0);
}

/* Note cell @i, which lies in @health, without a branch: the verifier would follow each combination. */
XDD_INLINE void xdd_unknown_note(struct xdd_unknown *unknown, u32 i, struct xdd_health *health,
				 u64 now_ns)
{
	u64 until = *(volatile u64 *)&health->until_ns, out = (now_ns - until) >> 63;

	unknown->n += out;
	unknown->cells |= out << i;
	unknown->unwritten |= (until >> 62 & 1) << i;
	xdd_opaque(out);
	if (out)
		xdd_fetch_add64(&health->asked, 1);
}

/* What is not known of the key in question. Returns false where a map entry is missing. */
XDD_INLINE bool xdd_unknown_of(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			       const struct xdd_question *question, struct xdd_unknown *unknown)
{
	struct xdd_places places;
	u32 cell;

	unknown->any = fixed->fault_policy && xdd_faults(store);
	if (!unknown->any)
		return true;
	unknown->n = unknown->cells = unknown->unwritten = 0;
	places = xdd_places(fixed, &question->identity->digest);
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		u32 line = xdd_place(fixed, &places, i, &cell);
		struct xdd_health *health;

		if (i >= xdd_cells_of_key(fixed))
			break;
		health = xdd_health_at(store, xdd_part_of(fixed, line));
		if (!health)
			return false;
		xdd_unknown_note(unknown, i, health, question->now_ns);
	}
	unknown->enough = xdd_enough(fixed, unknown->n);
	return true;
}

/* 1 if cell @i is known, or may be written, else 0. */
XDD_INLINE u32 xdd_known(const struct xdd_unknown *unknown, u32 i)
{
	return ~unknown->cells >> i & 1;
}

XDD_INLINE bool xdd_writable(const struct xdd_unknown *unknown, u32 i)
{
	u64 writable = ~unknown->unwritten >> i & 1;

	xdd_opaque(writable);
	return writable;
}

/*
 * The answer of @k cells of which @set are known and set, as enum xdd_found bits: XDD_FAULTED where
 * the unknown ones decide.
 */
XDD_INLINE u32 xdd_unknown_answer(const struct xdd_unknown *unknown, u32 k, u32 set)
{
	u32 found = set >= unknown->enough ? XDD_SEEN : 0;

	return unknown->n && set + unknown->n >= k ? found | XDD_FAULTED : found;
}

#endif

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

/*
 * The state of a filter, entry 0, and of its parts, those after it: map `health`, under per-CPU
 * placement once for each CPU. Times are the filter's clock: a state ends by itself.
 */
struct xdd_health {
	u64 until_ns; /* not to be believed before; XDD_FAILED: failed; entry 0: latest of all */
	u64 asked;    /* look-ups that it could not answer; entry 0: 0 */
};

#define XDD_FAILED (1ULL << 62) /* and why, in the low bits: user/health.h */

/* Accessor: entry @entry (of this CPU's filter under per-CPU placement), or NULL. */
extern struct xdd_health *xdd_health_at(struct xdd_store *store, u32 entry);

/* What a look-up cannot know: bits by cell, 0..k-1. */
struct xdd_unknown {
	u32 n;	       /* cells that are unknown ... */
	u32 cells;     /* ... these, of which ... */
	u32 unwritten; /* ... these are in failed slices */
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

/* The first line of part @part; of xdd_parts() what would be. */
XDD_INLINE u32 xdd_part_first(XDD_FIXED struct xdd_fixed *fixed, u32 part)
{
	u32 count = xdd_slices_count(fixed), slice = part;

	if (count > XDD_MAX_PARTS)
		slice = ((u64)part * count + XDD_MAX_PARTS - 1) / XDD_MAX_PARTS;
	return slice * xdd_slice_lines(fixed);
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

/* Entries of map `health` for one filter. */
XDD_INLINE u32 xdd_healths(XDD_FIXED struct xdd_fixed *fixed)
{
	return 1 + xdd_parts(fixed);
}

/* 1 while @health is not to be believed at @now_ns, else 0. */
XDD_INLINE u64 xdd_disbelieved(const struct xdd_health *health, u64 now_ns)
{
	return (now_ns - *(volatile const u64 *)&health->until_ns) >> 63;
}

/* Note cell @i, which lies in @health, without a branch: the verifier would follow each combination. */
XDD_INLINE void xdd_unknown_note(struct xdd_unknown *unknown, u32 i, struct xdd_health *health,
				 u64 now_ns)
{
	u64 out = xdd_disbelieved(health, now_ns);

	unknown->n += out;
	unknown->cells |= out << i;
	unknown->unwritten |= (*(volatile u64 *)&health->until_ns >> 62 & 1) << i;
	xdd_fetch_add64(&health->asked, out);
}

/* Whether some part of the filter may not be believed at @now_ns: then all look-ups ask which. */
XDD_INLINE bool xdd_doubted(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store, u64 now_ns)
{
	struct xdd_health *health;

	if (!fixed->fault_policy)
		return false;
	health = xdd_health_at(store, 0);
	return !health || xdd_disbelieved(health, now_ns);
}

/* What is not known of the key in question. Returns false where a map entry is missing. */
XDD_INLINE bool xdd_unknown_of(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			       const struct xdd_question *question, struct xdd_unknown *unknown)
{
	struct xdd_places places;
	u32 cell;

	*unknown = (struct xdd_unknown){};
	if (!question->doubted)
		return true;
	places = xdd_places(fixed, &question->identity->digest);
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		u32 line = xdd_place(fixed, &places, i, &cell);
		struct xdd_health *health;

		if (i >= xdd_cells_of_key(fixed))
			break;
		health = xdd_health_at(store, 1 + xdd_part_of(fixed, line));
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
	u32 writable = ~unknown->unwritten >> i & 1;

	xdd_opaque(writable);
	return writable;
}

/*
 * The answer of @k cells of which @set are known and set, as enum xdd_found bits: XDD_FAULTED where it
 * hangs on the unknown ones, and the policy does not call the key a copy.
 */
XDD_INLINE u32 xdd_unknown_answer(const struct xdd_unknown *unknown, u32 k, u32 set)
{
	if (set >= unknown->enough)
		return XDD_SEEN;
	return set + unknown->n >= k ? XDD_FAULTED | XDD_STALE : 0;
}

#endif

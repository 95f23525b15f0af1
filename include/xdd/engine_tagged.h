/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `tagged`: the key's hash picks one line, a horizontal slice of 15 cells; a cell
 * holds 24 further bits of the hash and a timer. One memory access per look-up. A full
 * line replaces the cell closest to expiry: a copy may then pass, nothing is dropped.
 */
#ifndef XDD_ENGINE_TAGGED_H
#define XDD_ENGINE_TAGGED_H

#include "faults.h"

/* The cell of the line that @want (tag << 8) owns, live or not, or XDD_LINE_CELLS. */
XDD_INLINE u32 xdd_tagged_find(const struct xdd_line *line, u32 want, u32 *timer)
{
	for (u32 i = 0; i < XDD_LINE_CELLS; i++) {
		u32 diff = *(volatile const u32 *)&line->cell[i] ^ want;

		if (diff < 256) {
			*timer = diff;
			return i;
		}
	}
	return XDD_LINE_CELLS;
}

/* An empty cell, or XDD_LINE_CELLS. */
XDD_INLINE u32 xdd_tagged_empty(const struct xdd_line *line)
{
	for (u32 i = 0; i < XDD_LINE_CELLS; i++) {
		if (!*(volatile const u32 *)&line->cell[i])
			return i;
	}
	return XDD_LINE_CELLS;
}

/* The cell closest to expiry. Masks instead of branches: the verifier would follow each
 * combination of comparisons.
 */
XDD_INLINE u32 xdd_tagged_victim(const struct xdd_line *line, const struct xdd_when *when)
{
	s64 best = 255 << 4;

	for (u32 i = 0; i < XDD_LINE_CELLS; i++) {
		u64 left = (*(volatile const u32 *)&line->cell[i] & 255) + 254ULL - when->mod;
		u64 over = (left + 257) >> 9;
		s64 rank = (left + over - (over << 8)) << 4 | i, less;

		xdd_opaque(rank);
		less = (rank - best) >> 63;
		xdd_opaque(less);
		best += (rank - best) & less;
	}
	return best & 15;
}

/* A cell for a new entry: an empty one, or the victim. Returns its number. */
XDD_INLINE u32 xdd_tagged_room(struct xdd_line *line, const struct xdd_when *when, u32 *found)
{
	u32 at = xdd_tagged_empty(line);

	if (at < XDD_LINE_CELLS)
		return at;
	if (xdd_line_clean(line, true, when))
		at = xdd_tagged_empty(line);
	if (at < XDD_LINE_CELLS)
		return at;
	*found |= XDD_EVICTED;
	return xdd_tagged_victim(line, when);
}

/* Whether @want is live in @line, and then its *@timer. Brings @when up to the line. */
XDD_INLINE u32 xdd_tagged_look(const struct xdd_line *line, u32 want, struct xdd_when *when,
			       u32 *timer)
{
	s32 age = xdd_line_age(line, when);
	u32 found = xdd_line_catch_up(age, when);

	*timer = 0;
	if (found || !xdd_line_is_stale(age))
		xdd_tagged_find(line, want, timer);
	return xdd_timer_live(*timer, when) ? found | XDD_SEEN : found;
}

/* Look @want up in @line and insert it if it is not live. Returns enum xdd_found bits. */
XDD_INLINE u32 xdd_tagged_touch(struct xdd_line *line, u32 want, struct xdd_when *when,
				bool refresh)
{
	s32 age = xdd_line_age(line, when);
	u32 found = xdd_line_catch_up(age, when);
	u32 at = XDD_LINE_CELLS, timer = 0;

	if (found)
		age = 0;
	if (!xdd_line_is_stale(age))
		at = xdd_tagged_find(line, want, &timer);
	if (xdd_timer_live(timer, when)) {
		found |= XDD_SEEN;
		if (!refresh)
			return found;
	}
	if (!xdd_line_prepare(line, age, true, when))
		return found | XDD_STALE;
	if (at == XDD_LINE_CELLS)
		at = xdd_tagged_room(line, when, &found);
	/* Else it is compared with 15 alone, from which kernel 6.1's verifier learns nothing. */
	xdd_opaque(at);
	if (at < XDD_LINE_CELLS)
		line->cell[at] = want | xdd_timer_new(when);
	return found;
}

/* The tag of a key as it stands in a cell; never 0. */
XDD_INLINE u32 xdd_tagged_want(const struct xdd_digest *digest)
{
	u32 want = digest->lo << 8;

	return want | (u32)!want << 8;
}

/* Of a line that is not known: what it says counts for nothing, and a failed one is not written. */
XDD_INLINE u32 xdd_tagged_touch_known(XDD_FIXED struct xdd_fixed *fixed, struct xdd_line *line,
				      u32 want, struct xdd_when *when,
				      const struct xdd_unknown *unknown)
{
	u32 found;

	if (!unknown->n)
		return xdd_tagged_touch(line, want, when, fixed->refresh);
	found = xdd_unknown_answer(unknown, 1, 0);
	if (!(found & XDD_SEEN) && xdd_writable(unknown, 0))
		found |= xdd_tagged_touch(line, want, when, fixed->refresh) & ~XDD_SEEN;
	return found;
}

XDD_INLINE u32 xdd_tagged_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      struct xdd_question *question)
{
	u32 want = xdd_tagged_want(&question->identity->digest), block, found;
	struct xdd_unknown unknown;
	struct xdd_line *line;
	struct xdd_lock *lock;

	line = xdd_line_of(fixed, store, &question->identity->digest, &block);
	if (!line || !xdd_unknown_of(fixed, store, question, &unknown))
		return XDD_MISSING;
	if (fixed->placement != XDD_PLACEMENT_shared)
		return xdd_tagged_touch_known(fixed, line, want, &question->when, &unknown);
	lock = xdd_lock_at(store, block);
	if (!lock)
		return XDD_MISSING;
	xdd_lock(lock);
	found = xdd_tagged_touch_known(fixed, line, want, &question->when, &unknown);
	xdd_unlock(lock);
	return found;
}

#endif

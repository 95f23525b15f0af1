/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `timer`: a Bloom filter of k timers per key (koloniari-2011 sections 3 and 4).
 *
 * slicing none, vertical: k cells anywhere in the filter; vertical slices are ranges of the
 * same filter, so the verdicts are the same. horizontal: the hash picks one slice and all k
 * cells lie in it; where a slice is one line, a look-up costs one memory access.
 */
#ifndef XDD_ENGINE_TIMER_H
#define XDD_ENGINE_TIMER_H

#include "store.h"

struct xdd_timer_cells {
	struct xdd_line *line[XDD_MAX_HASHES];
	u32 at[XDD_MAX_HASHES];	/* timer in the line, 0..XDD_LINE_TIMERS-1 */
	u32 stripe;		/* of the line where there is one, else of the key */
};

/* Whether the key's cells all lie in one line. */
XDD_INLINE bool xdd_timer_one_line(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->slicing == XDD_SLICING_horizontal &&
	       fixed->slices == fixed->blocks * fixed->lines_per_block;
}

/* Line number @line of the filter. */
XDD_INLINE struct xdd_line *xdd_timer_line(XDD_FIXED struct xdd_fixed *fixed,
					   struct xdd_store *store, u32 line)
{
	if (fixed->lines_per_block == 1)
		return xdd_line_at(store, line, 0);
	return xdd_line_at(store, line / fixed->lines_per_block, line % fixed->lines_per_block);
}

/* All k cells in the line that @pick names, drawn from @mixed. Returns false where it is missing. */
XDD_INLINE bool xdd_timer_locate_line(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				      u32 pick, u64 mixed, struct xdd_timer_cells *cells)
{
	u32 draw[2] = { mixed, mixed >> 32 }, rest, block, at;
	struct xdd_line *line;

	block = xdd_range(pick, fixed->blocks, &rest);
	at = xdd_range(rest, fixed->lines_per_block, &rest);
	line = xdd_line_at(store, block, at);
	cells->stripe = block;
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= fixed->hashes)
			break;
		cells->line[i] = line;
		cells->at[i] = xdd_range(draw[i & 1], XDD_LINE_TIMERS, &draw[i & 1]);
	}
	return line;
}

/* The k cells of a digest, by double hashing in the slice (Kirsch and Mitzenmacher 2006).
 * Returns false where a line is missing.
 */
XDD_INLINE bool xdd_timer_locate(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				 const struct xdd_digest *digest, struct xdd_timer_cells *cells)
{
	u32 lines = fixed->blocks * fixed->lines_per_block / fixed->slices, first = 0, rest;
	u32 one = digest->lo >> 32, two = digest->lo;
	u64 mixed = xdd_mix64(digest->lo);

	if (xdd_timer_one_line(fixed))
		return xdd_timer_locate_line(fixed, store, one, mixed, cells);
	cells->stripe = two;
	if (fixed->slicing == XDD_SLICING_horizontal) {
		first = xdd_range(one, fixed->slices, &rest) * lines;
		one = mixed;
		two = mixed >> 32;
	} else {
		lines *= fixed->slices;
	}
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= fixed->hashes)
			break;
		cells->line[i] = xdd_timer_line(fixed, store, first + xdd_range(one, lines, &rest));
		cells->at[i] = xdd_range(rest, XDD_LINE_TIMERS, &rest);
		if (!cells->line[i])
			return false;
		one += two | 1;
	}
	return true;
}

/* Whether cell @i is live; brings @when up to its line. */
XDD_INLINE bool xdd_timer_is_live(const struct xdd_timer_cells *cells, u32 i,
				  struct xdd_when *when, u32 *found)
{
	const struct xdd_line *line = cells->line[i];
	s32 age = xdd_line_age(line, when);
	u32 at = cells->at[i];

	*found |= xdd_line_catch_up(age, when);
	xdd_opaque(at);
	if (xdd_line_is_stale(age) || at >= XDD_LINE_TIMERS)
		return false;
	return xdd_timer_live(*(volatile const u8 *)&line->timer[at], when);
}

/* Set cell @i, unless it already lives longer (koloniari-2011 section 4, late events). */
XDD_INLINE void xdd_timer_set(struct xdd_timer_cells *cells, u32 i, const struct xdd_when *when)
{
	struct xdd_line *line = cells->line[i];
	u32 at = cells->at[i], old;

	xdd_opaque(at);
	if (at >= XDD_LINE_TIMERS)
		return;
	old = *(volatile u8 *)&line->timer[at];
	if (!xdd_timer_live(old, when) || xdd_timer_left(old, when) < when->window_ticks - 1)
		*(volatile u8 *)&line->timer[at] = xdd_timer_new(when);
}

/* Make the line of cell @i fit for an insertion. Returns false where it stays stale. */
XDD_INLINE bool xdd_timer_prepare(struct xdd_timer_cells *cells, u32 i, const struct xdd_when *when)
{
	struct xdd_line *line = cells->line[i];
	s32 age = xdd_line_age(line, when);
	bool stale = xdd_line_is_stale(age);

	if (!stale && age <= XDD_CLEAN_TICKS)
		return true;
	return xdd_line_clean(line, age, false, when) || !stale;
}

/* Look the cells up, and set them where one is not live. Returns enum xdd_found bits. */
XDD_INLINE u32 xdd_timer_touch(XDD_FIXED struct xdd_fixed *fixed, struct xdd_timer_cells *cells,
			       struct xdd_when *when)
{
	bool one_line = xdd_timer_one_line(fixed);
	u32 found = 0, live = 0;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= fixed->hashes)
			break;
		if (!xdd_timer_is_live(cells, i, when, &found))
			break;
		live++;
	}
	if (live == fixed->hashes) {
		found |= XDD_SEEN;
		if (!fixed->refresh)
			return found;
	}
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= fixed->hashes)
			break;
		if ((!one_line || !i) && !xdd_timer_prepare(cells, i, when))
			return found | XDD_STALE;
		xdd_timer_set(cells, i, when);
	}
	return found;
}

XDD_INLINE u32 xdd_timer_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     struct xdd_question *question)
{
	struct xdd_timer_cells cells;
	struct xdd_lock *lock;
	u32 found;

	if (!xdd_timer_locate(fixed, store, &question->digest, &cells))
		return XDD_MISSING;
	if (fixed->placement != XDD_PLACEMENT_shared)
		return xdd_timer_touch(fixed, &cells, &question->when);
	lock = xdd_lock_at(store, cells.stripe);
	if (!lock)
		return XDD_MISSING;
	xdd_lock(lock);
	found = xdd_timer_touch(fixed, &cells, &question->when);
	xdd_unlock(lock);
	return found;
}

#endif

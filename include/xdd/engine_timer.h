/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `timer`: a Bloom filter of k timers per key (koloniari-2011 sections 3 and 4).
 *
 * Where they lie: slices.h. Where a slice of a horizontal filter is one line, a look-up costs one
 * memory access.
 */
#ifndef XDD_ENGINE_TIMER_H
#define XDD_ENGINE_TIMER_H

#include "faults.h"
#include "growth.h"

/* All k cells in the one line that the key picks. Returns false where it is missing. */
XDD_INLINE bool xdd_timer_locate_line(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				      const struct xdd_digest *digest, struct xdd_bits *cells,
				      u32 *stripe)
{
	return xdd_bits_locate_line(xdd_line_of(fixed, store, digest, stripe),
				    xdd_mix64(digest->lo), fixed->hashes, xdd_line_cells(fixed), 0,
				    cells);
}

/* The k cells of a digest, and the stripe of their lock: of the line where there is one, else of the
 * key. Returns false where a line is missing.
 */
XDD_INLINE bool xdd_timer_locate(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				 const struct xdd_digest *digest, struct xdd_bits *cells,
				 u32 *stripe)
{
	if (xdd_slices_one_line(fixed))
		return xdd_timer_locate_line(fixed, store, digest, cells, stripe);
	*stripe = digest->lo;
	return xdd_slices_locate(fixed, store, digest, cells);
}

/* The timer of cell @i, or NULL (never). Opaque twice: the check is made, and the address is
 * computed behind it.
 */
XDD_INLINE u8 *xdd_timer_cell(const struct xdd_bits *cells, struct xdd_line *line, u32 i)
{
	u32 at = cells->at[i];

	xdd_opaque(at);
	if (at >= XDD_LINE_TIMERS)
		return NULL;
	xdd_opaque(at);
	return line->timer + at;
}

/* Whether all k cells are live; brings @when up to their lines. */
XDD_INLINE bool xdd_timer_all_live(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells,
				   struct xdd_when *when, u32 *found)
{
	bool one_line = xdd_slices_one_line(fixed);
	struct xdd_line *line = cells->line[0];
	s32 age = 0;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		const u8 *cell;

		if (i >= fixed->hashes)
			break;
		if (!one_line || !i) {
			line = cells->line[i];
			age = xdd_line_age(line, when);
			*found |= xdd_line_catch_up(age, when);
			if (xdd_line_is_stale(age))
				return false;
		}
		cell = xdd_timer_cell(cells, line, i);
		if (!cell || !xdd_timer_live(*(volatile const u8 *)cell, when))
			return false;
	}
	return true;
}

/* The key's timers, one a byte; 0 where k is less than 8. */
XDD_INLINE u64 xdd_timer_word(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells)
{
	u64 word = 0;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		const u8 *cell;

		if (i >= fixed->hashes)
			break;
		cell = xdd_timer_cell(cells, cells->line[i], i);
		word = word << 8 | (cell ? *(volatile const u8 *)cell : 0);
	}
	return word;
}

/*
 * Whether at least @equal (1..8) bytes of @word that are not 0 are the same. Without a branch: the
 * verifier would follow each combination of comparisons.
 */
XDD_INLINE bool xdd_timer_agree(u64 word, u32 equal)
{
	const u64 ones = 0x0101010101010101ULL, low = ones * 127;
	u64 some = (((word & low) + low) | word) >> 7 & ones, enough = 0;

	for (u32 i = 0; i < 64; i += 8) {
		u64 differ = word ^ (word >> i & 255) * ones;
		u64 same = ~(((differ & low) + low) | differ) >> 7 & ones & some;

		enough |= ((same * ones >> 56) + 256 - equal) >> 8;
	}
	return enough;
}

/*
 * The rule of equal timers (koloniari-2011 section 4): a key whose timers are all live is a copy only
 * if at least k' of them are equal, since one insertion set them all and few were overwritten since.
 * Timers that share a cell are equal. A cell may change meanwhile, by a key of another lock.
 */
XDD_INLINE bool xdd_timer_equal(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells)
{
	return fixed->equal < 2 || xdd_timer_agree(xdd_timer_word(fixed, cells), fixed->equal);
}

/* Set @cell, unless it already lives longer (koloniari-2011 section 4, late events). */
XDD_INLINE void xdd_timer_set(u8 *cell, const struct xdd_when *when)
{
	u32 old = *(volatile u8 *)cell;

	if (!xdd_timer_live(old, when) || xdd_timer_left(old, when) < when->window_ticks - 1)
		*(volatile u8 *)cell = xdd_timer_new(when);
}

/* How many of the cells that are known are live. Without branches, as far as lines go. */
XDD_INLINE u32 xdd_timer_known_live(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells,
				    const struct xdd_unknown *unknown, struct xdd_when *when,
				    u32 *found)
{
	u32 set = 0;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		const u8 *cell;
		s32 age;

		if (i >= fixed->hashes)
			break;
		age = xdd_line_age(cells->line[i], when);
		*found |= xdd_line_catch_up(age, when);
		cell = xdd_timer_cell(cells, cells->line[i], i);
		if (!cell)
			continue;
		set += xdd_lanes_live(*(volatile const u8 *)cell, 1, when) & xdd_known(unknown, i) &
		       !xdd_line_is_stale(age);
	}
	return set;
}

/* Set all k cells. Returns 0, or XDD_STALE where a line could not be made fit. */
XDD_INLINE u32 xdd_timer_insert(XDD_FIXED struct xdd_fixed *fixed, struct xdd_bits *cells,
				const struct xdd_unknown *unknown, bool doubted,
				struct xdd_when *when, u32 *found)
{
	bool one_line = xdd_slices_one_line(fixed);
	struct xdd_line *line = cells->line[0];

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		u8 *cell;

		if (i >= fixed->hashes)
			break;
		if (doubted && !xdd_writable(unknown, i))
			continue;
		if (!one_line || !i) {
			line = cells->line[i];
			*found |= xdd_line_catch_up(xdd_line_age(line, when), when);
			if (!xdd_line_prepare(line, xdd_line_age(line, when), false, when))
				return XDD_STALE;
		}
		cell = xdd_timer_cell(cells, line, i);
		if (cell)
			xdd_timer_set(cell, when);
	}
	return 0;
}

/* Whether the key is there, as enum xdd_found bits. */
XDD_INLINE u32 xdd_timer_look(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells,
			      const struct xdd_unknown *unknown, struct xdd_question *question)
{
	struct xdd_when *when = &question->when;
	u32 found = 0, set;

	if (question->doubted) {
		set = xdd_timer_known_live(fixed, cells, unknown, when, &found);
		return found | xdd_unknown_answer(unknown, fixed->hashes, set);
	}
	if (xdd_timer_all_live(fixed, cells, when, &found) && xdd_timer_equal(fixed, cells))
		found |= XDD_SEEN;
	return found;
}

/* Look the cells up, and set them where the key is not there. Returns enum xdd_found bits. */
XDD_INLINE u32 xdd_timer_touch(XDD_FIXED struct xdd_fixed *fixed, struct xdd_bits *cells,
			       const struct xdd_unknown *unknown, struct xdd_question *question)
{
	u32 found = xdd_timer_look(fixed, cells, unknown, question);

	if (found & XDD_SEEN && !fixed->refresh)
		return found;
	found |=
		xdd_timer_insert(fixed, cells, unknown, question->doubted, &question->when, &found);
	return found;
}

/* Of the filters @asked those in which @cell of the first's @line is live; brings @when up to their
 * lines. What is dead is computed without branches: the verifier would walk on for each set of them.
 */
XDD_INLINE u32 xdd_timer_live_in(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_line *line,
				 const u8 *cell, u32 asked, struct xdd_when *when, u32 *found)
{
	for (u32 filter = 0; filter < XDD_MAX_FILTERS; filter++) {
		u32 dead;
		u64 live;
		s32 age;

		if (filter >= fixed->filters)
			break;
		if (!(asked >> filter & 1))
			continue;
		age = xdd_line_age(line + filter, when);
		*found |= xdd_line_catch_up(age, when);
		live = xdd_lanes_live(*(volatile const u8 *)(cell + filter * sizeof(*line)), 1,
				      when);
		/* as xdd_line_is_stale() */
		live &= ~((2 * XDD_HORIZON_TICKS - (u64)(u32)(age + XDD_HORIZON_TICKS)) >> 63);
		dead = ~live & 1;
		xdd_opaque(dead);
		asked &= ~(dead << filter);
	}
	return asked;
}

/* Whether all k cells are live in one filter of the chain: xdd_timer_all_live() where there is only
 * one.
 */
XDD_INLINE bool xdd_timer_any_live(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells,
				   u32 asked, struct xdd_when *when, u32 *found)
{
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		const u8 *cell;

		if (i >= fixed->hashes)
			break;
		cell = xdd_timer_cell(cells, cells->line[i], i);
		if (!cell)
			return false;
		asked = xdd_timer_live_in(fixed, cells->line[i], cell, asked, when, found);
		if (!asked)
			return false;
	}
	return true;
}

/* Turn to filter @filter of the chain. Returns false where there is none. */
XDD_INLINE bool xdd_timer_turn(XDD_FIXED struct xdd_fixed *fixed, struct xdd_bits *cells,
			       u32 filter)
{
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= fixed->hashes)
			break;
		cells->line[i] = xdd_chain_line(fixed, cells->line[i], filter);
		if (!cells->line[i])
			return false;
	}
	return true;
}

/* xdd_timer_touch() with a chain: asks its live filters, inserts into the newest. */
XDD_INLINE u32 xdd_timer_touch_chain(XDD_FIXED struct xdd_fixed *fixed, struct xdd_bits *cells,
				     struct xdd_chain *chain, struct xdd_when *when)
{
	const struct xdd_unknown none = {};
	u64 state = xdd_chain_read(chain);
	u32 found = 0;

	if (xdd_timer_any_live(fixed, cells, xdd_chain_asked(state), when, &found)) {
		found |= XDD_SEEN;
		if (!fixed->refresh)
			return found;
	}
	if (!xdd_timer_turn(fixed, cells, xdd_chain_newest(state)))
		return XDD_STALE;
	found |= xdd_timer_insert(fixed, cells, &none, false, when, &found);
	if (fixed->grow == XDD_GROWTH_cardinality)
		xdd_fetch_add64(&chain->inserted, 1);
	return found;
}

/* xdd_timer_ask() with a chain. */
XDD_INLINE u32 xdd_timer_ask_chain(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				   struct xdd_question *question)
{
	const struct xdd_digest *digest = &question->identity->digest;
	struct xdd_chain *chain = xdd_chain_at(store, xdd_chain_of(fixed, digest));
	struct xdd_bits cells;
	struct xdd_lock *lock;
	u32 stripe, found;

	if (!chain || !xdd_timer_locate(fixed, store, digest, &cells, &stripe))
		return XDD_MISSING;
	if (fixed->placement != XDD_PLACEMENT_shared)
		return xdd_timer_touch_chain(fixed, &cells, chain, &question->when);
	lock = xdd_lock_at(store, stripe);
	if (!lock)
		return XDD_MISSING;
	xdd_lock(lock);
	found = xdd_timer_touch_chain(fixed, &cells, chain, &question->when);
	xdd_unlock(lock);
	return found;
}

XDD_INLINE u32 xdd_timer_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     struct xdd_question *question)
{
	struct xdd_unknown unknown;
	struct xdd_bits cells;
	struct xdd_lock *lock;
	u32 stripe, found;

	if (!question->doubted && xdd_grows(fixed))
		return xdd_timer_ask_chain(fixed, store, question);
	if (!xdd_timer_locate(fixed, store, &question->identity->digest, &cells, &stripe) ||
	    !xdd_unknown_of(fixed, store, question, &unknown))
		return XDD_MISSING;
	if (fixed->placement != XDD_PLACEMENT_shared)
		return xdd_timer_touch(fixed, &cells, &unknown, question);
	lock = xdd_lock_at(store, stripe);
	if (!lock)
		return XDD_MISSING;
	xdd_lock(lock);
	found = xdd_timer_touch(fixed, &cells, &unknown, question);
	xdd_unlock(lock);
	return found;
}

#endif

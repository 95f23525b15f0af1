/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Placement tree: Bloom trees (koloniari-2011 section 6). All nodes are filters of one size and
 * shape; a leaf is a site's own (a CPU's), each node above holds what its children do, the root
 * everything. Levels count from the root, which is 0.
 *
 * A key is tested from the leaf upwards. The first match is a duplicate; what is not at the root is
 * distinct, and set on the whole path. The root's lock makes it so for one of several sites at a
 * time. In a dense tree a match also sets the key below, for as long as the match lives: the least
 * of its k timers, not a window of its own. So a node's bits and timers never outlive those of the
 * node above, and the tree decides as the root alone would (Prop. 3 and 4), also with timers: as
 * long as time does not step back by ticks. Tagged cells that the root evicted a leaf may still
 * have: then it finds copies that the root would miss.
 *
 * Top-down testing: a match at a level above D is a duplicate only if some node below it at level
 * D, apart from those that missed on the way up, has the key, too. The paper ends the test where
 * none has it and calls the key distinct, which misses copies: here it goes on upwards, and what
 * is distinct in the end is set on the path. No copy is missed, but for one case: where the root
 * matches a key that never came, two sites that show it at the same moment may both pass it.
 *
 * The root is set under its lock, and with it the level that matches are looked for at; the others
 * after that. What several sites write without a common lock are bytes, or words by
 * compare-and-swap: an entry that is lost below the root costs a visit further up.
 */
#ifndef XDD_TREE_H
#define XDD_TREE_H

#include "engine_tagged.h"
#include "engine_timer.h"

/* What is counted at each level: X(name, help). Visits as koloniari-2011 counts them: a dense tree of
 * bits tests and sets at once, others test on the way up and set apart; at the root, which one lock
 * guards for both, sparse trees count two.
 */
#define XDD_TREE_COUNTS(X)                                      \
	X(hits, "duplicates found at the level")                \
	X(accesses, "visits to its filters, to test or to set") \
	X(refuted, "matches found nowhere below, with --top-down")

#define XDD_TREE_COUNT_FIELD(name, help) u64 name;

/* A level's counts: map `tree`, an entry per level, of each CPU. */
struct xdd_tree_level {
	XDD_TREE_COUNTS(XDD_TREE_COUNT_FIELD)
};

/* In place of a node's number: the one above the site that asks. */
#define XDD_TREE_OWN (~0u)

/* How often a line is cleaned that others write to: a try that fails leaves less to do. */
#define XDD_TREE_TRIES 8

/* Above enum xdd_found: ticks that a match still lives for, beyond this one. */
#define XDD_TREE_LEFT_SHIFT 16

/* Accessors. Line @number of the filter of node @site of @level; or NULL. */
extern struct xdd_line *xdd_tree_line_at(struct xdd_store *store, u32 level, u32 site, u32 number);

extern struct xdd_tree_level *xdd_tree_level_at(struct xdd_store *store, u32 level);

/* In BPF functions, around those below that are called xdd_tree_..._at(). */
extern u32 xdd_tree_look(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			 const struct xdd_digest *digest, const struct xdd_when *when, u32 level);
extern u32 xdd_tree_climb(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			  const struct xdd_digest *digest, const struct xdd_when *when, bool set);
extern bool xdd_tree_clean(struct xdd_line *line, const struct xdd_when *when);
extern u32 xdd_tree_prepare(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			    const struct xdd_digest *digest, const struct xdd_when *when,
			    u32 level);
extern void xdd_tree_put(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			 const struct xdd_digest *digest, const struct xdd_when *when, u32 level,
			 u32 left);

/*
 * Whether the match at @level of the asking site's path is confirmed from there down to level
 * fixed->top_down: by a node of each level in between, apart from those on the path. Counts the
 * visits.
 */
extern bool xdd_tree_confirmed(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			       const struct xdd_digest *digest, const struct xdd_when *when,
			       u32 level);

/* Nodes of @level. */
XDD_INLINE u32 xdd_tree_width(XDD_FIXED struct xdd_fixed *fixed, u32 level)
{
	u32 width = 1;

	if (level + 1 == fixed->levels)
		return fixed->tree_leaves;
	for (u32 i = 0; i < XDD_TREE_MAX_LEVELS && i < level; i++)
		width *= fixed->tree_fan_out;
	return width;
}

/* Filters that CPUs share, in map `lines`: the one of shared placement, or what is above the leaves
 * of a tree.
 */
XDD_INLINE u32 xdd_shared_filters(XDD_FIXED struct xdd_fixed *fixed)
{
	u32 filters = fixed->placement == XDD_PLACEMENT_shared;

	if (fixed->placement != XDD_PLACEMENT_tree)
		return filters;
	for (u32 level = 0; level < XDD_TREE_MAX_LEVELS && level + 1 < fixed->levels; level++)
		filters += xdd_tree_width(fixed, level);
	return filters;
}

/* Sites, which the ager walks one after the other: those filters, then the ones of @cpus CPUs. */
XDD_INLINE u32 xdd_sites(XDD_FIXED struct xdd_fixed *fixed, u32 cpus)
{
	u32 shared = xdd_shared_filters(fixed);

	return fixed->placement == XDD_PLACEMENT_shared ? shared : shared + cpus;
}

/* Whether a key's cells lie in one line. */
XDD_INLINE bool xdd_tree_one_line(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_tagged ||
	       (fixed->engine == XDD_ENGINE_timer && xdd_slices_one_line(fixed));
}

/* How many lines a key has in each node. */
XDD_INLINE u32 xdd_tree_key_lines(XDD_FIXED struct xdd_fixed *fixed)
{
	return xdd_tree_one_line(fixed) ? 1 : fixed->hashes;
}

/* The places of a key's cells in the one line that they lie in; and its number. */
XDD_INLINE u32 xdd_tree_place_all(XDD_FIXED struct xdd_fixed *fixed,
				  const struct xdd_digest *digest, struct xdd_bits *cells)
{
	u32 block, rest;

	if (fixed->engine == XDD_ENGINE_timer)
		xdd_bits_locate_line(NULL, xdd_mix64(digest->lo), fixed->hashes,
				     xdd_line_cells(fixed), 0, cells);
	block = xdd_range(digest->lo >> 32, fixed->blocks, &rest);
	return block * fixed->lines_per_block + xdd_range(rest, fixed->lines_per_block, &rest);
}

/* The place of cell @i, or of all; and the number of its line: the same in every node. */
XDD_INLINE u32 xdd_tree_place(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest,
			      u32 i, struct xdd_bits *cells)
{
	struct xdd_places places;

	if (xdd_tree_one_line(fixed))
		return xdd_tree_place_all(fixed, digest, cells);
	places = xdd_places(fixed, digest);
	return xdd_place(fixed, &places, i, &cells->at[i]);
}

/* The key's cells in node @site of @level. Returns false where a line is missing. */
XDD_INLINE bool xdd_tree_locate(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_digest *digest, u32 level, u32 site,
				struct xdd_bits *cells)
{
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= xdd_tree_key_lines(fixed))
			break;
		cells->line[i] = xdd_tree_line_at(store, level, site,
						  xdd_tree_place(fixed, digest, i, cells));
		if (!cells->line[i])
			return false;
	}
	return true;
}

/* The lesser of two numbers below 2^62, without a branch: the verifier would follow each. */
XDD_INLINE s64 xdd_least(s64 a, s64 b)
{
	s64 less = (a - b) >> 63;

	xdd_opaque(less);
	return b + ((a - b) & less);
}

/* Ticks after this one for which all k cells, live now, will be. */
XDD_INLINE u32 xdd_tree_timers_left(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells,
				    const struct xdd_when *when)
{
	bool one_line = xdd_slices_one_line(fixed);
	s64 least = XDD_HORIZON_TICKS;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		const u8 *cell;
		u64 left, over;

		if (i >= fixed->hashes)
			break;
		cell = xdd_timer_cell(cells, cells->line[one_line ? 0 : i], i);
		if (!cell)
			return 0;
		left = *(volatile const u8 *)cell + 254ULL - when->mod;
		over = (left + 257) >> 9; /* xdd_timer_left() */
		least = xdd_least(left + over - (over << 8), least);
	}
	return least;
}

/* Whether a node has the key: enum xdd_found bits, and from XDD_TREE_LEFT_SHIFT on how long it will.
 * Brings @when up to its lines.
 */
XDD_INLINE u32 xdd_tree_test(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest,
			     const struct xdd_bits *cells, struct xdd_when *when)
{
	u32 found = 0, timer;

	if (fixed->engine == XDD_ENGINE_tagged) {
		found = xdd_tagged_look(cells->line[0], xdd_tagged_want(digest), when, &timer);
		if (found & XDD_SEEN)
			found |= xdd_timer_left(timer, when) << XDD_TREE_LEFT_SHIFT;
		return found;
	}
	if (fixed->engine == XDD_ENGINE_bloom)
		return xdd_bits_all_set(fixed, cells) ? XDD_SEEN : 0;
	if (!xdd_timer_all_live(fixed, cells, when, &found))
		return found;
	if (fixed->tree == XDD_TREE_dense)
		found |= xdd_tree_timers_left(fixed, cells, when) << XDD_TREE_LEFT_SHIFT;
	return found | XDD_SEEN;
}

/* Set the key's timers, in lines that were prepared, or its bits. */
XDD_INLINE void xdd_tree_set_cells(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *cells,
				   struct xdd_line *const line[XDD_MAX_HASHES],
				   const struct xdd_when *when)
{
	bool one_line = xdd_tree_one_line(fixed);

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		u32 shift;
		u64 *word;
		u8 *cell;

		if (i >= fixed->hashes)
			break;
		if (fixed->engine == XDD_ENGINE_timer) {
			cell = xdd_timer_cell(cells, line[one_line ? 0 : i], i);
			if (cell)
				xdd_timer_set(cell, when);
		} else {
			word = xdd_bits_word_in(line[i], cells->at[i], &shift);
			xdd_fetch_or64(word, 1ULL << shift);
		}
	}
}

/* Let a node have the key for when->window_ticks from now on. Returns enum xdd_found bits. */
XDD_INLINE u32 xdd_tree_set(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest,
			    const struct xdd_bits *cells, struct xdd_when when)
{
	if (fixed->engine == XDD_ENGINE_tagged)
		return xdd_tagged_touch(cells->line[0], xdd_tagged_want(digest), &when, true) &
		       ~XDD_SEEN;
	xdd_tree_set_cells(fixed, cells, cells->line, &when);
	return 0;
}

/* A copy of @when, which a function was handed. The verifier knows again how large it is: else it looks
 * at what follows once more for each line that could be ahead.
 */
XDD_INLINE struct xdd_when xdd_tree_when(const struct xdd_when *when)
{
	struct xdd_when here = *when;

	if (here.mod >= 255)
		here.mod = 254;
	return here;
}

/* xdd_tree_test() of node @site of @level; at another @when, if its lines are ahead. */
XDD_INLINE u32 xdd_tree_look_at(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_digest *digest, const struct xdd_when *when,
				u32 level, u32 site)
{
	struct xdd_when here = xdd_tree_when(when);
	struct xdd_bits cells;

	if (!xdd_tree_locate(fixed, store, digest, level, site, &cells))
		return XDD_MISSING;
	return xdd_tree_test(fixed, digest, &cells, &here);
}

/* A key's lines at the root, and at the level that matches there are looked for at. */
struct xdd_path {
	struct xdd_bits cells;
	struct xdd_line *confirming[XDD_MAX_HASHES];
};

XDD_INLINE bool xdd_path_find(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_digest *digest, struct xdd_path *path)
{
	if (fixed->top_down) {
		if (!xdd_tree_locate(fixed, store, digest, fixed->top_down, XDD_TREE_OWN,
				     &path->cells))
			return false;
		for (u32 i = 0; i < XDD_MAX_HASHES && i < xdd_tree_key_lines(fixed); i++)
			path->confirming[i] = path->cells.line[i];
	}
	return xdd_tree_locate(fixed, store, digest, 0, XDD_TREE_OWN, &path->cells);
}

/* What picks the lock of the root: the line where there is one, else the key. */
XDD_INLINE u32 xdd_tree_stripe(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest)
{
	struct xdd_bits unused;

	return xdd_tree_one_line(fixed) ? xdd_tree_place(fixed, digest, 0, &unused) : digest->lo;
}

/* Clean a line, which other CPUs may write to. Returns whether it was done. */
XDD_INLINE bool xdd_tree_clean_at(struct xdd_line *line, const struct xdd_when *when)
{
	struct xdd_when here = xdd_tree_when(when);

	for (u32 try = 0; try < XDD_TREE_TRIES; try++) {
		if (xdd_line_clean_once(line, false, &here))
			return true;
	}
	return false;
}

/*
 * Make the key's lines at @level fit for timers, before they are set. Not under the lock: it is
 * seldom needed, takes a while, and kernel 6.1 can only follow it in a function. Returns 0, or
 * XDD_STALE where a line could not be made so.
 */
XDD_INLINE u32 xdd_tree_prepare_at(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				   const struct xdd_digest *digest, const struct xdd_when *when,
				   u32 level)
{
	struct xdd_when here = xdd_tree_when(when);
	struct xdd_bits cells;

	if (!xdd_tree_locate(fixed, store, digest, level, XDD_TREE_OWN, &cells))
		return XDD_STALE;
	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= xdd_tree_key_lines(fixed))
			break;
		xdd_line_catch_up(xdd_line_age(cells.line[i], &here), &here);
		if (!xdd_line_must_clean(xdd_line_age(cells.line[i], &here), &here))
			continue;
		if (!xdd_tree_clean(cells.line[i], &here))
			return XDD_STALE;
	}
	return 0;
}

/*
 * Test the key at the root, and set it there where it is not; with @set in any case. Returns enum
 * xdd_found bits, and how long a match lives.
 */
XDD_INLINE u32 xdd_tree_climb_at(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				 const struct xdd_digest *digest, const struct xdd_when *when,
				 bool set)
{
	struct xdd_when here = xdd_tree_when(when);
	struct xdd_path path;
	struct xdd_lock *lock;
	u32 found = 0;

	if (!xdd_path_find(fixed, store, digest, &path))
		return XDD_MISSING;
	lock = xdd_lock_at(store, xdd_tree_stripe(fixed, digest));
	if (!lock)
		return XDD_MISSING;
	xdd_lock(lock);
	if (!set)
		found = xdd_tree_test(fixed, digest, &path.cells, &here);
	if (!(found & XDD_SEEN)) {
		/* in this order: who finds the key at the root finds it there, too */
		if (fixed->top_down)
			xdd_tree_set_cells(fixed, &path.cells, path.confirming, &here);
		found |= xdd_tree_set(fixed, digest, &path.cells, here);
	}
	xdd_unlock(lock);
	return found;
}

/* Set the key in the node of @level, below the root, for @left ticks more than this one. */
XDD_INLINE void xdd_tree_put_at(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_digest *digest, const struct xdd_when *when,
				u32 level, u32 left)
{
	struct xdd_when until = xdd_tree_when(when);
	struct xdd_bits cells;

	until.window_ticks = left + 1;
	if (xdd_tree_locate(fixed, store, digest, level, XDD_TREE_OWN, &cells))
		xdd_tree_set(fixed, digest, &cells, until);
}

/* Count at @level; @refuted: a match. */
XDD_INLINE void xdd_tree_count(struct xdd_store *store, u32 level, u32 hits, u32 accesses,
			       u32 refuted)
{
	struct xdd_tree_level *counts = xdd_tree_level_at(store, level);

	if (!counts)
		return;
	counts->hits += hits;
	counts->accesses += accesses;
	counts->refuted += refuted;
}

/* xdd_tree_prepare() where there is something to prepare: tagged cells come with their line's care. */
XDD_INLINE u32 xdd_tree_ready(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_digest *digest, const struct xdd_when *when,
			      u32 level)
{
	if (fixed->engine != XDD_ENGINE_timer)
		return 0;
	return xdd_tree_prepare(fixed, store, digest, when, level);
}

/*
 * Set the key in the nodes of the path below @level, for @left ticks more. Counts visits, but for
 * the one to set what was tested there: where bits are set as they are tested (Algorithm 1) that is
 * one visit.
 */
XDD_INLINE void xdd_tree_fill(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_digest *digest, const struct xdd_when *when,
			      u32 level, u32 left)
{
	bool apart = fixed->tree == XDD_TREE_sparse || fixed->engine != XDD_ENGINE_bloom;

	for (u32 below = 1; below < XDD_TREE_MAX_LEVELS; below++) {
		if (below >= fixed->levels)
			break;
		if (below <= level)
			continue;
		if (!xdd_tree_ready(fixed, store, digest, when, below))
			xdd_tree_put(fixed, store, digest, when, below, left);
		if (apart)
			xdd_tree_count(store, below, 0, 1, 0);
	}
}

/* What comes of what was @found at @level: whether it is a duplicate. */
XDD_INLINE bool xdd_tree_ends(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_digest *digest, const struct xdd_when *when,
			      u32 level, u32 found)
{
	bool match = found & XDD_SEEN, hit = match;

	if (match && level < fixed->top_down)
		hit = xdd_tree_confirmed(fixed, store, digest, when, level);
	xdd_tree_count(store, level, hit, 1, match && !hit);
	if (hit && fixed->tree == XDD_TREE_dense)
		xdd_tree_fill(fixed, store, digest, when, level, found >> XDD_TREE_LEFT_SHIFT);
	return hit;
}

/* Ask the tree about the key of @digest at @when (tagged and timer). Returns enum xdd_found bits. */
XDD_INLINE u32 xdd_tree_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			    const struct xdd_digest *digest, const struct xdd_when *when)
{
	u32 found;

	for (u32 level = XDD_TREE_MAX_LEVELS - 1; level > 0; level--) {
		if (level >= fixed->levels)
			continue;
		found = xdd_tree_look(fixed, store, digest, when, level);
		if (xdd_tree_ends(fixed, store, digest, when, level, found))
			return found & (XDD_SEEN | XDD_TIME_BACK);
	}
	found = xdd_tree_ready(fixed, store, digest, when, 0);
	if (fixed->top_down)
		found |= xdd_tree_ready(fixed, store, digest, when, fixed->top_down);
	if (found)
		return found;
	found = xdd_tree_climb(fixed, store, digest, when, false);
	if (xdd_tree_ends(fixed, store, digest, when, 0, found))
		return found & (XDD_SEEN | XDD_TIME_BACK);
	if (found & XDD_SEEN)
		found = xdd_tree_climb(fixed, store, digest, when, true);
	xdd_tree_fill(fixed, store, digest, when, 0, when->window_ticks - 1);
	if (fixed->tree == XDD_TREE_sparse)
		xdd_tree_count(store, 0, 0, 1, 0);
	return found & ((1u << XDD_TREE_LEFT_SHIFT) - 1);
}

#endif

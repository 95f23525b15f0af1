/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the bit engines share (bera-2012): lines of 512 bits; positions, tests, and writes whose
 * effect is known exactly. They lie in one array, or in k filters:
 *
 * apart    each of as many whole lines, one behind the other: the papers' layout.
 * in line  each of a k-th of every line. The key picks a line, where it has a bit of each filter, and
 *          where an insertion resets its random ones: one access to memory. An insertion finds a bit
 *          with the same chance as apart, but the loads of a line's filters go up together.
 *
 * Where CPUs share a filter, a key is tested and inserted under a lock, so of two copies at once
 * one is the first. In line the line picks it, and no other CPU writes there meanwhile. Apart the
 * digest does, and other keys' bits lie in the same words: every write is one atomic operation
 * there, which returns the word as it was. So the loads that rlbsbf adds up atomically are the
 * number of bits that are set, whatever the order of the writes.
 */
#ifndef XDD_BITS_H
#define XDD_BITS_H

#include "store.h"

#define XDD_LINE_BITS (8 * XDD_LINE_BYTES)

/* Positions of bits, or of timers. */
struct xdd_bits {
	struct xdd_line *line[XDD_MAX_HASHES];
	u32 at[XDD_MAX_HASHES]; /* bit, or timer, of the line */
};

/* Whether all bits lie in one array, rather than in k filters. */
XDD_INLINE bool xdd_bits_one_array(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_bloom || fixed->engine == XDD_ENGINE_sbf;
}

/* Whether the k filters lie in line. */
XDD_INLINE bool xdd_bits_in_line(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->slicing == XDD_SLICING_horizontal && xdd_engine_is_lined(fixed->engine);
}

/* Bits of a line that are one filter's; in line up to k - 1 at the end are not used. */
XDD_INLINE u32 xdd_bits_of_line(XDD_FIXED struct xdd_fixed *fixed)
{
	if (!xdd_bits_in_line(fixed))
		return XDD_LINE_BITS;
	return fixed->hashes == 2 ? XDD_LINE_BITS / 2 : XDD_LINE_BITS / fixed->hashes;
}

/* Lines of each of the k filters; apart up to k - 1 at the end are not used. */
XDD_INLINE u32 xdd_bits_filter_lines(XDD_FIXED struct xdd_fixed *fixed)
{
	u32 lines = xdd_lines(fixed);

	if (xdd_bits_in_line(fixed))
		return lines;
	/* The usual k without a division: in BPF it would be one at run time. */
	return fixed->hashes == 2 ? lines / 2 : lines / fixed->hashes;
}

/* Bits of each of the k filters: the papers' s. */
XDD_INLINE u64 xdd_bits_filter(XDD_FIXED struct xdd_fixed *fixed)
{
	return (u64)xdd_bits_filter_lines(fixed) * xdd_bits_of_line(fixed);
}

/* The @i-th number of @seed's sequence (splitmix64). */
XDD_INLINE u64 xdd_bits_draw(u64 seed, u32 i)
{
	return xdd_mix64(seed + (i + 1) * XDD_GOLDEN);
}

/*
 * @n positions (1..k) drawn from @seed, the @i-th among @lines lines from @i * @apart on.
 * Returns false where a line is missing.
 */
XDD_INLINE bool xdd_bits_locate(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				u64 seed, u32 n, u32 lines, u32 apart, struct xdd_bits *bits)
{
	u32 first = 0, rest;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		u64 draw;

		if (i >= n)
			break;
		draw = xdd_bits_draw(seed, i);
		bits->line[i] =
			xdd_line_number(fixed, store, first + xdd_range(draw >> 32, lines, &rest));
		bits->at[i] = draw % XDD_LINE_BITS;
		if (!bits->line[i])
			return false;
		first += apart;
	}
	return true;
}

/*
 * @n positions in @line, the @i-th among @cells cells from @i * @apart on; drawn from the uniform
 * @draws. Returns false where the line is missing.
 */
XDD_INLINE bool xdd_bits_locate_line(struct xdd_line *line, u64 draws, u32 n, u32 cells, u32 apart,
				     struct xdd_bits *bits)
{
	u32 draw = draws, next = draws >> 32, rest;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= n)
			break;
		bits->line[i] = line;
		bits->at[i] = i * apart + xdd_range(draw, cells, &rest);
		draw = next;
		next = rest;
	}
	return line;
}

/* The key's k bits, anywhere in one array. */
XDD_INLINE bool xdd_bits_own_anywhere(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				      const struct xdd_digest *digest, struct xdd_bits *own)
{
	return xdd_bits_locate(fixed, store, digest->lo, fixed->hashes, xdd_lines(fixed), 0, own);
}

/* A bit of @line in each of k filters in line. */
XDD_INLINE bool xdd_bits_each(XDD_FIXED struct xdd_fixed *fixed, struct xdd_line *line, u64 draws,
			      struct xdd_bits *bits)
{
	u32 part = xdd_bits_of_line(fixed);

	return xdd_bits_locate_line(line, draws, fixed->hashes, part, part, bits);
}

/* A bit in each of k filters apart. */
XDD_INLINE bool xdd_bits_each_apart(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				    u64 seed, struct xdd_bits *bits)
{
	u32 lines = xdd_bits_filter_lines(fixed);

	return xdd_bits_locate(fixed, store, seed, fixed->hashes, lines, lines, bits);
}

/* The key's bit in each of k filters. */
XDD_INLINE bool xdd_bits_own(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, struct xdd_bits *own)
{
	u32 block;

	if (!xdd_bits_in_line(fixed))
		return xdd_bits_each_apart(fixed, store, digest->lo, own);
	return xdd_bits_each(fixed, xdd_line_of(fixed, store, digest, &block),
			     xdd_mix64(digest->lo), own);
}

/* A random bit in each of k filters, for an insertion of the key whose bits are @question->own. */
XDD_INLINE bool xdd_bits_random(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_question *question, struct xdd_bits *random)
{
	if (!xdd_bits_in_line(fixed))
		return xdd_bits_each_apart(fixed, store, question->random, random);
	return xdd_bits_each(fixed, question->own->line[0], xdd_bits_draw(question->random, 0),
			     random);
}

/* One in any of them. */
XDD_INLINE bool xdd_bits_random_one(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				    const struct xdd_question *question, struct xdd_bits *random)
{
	u32 k = fixed->hashes;

	if (!xdd_bits_in_line(fixed))
		return xdd_bits_locate(fixed, store, question->random, 1,
				       xdd_bits_filter_lines(fixed) * k, 0, random);
	return xdd_bits_locate_line(question->own->line[0], xdd_bits_draw(question->random, 0), 1,
				    xdd_bits_of_line(fixed) * k, 0, random);
}

/* The word of @line that bit @at lies in, and its place there. Opaque: the bound is computed here. */
XDD_INLINE u64 *xdd_bits_word_in(struct xdd_line *line, u32 at, u32 *shift)
{
	xdd_opaque(at);
	*shift = at % 64;
	return &line->word[at / 64 % XDD_LINE_WORDS];
}

XDD_INLINE u64 *xdd_bits_word(const struct xdd_bits *bits, u32 i, u32 *shift)
{
	return xdd_bits_word_in(bits->line[i], bits->at[i], shift);
}

/* Bit @i, 0 or 1. */
XDD_INLINE u32 xdd_bits_get(const struct xdd_bits *bits, u32 i)
{
	u32 shift;
	u64 *word = xdd_bits_word(bits, i, &shift);

	return *(volatile const u64 *)word >> shift & 1;
}

/* Without a branch on each: then all are read at once, where memory is slow. */
XDD_INLINE bool xdd_bits_all_set(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *bits)
{
	u64 all = 1;

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		u32 shift;
		u64 *word;

		if (i >= fixed->hashes)
			break;
		word = xdd_bits_word(bits, i, &shift);
		all &= *(volatile const u64 *)word >> shift;
	}
	return all;
}

/* Whether others may write to a word at the same time. */
XDD_INLINE bool xdd_bits_contended(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->placement != XDD_PLACEMENT_percpu && !xdd_bits_in_line(fixed);
}

/* Set bit @i. Returns 1 if it was 0. */
XDD_INLINE u32 xdd_bits_set(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *bits, u32 i)
{
	u32 shift;
	u64 *word = xdd_bits_word(bits, i, &shift), old;

	if (xdd_bits_contended(fixed)) {
		old = xdd_fetch_or64(word, 1ULL << shift);
	} else {
		old = *word;
		*word = old | 1ULL << shift;
	}
	return ~old >> shift & 1;
}

/* @word turned left by @by, 0..63; xdd_rotl64() takes constants above 0. */
XDD_INLINE u64 xdd_bits_turn(u64 word, u32 by)
{
	return word << by | word >> (-by & 63);
}

/* Clear the bits @mask of @word. Returns the word that was. */
XDD_INLINE u64 xdd_bits_clear_mask(XDD_FIXED struct xdd_fixed *fixed, u64 *word, u64 mask)
{
	u64 old;

	if (xdd_bits_contended(fixed))
		return xdd_fetch_and64(word, ~mask);
	old = *word;
	*word = old & ~mask;
	return old;
}

/* Clear bit @i. Returns 1 if it was 1. */
XDD_INLINE u32 xdd_bits_clear(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *bits, u32 i)
{
	u32 shift;
	u64 *word = xdd_bits_word(bits, i, &shift);

	return xdd_bits_clear_mask(fixed, word, 1ULL << shift) >> shift & 1;
}

/* What picks the lock: of the key, or in line its line. */
XDD_INLINE u32 xdd_bits_stripe(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest)
{
	u32 rest;

	if (!xdd_bits_in_line(fixed))
		return digest->lo;
	return xdd_range(digest->lo >> 32, fixed->blocks, &rest);
}

/*
 * Take the lock, *@lock, where CPUs share the filter: all lines are found by then, since no helper
 * can be called under it. Returns false where there is none.
 */
XDD_INLINE bool xdd_bits_lock(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_question *question, struct xdd_lock **lock)
{
	*lock = NULL;
	if (fixed->placement != XDD_PLACEMENT_shared)
		return true;
	*lock = xdd_lock_at(store, xdd_bits_stripe(fixed, &question->identity->digest));
	if (!*lock)
		return false;
	xdd_lock(*lock);
	return true;
}

XDD_INLINE void xdd_bits_unlock(struct xdd_lock *lock)
{
	if (lock)
		xdd_unlock(lock);
}

#endif

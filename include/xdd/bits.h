/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the bit engines share (bera-2012): lines of 512 bits, in one array or in k filters of as
 * many whole lines each; positions, tests, and writes whose effect is known exactly.
 *
 * Where CPUs share a filter, a key is tested and inserted under the lock that its digest picks,
 * so of two copies at once one is the first. Other keys' bits lie in the same words: every write
 * is one atomic operation there, which returns the word as it was. So the loads that rlbsbf adds
 * up atomically are the number of bits that are set, whatever the order of the writes.
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

/* Lines of each of the k filters; up to k - 1 at the end are not used. */
XDD_INLINE u32 xdd_bits_filter_lines(XDD_FIXED struct xdd_fixed *fixed)
{
	u32 lines = xdd_lines(fixed);

	/* The usual k without a division: in BPF it would be one at run time. */
	return fixed->hashes == 2 ? lines / 2 : lines / fixed->hashes;
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

/* The key's k bits, anywhere in one array. */
XDD_INLINE bool xdd_bits_own_anywhere(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				      const struct xdd_digest *digest, struct xdd_bits *own)
{
	return xdd_bits_locate(fixed, store, digest->lo, fixed->hashes, xdd_lines(fixed), 0, own);
}

/* The key's bit in each of k filters. */
XDD_INLINE bool xdd_bits_own(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, struct xdd_bits *own)
{
	u32 lines = xdd_bits_filter_lines(fixed);

	return xdd_bits_locate(fixed, store, digest->lo, fixed->hashes, lines, lines, own);
}

/* A random bit in each of k filters. */
XDD_INLINE bool xdd_bits_random(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_question *question, struct xdd_bits *random)
{
	u32 lines = xdd_bits_filter_lines(fixed);

	return xdd_bits_locate(fixed, store, question->random, fixed->hashes, lines, lines, random);
}

/* The word that bit @i lies in, and its place there. Opaque: the bound is computed here. */
XDD_INLINE u64 *xdd_bits_word(const struct xdd_bits *bits, u32 i, u32 *shift)
{
	u32 at = bits->at[i];

	xdd_opaque(at);
	*shift = at % 64;
	return &bits->line[i]->word[at / 64 % XDD_LINE_WORDS];
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

/* Set bit @i. Returns 1 if it was 0. */
XDD_INLINE u32 xdd_bits_set(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *bits, u32 i)
{
	u32 shift;
	u64 *word = xdd_bits_word(bits, i, &shift), old;

	if (fixed->placement == XDD_PLACEMENT_shared) {
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

	if (fixed->placement == XDD_PLACEMENT_shared)
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

/*
 * Take the lock of the key, *@lock, where CPUs share the filter: all lines are found by then, since
 * no helper can be called under it. Returns false where there is none.
 */
XDD_INLINE bool xdd_bits_lock(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_question *question, struct xdd_lock **lock)
{
	*lock = NULL;
	if (fixed->placement != XDD_PLACEMENT_shared)
		return true;
	*lock = xdd_lock_at(store, question->identity->digest.lo);
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

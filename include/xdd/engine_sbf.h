/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `sbf`: the stable Bloom filter of Deng and Rafiei (2006), one array of cells of 1, 2, 4 or
 * 8 bits: each event counts P adjacent cells at a random place down by one, those that are 0 stay
 * 0, whatever the verdict, and then sets its K to MAX. With MAX 1 it is what bera-2012 measures.
 * The P cells lie in one word, the first following its last: each cell is met as often.
 *
 * Where CPUs share the filter, words are written by compare-and-swap. An event that loses to
 * others' writes XDD_SBF_TRIES times in a row leaves its P cells as they are, and sets all bits of
 * its own cell: both keep keys for longer, and no key is lost. With MAX 2^bits - 1 setting, and
 * with MAX 1 counting down too, is one atomic operation that cannot lose.
 */
#ifndef XDD_ENGINE_SBF_H
#define XDD_ENGINE_SBF_H

#include "bits.h"

#define XDD_SBF_TRIES 4

/* The word that cell @i lies in, and its lowest bit there. */
XDD_INLINE u64 *xdd_sbf_word(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *bits, u32 i,
			     u32 *shift)
{
	u64 *word = xdd_bits_word(bits, i, shift);

	*shift &= -(u32)fixed->sbf_bits;
	return word;
}

/* The bits of the lowest cell of a word. */
XDD_INLINE u64 xdd_sbf_cell(XDD_FIXED struct xdd_fixed *fixed)
{
	return (1ULL << fixed->sbf_bits) - 1;
}

XDD_INLINE bool xdd_sbf_all_set(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *own)
{
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++) {
		u32 shift;
		u64 *word = xdd_sbf_word(fixed, own, i, &shift);

		if (!(*(volatile const u64 *)word >> shift & xdd_sbf_cell(fixed)))
			return false;
	}
	return true;
}

/* 1 in each cell of @word, of @bits bits, that is not 0. */
XDD_INLINE u64 xdd_sbf_used(u64 word, u32 bits)
{
	if (bits > 1)
		word = (word | word >> 1) & 0x5555555555555555;
	if (bits > 2)
		word = (word | word >> 2) & 0x1111111111111111;
	if (bits > 4)
		word = (word | word >> 4) & 0x0101010101010101;
	return word;
}

/* Count P cells down, from cell 0 of @random on. */
XDD_INLINE void xdd_sbf_count_down(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *random)
{
	u32 bits = fixed->sbf_bits, shift;
	u64 *word = xdd_sbf_word(fixed, random, 0, &shift), run, old;

	run = xdd_bits_turn(~0ULL >> (64 - fixed->reset_bits * bits), shift);
	if (bits == 1) {
		xdd_bits_clear_mask(fixed, word, run);
		return;
	}
	old = *(volatile u64 *)word;
	if (fixed->placement != XDD_PLACEMENT_shared) {
		*word = old - (xdd_sbf_used(old, bits) & run);
		return;
	}
	for (u32 n = 0; n < XDD_SBF_TRIES; n++) {
		u64 found = xdd_cas64(word, old, old - (xdd_sbf_used(old, bits) & run));

		if (found == old)
			break;
		old = found;
	}
}

/* Set cell @i to MAX. */
XDD_INLINE void xdd_sbf_set(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *own, u32 i)
{
	u32 shift;
	u64 *word = xdd_sbf_word(fixed, own, i, &shift), old = *(volatile u64 *)word;
	u64 cell = xdd_sbf_cell(fixed) << shift, max = (u64)fixed->sbf_max << shift;

	if (fixed->placement != XDD_PLACEMENT_shared) {
		*word = (old & ~cell) | max;
		return;
	}
	for (u32 n = 0; n < XDD_SBF_TRIES && max != cell; n++) {
		u64 found = xdd_cas64(word, old, (old & ~cell) | max);

		if (found == old)
			return;
		old = found;
	}
	xdd_fetch_or64(word, cell);
}

XDD_INLINE u32 xdd_sbf_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			   struct xdd_question *question)
{
	const struct xdd_bits *own = question->own;
	struct xdd_bits random;
	struct xdd_lock *lock;
	u32 found;

	if (!xdd_bits_locate(fixed, store, question->random, 1, xdd_lines(fixed), 0, &random) ||
	    !xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	found = xdd_sbf_all_set(fixed, own) ? XDD_SEEN : 0;
	xdd_sbf_count_down(fixed, &random);
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++)
		xdd_sbf_set(fixed, own, i);
	xdd_bits_unlock(lock);
	return found;
}

#endif

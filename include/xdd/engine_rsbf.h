/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `rsbf`: k filters of s bits, in two variants.
 *
 * published   what the tables of bera-2012 show: each event, whatever the verdict, resets a
 *             random bit in each filter, then sets its own.
 * algorithm1  bera-2012 section 3: the first s events are inserted. Event i after them, if its
 *             key is new, with probability s / i: a random bit is reset in each filter and its
 *             own are set. Once s / i is at most p*, each new key's bits that are 0 are set, and
 *             for each a bit that is 1 is reset in its filter.
 */
#ifndef XDD_ENGINE_RSBF_H
#define XDD_ENGINE_RSBF_H

#include "bits.h"

/* Clear a bit that is 1 in the line of position @i: the first from there on in its word, or in the
 * next one that has any. A line without does without.
 */
XDD_INLINE void xdd_rsbf_clear_one(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *random,
				   u32 i)
{
	u32 at = random->at[i], shift;

	xdd_opaque(at);
	shift = at % 64;
	for (u32 n = 0; n < XDD_LINE_WORDS; n++) {
		u64 *word = &random->line[i]->word[(at / 64 + n) % XDD_LINE_WORDS];
		u64 turned = xdd_bits_turn(*(volatile u64 *)word, -shift & 63);

		if (!turned)
			continue;
		xdd_bits_clear_mask(fixed, word, xdd_bits_turn(turned & -turned, shift));
		return;
	}
}

/* Insert a key by algorithm 1 as event number @event, from 1. */
XDD_INLINE void xdd_rsbf_sample(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *own,
				const struct xdd_bits *random, u64 event, u64 seed)
{
	u64 bits = (u64)xdd_bits_filter_lines(fixed) * XDD_LINE_BITS;
	u64 draw = xdd_bits_draw(~seed, 0) >> 42;

	if (event > bits && event < fixed->reservoir_events && draw * event >> 22 >= bits)
		return;
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++) {
		if (event > bits && event < fixed->reservoir_events)
			xdd_bits_clear(fixed, random, i);
		if (xdd_bits_set(fixed, own, i) && event > bits && event >= fixed->reservoir_events)
			xdd_rsbf_clear_one(fixed, random, i);
	}
}

/* Count an event. Returns its number, from 1. */
XDD_INLINE u64 xdd_rsbf_event(XDD_FIXED struct xdd_fixed *fixed, struct xdd_loads *loads)
{
	if (fixed->placement == XDD_PLACEMENT_shared)
		return xdd_fetch_add64(&loads->events, 1) + 1;
	return ++loads->events;
}

XDD_INLINE u32 xdd_rsbf_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			    struct xdd_question *question)
{
	bool published = fixed->variant == XDD_VARIANT_published, seen;
	const struct xdd_bits *own = question->own;
	struct xdd_bits random;
	struct xdd_loads *loads;
	struct xdd_lock *lock;
	u64 event;

	loads = xdd_loads_at(store);
	if (!loads || !xdd_bits_random(fixed, store, question, &random) ||
	    !xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	seen = xdd_bits_all_set(fixed, own);
	event = published ? 0 : xdd_rsbf_event(fixed, loads);
	if (!published && !seen)
		xdd_rsbf_sample(fixed, own, &random, event, question->random);
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes && published; i++) {
		xdd_bits_clear(fixed, &random, i);
		xdd_bits_set(fixed, own, i);
	}
	xdd_bits_unlock(lock);
	return seen ? XDD_SEEN : 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `rsbf`: k filters of s bits, in two variants.
 *
 * Both insert event i with probability s / i: all of the first s, and all again once s / i is at
 * most p*.
 *
 * published   what the tables of bera-2012 show: whatever the verdict, the event resets a random
 *             bit in each filter, then sets its own.
 * algorithm1  bera-2012 section 3: only new keys. The first s events set their bits. Later ones
 *             also reset a random bit in each filter; at p* they set those that are 0, and for
 *             each a bit that is 1 is reset in its filter.
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

/* Whether event @event, from 1, is one of those that are inserted. @bits: s. */
XDD_INLINE bool xdd_rsbf_drawn(XDD_FIXED struct xdd_fixed *fixed, u64 event, u64 bits, u64 seed)
{
	u64 draw = xdd_bits_draw(~seed, 0) >> 42;

	return event <= bits || event >= fixed->reservoir_events || draw * event >> 22 < bits;
}

/* Insert a key by algorithm 1 as event number @event. */
XDD_INLINE void xdd_rsbf_sample(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *own,
				const struct xdd_bits *random, u64 event, u64 bits)
{
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++) {
		if (event > bits && event < fixed->reservoir_events)
			xdd_bits_clear(fixed, random, i);
		if (xdd_bits_set(fixed, own, i) && event > bits && event >= fixed->reservoir_events)
			xdd_rsbf_clear_one(fixed, random, i);
	}
}

/* Insert a key as the tables have it. */
XDD_INLINE void xdd_rsbf_replace(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_bits *own,
				 const struct xdd_bits *random)
{
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++) {
		xdd_bits_clear(fixed, random, i);
		xdd_bits_set(fixed, own, i);
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
	u64 bits = xdd_bits_filter(fixed), event;
	const struct xdd_bits *own = question->own;
	struct xdd_bits random;
	struct xdd_loads *loads;
	struct xdd_lock *lock;
	bool seen, drawn;

	loads = xdd_loads_at(store);
	if (!loads || !xdd_bits_random(fixed, store, question, &random) ||
	    !xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	seen = xdd_bits_all_set(fixed, own);
	event = xdd_rsbf_event(fixed, loads);
	drawn = xdd_rsbf_drawn(fixed, event, bits, question->random);
	if (drawn && fixed->variant == XDD_VARIANT_published)
		xdd_rsbf_replace(fixed, own, &random);
	else if (drawn && !seen)
		xdd_rsbf_sample(fixed, own, &random, event, bits);
	xdd_bits_unlock(lock);
	return seen ? XDD_SEEN : 0;
}

#endif

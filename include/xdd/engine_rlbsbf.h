/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `rlbsbf` (bera-2012 section 5): k filters of s bits. A new key, in each filter, resets a
 * random bit with probability load / s, load being the number of bits set there, then sets its own.
 */
#ifndef XDD_ENGINE_RLBSBF_H
#define XDD_ENGINE_RLBSBF_H

#include "bits.h"

/* A new key with random number @seed resets a bit of filter @i, which has @bits, if more bits than
 * this are set there.
 */
XDD_INLINE u64 xdd_rlbsbf_mark(u64 bits, u64 seed, u32 i)
{
	return (xdd_bits_draw(~seed, i) >> 32) * bits >> 32;
}

XDD_INLINE bool xdd_rlbsbf_resets(const struct xdd_loads *loads, u64 bits, u64 seed, u32 i)
{
	return xdd_rlbsbf_mark(bits, seed, i) < *(volatile const u64 *)&loads->ones[i];
}

XDD_INLINE void xdd_rlbsbf_insert(XDD_FIXED struct xdd_fixed *fixed, struct xdd_loads *loads,
				  const struct xdd_bits *own, const struct xdd_bits *random,
				  u64 seed)
{
	u64 bits = xdd_bits_filter(fixed);

	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++) {
		u64 change = 0;

		if (xdd_rlbsbf_resets(loads, bits, seed, i))
			change -= xdd_bits_clear(fixed, random, i);
		change += xdd_bits_set(fixed, own, i);
		if (fixed->placement == XDD_PLACEMENT_shared)
			xdd_fetch_add64(&loads->ones[i], change);
		else
			loads->ones[i] += change;
	}
}

XDD_INLINE u32 xdd_rlbsbf_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      struct xdd_question *question)
{
	const struct xdd_bits *own = question->own;
	struct xdd_bits random;
	struct xdd_loads *loads;
	struct xdd_lock *lock;
	bool seen;

	if (xdd_bits_all_set(fixed, own))
		return XDD_SEEN;
	loads = xdd_loads_at(store);
	if (!loads || !xdd_bits_random(fixed, store, question, &random) ||
	    !xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	seen = xdd_bits_all_set(fixed, own);
	if (!seen)
		xdd_rlbsbf_insert(fixed, loads, own, &random, question->random);
	xdd_bits_unlock(lock);
	return seen ? XDD_SEEN : 0;
}

#endif

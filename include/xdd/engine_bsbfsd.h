/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `bsbfsd` (bera-2012 section 4): k filters. A new key resets a random bit in one of them,
 * picked at random, then sets its own in each.
 */
#ifndef XDD_ENGINE_BSBFSD_H
#define XDD_ENGINE_BSBFSD_H

#include "bits.h"

XDD_INLINE u32 xdd_bsbfsd_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      struct xdd_question *question)
{
	const struct xdd_bits *own = question->own;
	struct xdd_bits random;
	struct xdd_lock *lock;
	bool seen;

	if (xdd_bits_all_set(fixed, own))
		return XDD_SEEN;
	if (!xdd_bits_random_one(fixed, store, question, &random) ||
	    !xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	seen = xdd_bits_all_set(fixed, own);
	if (!seen)
		xdd_bits_clear(fixed, &random, 0);
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes && !seen; i++)
		xdd_bits_set(fixed, own, i);
	xdd_bits_unlock(lock);
	return seen ? XDD_SEEN : 0;
}

#endif

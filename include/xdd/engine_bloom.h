/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `bloom`: k bits per key, where slices.h puts them, set when a key is new and never
 * cleared. No copy is ever missed; the rate of false positives goes to 1 with the number of keys.
 */
#ifndef XDD_ENGINE_BLOOM_H
#define XDD_ENGINE_BLOOM_H

#include "slices.h"

XDD_INLINE u32 xdd_bloom_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     struct xdd_question *question)
{
	const struct xdd_bits *own = question->own;
	struct xdd_lock *lock;
	u32 fresh = 0;

	if (xdd_bits_all_set(fixed, own))
		return XDD_SEEN;
	if (!xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++)
		fresh |= xdd_bits_set(fixed, own, i);
	xdd_bits_unlock(lock);
	return fresh ? 0 : XDD_SEEN;
}

#endif

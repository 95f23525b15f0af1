/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `bloom`: k bits per key, where slices.h puts them, set when a key is new and never
 * cleared. No copy is ever missed; the rate of false positives goes to 1 with the number of keys.
 */
#ifndef XDD_ENGINE_BLOOM_H
#define XDD_ENGINE_BLOOM_H

#include "faults.h"

/* While slices are not ok, under the lock from the start. */
XDD_INLINE u32 xdd_bloom_ask_known(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				   struct xdd_question *question, const struct xdd_unknown *unknown)
{
	const struct xdd_bits *own = question->own;
	struct xdd_lock *lock;
	u32 set = 0, found;

	if (!xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++)
		set += xdd_bits_get(own, i) & xdd_known(unknown, i);
	found = xdd_unknown_answer(unknown, fixed->hashes, set);
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++)
		if (!(found & XDD_SEEN) && xdd_writable(unknown, i))
			xdd_bits_set(fixed, own, i);
	xdd_bits_unlock(lock);
	return found;
}

XDD_INLINE u32 xdd_bloom_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     struct xdd_question *question)
{
	const struct xdd_bits *own = question->own;
	struct xdd_unknown unknown;
	struct xdd_lock *lock;
	u32 fresh = 0;

	if (!xdd_unknown_of(fixed, store, question, &unknown))
		return XDD_MISSING;
	if (question->doubted)
		return xdd_bloom_ask_known(fixed, store, question, &unknown);
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `sbf`: the stable Bloom filter as bera-2012 measures it, cells of one bit in one array:
 * each event clears P adjacent cells at a random place, whatever the verdict, then sets its K.
 * The P cells lie in one word, the first following its last: each cell is cleared as often.
 */
#ifndef XDD_ENGINE_SBF_H
#define XDD_ENGINE_SBF_H

#include "bits.h"

XDD_INLINE u32 xdd_sbf_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			   struct xdd_question *question)
{
	struct xdd_bits own, random;
	struct xdd_lock *lock;
	u32 found;

	if (!xdd_bits_own_anywhere(fixed, store, question, &own) ||
	    !xdd_bits_locate(fixed, store, question->random, 1, xdd_bits_lines(fixed), 0,
			     &random) ||
	    !xdd_bits_lock(fixed, store, question, &lock))
		return XDD_MISSING;
	found = xdd_bits_all_set(fixed, &own) ? XDD_SEEN : 0;
	xdd_bits_clear_run(fixed, &random, 0, fixed->reset_bits);
	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++)
		xdd_bits_set(fixed, &own, i);
	xdd_bits_unlock(lock);
	return found;
}

#endif

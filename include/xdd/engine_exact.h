/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `exact`: the time of each key, by its whole 128-bit digest (or, on a NIC, the whole
 * flow key). Duplicate if the time apart, in either direction, is within the window.
 */
#ifndef XDD_ENGINE_EXACT_H
#define XDD_ENGINE_EXACT_H

#include "store.h"

XDD_INLINE u32 xdd_exact_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     struct xdd_question *question)
{
	u64 now = question->now_ns, last, apart;
	struct xdd_seen *seen;
	bool fresh = false;

	seen = xdd_exact_at(store, question->identity, now, &fresh);
	if (!seen)
		return XDD_MISSING;
	if (fresh)
		return 0;
	last = *(volatile u64 *)&seen->time_ns;
	apart = now > last ? now - last : last - now;
	if (apart <= question->window_ns) {
		if (fixed->refresh)
			*(volatile u64 *)&seen->time_ns = now;
		return XDD_SEEN;
	}
	/* Of two CPUs that see two copies at once, the one whose time stays is the first. */
	if (xdd_cas64(&seen->time_ns, last, now) != last)
		return XDD_SEEN;
	*(volatile u64 *)&seen->suppressed = 0;
	return 0;
}

#endif

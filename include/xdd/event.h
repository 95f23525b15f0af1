/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Verdicts shown one by one: which are wanted, how many a second, and what is recorded of each.
 * They leave by the ring buffer `events`; see maps/events.h.
 */
#ifndef XDD_EVENT_H
#define XDD_EVENT_H

#include "counters.h"

#define XDD_EVENT_BYTES 2048 /* of a frame, at most; a power of two */
#define XDD_EVENT_TRIES 4
#define XDD_SECOND_NS 1000000000ull

/* Verdicts as events name them: the reasons for bypassing (enum xdd_bypass), then these. */
enum xdd_event_kind {
	XDD_EVENT_distinct = XDD_BYPASS_MAX,
	XDD_EVENT_duplicate,
	XDD_EVENT_MAX,
};

/* Beside bits of kinds: no duplicates on which no action is taken (repeat.h). */
#define XDD_EVENT_ACTED_ON (1u << XDD_EVENT_MAX)
#define XDD_EVENT_BYPASSED ((1u << XDD_BYPASS_MAX) - 1)
#define XDD_EVENT_ALL ((1u << XDD_EVENT_MAX) - 1)

/* A record of the ring buffer: this, and the first @cap_len bytes of the frame as it came in. */
struct xdd_event {
	u64 time_ns;   /* of the filter's clock */
	u64 window_ns; /* as it was set then */
	u64 key;       /* half of the key's digest; 0 where there is none */
	u32 ifindex;
	u32 wire_len;
	u32 cap_len; /* 1..XDD_EVENT_BYTES, at most wire_len */
	u8 kind;     /* enum xdd_event_kind */
	u8 action;   /* enum xdd_dup_action: of duplicates; xdd_watch_action, where kind is watch */
	u8 kept;     /* 1: a duplicate on which no action is taken (repeat.h) */
	u8 peer;     /* that had seen it: its number + 1; 0: none had */
};

/*
 * May one more event of this second leave, of at most @rate? @budget holds the second in its upper
 * half and in its lower how many have left; all CPUs share it, so @rate is exact. A CPU whose
 * clock is behind counts in the second that is there. A CPU that loses XDD_EVENT_TRIES times to
 * others sends nothing.
 */
XDD_INLINE bool xdd_event_take(u64 *budget, u64 now_ns, u32 rate)
{
	u32 second = now_ns / XDD_SECOND_NS;
	u64 old, new;

	for (u32 i = 0; i < XDD_EVENT_TRIES; i++) {
		old = *(volatile u64 *)budget;
		new = old + 1;
		if ((s32)(second - (u32)(old >> 32)) > 0)
			new = (u64)second << 32 | 1;
		if ((u32) new > rate)
			return false;
		if (xdd_cas64(budget, old, new) == old)
			return true;
	}
	return false;
}

XDD_ASSERT(sizeof(struct xdd_event) == 40, "xdd_event has no holes");

#endif

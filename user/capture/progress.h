/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A progress bar on stderr, for captures that take a while.
 */
#ifndef USER_CAPTURE_PROGRESS_H
#define USER_CAPTURE_PROGRESS_H

#include "set.h"

struct progress {
	bool shown;
	u32 calls;
	u64 started_ns, next_ns;
};

void progress_start(struct progress *p, bool shown);

/* To be called for every frame: draws a few times a second. */
void progress_draw(struct progress *p, const struct capture_set *set);

static inline void progress_step(struct progress *p, const struct capture_set *set)
{
	if (p->shown && !(++p->calls & 0x3ff))
		progress_draw(p, set);
}

/* Remove the bar. */
void progress_end(struct progress *p);

/* Seconds since progress_start(). */
double progress_seconds(const struct progress *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time of a clock, in nanoseconds. */
#ifndef USER_CLOCK_H
#define USER_CLOCK_H

#include <time.h>

#include <xdd/types.h>

#define MILLISECOND_NS 1000000ull

static inline u64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Of CLOCK_MONOTONIC. */
static inline u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The earlier of two times. */
static inline u64 earliest(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* How long to rest after work that took @ns, so that it takes at most about a tenth of a CPU. */
static inline u64 rest_of(u64 ns)
{
	return ns * 10;
}

#endif

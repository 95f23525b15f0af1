/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Verdicts over the time of a capture, in a bounded number of bins. */
#ifndef USER_TIMELINE_H
#define USER_TIMELINE_H

#include <jansson.h>

#include <xdd/types.h>

#define TIMELINE_BINS 64

/* X(name): how a packet is counted. */
#define TIMELINE_COUNTS(X) X(distinct) X(duplicate) X(bypassed)

#define TIMELINE_ENUM(name) TIMELINE_##name,
enum timeline_count { TIMELINE_COUNTS(TIMELINE_ENUM) TIMELINE_MAX };

struct timeline {
	u64 start_ns; /* of the first packet */
	u64 bin_ns;   /* 0: nothing was added */
	u32 used;     /* bins */
	u64 count[TIMELINE_MAX][TIMELINE_BINS];
};

/* Count a packet of @time_ns (since 1970); one from before the first counts with that. Bins become
 * twice as wide when they do not suffice.
 */
void timeline_add(struct timeline *timeline, u64 time_ns, enum timeline_count count);

/* {"bin_seconds", and the counts by name, an array each}; null if nothing was added. */
json_t *timeline_json(const struct timeline *timeline);

#endif

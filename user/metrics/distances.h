/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long after the first packet copies came, of the keys in the audit's sample. */
#ifndef USER_METRICS_DISTANCES_H
#define USER_METRICS_DISTANCES_H

#include <jansson.h>

#include <xdd/distance.h>

#include "user/units.h"

struct instance;

struct distances {
	bool known; /* there is an audit, and the engine has a window */
	u64 copies; /* in all buckets */
	struct xdd_distances counts;
};

/* Read map `distances` of @in, added up over the CPUs. Returns 0 or a negative errno. */
int distances_read(const struct instance *in, struct distances *distances);

/* Complete @distances, whose counts are known. */
void distances_sum(struct distances *distances);

/* The end of bucket @bucket, inclusive, in nanoseconds; ~0 of the last one, which has none. */
u64 distances_end_ns(u32 bucket);

/*
 * The end of buckets @first to @last: "2.048 ms", or "any time" of the last one that there is; or @never_ns,
 * beyond which no copy is found, if it is within them. (Copies beyond that are from before it was set.)
 * Returns @text.
 */
const char *distances_end_text(u32 first, u32 last, u64 never_ns, char text[UNITS_TEXT_MAX]);

/* The bucket within which @share of the copies came, above 0 and at most 1. There are copies. */
u32 distances_quantile(const struct distances *distances, double share);

/* `copy_distance` of status --json: null where it is not known. */
json_t *distances_json(const struct distances *distances);

#endif

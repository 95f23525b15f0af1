/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines asked about digests, without packets: include once in a file that tests one. */
#ifndef TESTS_ASK_H
#define TESTS_ASK_H

#include "tests/common/config.h"
#include "user/accessors.h"

static inline void ask_open(struct xdd_store *store, const struct xdd_fixed *fixed)
{
	struct xdd_live live = config_live();

	assert_int_equal(store_open(store, fixed, &live, 64 << 20), 0);
}

/* Returns enum xdd_found bits for @digest at @tick, or at @now_ns for the exact engine. */
static inline u32 ask_at_ns(struct xdd_store *store, struct xdd_digest digest, u64 now_ns)
{
	struct xdd_identity identity = { .digest = digest };
	struct xdd_verdict verdict;

	verdict = xdd_judge(&store->fixed, &store->live, store, &identity, now_ns,
			    store_random(store));
	assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
	return verdict.found;
}

static inline u32 ask_at(struct xdd_store *store, u64 low, u64 tick)
{
	struct xdd_digest digest = { low, 0 };

	return ask_at_ns(store, digest, tick * store->fixed.tick_ns);
}

/* Steps of time that stay, go on, skip a window, a horizon, and many of them. */
static inline u64 ask_step(u64 *seed)
{
	u32 pick = random_below(seed, 1000);

	if (pick < 700)
		return 0;
	if (pick < 960)
		return random_below(seed, 4);
	if (pick < 990)
		return random_below(seed, 140);
	return random_below(seed, 600);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The chains of an instance that grows, mapped: what the ager decides about them, and status reads. */
#ifndef USER_AGE_GROWTH_H
#define USER_AGE_GROWTH_H

#include "user/chain.h"

struct instance;

struct growth {
	const struct xdd_fixed *fixed;
	struct xdd_chain *chains; /* of site 0, 1, ...; NULL: the filter does not grow */
	u32 number;		  /* of chains, on all sites */
};

/* Map the chains of @instance, which must stay open. Returns 0, also where it does not grow, or a
 * negative errno.
 */
int growth_open(struct growth *growth, const struct instance *instance, bool write);
void growth_close(struct growth *growth);

/* A walk over @site, which began at @start_ns (CLOCK_MONOTONIC), is done: retire, then open. */
void growth_walked(struct growth *growth, u32 site, u64 start_ns);

/* Open filters by the keys that were inserted, which needs no walk: between the walks. */
void growth_counted(struct growth *growth);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sites in the producers' process, for simulations and tests: messages are the same bytes as between hosts. */
#ifndef USER_SITES_LOCAL_H
#define USER_SITES_LOCAL_H

#include "user/sites/producer.h"

struct local {
	u32 n;
	struct site *sites;
	bool *down; /* does not answer */
	u8 *question, *answer;
	u64 now_ns;
};

/* @n sites (1 to the slices) of a filter, with numbers from 1 on, that talk under @key. Returns 0 or -ENOMEM; local_close() frees in either case. */
int local_open(struct local *l, const struct xdd_fixed *fixed, u32 window_ticks, u32 n,
	       const struct wire_key *key);
void local_close(struct local *l);

/* Carry the message that @p has for @site, if it has one, and the answer. Returns whether it had. */
bool local_carry(struct local *l, struct producer *p, u32 site);

/* Carry them until the only producer, @p, is done. */
void local_finish(struct local *l, struct producer *p);

/* Site @site has failed, which nobody is told; and it comes back, empty. Returns 0 or -ENOMEM. */
void local_fail(struct local *l, u32 site);
int local_recover(struct local *l, u32 site);

#endif

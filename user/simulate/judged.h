/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of a simulation for filters on several sites, and beside them one filter on one machine, and the truth. */
#ifndef USER_SIMULATE_JUDGED_H
#define USER_SIMULATE_JUDGED_H

#include "user/simulate/simulate.h"
#include "user/store.h"
#include "user/stream.h"

struct record {
	u64 number; /* from 0 */
	u64 id, at_ns, tick;
	struct xdd_digest digest;
};

struct judged {
	const struct simulation *sim;
	struct xdd_store store; /* the one filter */
	struct stream stream;
	struct truth truth;
	u64 drawn, asked;
	u64 distinct, fp, fn, differences;
};

/* Records of @sim's stream, made with @seed; one filter of @fixed. Returns 0 or a negative errno; judged_close() frees in
 * either case.
 */
int judged_open(struct judged *j, const struct simulation *sim, const struct xdd_fixed *fixed,
		u64 seed);
void judged_close(struct judged *j);

/* The next of sim->records records. */
struct record judged_draw(struct judged *j);

/* What the filter on sites said of @record, in the order in which it was asked. */
void judged_take(struct judged *j, const struct record *record, bool seen);

/* Shares: of the records that are distinct, of those that were taken for copies, and of the copies that were not. */
struct judged_rates {
	double distinct, fpr, fnr;
};
struct judged_rates judged_rates(const struct judged *j);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an instance publishes of itself: a Bloom filter of the entries that are live in it now
 * (xdd/replica.h).
 */
#ifndef USER_CLUSTER_OCCUPANCY_H
#define USER_CLUSTER_OCCUPANCY_H

#include <stdbool.h>

#include "user/loader/instance.h"
#include "xdd/replica.h"

struct occupancy {
	u64 keys;	 /* live; engines timer and bloom: estimated from the share of ones */
	u64 unpublished; /* of these, not in what was sent last; likewise */
	u64 ones;	 /* bits that are set */
	u32 hashes;	 /* bits of a key: xdd_fixed.replica_hashes */
};

/*
 * Read the filter of @in as it is now into @bits, 2^@shift of them (@shift XDD_REPLICA_SHIFT_MIN to
 * in->fixed.replica_shift; bit i is 1 << i % 64 of word i / 64; what was there is overwritten). @sent:
 * the filter of the same size that was sent last, or NULL if none was, to count what is not in it.
 *
 * Returns 0, -EOPNOTSUPP where occupancy_can() says no, -ENOMEM, or what reading the maps returned.
 */
int occupancy_read(const struct instance *in, u32 shift, const u64 *sent, u64 *bits,
		   struct occupancy *about);

/*
 * A number that two instances share if their replicas mean the same, and otherwise with a chance of 2^-64:
 * a hash of engine, key, geometry and secret, under the secret. *@fingerprint is left alone on failure.
 * Returns 0 or a negative errno.
 */
int occupancy_fingerprint(const struct instance *in, u64 *fingerprint);

/* Whether an instance so configured can publish its filter, and ask those of others. */
bool occupancy_can(const struct xdd_fixed *fixed);

#endif

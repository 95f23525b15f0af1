/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the copy of a Bloom filter on another host errs while it is stale (zhu-jiang-2006). Of
 * a filter at home and its replica: @fill is the share of ones at home, @delta1 that of the bits
 * that are one at home and not yet in the replica, @delta0 the reverse, all of them 0 to 1; @k is
 * the number of hash functions.
 */
#ifndef USER_MODEL_REPLICA_H
#define USER_MODEL_REPLICA_H

#include <xdd/types.h>

/* Share of ones of a filter of @cells bits that holds @keys (eq. 2): P(n) = 1 - e^(-kn/m). */
double model_fill(double keys, double cells, u32 k);

/* The keys in a filter of @cells bits that has this share of ones: the inverse. */
double model_fill_keys(double fill, double cells, u32 k);

/* A replica's share of ones (eq. 9). */
double model_replica_fill(double fill, double delta1, double delta0);

/* That the filter at home says yes to any key, and the replica no (theorem 3). */
double model_replica_fnr(double fill, double delta1, u32 k);

/* That the replica says yes to a key which nobody has (theorem 4). */
double model_replica_fpr(double fill, double delta1, double delta0, u32 k);

/* That the replica says no to one of the @keys keys which home has, of which @unpublished came after
 * the last update. Theorem 3 asks of any key, and is far below it: most that are missed are members.
 */
double model_replica_member_fnr(double unpublished, double keys, double replica_fill, u32 k);

/* Of a host that asks its own filter, which errs at @own_fpr, and @replicas replicas, which err at
 * @fpr and @fnr each: that the look-up of a key which nobody has goes wrong (eq. 14 to 16).
 */
double model_host_fpr(double own_fpr, double fpr, u32 replicas);
double model_host_fnr(double fnr, u32 replicas);
double model_host_rate(double host_fpr, double host_fnr);

#endif

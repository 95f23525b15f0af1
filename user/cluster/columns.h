/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The replicas of an instance, written from user space: the mapped array in which a bit of every peer
 * lies at each place (xdd/replica.h), and who of them is believed. A filter is an array of words, bit i
 * of it being 1 << i % 64 of word i / 64.
 *
 * One process writes at a time: whoever ages the instance (instance_lock_ageing()). The XDP program may
 * read at any moment: while a column is written it holds some bits of before and some of after.
 */
#ifndef USER_CLUSTER_COLUMNS_H
#define USER_CLUSTER_COLUMNS_H

#include <stddef.h>

#include "user/loader/instance.h"
#include "xdd/replica.h"

struct columns {
	u64 *words; /* map `replicas` */
	struct xdd_peer_gate *gate;
	int peers; /* map `peers` */
	u32 width; /* peers that there is room for: 8, 16, 32 or 64 */
	u32 shift; /* 2^this places */
};

/*
 * Map the replicas of @in, which may be closed afterwards but for in->maps.peers. Returns 0; or with one
 * line in @err -ENOENT: it was loaded without --peers, or a negative errno.
 */
int columns_open(struct columns *c, const struct instance *in, char *err, size_t err_size);

/* All peers stay believed as they are: call columns_believe(c, 0, 0) first to end that. */
void columns_close(struct columns *c);

/* The same over memory of the caller's, for tests: @words of 2^@shift places of @width bits, zeroed. */
void columns_over(struct columns *c, u64 *words, struct xdd_peer_gate *gate, u32 width, u32 shift);

/* Make the column of @peer (below c->width) the filter @bits of 2^@shift bits, @shift at most c->shift. */
void columns_set(struct columns *c, u32 peer, const u64 *bits, u32 shift);

/* Flip the bits that are set in @changed, a filter of 2^@shift bits like the last one of @peer. */
void columns_flip(struct columns *c, u32 peer, const u64 *changed, u32 shift);

/* Make it all zeros. */
void columns_clear(struct columns *c, u32 peer);

/* Believe the peers of @mask until @until_ns, on CLOCK_MONOTONIC: nobody else, and nobody longer. */
void columns_believe(struct columns *c, u64 mask, u64 until_ns);

/* Say how many messages nobody is known to have sent, and when another host last spoke in this one's name. */
void columns_refused(struct columns *c, u64 n, u64 twin_ns);

/* Say what is known of @peer. Returns 0 or a negative errno. */
int columns_describe(struct columns *c, u32 peer, const struct xdd_peer *about);

#endif

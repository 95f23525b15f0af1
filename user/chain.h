/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a chain of filters opens one more and retires one (koloniari-2011 section 5): the only place
 * that decides it, over a mapped map for a NIC and over heap memory for files. Packets may read the
 * chain at any moment: its state changes by one store.
 */
#ifndef USER_CHAIN_H
#define USER_CHAIN_H

#include <stdbool.h>

#include "xdd/growth.h"

/* A filter is full at @density of its cells, above 0 and below 1, as grow_density. */
u32 chain_density(double density);

/* With how many a filter of a chain is full: live cells for --grow density, keys for cardinality. */
u64 chain_limit(const struct xdd_fixed *fixed);

/*
 * Retire the filters, but the newest, in which the walk that began at @walk_tick and left chain->live
 * found nothing alive. Not one that was closed less than @skew_ticks (0 where one thread asks) before
 * that walk: a CPU may have been about to insert into it. Returns how many.
 */
u32 chain_shrink(struct xdd_chain *chain, const struct xdd_fixed *fixed, u64 walk_tick,
		 u32 skew_ticks);

/*
 * Open one more filter if the newest is full at @now_tick: by chain->live of the last whole walk, or
 * by chain->inserted. The cells that it held have run out, and its lines were walked since: it is
 * empty. Returns whether it did. If no filter is left, the chain stays as it is, with full = 1.
 */
bool chain_grow(struct xdd_chain *chain, const struct xdd_fixed *fixed, u64 now_tick);

/* Filters that are asked, 1..XDD_MAX_FILTERS. */
u32 chain_live(const struct xdd_chain *chain);

/* Chance that a new key finds all its cells live in some filter, by the last walk: 1 - prod (1 - d^k)
 * over their densities d.
 */
double chain_fpr(const struct xdd_chain *chain, const struct xdd_fixed *fixed);

#endif

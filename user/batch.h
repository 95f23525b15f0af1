/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many events at once: the memory of later ones is fetched while the earlier ones are decided. */
#ifndef USER_BATCH_H
#define USER_BATCH_H

#include "user/store.h"

/* Events in a batch, at most. */
#define BATCH_MAX 1024

/*
 * Ask about @n events (at most BATCH_MAX) whose digests and times are known, one after the other:
 * @seen[i] becomes whether it is a duplicate. The verdicts, and the bits that remain, are those of
 * batch_ask_plain().
 */
void batch_ask(struct xdd_store *store, const struct xdd_digest *digests, const u64 *times_ns,
	       u32 n, bool *seen);

/* Told of each event just before it is asked. */
struct batch_watch {
	void (*before)(void *context, const struct xdd_store *store,
		       const struct xdd_digest *digest, u64 time_ns);
	void *context;
};

/* batch_ask() while @watch looks on. */
void batch_ask_watched(struct xdd_store *store, const struct xdd_digest *digests,
		       const u64 *times_ns, u32 n, bool *seen, const struct batch_watch *watch);

/* batch_ask() without fetching anything beforehand. */
void batch_ask_plain(struct xdd_store *store, const struct xdd_digest *digests, const u64 *times_ns,
		     u32 n, bool *seen);

#endif

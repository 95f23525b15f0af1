/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the look-ups spread over the slices of a filter (koloniari-2011 section 3.1, figures 5 and 8).
 * A look-up sends a message to each slice that holds one of the key's cells: one message however
 * many of them lie there.
 */
#ifndef USER_SIMULATE_MESSAGES_H
#define USER_SIMULATE_MESSAGES_H

#include <xdd/config.h>
#include <xdd/hash.h>

struct xdd_store;

struct messages {
	u64 *to; /* by slice; NULL: the engine has no slices */
	u32 slices;
	u64 piped; /* by pipelining */
};

/* Slices of @fixed; 0 if its engine is not cut into slices. */
u32 messages_slices(const struct xdd_fixed *fixed);

/* Returns 0 or -ENOMEM. messages_close() frees in either case. */
int messages_open(struct messages *m, const struct xdd_fixed *fixed);
void messages_close(struct messages *m);

/* Count a look-up of each of the @n keys @digests. */
void messages_add(struct messages *m, const struct xdd_fixed *fixed,
		  const struct xdd_digest *digests, u32 n);

/* Whether the number of messages of a look-up depends on what is in the filter, by pipelining (sections 3.2 and
 * 7): slices are visited one after the other, each once, until one of the key's cells there is not set. A copy
 * visits all of them. Not counted of a filter that grows.
 */
bool messages_vary(const struct messages *m, const struct xdd_fixed *fixed);

/* Count those of a look-up of @digest at @now_ns, before it is asked; @messages is a struct messages. */
void messages_pipe(void *messages, const struct xdd_store *store, const struct xdd_digest *digest,
		   u64 now_ns);

#endif

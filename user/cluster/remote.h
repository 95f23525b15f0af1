/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A producer (sites/producer.h) on NATS. Sites are found by asking who is there; one that does not answer, or ends,
 * has failed; one that comes, or comes back, is recovering. While a site has failed, its slices are what --fault-policy
 * says. Without a server all have failed after CALLS_DOWN_NS, until there is one again.
 */
#ifndef USER_CLUSTER_REMOTE_H
#define USER_CLUSTER_REMOTE_H

#include <jansson.h>
#include <stdio.h>

#include "user/derive.h"
#include "user/sites/producer.h"

struct remote;

struct remote_setup {
	const struct options *o; /* --nats, --group, --secret-file, --silence, ... */
	const struct derived *d; /* the filter */
	const char *who;	 /* in front of messages */
	u64 timeout_ns;		 /* a site that does not answer for so long has failed */
};

/*
 * Find the sites of the filter in the group, and begin when all slices have one, or after --silence. Returns 0; or
 * with a line in @err -EINVAL for what @setup->o lacks, -EHOSTUNREACH: no site answers, -EINTR: a signal asked for
 * the end, or another negative errno.
 */
int remote_open(const struct remote_setup *setup, struct remote **remote, char *err,
		size_t err_size);
void remote_close(struct remote *r); /* NULL is ignored */

/* Verdicts on @n keys, 1 to PRODUCER_BATCH, at @ticks, in their order. Returns 0 or -ENOMEM. */
int remote_ask(struct remote *r, const struct xdd_digest *digests, const u64 *ticks, u32 n,
	       bool *seen);

/* The same of keys by the places of their cells, each with its tick. */
int remote_ask_items(struct remote *r, const struct sites_item *items, u32 n, bool *seen);

/* What was said, to whom, and who answered: the object `sites` of --json, and text. */
json_t *remote_json(const struct remote *r);
void remote_print(const struct remote *r, FILE *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A node of a Bloom tree (trees/node.h) on NATS, in calls (calls.h). A node finds its parent by name, and its level
 * from that; children come by asking. A parent that does not answer has failed until it is heard again.
 */
#ifndef USER_CLUSTER_BRANCH_H
#define USER_CLUSTER_BRANCH_H

#include <jansson.h>
#include <stdio.h>

#include "user/cluster/calls.h"
#include "user/derive.h"
#include "user/trees/node.h"

struct branch;

struct branch_plan {
	const struct options *o;
	const struct derived *d;
	const char *who;    /* in front of messages */
	const char *parent; /* its name; NULL: the root, on sites with o->sites */
	bool bare;	    /* of a producer: no filter, and nobody asks it */
};

/* Complete @d for trees, by what @o says of them; -EINVAL and a line in @err if it cannot be. */
int branch_derive(const struct options *o, struct derived *d, char *err, size_t err_size);

/* Connect. Signals that the caller waits for must be blocked until it returns. Returns 0, or with a line in @err as
 * calls_open() does.
 */
int branch_open(const struct branch_plan *plan, struct branch **b, char *err, size_t err_size);
void branch_close(struct branch *b); /* says so; NULL is ignored */

/* Do what can be done without waiting. Returns 0, and in *@due when to come back if branch_fd() is not readable before;
 * or with a line in @err -EEXIST: another node has this name, or the parent another tree; -ENOMEM.
 */
int branch_turn(struct branch *b, u64 *due, char *err, size_t err_size);
int branch_fd(const struct branch *b);

/* The node; NULL: its parent has not been found yet. */
struct node *branch_node(struct branch *b);

/* "NAME, level 1 below ROOT", "NAME, which waits for its parent ROOT" */
void branch_name(const struct branch *b, char text[CALL_TEXT]);

/* What it did: JSON, and text. */
json_t *branch_json(const struct branch *b);
void branch_print(const struct branch *b, FILE *to);

/* `site` as a node: until a signal. Returns 0; or as branch_turn() does. */
int branch_serve(const struct branch_plan *plan, char *err, size_t err_size);

/* `stream` at a leaf: find it within o->silence, -EHOSTUNREACH: it is not there; ask it about @n keys. */
int branch_find(struct branch *b, char *err, size_t err_size);
int branch_ask(struct branch *b, const struct xdd_digest *digests, const u64 *ticks, u32 n,
	       bool *seen);

#endif

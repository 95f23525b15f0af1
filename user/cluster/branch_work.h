/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What branch*.c share. */
#ifndef USER_CLUSTER_BRANCH_WORK_H
#define USER_CLUSTER_BRANCH_WORK_H

#include "user/cluster/branch.h"
#include "user/options.h"

#define TREES_SERVICE "trees" /* see calls.h */

/* A child, or the parent. */
struct branch_peer {
	u64 id; /* its number in calls; 0: none, or not found yet */
	u64 heard_ns;
	char name[WIRE_NAME]; /* "": a producer, or not known */
	bool failed;
	struct calls_question question;
};

/* Who is who: the last that were heard. */
#define BRANCH_NAMES (2 * NODE_CHILDREN)

struct branch_name {
	u64 id;
	char name[WIRE_NAME];
};

struct branch {
	struct branch_plan plan;
	struct calls *calls;
	struct wire_key key;
	struct node *node;     /* NULL: the parent has not been found */
	struct call_here here; /* serves: it is open to children */
	u64 serves_ns, ask_ns; /* when it is, if nobody objects; when to ask again who is there */
	u32 above;	       /* level of the parent */
	struct branch_peer peers[NODE_CHILDREN + 1]; /* the last is the parent */
	struct branch_name names[BRANCH_NAMES];
	u32 next_name;
	u64 refused, repeats; /* damaged, or forged; questions that were sent again */
	u64 other_id;	      /* of the parent that was told to have another tree */
	u8 message[SITES_MESSAGE_MAX];
	int rc; /* why it ends, with @err */
	char err[CALL_TEXT * 4];
};

/* branch_peers.c: what processes say of themselves, and messages; send what there is. Returns when to come back. */
void branch_take(struct branch *b, const struct calls_event *event);
u64 branch_send(struct branch *b, u64 now);

/* The parent is there, or there again: process @id. */
void branch_meet(struct branch *b, u64 id);

#endif

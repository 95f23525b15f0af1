/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of a node of a tree share: node.c, messages, and decide.c, verdicts. */
#ifndef USER_TREES_WORK_H
#define USER_TREES_WORK_H

#include "user/trees/node.h"

#define NODE_BUSY (1u << 12)
#define NODE_UNSET 254 /* in place of ticks left: nobody has it, set nothing */

enum job_state { JOB_HELD, JOB_CLIMBING, JOB_CONFIRMING, JOB_DECIDED };

/* A key that a peer, or the own producer, asks about. */
struct job {
	struct sites_item item;
	u64 key;		  /* a hash of its cells */
	const struct job *before; /* the same key, which it waits for */
	u32 from;		  /* number of the peer */
	u32 waiting;		  /* children whose answers are to come */
	u8 state, left;
	bool test;	  /* what the parent wants to be confirmed */
	bool busy;	  /* others of the same key wait for it */
	bool seen, found; /* the verdict; confirmed */
};

/* The last questions of a peer, which it may repeat. */
struct inbox {
	u64 from, sequence; /* 0: there were none */
	bool send;	    /* the answer is to be sent */
	bool wait;	   /* it came again before there was one: that it will come is to be said */
	u32 room, n, open; /* the last: without a verdict */
	struct job *jobs;
};

/* Questions to a peer: the first @sent of those from @at to @end - 1 have no answer yet. */
struct outbox {
	u64 sequence;
	u32 at, end, room, sent;
	bool again;
	struct job **jobs;
};

struct peer {
	u64 id; /* 0: not known yet */
	bool failed;
	struct inbox in;
	struct outbox out;
};

/* Peers are the children, the own producer and the parent. */
struct node {
	struct node_plan plan;
	struct node_counts counts;
	struct tree_filter filter;
	struct peer *peers;
	u16 busy[NODE_BUSY];  /* keys that others may wait for, by their hash */
	struct outbox sliced; /* what the sites of a sliced root are to be asked */
	u32 held;
	bool release; /* one that was waited for is decided */
};

static inline u32 node_own(const struct node *node)
{
	return node->plan.children;
}

static inline u32 node_parent(const struct node *node)
{
	return node->plan.children + 1;
}

/* Let @out have one more. Returns 0 or -ENOMEM. */
int outbox_put(struct outbox *out, struct job *job);

/* The first @n of them are answered. */
void outbox_drop(struct outbox *out, u32 n);

/* Decide on @job, which is new, as far as that goes without other nodes. */
void job_arrive(struct node *node, struct job *job);

/* What @peer answered about @job; NULL: it has failed. */
void job_answered(struct node *node, struct job *job, u32 peer, const u8 *answer);

/* Ask a sliced root's sites, and go on with what waited for those that are decided now. */
void node_release(struct node *node);

#endif

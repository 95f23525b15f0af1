/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A node of a Bloom tree between sites (koloniari-2011 section 6). It does no I/O: who calls it carries messages, and
 * says which node does not answer.
 *
 * Each node is a whole filter of one size and shape, and decides as xdd/tree.h says of CPUs: a question goes from
 * a leaf to its parent, and so on, only where a filter does not have the key; the root decides. On the answer's
 * way down a distinct key is set in each filter, and in a dense tree also one that was found further up, for as
 * long as it lives there. So a filter never has what that of its parent has not, and verdicts are those of one
 * filter, in the order in which the root decides.
 *
 * Several at once. A key waits at a node where the same one is on its way, for what comes of that: copies in one batch
 * cost one question, and of two leaves that show a key at once one passes it. Top-down testing looks for a
 * root's match below it, where a node may not yet know what the root has just passed: a node also takes for found
 * what it has passed to a child that has not since asked anew.
 *
 * Messages are calls (sites/call.h). Questions have items as those of sites do, TEST without a claim, with places of
 * cells in the whole filter: a child's, whether keys are duplicates, and with top-down testing a parent's, whether its
 * part of the tree has them. An answer is a byte for each: 0 no; 1 yes; to a child of a dense tree of timers more, ticks
 * for which what was found will live beyond the question's; or 255: yes, but nobody has it.
 *
 * Messages may be lost, repeated and come late: each peer has one question under way, with a number; a repeated one is
 * applied once and answered alike, or by WAIT where the answer depends on another node's: who asks this one then does not
 * take it for failed while it waits for one that has. A node whose parent has failed decides as a root does, or by fault policy
 * `duplicate` takes all that it has not for copies; where a child has failed, a match cannot be refuted and stands.
 */
#ifndef USER_TREES_NODE_H
#define USER_TREES_NODE_H

#include <stddef.h>

#include <xdd/tree.h>

#include "user/sites/call.h"
#include "user/trees/filter.h"

#define NODE_CHILDREN 256 /* at most */
#define NODE_BATCH SITES_ITEMS

/* Of a root whose filter is sliced over sites (sites/producer.h): whether the @n keys, at most NODE_BATCH, are there; it
 * sets those that are not. Returns 0 or a negative errno: then it is not known.
 */
struct node_root {
	int (*ask)(void *context, const struct sites_item *items, u32 n, bool *seen);
	void *context;
};

struct node_plan {
	struct xdd_fixed fixed; /* placement tree: `tree`, `top_down`, `fault_policy` count */
	u32 window_ticks;
	u32 level; /* the root's is 0 */
	u32 children;
	struct node_root root; /* ask is NULL: it has its own filter */
	bool bare; /* it has no filter, and asks its parent about all: the end of a producer */
	u64 id;	   /* its number: no other node has it, also after each start; not 0 */
	struct wire_key key; /* of messages in this tree */
};

struct node_counts {
	struct xdd_tree_level level; /* accesses, hits and refuted matches here */
	u64 keys, duplicates;	     /* of the node's own producer */
	u64 distinct;		     /* passed here: at the root, or without a parent */
	u64 alone;		     /* decided without the parent, which had failed */
	u64 unconfirmed;	     /* matches that stood since a child had failed */
	u64 held;		     /* times that a key waited for the same one */
	u64 questions, answers;	     /* messages written */
	u64 bytes_out, bytes_in;
	u64 repeated; /* questions that came again, or too late */
	u64 refused;  /* messages that were none */
};

/* Peers: children are 0 to children - 1. */
#define NODE_PARENT NODE_CHILDREN

struct node;

/* Whether a root of @fixed cannot be sliced over sites. Returns NULL or, in words, why. */
const char *node_root_wrong(const struct xdd_fixed *fixed);

/* What nodes of one tree must have alike. */
u64 node_fingerprint(const struct xdd_fixed *fixed, u32 window_ticks);

/* A node by @plan; NULL: no memory. node_close() frees. */
struct node *node_open(const struct node_plan *plan);
void node_close(struct node *node);

/* Begin with @n keys (1 to NODE_BATCH) of the node's own producer, when the last ones are done. Returns 0 or -ENOMEM. */
int node_start(struct node *node, const struct xdd_digest *digests, const u64 *ticks, u32 n);

/* Whether they have verdicts; key @i: whether it is a duplicate. */
bool node_done(const struct node *node);
bool node_seen(const struct node *node, u32 i);

/* The answer, or the next question, for @peer, to @message (room for SITES_MESSAGE_MAX). Return its bytes; 0: there is
 * none, or the last question has no answer yet.
 */
size_t node_answer(struct node *node, u32 peer, u8 *message);
size_t node_question(struct node *node, u32 peer, u8 *message);

/* Whether a question to @peer is under way. */
bool node_waits(const struct node *node, u32 peer);

/* Take a message of @peer's, which may be anything. Returns 0; what call_open() and sites_get_question() do;
 * -ENOENT: it is for another node; -ERANGE: cells that the filter has not; -EALREADY: it came too late; -EBUSY: the peer's last question has to be
 * answered first.
 */
int node_take(struct node *node, u32 peer, const u8 *message, size_t size);

/* The question that @peer has not answered is to be had once more. */
void node_again(struct node *node, u32 peer);

/* @peer is, from now on, the node of number @id, which answers; a question under way is to be had once more. Children
 * need no introduction.
 */
void node_meet(struct node *node, u32 peer, u64 id);

/* @peer does not answer: it has failed. A child has not any more when it asks. */
void node_fail(struct node *node, u32 peer);
bool node_failed(const struct node *node, u32 peer);

u64 node_id(const struct node *node);
const struct node_counts *node_counts(const struct node *node);

#endif

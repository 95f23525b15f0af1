/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A tree whose nodes are in one process, for simulations and tests: messages are the same bytes as between hosts. */
#ifndef USER_TREES_LOCAL_H
#define USER_TREES_LOCAL_H

#include "user/sites/local.h"
#include "user/trees/node.h"

/* What went between a level and the one above it; of the root, between it and the sites of its slices. */
struct tree_traffic {
	u64 messages, bytes; /* both ways */
};

struct tree_local {
	struct xdd_fixed fixed;
	u32 window_ticks, n;
	u32 first[XDD_TREE_MAX_LEVELS + 1]; /* node of each level, the root is 0, and how many */
	struct node **nodes;
	bool *down;	    /* does not answer */
	u64 starts;	    /* numbers nodes */
	struct local sites; /* of a sliced root, and its producer, or NULL */
	struct producer *producer;
	struct tree_traffic traffic[XDD_TREE_MAX_LEVELS];
	u8 *message;
};

/* Whether such a tree, all of whose nodes have fixed->tree_fan_out children, is beyond this. NULL or, in words, why. */
const char *tree_local_wrong(const struct xdd_fixed *fixed);

/* Slice the root of a tree that is to be opened over @sites sites, which are asked by @protocol. Returns 0; -EINVAL and in
 * words, why not, in *@wrong; or -ENOMEM. tree_local_close() frees in either case.
 */
int tree_local_slice(struct tree_local *l, const struct xdd_fixed *fixed, u32 window_ticks,
		     u32 sites, u32 protocol, const char **wrong);

/* The tree of @fixed; @l is zeroed, or was sliced. Returns 0 or -ENOMEM; tree_local_close() frees in either case. */
int tree_local_open(struct tree_local *l, const struct xdd_fixed *fixed, u32 window_ticks);
void tree_local_close(struct tree_local *l);

/* Node @site of @level, and its number; the leaves are of the last level. */
u32 tree_local_number(const struct tree_local *l, u32 level, u32 site);
struct node *tree_local_node(const struct tree_local *l, u32 level, u32 site);

/* Carry the message that node @number has for @peer, if it has one. Returns whether it had. */
bool tree_local_carry(struct tree_local *l, u32 number, u32 peer);

/* Carry messages until the own producer of leaf @leaf, and no other one, is done. */
void tree_local_finish(struct tree_local *l, u32 leaf);

/* Node @number has failed, which nobody is told; and it comes back, empty, and its peers know. Returns 0 or -ENOMEM. */
void tree_local_fail(struct tree_local *l, u32 number);
int tree_local_recover(struct tree_local *l, u32 number);

/* Sum over the nodes of @level. */
struct node_counts tree_local_counts(const struct tree_local *l, u32 level);

#endif

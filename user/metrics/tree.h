/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a tree of filters does, level by level from the root. */
#ifndef USER_METRICS_TREE_H
#define USER_METRICS_TREE_H

#include <jansson.h>

#include <xdd/tree.h>

struct instance;

struct tree {
	u32 levels; /* 0: the instance has no tree */
	u32 nodes[XDD_TREE_MAX_LEVELS];
	double density[XDD_TREE_MAX_LEVELS]; /* the mean over the nodes; NAN: not known */
	struct xdd_tree_level counts[XDD_TREE_MAX_LEVELS];
};

/* Read it from the maps of @in. Returns 0 or a negative errno. */
int tree_read(const struct instance *in, struct tree *tree);

/* Null where there is none. */
json_t *tree_json(const struct instance *in, const struct tree *tree);
void tree_print(const struct instance *in, const struct tree *tree);

#endif

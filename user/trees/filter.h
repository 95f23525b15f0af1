/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filter of a node of a tree between sites, engines timer and bloom: the cores of xdd/tree.h, by places of cells. */
#ifndef USER_TREES_FILTER_H
#define USER_TREES_FILTER_H

#include <stdbool.h>

#include <xdd/hash.h>

#include "user/sites/wire.h"
#include "xdd/line.h"

/* No lines: it only says where cells lie. */
struct tree_filter {
	struct xdd_fixed fixed;
	u32 window_ticks;
	struct xdd_line *lines;
};

/* Whether a tree between sites can have filters of @fixed. Returns NULL or, in words, why not. */
const char *tree_filter_wrong(const struct xdd_fixed *fixed);

/* An empty filter; @lines: it has its own. Returns 0 or -ENOMEM; tree_filter_close() frees in either case. */
int tree_filter_open(struct tree_filter *filter, const struct xdd_fixed *fixed, u32 window_ticks,
		     bool lines);
void tree_filter_close(struct tree_filter *filter);

/* Where the cells of @digest lie, and when it is asked about. */
struct sites_item tree_filter_item(const struct tree_filter *filter,
				   const struct xdd_digest *digest, u64 tick);

/* Whether @item, which may be anything, has places of such a filter. */
bool tree_filter_takes(const struct tree_filter *filter, const struct sites_item *item);

/* Whether the filter has the key; of dense trees of timers *@left becomes for how many ticks more, 0 to 127. */
bool tree_filter_has(const struct tree_filter *filter, const struct sites_item *item, u8 *left);

/* Let it have the key for @left ticks beyond that of @item; bloom: for ever. */
void tree_filter_set(struct tree_filter *filter, const struct sites_item *item, u32 left);

#endif

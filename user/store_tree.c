/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trees of filters in heap memory: of any depth. */
#include <stdint.h>

#include "user/accessors.h"

u64 store_nodes(const struct xdd_fixed *fixed)
{
	u64 nodes = 0;

	if (fixed->placement != XDD_PLACEMENT_tree)
		return 1;
	for (u32 level = 0; level < fixed->levels; level++)
		nodes += xdd_tree_width(fixed, level);
	return nodes <= UINT32_MAX ? nodes : 0;
}

/* Whether a child of node @site of @level has the key, and of that one, and so on. */
static bool is_below(struct xdd_store *store, const struct xdd_digest *digest,
		     const struct xdd_when *when, u32 level, u32 site)
{
	const u64 *first = store->tree.first;
	u64 width = first[level + 1] - first[level], below = first[level + 2] - first[level + 1];
	u32 own = store_tree_site(store, level + 1);
	u32 child = (site * below + width - 1) / width;

	for (; child * width / below == site && child < below; child++) {
		if (child == own)
			continue;
		xdd_tree_count(store, level + 1, 0, 1, 0);
		if (!(xdd_tree_look_at(&store->fixed, store, digest, when, level + 1, child) &
		      XDD_SEEN))
			continue;
		if (level + 1 == store->fixed.top_down ||
		    is_below(store, digest, when, level + 1, child))
			return true;
	}
	return false;
}

bool store_tree_confirmed(struct xdd_store *store, const struct xdd_digest *digest,
			  const struct xdd_when *when, u32 level)
{
	return is_below(store, digest, when, level, store_tree_site(store, level));
}

bool store_tree_ask(struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns, u32 leaf)
{
	u32 found;

	store->tree.leaf = leaf;
	found = xdd_ask_tree(&store->fixed, store, digest, now_ns, store->live.window_ticks);
	store->evictions += !!(found & XDD_EVICTED);
	store->time_back += !!(found & XDD_TIME_BACK);
	store->unanswered += !!(found & (XDD_MISSING | XDD_STALE));
	return found & XDD_SEEN;
}

double store_tree_load(const struct xdd_store *store, u64 now_ns, u32 level, u32 site)
{
	struct xdd_store node = *store;

	node.lines += (store->tree.first[level] + site) * xdd_lines(&store->fixed);
	return store_load(&node, now_ns);
}

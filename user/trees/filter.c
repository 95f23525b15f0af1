/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/trees/filter.h"

#include <errno.h>
#include <stdlib.h>

#include "user/accessors.h"
#include "user/store.h"

const char *tree_filter_wrong(const struct xdd_fixed *fixed)
{
	if (fixed->engine != XDD_ENGINE_timer && fixed->engine != XDD_ENGINE_bloom)
		return "trees between sites are of engines timer and bloom: give --engine bloom, "
		       "or timer and a window";
	if (fixed->filters || fixed->equal > 1)
		return "--grow and --equal look at all of a key's cells in their own way: leave "
		       "them out";
	return NULL;
}

int tree_filter_open(struct tree_filter *filter, const struct xdd_fixed *fixed, u32 window_ticks,
		     bool lines)
{
	*filter = (struct tree_filter){ .fixed = *fixed, .window_ticks = window_ticks };
	if (!lines)
		return 0;
	filter->lines = calloc(xdd_lines(fixed), sizeof(*filter->lines));
	return filter->lines ? 0 : -ENOMEM;
}

void tree_filter_close(struct tree_filter *filter)
{
	free(filter->lines);
}

struct sites_item tree_filter_item(const struct tree_filter *filter,
				   const struct xdd_digest *digest, u64 tick)
{
	const struct xdd_fixed *fixed = &filter->fixed;
	struct sites_item item = { .kind = SITES_TEST, .n = fixed->hashes, .tick = tick };
	u32 each = xdd_line_cells(fixed);
	struct xdd_bits cells;

	for (u32 i = 0; i < fixed->hashes; i++) {
		u32 line = xdd_tree_place(fixed, digest, i, &cells);

		item.cell[i] = (u64)line * each + cells.at[i];
	}
	return item;
}

bool tree_filter_takes(const struct tree_filter *filter, const struct sites_item *item)
{
	bool takes = item->n == filter->fixed.hashes;

	for (u32 i = 0; takes && i < item->n; i++)
		takes = item->cell[i] < xdd_cells(&filter->fixed);
	return takes;
}

static struct xdd_bits cells_of(const struct tree_filter *filter, const struct sites_item *item)
{
	u32 each = xdd_line_cells(&filter->fixed);
	struct xdd_bits cells = {};

	for (u32 i = 0; i < item->n; i++) {
		cells.line[i] = &filter->lines[item->cell[i] / each];
		cells.at[i] = item->cell[i] % each;
	}
	return cells;
}

bool tree_filter_has(const struct tree_filter *filter, const struct sites_item *item, u8 *left)
{
	struct xdd_when when = xdd_when(item->tick, filter->window_ticks);
	struct xdd_bits cells = cells_of(filter, item);
	u32 found = xdd_tree_test(&filter->fixed, NULL, &cells, &when);

	*left = found >> XDD_TREE_LEFT_SHIFT;
	return found & XDD_SEEN;
}

/* A late event lives for what is left of its window: a line that is ahead is not turned back. */
void tree_filter_set(struct tree_filter *filter, const struct sites_item *item, u32 left)
{
	struct xdd_when when = xdd_when(item->tick, left + 1), here;
	struct xdd_bits cells = cells_of(filter, item);

	for (u32 i = 0; filter->fixed.engine == XDD_ENGINE_timer && i < item->n; i++) {
		here = when;
		xdd_line_catch_up(xdd_line_age(cells.line[i], &here), &here);
		xdd_line_prepare(cells.line[i], xdd_line_age(cells.line[i], &here), false, &here);
	}
	xdd_tree_set_cells(&filter->fixed, &cells, cells.line, &when);
}

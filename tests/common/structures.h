/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every structure that a filter in the kernel can have: a new engine is a new row. */
#ifndef TESTS_STRUCTURES_H
#define TESTS_STRUCTURES_H

#include "tests/common/config.h"
#include "xdd/line.h"

struct structure_row {
	u32 slicings; /* bits by enum xdd_slicing */
	u32 placements;
	bool several; /* slices may also have several lines */
};

#define STRUCTURE_PLACEMENTS (1u << XDD_PLACEMENT_shared | 1u << XDD_PLACEMENT_percpu)
#define STRUCTURE_TREES (STRUCTURE_PLACEMENTS | 1u << XDD_PLACEMENT_tree)
/* Filters apart, and in line. */
#define STRUCTURE_LINED (1u << XDD_SLICING_none | 1u << XDD_SLICING_horizontal)

static const struct structure_row structure_rows[XDD_ENGINE_MAX] = {
	[XDD_ENGINE_tagged] = { 1u << XDD_SLICING_horizontal, STRUCTURE_TREES, false },
	[XDD_ENGINE_timer] = { (1u << XDD_SLICING_MAX) - 1, STRUCTURE_TREES, true },
	[XDD_ENGINE_exact] = { 1u << XDD_SLICING_none, 1u << XDD_PLACEMENT_shared, false },
	[XDD_ENGINE_bloom] = { (1u << XDD_SLICING_MAX) - 1, STRUCTURE_TREES, true },
	[XDD_ENGINE_sbf] = { 1u << XDD_SLICING_none, STRUCTURE_PLACEMENTS, false },
	[XDD_ENGINE_rsbf] = { 1u << XDD_SLICING_none, STRUCTURE_PLACEMENTS, false },
	[XDD_ENGINE_bsbf] = { STRUCTURE_LINED, STRUCTURE_PLACEMENTS, false },
	[XDD_ENGINE_bsbfsd] = { STRUCTURE_LINED, STRUCTURE_PLACEMENTS, false },
	[XDD_ENGINE_rlbsbf] = { STRUCTURE_LINED, STRUCTURE_PLACEMENTS, false },
	[XDD_ENGINE_recovery] = { 1u << XDD_SLICING_none, STRUCTURE_PLACEMENTS, false },
};

/* The shape of a tree: over @leaves CPUs, with a level of one NUMA node between, or not. */
static inline void structure_tree(struct xdd_fixed *fixed, u32 levels, u32 leaves, u32 tree,
				  u32 top_down)
{
	fixed->placement = XDD_PLACEMENT_tree;
	fixed->levels = levels;
	fixed->tree_leaves = leaves;
	fixed->tree_fan_out = 1;
	fixed->tree = tree;
	fixed->top_down = fixed->engine == XDD_ENGINE_tagged ? 0 : top_down;
}

static inline struct xdd_fixed structure_fixed(u32 engine, u32 slicing, u32 placement, bool several)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);

	fixed.slicing = slicing;
	fixed.placement = placement;
	if (placement == XDD_PLACEMENT_tree)
		structure_tree(&fixed, 2 + (slicing & 1), 1, several, (slicing + several) % 2);
	if (placement != XDD_PLACEMENT_shared) {
		fixed.blocks = 2;
		fixed.lines_per_block = XDD_CPU_BLOCK_LINES;
	}
	fixed.slices = several ? 7 : fixed.blocks * fixed.lines_per_block;
	if (slicing == XDD_SLICING_none)
		fixed.slices = 1;
	if (slicing == XDD_SLICING_hv || slicing == XDD_SLICING_vh) {
		fixed.subslices = 3;
		fixed.slices = several ? 7 : fixed.slices / 3;
	}
	if (slicing == XDD_SLICING_K1xK2)
		fixed.slice_hashes = 2;
	return fixed;
}

/* Let a filter of @fixed, which has slices of several lines, grow to @filters. */
static inline void structure_grow(struct xdd_fixed *fixed, u32 grow, u32 filters)
{
	fixed->grow = grow;
	fixed->filters = filters;
	fixed->grow_density = 1u << 30;
	if (fixed->placement == XDD_PLACEMENT_percpu)
		fixed->lines_per_block = XDD_CPU_BLOCK_LINES / filters;
	if (fixed->slices * xdd_subslices(fixed) > xdd_lines(fixed))
		fixed->slices = 7;
}

/* Whether filters of the structure can grow. */
static inline bool structure_grows(const struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_timer && fixed->placement != XDD_PLACEMENT_tree &&
	       !xdd_slices_one_line(fixed) && (!xdd_slices_pick_one(fixed) || fixed->slices == 7);
}

/* Whether a test that walks through keys and hashes has to visit these: where cells lie, they do not
 * decide. @few: the machine is slow.
 */
static inline bool structure_visits(const struct xdd_fixed *fixed, bool few)
{
	if (!config_takes(fixed->engine, fixed->key))
		return false;
	if (fixed->slicing > XDD_SLICING_vertical ||
	    (fixed->engine == XDD_ENGINE_bloom && fixed->slicing))
		return fixed->hash == XDD_HASH_keyed && fixed->key == XDD_KEY_packet;
	if (!few)
		return true;
	return fixed->hash == XDD_HASH_keyed &&
	       (fixed->key == XDD_KEY_packet || fixed->key == XDD_KEY_biflow ||
		fixed->engine == XDD_ENGINE_recovery);
}

/* Call @visit for each of them; it chooses key, hash and the rest. */
static inline void structures_each(void (*visit)(struct xdd_fixed *fixed, void *context),
				   void *context)
{
	const u32 each = 2 * XDD_PLACEMENT_MAX;

	for (u32 i = 0; i < XDD_ENGINE_MAX * XDD_SLICING_MAX * each; i++) {
		u32 engine = i / each / XDD_SLICING_MAX, slicing = i / each % XDD_SLICING_MAX;
		const struct structure_row *row = &structure_rows[engine];
		u32 placement = i % each / 2;
		bool several = i & 1;
		struct xdd_fixed fixed = structure_fixed(engine, slicing, placement, several);

		assert_int_not_equal(row->slicings, 0);
		if (!(row->slicings & 1u << slicing) || !(row->placements & 1u << placement) ||
		    (several && (!row->several || slicing == XDD_SLICING_none)))
			continue;
		visit(&fixed, context);
	}
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The shape of a tree of filters. */
#include <errno.h>
#include <stdint.h>

#include <xdd/tree.h>

#include "derive_work.h"
#include "message.h"
#include "names.h"
#include "store.h"

/* koloniari-2011 section 7: "a Bloom tree with 5 levels"; its fan-out is not printed. */
#define DEFAULT_FAN_OUT 2
#define DEFAULT_DEPTH 5

/* NUMA nodes that the host may have: the last number of a list such as 0-3,8. */
static u32 numa_nodes(void)
{
	FILE *possible = fopen("/sys/devices/system/node/possible", "re");
	u32 last = 0;

	if (!possible)
		return 1;
	while (fscanf(possible, "%u%*[-,]", &last) == 1)
		;
	fclose(possible);
	return last + 1;
}

static void shape_nic(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	u32 nodes = numa_nodes();

	f->levels = w->o->levels ?: nodes > 1 ? 3 : 2;
	f->tree_leaves = w->cpus;
	f->tree_fan_out = nodes;
}

/* Returns 0, or -ERANGE for more nodes than can be numbered. */
static int shape_file(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	u64 leaves = 1;

	f->levels = w->o->depth ?: DEFAULT_DEPTH;
	f->tree_fan_out = w->o->fan_out ?: DEFAULT_FAN_OUT;
	for (u32 level = 1; level < f->levels && leaves <= UINT32_MAX; level++)
		leaves *= f->tree_fan_out;
	f->tree_leaves = leaves;
	if (leaves <= UINT32_MAX && store_nodes(f))
		return 0;
	return refuse(w->err, w->err_size, -ERANGE,
		      "--fan-out %u --depth %u is a tree of more than 4294967295 filters: smaller "
		      "ones",
		      f->tree_fan_out, f->levels);
}

static int check_engine(struct work *w)
{
	u32 engine = w->out->fixed.engine;

	if (!(XDD_TREE_ENGINES >> engine & 1))
		return refuse(w->err, w->err_size, -EINVAL,
			      "--placement tree is for --engine tagged, timer and bloom: the "
			      "filters of %s do not contain one another",
			      engine_names[engine]);
	if (w->o->top_down && engine == XDD_ENGINE_tagged)
		return refuse(w->err, w->err_size, -EINVAL,
			      "--top-down is for --engine timer and bloom: of tagged's lines each "
			      "node evicts what it likes, so that a match need not be found below");
	return 0;
}

int derive_tree(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	int err = check_engine(w);

	if (err)
		return err;
	f->placement = XDD_PLACEMENT_tree;
	f->tree = w->o->tree;
	f->top_down = w->o->top_down;
	if (w->target == DERIVE_NIC)
		shape_nic(w);
	else
		err = shape_file(w);
	if (!err && f->top_down >= f->levels)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--top-down %u: the leaves of this tree are level %u, counted from "
			      "the root, which is 0",
			      f->top_down, f->levels - 1);
	return err;
}

u64 derive_filters(const struct work *w)
{
	const struct xdd_fixed *f = &w->out->fixed;

	return f->placement == XDD_PLACEMENT_percpu ? w->cpus : store_nodes(f);
}

void derive_tree_note(struct work *w)
{
	const struct xdd_fixed *f = &w->out->fixed;
	u32 above = store_nodes(f) - f->tree_leaves;
	char each[UNITS_TEXT_MAX], text[160];

	if (f->placement != XDD_PLACEMENT_tree || w->target != DERIVE_NIC)
		return;
	snprintf(text, sizeof(text),
		 "tree: %u filters of %s each, of %u CPUs and %u above; it holds as many keys as "
		 "one of them",
		 above + f->tree_leaves, units_size_text(w->out->lines * XDD_LINE_BYTES, each),
		 f->tree_leaves, above);
	derive_warn(w->out, text);
}

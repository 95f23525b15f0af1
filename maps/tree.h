/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each CPU finds at each level of a tree of filters: placement tree only. The filters are in
 * cpu_blocks, those of its leaves, and in lines, of the nodes above, the root first.
 */
#ifndef MAPS_TREE_H
#define MAPS_TREE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/tree.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_tree_level);
} tree SEC(".maps");

#endif

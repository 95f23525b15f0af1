/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map `scratch`: per CPU, where bytes of a packet's fragments are copied to be hashed, and which of
 * them as zeros.
 */
#ifndef MAPS_SCRATCH_H
#define MAPS_SCRATCH_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/hash.h"
#include "xdd/mask.h"

/* Bytes in front of copied ones, so that a partial last word can be loaded from its end. */
#define SCRATCH_LEAD 8

struct xdd_scratch {
	u8 lead[SCRATCH_LEAD];
	u8 block[XDD_BLOCK];
	struct xdd_masks masks;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_scratch);
} scratch SEC(".maps");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The distinct keys of a period (xdd/collect.h). Made only for a program that was loaded with --collect.
 *
 * collected   by the first half of the key's digest. Its entries are there from the start, so that a packet
 *             never waits for memory, and a key finds room as long as there is some.
 * collecting  which period goes on. Mappable, so that user space changes that word alone.
 */
#ifndef MAPS_COLLECT_H
#define MAPS_COLLECT_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/collect.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct xdd_collected);
} collected SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_collecting);
} collecting SEC(".maps");

#endif

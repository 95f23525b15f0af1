/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter's memory. The loader creates only the maps that the engine and the placement use.
 *
 * lines      shared placement. A plain array value starts 56 bytes into a cache line; a
 *            mappable one is page-aligned, and user space can read it without system calls.
 * cpu_blocks per-CPU placement: 32 KiB a block, the largest per-CPU value, which lies at any
 *            multiple of 8: 511 whole lines fit behind its first 64-byte boundary.
 * locks      striped locks of shared placement. A lock inside a line would keep user space
 *            from mapping it and sleepable programs (the ager, on 6.1) from touching it.
 * chains     of a filter that grows: which filters there are. Mappable, so that the ager's store of
 *            a state is one write of a word. The values of lines are then as many lines.
 * loads, cpu_loads: what bit engines count.
 * health     the states of slices, for a program that has a --fault-policy.
 * digests    exact engine, keys packet, frame and offset.  flows: its other keys, whole.
 */
#ifndef MAPS_FILTER_H
#define MAPS_FILTER_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/faults.h"
#include "xdd/growth.h"

/* Named so that the core, which holds locks only by pointer, knows no BPF type. */
struct xdd_lock {
	struct bpf_spin_lock lock;
	u8 pad[XDD_LINE_BYTES - sizeof(struct bpf_spin_lock)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_line);
} lines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_block);
} cpu_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_lock);
} locks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_chain);
} chains SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_loads);
} loads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_loads);
} cpu_loads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct xdd_health);
} health SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct xdd_digest);
	__type(value, struct xdd_seen);
} digests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct xdd_head);
	__type(value, struct xdd_seen);
} flows SEC(".maps");

#endif

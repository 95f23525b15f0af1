/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What other hosts have seen (xdd/replica.h). Made only for a program that was loaded with --peers.
 *
 * replicas    at each place a bit of every peer, in words. Written from user space, mapped: the kernel
 *             maps none to be written that is read-only to programs.
 * peer_gate   who is believed, and until when. Mapped as well.
 * peers       what is known of each of them, for those who show it.
 * peer_hits   packets that they had, of each of them.
 * peer_audit  of the audit's sample: what they said, to be compared with what they say when asked.
 */
#ifndef MAPS_REPLICA_H
#define MAPS_REPLICA_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/replica.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} replicas SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_peer_gate);
} peer_gate SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XDD_MAX_PEERS);
	__type(key, u32);
	__type(value, struct xdd_peer);
} peers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XDD_MAX_PEERS);
	__type(key, u32);
	__type(value, struct xdd_peer_hits);
} peer_hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} peer_audit SEC(".maps");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map `audit`: the shadow of the sampled keys, whatever the placement. Map `audit_counts`: what the
 * verdicts on them were worth. Map `distances`: how long after the first packet their copies came.
 */
#ifndef MAPS_AUDIT_H
#define MAPS_AUDIT_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/audit.h"

struct xdd_audit_slot {
	struct bpf_spin_lock lock;
	u32 pad;
	struct xdd_audit_bucket bucket;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_audit_slot);
} audit SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_audit_counts);
} audit_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_distances);
} distances SEC(".maps");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map `counters`: per CPU, an entry per interface slot, one for packets of an interface that has no slot, and one
 * that only user space writes: XDD_SLOT_FORMER.
 */
#ifndef MAPS_COUNTERS_H
#define MAPS_COUNTERS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/config.h"
#include "xdd/counters.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XDD_SLOTS);
	__type(key, u32);
	__type(value, struct xdd_counters);
} counters SEC(".maps");

#endif

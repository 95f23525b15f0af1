/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map `top`: the keys most often suppressed, per CPU in buckets; see include/xdd/top.h. */
#ifndef MAPS_TOP_H
#define MAPS_TOP_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/top.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XDD_TOP_BUCKETS);
	__type(key, u32);
	__type(value, struct xdd_top);
} top SEC(".maps");

#endif

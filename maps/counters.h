/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map `counters`: per CPU, an entry per interface slot; the last one counts packets of an
 * interface that has no slot (never in normal operation).
 */
#ifndef MAPS_COUNTERS_H
#define MAPS_COUNTERS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/config.h"
#include "xdd/counters.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XDD_MAX_IFACES + 1);
	__type(key, u32);
	__type(value, struct xdd_counters);
} counters SEC(".maps");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Map `ethertypes`: what passed as not_ip, by EtherType (xdd/ethertypes.h), of each CPU.
 */
#ifndef MAPS_ETHERTYPES_H
#define MAPS_ETHERTYPES_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/ethertypes.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_ethertypes);
} ethertypes SEC(".maps");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map `config`: what can change live. Map `targets`: where packets are redirected. */
#ifndef MAPS_CONFIG_H
#define MAPS_CONFIG_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/config.h"

/* Fixed configuration and hash secret: read-only data that the loader fills before load. */
const volatile struct xdd_fixed xdd_fixed = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_live);
} config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XDD_DEV_MAX);
	__type(key, u32);
	__type(value, u32);
} targets SEC(".maps");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map `meta`: what the loader tells those who open the pins later. */
#ifndef MAPS_META_H
#define MAPS_META_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/meta.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_meta);
} meta SEC(".maps");

#endif

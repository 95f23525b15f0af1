/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Map `watch`: level 1 of the watch set, 64 positions a word, where --watch-action is given. Mappable,
 * so that user space reads and changes words without system calls. Not BPF_F_RDONLY_PROG: the kernel
 * would then refuse to map it for writing.
 */
#ifndef MAPS_WATCH_H
#define MAPS_WATCH_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/types.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} watch SEC(".maps");

#endif

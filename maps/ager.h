/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the ager found, for whoever reads it without asking the ager.
 *
 * ager    the last whole walk over each site, written by user space when the walk ends.
 * tally   the walk under way, written by the program.
 * slices  live cells of each slice of several lines, or part that may fail, written by the program.
 */
#ifndef MAPS_AGER_H
#define MAPS_AGER_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/age.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_ager);
} ager SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_fill);
} tally SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xdd_slice);
} slices SEC(".maps");

#endif

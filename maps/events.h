/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sampled verdicts (xdd/event.h), for one reader at a time.
 *
 * events        the ring buffer: records of struct xdd_event and bytes of the frame.
 * event_budget  how many have left in the present second, of all CPUs.
 * event_copy    a record being made, of each CPU: the ring buffer reserves no variable length.
 */
#ifndef MAPS_EVENTS_H
#define MAPS_EVENTS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdd/event.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} event_budget SEC(".maps");

struct event_copy {
	struct xdd_event event;
	u8 bytes[XDD_EVENT_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct event_copy);
} event_copy SEC(".maps");

#endif

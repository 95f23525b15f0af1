/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which frames of a capture are compared at all: those that an expression of tcpdump matches
 * (pcap-filter(7)), and those of one direction.
 */
#ifndef USER_CAPTURE_FILTER_H
#define USER_CAPTURE_FILTER_H

#include "direction.h"

struct bpf_program;

/* The expression for a link type. */
struct filter_program {
	u32 link;
	struct bpf_program *code;
};

struct capture_filter {
	const char *expression; /* NULL: every frame */
	enum capture_direction direction;
	u32 n;
	struct filter_program *programs;
	u64 undirected; /* frames left out because they have no direction */
	char error[512];
};

/*
 * Start @f. The expression has to make sense for one link type of those the core reads; whether it
 * does for those of the capture shows as they appear.
 *
 * Returns 0, or a negative errno with a line in f->error: -EINVAL for an expression that is wrong
 * everywhere. filter_close() is due in any case.
 */
int filter_open(struct capture_filter *f, const char *expression, enum capture_direction direction);

/* Frames of link type @link will come: an expression that makes no sense there, or can never match, is told
 * now. Returns 0, or a negative errno with a line in f->error.
 */
int filter_ready(struct capture_filter *f, u32 link);

/* Does @f take a frame of link type @link, @len of its @wire_len bytes at @data, that went in
 * @direction? Returns 1 or 0; or a negative errno with a line in f->error.
 */
int filter_takes(struct capture_filter *f, u32 link, const u8 *data, u32 len, u32 wire_len,
		 enum capture_direction direction);

void filter_close(struct capture_filter *f);

#endif

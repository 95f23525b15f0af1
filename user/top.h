/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The keys most often suppressed, out of the core's buckets (include/xdd/top.h). */
#ifndef USER_TOP_H
#define USER_TOP_H

#include <stdio.h>

#include <jansson.h>

#include "xdd/top.h"

#define TOP_KEYS 10

struct top_key {
	u64 key;     /* the digest's first half */
	u64 packets; /* suppressed, at least */
	struct xdd_about about;
};

struct top {
	u32 used;
	struct top_key key[TOP_KEYS]; /* the most often suppressed first */
};

/*
 * Find the keys suppressed at least twice in @n buckets, those of each CPU one behind the other: what
 * two CPUs counted of one key is added up. Returns 0 or -ENOMEM.
 */
int top_merge(const struct xdd_top *buckets, size_t n, struct top *top);

/* An array of objects, for keys of @kind (enum xdd_key_kind). */
json_t *top_json(const struct top *top, u32 kind);

/* A line for each of at most @most keys, each behind @indent. */
void top_print(const struct top *top, u32 kind, u32 most, const char *indent, FILE *to);

/* What a key is of, in words: "192.0.2.1:53 > 192.0.2.2:1234, UDP". Returns @text. */
#define TOP_TEXT_MAX 160
const char *top_text(const struct xdd_about *about, u32 kind, char text[TOP_TEXT_MAX]);

#endif

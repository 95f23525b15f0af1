/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/repeats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void repeats_open(struct repeats *r)
{
	memset(r, 0, sizeof(*r));
}

void repeats_close(struct repeats *r)
{
	for (u32 i = 0; i < REPEATS_MAX; i++)
		free(r->at[i].answer);
}

/* Whether @a is rather to be used for another process than @b. */
static bool is_older(const struct repeat *a, const struct repeat *b)
{
	return b->from && (!a->from || a->heard_ns < b->heard_ns);
}

/* The process's entry, or else a free one, or else the one that was silent longest. */
static struct repeat *find(struct repeats *r, u64 from)
{
	struct repeat *oldest = &r->at[0];

	for (u32 i = 0; i < REPEATS_MAX; i++) {
		if (r->at[i].from == from)
			return &r->at[i];
		if (is_older(&r->at[i], oldest))
			oldest = &r->at[i];
	}
	return oldest;
}

enum repeats_is repeats_look(struct repeats *r, u64 from, u64 sequence, u64 now_ns)
{
	struct repeat *repeat = find(r, from);

	if (repeat->from && repeat->from != from && now_ns - repeat->heard_ns < REPEATS_SILENT_NS)
		return REPEATS_FULL;
	if (repeat->from != from)
		repeat->sequence = 0;
	repeat->from = from;
	repeat->heard_ns = now_ns;
	r->now = repeat;
	if (sequence < repeat->sequence)
		return REPEATS_OLD;
	if (sequence == repeat->sequence)
		return repeat->bytes ? REPEATS_AGAIN : REPEATS_OLD;
	repeat->sequence = sequence;
	repeat->bytes = 0;
	return REPEATS_NEW;
}

void repeats_keep(struct repeats *r, const u8 *answer, size_t bytes)
{
	struct repeat *repeat = r->now;

	if (repeat->room < bytes) {
		free(repeat->answer);
		repeat->answer = malloc(bytes);
		repeat->room = repeat->answer ? bytes : 0;
	}
	if (repeat->room < bytes)
		return;
	memcpy(repeat->answer, answer, bytes);
	repeat->bytes = bytes;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Questions that come again because their answers were lost, or late: they get the same answer, and nothing is
 * done twice. Each process has one question at a time under way to whoever answers.
 */
#ifndef USER_SITES_REPEATS_H
#define USER_SITES_REPEATS_H

#include <stddef.h>

#include <xdd/types.h>

#define REPEATS_MAX 256 /* processes that ask */

/* Who was silent for so long may be forgotten for another: by far longer than a question waits for its answer. */
#define REPEATS_SILENT_NS 60000000000ULL

struct repeat {
	u64 from, sequence, heard_ns; /* from is 0: free */
	u8 *answer;		      /* the last one, of @bytes; @room */
	size_t bytes, room;
};

struct repeats {
	struct repeat at[REPEATS_MAX];
	struct repeat *now; /* whose question is being answered */
};

/* OLD: before the last one of this process, which has that one's answer, or cannot get it. FULL: others ask. */
enum repeats_is { REPEATS_NEW, REPEATS_AGAIN, REPEATS_OLD, REPEATS_FULL };

void repeats_open(struct repeats *r);
void repeats_close(struct repeats *r);

/* What the question @sequence of process @from (not 0) is, at @now_ns of a steady clock. If AGAIN, its answer is
 * r->now->answer, of r->now->bytes; if NEW, repeats_keep() is due.
 */
enum repeats_is repeats_look(struct repeats *r, u64 from, u64 sequence, u64 now_ns);

/* Keep the answer to the NEW question that was looked at last. Without memory the question is OLD from now on. */
void repeats_keep(struct repeats *r, const u8 *answer, size_t bytes);

#endif

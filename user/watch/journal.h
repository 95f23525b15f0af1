/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What has changed in a watch set, for the agent that tells other hosts: file WATCH_FOLDER/NAME.log, which is there
 * only while an agent wants it. Whoever changes the set holds the lock of pins_lock() and adds a record behind the
 * change: a writer that is killed between leaves a chain that does not lead to the state, as one does whose change is
 * too long for a record. Then all of the state is told. It is bounded, and read and emptied under the lock.
 */
#ifndef USER_WATCH_JOURNAL_H
#define USER_WATCH_JOURNAL_H

#include <stddef.h>

#include "user/watch/version.h"

#define JOURNAL_MAX (384u << 10) /* bytes */

enum journal_what { JOURNAL_add, JOURNAL_delete, JOURNAL_WHATS };

/* A record; its keys are behind it. */
struct journal_head {
	u32 what; /* enum journal_what */
	u32 n;	  /* keys */
	struct watch_print before, after;
};
XDD_ASSERT(sizeof(struct journal_head) == 40, "a record as it is sent");

#define JOURNAL_KEYS_MAX ((JOURNAL_MAX - sizeof(struct journal_head)) / sizeof(u64))

/* An empty journal of the set of instance @name. Returns 0 or a negative errno. */
int journal_make(const char *name);
void journal_remove(const char *name);

/* If there is one: add @head and its keys, or empty it if that would make it too long. The lock is held. */
void journal_append(const char *name, const struct journal_head *head, const u64 *keys);

/* If there is one: what was done is no record. The lock is held. */
void journal_break(const char *name);

/* Move what is in it to @to, which has room for JOURNAL_MAX. Returns the bytes or a negative errno. The lock is held. */
int journal_take(const char *name, u8 *to);

/* The record that begins at *@at, of *@left bytes, which both go on behind it. Returns its keys, which may be at any
 * address; or NULL at the end, and where there is no whole one.
 */
const u8 *journal_next(const u8 **at, size_t *left, struct journal_head *head);

/*
 * Whether the @size bytes at @at, which may be anything, are records that lead from one state to another, each from
 * where the one before led to.
 */
bool journal_leads(const u8 *at, size_t size, const struct watch_print *from,
		   const struct watch_print *to);

#endif

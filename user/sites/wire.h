/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What producers and the sites that have the slices of a filter tell each other (koloniari-2011 section 3): payloads
 * of CALL_QUESTION and CALL_ANSWER (call.h). They hold places of cells, never a record or its hash.
 *
 * A question is LEB128 numbers: items, at most SITES_ITEMS, and a tick that they count from; then the items. An item
 * is a byte: kind, number of cells and whether it is about the key's claim; then as LEB128 numbers: ticks from the
 * question's, a zigzag; the claim's number, if it is about one, and, of what gives it back, as a byte, its turn; each cell's
 * place in the site's slices. An answer has for each item, in their order, a byte, cells that are set, and of those that are
 * about a claim a second one: whether another producer has it, or had it meanwhile, and twice its turn.
 */
#ifndef USER_SITES_WIRE_H
#define USER_SITES_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/config.h>

#include "user/sites/call.h"

#define SITES_ITEMS 1024
#define SITES_ITEM_MAX (1 + 10 + 5 + 1 + 10 * XDD_MAX_HASHES)
#define SITES_MESSAGE_MAX (CALL_HEADER + 3 + 10 + SITES_ITEMS * SITES_ITEM_MAX + CALL_TAG)
XDD_ASSERT(SITES_MESSAGE_MAX <= CALL_MAX, "a message is a call");

/* ONE_PASS: set the cells if one of them is not set. RELEASE has no cells. */
enum sites_kind { SITES_TEST, SITES_SET, SITES_ONE_PASS, SITES_RELEASE };

#define SITES_TURNS 128

struct sites_item {
	u8 kind, n; /* enum sites_kind; cells, 0 to 8 */
	bool claim; /* TEST, ONE_PASS: ask for the claim; SET, RELEASE: give it back */
	u8 turn;    /* SET, RELEASE: which the claim had when it was got */
	u32 tag;    /* of the claim */
	u64 tick;
	u64 cell[XDD_MAX_HASHES];
};

struct sites_answer {
	u8 set;	      /* a bit each of the item's cells: as they were before */
	bool claimed; /* by another producer, now or since this one got it: nothing was done */
	u8 turn; /* of the claim, 0 to SITES_TURNS - 1: another one each time that it goes to another producer */
};

/* Write @n items, at most SITES_ITEMS, to @payload (room for what SITES_MESSAGE_MAX leaves). Returns its bytes. */
size_t sites_put_question(const struct sites_item *items, u32 n, u8 *payload);

/* Read a question of any @size bytes, which may be anything, to @items (room for SITES_ITEMS). Returns their number or
 * -EBADMSG.
 */
int sites_get_question(const u8 *payload, size_t size, struct sites_item *items);

/* The same of the answer to the @n questions @items. Get returns 0 or -EBADMSG. */
size_t sites_put_answer(const struct sites_item *items, const struct sites_answer *answers, u32 n,
			u8 *payload);
int sites_get_answer(const u8 *payload, size_t size, const struct sites_item *items, u32 n,
		     struct sites_answer *answers);

#endif

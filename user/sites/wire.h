/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between producers and the sites that have the slices of a filter (koloniari-2011 section 3). They
 * hold places of cells, never a record or its hash. Numbers of the header are little-endian:
 *
 *   byte  bytes
 *      0      4  magic "XDDS"
 *      4      1  version, 1: another one is not read
 *      5      1  0 question, 1 answer
 *      6      2  items, at most SITES_ITEMS
 *      8      8  fingerprint of the filter's structure, seed and window
 *     16      8  producer
 *     24      8  tick that items count from
 *     32      4  bytes of payload
 *     36         payload: the items
 *                tag, 8 bytes: SipHash-2-4 of all before it, under the fingerprint
 *
 * An item of a question is a byte: kind, number of cells and whether it is about the key's claim; then as
 * LEB128 numbers: ticks from the header's, a zigzag; the claim's number, if it is about one; each cell's place
 * in the site's slices. An item of an answer is a byte, cells that are set, and where SITES_CLAIM was asked for a
 * second one: whether another producer has it. Answers have the order of the questions.
 */
#ifndef USER_SITES_WIRE_H
#define USER_SITES_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/config.h>

#define SITES_ITEMS 1024
#define SITES_HEADER 36
#define SITES_ITEM_MAX (1 + 10 + 5 + 10 * XDD_MAX_HASHES)
#define SITES_MESSAGE_MAX (SITES_HEADER + SITES_ITEMS * SITES_ITEM_MAX + 8)

/* ONE_PASS: set the cells if one of them is not set. RELEASE has no cells. */
enum sites_kind { SITES_TEST, SITES_SET, SITES_ONE_PASS, SITES_RELEASE };

struct sites_item {
	u8 kind, n; /* enum sites_kind; cells, 0 to 8 */
	bool claim; /* TEST, ONE_PASS: ask for the claim; SET, RELEASE: give it back */
	u32 tag;    /* of the claim */
	u64 tick;
	u64 cell[XDD_MAX_HASHES];
};

struct sites_answer {
	u8 set;	      /* a bit each of the item's cells: as they were before */
	bool claimed; /* by another producer: nothing was done */
};

struct sites_head {
	bool answer;
	u16 items;
	u64 fingerprint, producer, tick;
};

/* Write a question, or the answer to one, of head->items items to @message, SITES_MESSAGE_MAX bytes. Of
 * answers @items are what was asked. Returns the message's bytes.
 */
size_t sites_put(const struct sites_head *head, const struct sites_item *items,
		 const struct sites_answer *answers, u8 *message);

/* Read a question of any @size bytes, which may be anything, to @items (room for SITES_ITEMS). Returns 0;
 * -EBADMSG: damaged, cut, or no such message; -EPROTONOSUPPORT: another version; -ESTALE: of another filter
 * than @fingerprint.
 */
int sites_get_question(const u8 *message, size_t size, u64 fingerprint, struct sites_head *head,
		       struct sites_item *items);

/* The same of the answer to the @n questions @items. */
int sites_get_answer(const u8 *message, size_t size, u64 fingerprint,
		     const struct sites_item *items, u32 n, struct sites_answer *answers);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between the nodes of a Bloom tree (koloniari-2011 section 6): those of sites/wire.h with magic "XDDT", in
 * whose byte 5 is enum tree_message, whose producer is the node that wrote a question, and whose payload begins
 * with the question's number, LEB128. Questions have items as those of sites: the places of a key's cells in a whole
 * filter, which are the same in each node. The answer to one is a byte.
 */
#ifndef USER_TREES_WIRE_H
#define USER_TREES_WIRE_H

#include "user/sites/wire.h"

/*
 * ASK      child to parent: are these duplicates?
 * VERDICT  its answer, of each key: 0 distinct; else 1, and of dense trees of timers more: ticks for which what was
 *          found will live beyond the question's
 * TEST     parent to child: does your part of the tree have these (top-down testing)?
 * FOUND    its answer, of each key: 0 or 1
 */
enum tree_message { TREE_ASK, TREE_VERDICT, TREE_TEST, TREE_FOUND, TREE_MESSAGE_MAX };

struct tree_head {
	u8 type; /* enum tree_message */
	u16 items;
	u64 fingerprint, sender, sequence;
};

/* Write a question, @answers NULL, or an answer to one, to @message, SITES_MESSAGE_MAX bytes. Returns its bytes. */
size_t tree_put(const struct tree_head *head, const struct sites_item *items, const u8 *answers,
		u8 *message);

/* Read a message of any @size bytes, which may be anything: a question to @items, an answer to @answers (room
 * for SITES_ITEMS). Returns as sites_get_question() does.
 */
int tree_get(const u8 *message, size_t size, u64 fingerprint, struct tree_head *head,
	     struct sites_item *items, u8 *answers);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between the nodes of a Bloom tree (koloniari-2011 section 6). They hold places of a key's cells in a whole
 * filter, which are the same in each node, never a record or its hash. Numbers of the header are little-endian:
 *
 *   byte  bytes
 *      0      4  magic "XDDT"
 *      4      1  version, 1: another one is not read
 *      5      1  type, see enum tree_message
 *      6      2  0
 *      8      8  from: number of the node that sends, which it drew at its start
 *     16      8  to: number of the node that is meant
 *     24      8  sequence: of questions, each is greater than the sender's before; of an answer, its question's
 *     32         payload
 *                tag, 8 bytes: SipHash-2-4 of all before it, under the tree's key
 *
 * The payload of a question is LEB128 numbers: items, and a tick that they count from; then the items: ticks, a
 * zigzag, and the place of each of the k cells. That of an answer is a byte for each item.
 */
#ifndef USER_TREES_WIRE_H
#define USER_TREES_WIRE_H

#include "user/cluster/wire.h"
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
	u64 from, to, sequence;
};

/* Write a question about @n items of @hashes cells each, or the answer to one, to @message, SITES_MESSAGE_MAX bytes.
 * Returns its bytes.
 */
size_t tree_put_question(const struct wire_key *key, const struct tree_head *head,
			 const struct sites_item *items, u32 n, u32 hashes, u8 *message);
size_t tree_put_answer(const struct wire_key *key, const struct tree_head *head, const u8 *answers,
		       u32 n, u8 *message);

/* Read a message of any @size bytes, which may be anything: a question about keys of @hashes cells to @items, an answer
 * to @answers (room for SITES_ITEMS). Returns how many they are; -EBADMSG: no such message, damaged, or not by a
 * holder of @key; -EPROTONOSUPPORT: another version.
 */
int tree_get(const struct wire_key *key, const u8 *message, size_t size, u32 hashes,
	     struct tree_head *head, struct sites_item *items, u8 *answers);

#endif

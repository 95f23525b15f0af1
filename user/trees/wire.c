/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/trees/wire.h"

#include <errno.h>
#include <string.h>

#include "user/leb128.h"

#define MAGIC 0x54444458
#define VERSION 1
#define HEADER 32

struct raw_head {
	u32 magic;
	u8 version, type;
	u16 zero;
	u64 from, to, sequence;
};
XDD_ASSERT(sizeof(struct raw_head) == HEADER, "the header as it is sent");

/* Write what is before and behind the payload, which ends at @end. Returns the message's bytes. */
static size_t seal(const struct wire_key *key, const struct tree_head *head, u8 *message, u8 *end)
{
	struct raw_head raw = {
		MAGIC, VERSION, head->type, 0, head->from, head->to, head->sequence
	};
	u64 tag;

	memcpy(message, &raw, sizeof(raw));
	tag = wire_tag(key, message, end - message);
	memcpy(end, &tag, WIRE_TAG);
	return end - message + WIRE_TAG;
}

static int unseal(const struct wire_key *key, const u8 *message, size_t size,
		  struct tree_head *head)
{
	struct raw_head raw;
	u64 tag;

	if (size < HEADER + WIRE_TAG || size > SITES_MESSAGE_MAX)
		return -EBADMSG;
	memcpy(&raw, message, sizeof(raw));
	if (raw.magic != MAGIC)
		return -EBADMSG;
	if (raw.version != VERSION)
		return -EPROTONOSUPPORT;
	memcpy(&tag, message + size - WIRE_TAG, WIRE_TAG);
	if (raw.type >= TREE_MESSAGE_MAX || tag != wire_tag(key, message, size - WIRE_TAG))
		return -EBADMSG;
	*head = (struct tree_head){ raw.type, raw.from, raw.to, raw.sequence };
	return 0;
}

static u8 *put_item(u8 *at, const struct sites_item *item, u32 hashes, u64 first)
{
	u64 ticks = item->tick - first;

	at += leb128_put(at, ticks << 1 ^ -(ticks >> 63));
	for (u32 i = 0; i < hashes; i++)
		at += leb128_put(at, item->cell[i]);
	return at;
}

size_t tree_put_question(const struct wire_key *key, const struct tree_head *head,
			 const struct sites_item *items, u32 n, u32 hashes, u8 *message)
{
	u64 first = n ? items[0].tick : 0;
	u8 *at = message + HEADER;

	at += leb128_put(at, n);
	at += leb128_put(at, first);
	for (u32 i = 0; i < n; i++)
		at = put_item(at, &items[i], hashes, first);
	return seal(key, head, message, at);
}

size_t tree_put_answer(const struct wire_key *key, const struct tree_head *head, const u8 *answers,
		       u32 n, u8 *message)
{
	memcpy(message + HEADER, answers, n);
	return seal(key, head, message, message + HEADER + n);
}

/* Returns where the number ends, or NULL: it has no end, or there is nothing to read. */
static const u8 *get_number(const u8 *at, const u8 *end, u64 *number)
{
	size_t n = at ? leb128_get(at, end, number) : 0;

	return n ? at + n : NULL;
}

static const u8 *get_item(const u8 *at, const u8 *end, u32 hashes, u64 first,
			  struct sites_item *item)
{
	u64 ticks = 0;

	*item = (struct sites_item){ .kind = SITES_TEST, .n = hashes };
	at = get_number(at, end, &ticks);
	item->tick = first + (ticks >> 1 ^ -(ticks & 1));
	for (u32 i = 0; i < hashes; i++)
		at = get_number(at, end, &item->cell[i]);
	return at;
}

static int get_question(const u8 *at, const u8 *end, u32 hashes, struct sites_item *items)
{
	u64 n = 0, first = 0;

	at = get_number(at, end, &n);
	at = get_number(at, end, &first);
	if (n > SITES_ITEMS)
		return -EBADMSG;
	for (u32 i = 0; at && i < n; i++)
		at = get_item(at, end, hashes, first, &items[i]);
	return at == end ? (int)n : -EBADMSG;
}

int tree_get(const struct wire_key *key, const u8 *message, size_t size, u32 hashes,
	     struct tree_head *head, struct sites_item *items, u8 *answers)
{
	const u8 *payload = message + HEADER, *end = message + size - WIRE_TAG;
	int rc = unseal(key, message, size, head);

	if (rc)
		return rc;
	if (head->type == TREE_ASK || head->type == TREE_TEST)
		return get_question(payload, end, hashes, items);
	if (end - payload > SITES_ITEMS)
		return -EBADMSG;
	memcpy(answers, payload, end - payload);
	return end - payload;
}

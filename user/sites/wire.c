/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/wire.h"

#include <errno.h>
#include <string.h>

#include <xdd/hash.h>

#include "user/cluster/wire.h"
#include "user/leb128.h"

#define MAGIC 0x53444458
#define VERSION 1

struct raw_head {
	u32 magic;
	u8 version, answer;
	u16 items;
	u64 fingerprint, producer, tick;
	u32 payload;
} __attribute__((packed));
XDD_ASSERT(sizeof(struct raw_head) == SITES_HEADER, "the header as it is sent");

static u64 tag_of(u64 fingerprint, const u8 *at, size_t n)
{
	struct wire_key key = { { fingerprint, ~fingerprint } };

	return wire_tag(&key, at, n);
}

static u8 *put_number(u8 *at, u64 number)
{
	return at + leb128_put(at, number);
}

/* Returns where it ends, or NULL: @at is, or it does not end before @end, or has more than 64 bits. */
static const u8 *get_number(const u8 *at, const u8 *end, u64 *number)
{
	size_t n = at ? leb128_get(at, end, number) : 0;

	return n ? at + n : NULL;
}

static u8 *put_item(u8 *at, const struct sites_item *item, u64 first)
{
	u64 ticks = item->tick - first;

	*at++ = item->kind | item->claim << 2 | item->n << 3;
	at = put_number(at, ticks << 1 ^ -(ticks >> 63));
	if (item->claim)
		at = put_number(at, item->tag);
	for (u32 i = 0; i < item->n; i++)
		at = put_number(at, item->cell[i]);
	return at;
}

static const u8 *get_item(const u8 *at, const u8 *end, u64 first, struct sites_item *item)
{
	u64 ticks, tag = 0;

	if (at >= end)
		return NULL;
	*item = (struct sites_item){ .kind = *at & 3, .claim = *at >> 2 & 1, .n = *at >> 3 };
	at = get_number(at + 1, end, &ticks);
	if (item->claim)
		at = get_number(at, end, &tag);
	item->tick = first + (ticks >> 1 ^ -(ticks & 1));
	item->tag = tag;
	if (item->n > XDD_MAX_HASHES || tag > ~0u)
		return NULL;
	for (u32 i = 0; i < item->n; i++)
		at = get_number(at, end, &item->cell[i]);
	return at;
}

static bool asks_claim(const struct sites_item *item)
{
	return item->claim && (item->kind == SITES_TEST || item->kind == SITES_ONE_PASS);
}

static u8 *put_answer(u8 *at, const struct sites_item *item, const struct sites_answer *answer)
{
	*at++ = answer->set;
	if (asks_claim(item))
		*at++ = answer->claimed;
	return at;
}

size_t sites_put(const struct sites_head *head, const struct sites_item *items,
		 const struct sites_answer *answers, u8 *message)
{
	struct raw_head raw = {
		MAGIC,	    VERSION, head->answer, head->items, head->fingerprint, head->producer,
		head->tick, 0
	};
	u8 *at = message + SITES_HEADER;
	u64 tag;

	for (u32 i = 0; i < head->items; i++)
		at = answers ? put_answer(at, &items[i], &answers[i])
			     : put_item(at, &items[i], head->tick);
	raw.payload = at - message - SITES_HEADER;
	memcpy(message, &raw, sizeof(raw));
	tag = tag_of(head->fingerprint, message, at - message);
	memcpy(at, &tag, WIRE_TAG);
	return at - message + WIRE_TAG;
}

static int get_head(const u8 *message, size_t size, u64 fingerprint, struct raw_head *raw)
{
	u64 tag;

	if (size < SITES_HEADER + WIRE_TAG || size > SITES_MESSAGE_MAX)
		return -EBADMSG;
	memcpy(raw, message, sizeof(*raw));
	if (raw->magic != MAGIC)
		return -EBADMSG;
	if (raw->version != VERSION)
		return -EPROTONOSUPPORT;
	memcpy(&tag, message + size - WIRE_TAG, WIRE_TAG);
	if (raw->payload != size - SITES_HEADER - WIRE_TAG || raw->items > SITES_ITEMS ||
	    tag != tag_of(raw->fingerprint, message, size - WIRE_TAG))
		return -EBADMSG;
	return raw->fingerprint == fingerprint ? 0 : -ESTALE;
}

int sites_get_question(const u8 *message, size_t size, u64 fingerprint, struct sites_head *head,
		       struct sites_item *items)
{
	const u8 *at = message + SITES_HEADER, *end = message + size - WIRE_TAG;
	struct raw_head raw;
	int rc = get_head(message, size, fingerprint, &raw);

	if (rc || raw.answer)
		return rc ?: -EBADMSG;
	for (u32 i = 0; at && i < raw.items; i++)
		at = get_item(at, end, raw.tick, &items[i]);
	*head = (struct sites_head){ false, raw.items, fingerprint, raw.producer, raw.tick };
	return at == end ? 0 : -EBADMSG;
}

int sites_get_answer(const u8 *message, size_t size, u64 fingerprint,
		     const struct sites_item *items, u32 n, struct sites_answer *answers)
{
	const u8 *at = message + SITES_HEADER, *end = message + size - WIRE_TAG;
	struct raw_head raw;
	int rc = get_head(message, size, fingerprint, &raw);

	if (rc || raw.answer != 1 || raw.items != n)
		return rc ?: -EBADMSG;
	for (u32 i = 0; i < n; i++) {
		if (end - at < 1 + asks_claim(&items[i]))
			return -EBADMSG;
		answers[i] = (struct sites_answer){ .set = *at++ };
		if (asks_claim(&items[i]))
			answers[i].claimed = *at++ & 1;
	}
	return at == end ? 0 : -EBADMSG;
}

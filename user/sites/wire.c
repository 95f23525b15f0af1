/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/wire.h"

#include <errno.h>

#include "user/leb128.h"

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

static bool gives_claim(const struct sites_item *item)
{
	return item->claim && (item->kind == SITES_SET || item->kind == SITES_RELEASE);
}

static u8 *put_item(u8 *at, const struct sites_item *item, u64 first)
{
	u64 ticks = item->tick - first;

	*at++ = item->kind | item->claim << 2 | item->n << 3;
	at = put_number(at, ticks << 1 ^ -(ticks >> 63));
	if (item->claim)
		at = put_number(at, item->tag);
	if (gives_claim(item))
		*at++ = item->turn;
	for (u32 i = 0; i < item->n; i++)
		at = put_number(at, item->cell[i]);
	return at;
}

static const u8 *get_item(const u8 *at, const u8 *end, u64 first, struct sites_item *item)
{
	u64 ticks = 0, tag = 0;

	if (at >= end)
		return NULL;
	*item = (struct sites_item){ .kind = *at & 3, .claim = *at >> 2 & 1, .n = *at >> 3 };
	at = get_number(at + 1, end, &ticks);
	if (item->claim)
		at = get_number(at, end, &tag);
	if (at && gives_claim(item)) {
		item->turn = at < end ? *at : 0;
		at = at < end ? at + 1 : NULL;
	}
	item->tick = first + (ticks >> 1 ^ -(ticks & 1));
	item->tag = tag;
	if (item->n > XDD_MAX_HASHES || tag > ~0u)
		return NULL;
	for (u32 i = 0; i < item->n; i++)
		at = get_number(at, end, &item->cell[i]);
	return at;
}

static u8 *put_answer(u8 *at, const struct sites_item *item, const struct sites_answer *answer)
{
	*at++ = answer->set;
	if (item->claim)
		*at++ = answer->claimed | answer->turn << 1;
	return at;
}

size_t sites_put_question(const struct sites_item *items, u32 n, u8 *payload)
{
	u64 tick = n ? items[0].tick : 0;
	u8 *at = put_number(put_number(payload, n), tick);

	for (u32 i = 0; i < n; i++)
		at = put_item(at, &items[i], tick);
	return at - payload;
}

int sites_get_question(const u8 *payload, size_t size, struct sites_item *items)
{
	const u8 *at, *end = payload + size;
	u64 n = 0, tick = 0;

	at = get_number(payload, end, &n);
	at = get_number(at, end, &tick);
	if (n > SITES_ITEMS)
		return -EBADMSG;
	for (u32 i = 0; at && i < n; i++)
		at = get_item(at, end, tick, &items[i]);
	return at == end ? (int)n : -EBADMSG;
}

size_t sites_put_answer(const struct sites_item *items, const struct sites_answer *answers, u32 n,
			u8 *payload)
{
	u8 *at = payload;

	for (u32 i = 0; i < n; i++)
		at = put_answer(at, &items[i], &answers[i]);
	return at - payload;
}

int sites_get_answer(const u8 *payload, size_t size, const struct sites_item *items, u32 n,
		     struct sites_answer *answers)
{
	const u8 *at = payload, *end = payload + size;

	for (u32 i = 0; i < n; i++) {
		if (end - at < 1 + items[i].claim)
			return -EBADMSG;
		answers[i] = (struct sites_answer){ .set = *at++ };
		if (items[i].claim) {
			answers[i].claimed = *at & 1;
			answers[i].turn = *at++ >> 1;
		}
	}
	return at == end ? 0 : -EBADMSG;
}

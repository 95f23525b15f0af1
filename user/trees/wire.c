/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/trees/wire.h"

#include <errno.h>
#include <string.h>

#include "user/cluster/wire.h"

#define MAGIC 0x54444458

static bool is_answer(u8 type)
{
	return type == TREE_VERDICT || type == TREE_FOUND;
}

size_t tree_put(const struct tree_head *head, const struct sites_item *items, const u8 *answers,
		u8 *message)
{
	struct sites_head frame = { .items = head->items,
				    .fingerprint = head->fingerprint,
				    .producer = head->sender };
	u8 *at = sites_put_number(message + SITES_HEADER, head->sequence);

	if (!answers && head->items)
		frame.tick = items[0].tick;
	for (u32 i = 0; i < head->items; i++) {
		if (answers)
			*at++ = answers[i];
		else
			at = sites_put_item(at, &items[i], frame.tick);
	}
	return sites_close(MAGIC, head->type, &frame, message, at);
}

int tree_get(const u8 *message, size_t size, u64 fingerprint, struct tree_head *head,
	     struct sites_item *items, u8 *answers)
{
	const u8 *at = message + SITES_HEADER, *end = message + size - WIRE_TAG;
	struct sites_head frame;
	int rc = sites_get_head(MAGIC, message, size, fingerprint, &head->type, &frame);

	if (rc || head->type >= TREE_MESSAGE_MAX)
		return rc ?: -EBADMSG;
	head->items = frame.items;
	head->fingerprint = frame.fingerprint;
	head->sender = frame.producer;
	at = sites_get_number(at, end, &head->sequence);
	if (is_answer(head->type)) {
		if (!at || end - at != head->items)
			return -EBADMSG;
		memcpy(answers, at, head->items);
		return 0;
	}
	for (u32 i = 0; at && i < head->items; i++)
		at = sites_get_item(at, end, frame.tick, &items[i]);
	return at == end ? 0 : -EBADMSG;
}

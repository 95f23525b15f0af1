/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/watch_wire.h"

#include <errno.h>
#include <string.h>

size_t watch_seal(struct wire_self *self, struct wire_head *head, const struct watch_told *told,
		  size_t n, u8 *message)
{
	memcpy(message + WIRE_HEADER, told, sizeof(*told));
	head->payload_bytes = sizeof(*told) + n;
	return wire_seal(self, head, message);
}

/* Whether a part of a FULL is as long as its place says. */
static bool part_fits(const struct watch_heard *heard)
{
	const struct watch_told *told = &heard->told;
	u64 before = (u64)heard->head.part * WATCH_PART, parts;

	if (!told->deflated || told->deflated > WIRE_PARTS_MAX * WATCH_PART)
		return false;
	parts = (told->deflated + WATCH_PART - 1) / WATCH_PART;
	if (heard->head.parts != parts || heard->head.part >= parts)
		return false;
	return heard->n ==
	       (told->deflated - before < WATCH_PART ? told->deflated - before : WATCH_PART);
}

static bool makes_sense(const struct watch_heard *heard)
{
	const struct watch_told *told = &heard->told;

	switch (heard->head.type) {
	case WIRE_WATCH_FULL:
		return part_fits(heard);
	case WIRE_WATCH_DELTA:
		return heard->n && journal_leads(heard->at, heard->n, &told->before, &told->after);
	case WIRE_WATCH_BEAT:
	case WIRE_WATCH_WANT:
		return true;
	}
	return false;
}

int watch_unseal(const struct wire_key *group, const char *from, const u8 *message, size_t size,
		 struct watch_heard *heard)
{
	struct wire_key key = wire_key_of(group, from);
	const u8 *payload;
	int rc = wire_open(&key, message, size, &heard->head, &payload);

	if (rc)
		return rc;
	if (heard->head.payload_bytes < sizeof(heard->told))
		return -EBADMSG;
	memcpy(&heard->told, payload, sizeof(heard->told));
	heard->at = payload + sizeof(heard->told);
	heard->n = heard->head.payload_bytes - sizeof(heard->told);
	return makes_sense(heard) ? 0 : -EBADMSG;
}

const char *watch_shape_differs(const struct watch_shape *a, const struct watch_shape *b)
{
	if (a->kind != b->kind)
		return "--key, or options that decide what a packet's key is";
	if (a->hashes != b->hashes)
		return "--positions";
	if (a->counters != b->counters)
		return "--watch-keys or --counters";
	return a->bits != b->bits ? "--l1, or --watch-keys" : NULL;
}

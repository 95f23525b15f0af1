/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static u32 parts_of(size_t n)
{
	return n ? (n + PART_BYTES - 1) / PART_BYTES : 1;
}

void outbox_begin(struct outbox *out, u64 session, u32 step)
{
	out->session = session;
	out->step = step;
	out->next = 0;
}

bool outbox_send(struct outbox *out, part_emit *emit, void *to, u32 whom, u64 now_ns)
{
	u32 parts = parts_of(out->message.n);

	for (; out->next < parts; out->next++) {
		size_t first = (size_t)out->next * PART_BYTES, left = out->message.n - first;
		struct part part = { out->session,
				     out->step,
				     out->next,
				     parts,
				     out->message.at ? out->message.at + first : NULL,
				     left < PART_BYTES ? left : PART_BYTES };

		if (emit(to, whom, &part))
			return false;
		out->sent_ns = now_ns;
	}
	return true;
}

void inbox_free(struct inbox *in)
{
	bytes_free(&in->message);
	free(in->have);
	*in = (struct inbox){ 0 };
}

void inbox_expect(struct inbox *in, u64 session, u32 step)
{
	inbox_free(in);
	in->session = session;
	in->step = step;
}

/* The first part says how many there are: room for all of them. */
static int make_room(struct inbox *in, u32 parts)
{
	in->have = calloc((parts + 63) / 64, sizeof(*in->have));
	in->message.at = malloc((size_t)parts * PART_BYTES);
	if (!in->have || !in->message.at) {
		inbox_expect(in, in->session, in->step);
		return -ENOMEM;
	}
	in->message.room = (size_t)parts * PART_BYTES;
	in->parts = parts;
	return 0;
}

int inbox_take(struct inbox *in, const struct part *part)
{
	bool last = part->number + 1 == part->parts;

	if (part->session != in->session || part->step != in->step)
		return 0;
	if (!part->parts || part->parts > PARTS_MAX || part->number >= part->parts ||
	    part->n > PART_BYTES || (!last && part->n != PART_BYTES) ||
	    (in->parts && part->parts != in->parts))
		return -EBADMSG;
	if (!in->parts && make_room(in, part->parts))
		return -ENOMEM;
	if (in->have[part->number / 64] >> part->number % 64 & 1)
		return 0;
	in->have[part->number / 64] |= 1ull << part->number % 64;
	if (part->n)
		memcpy(in->message.at + (size_t)part->number * PART_BYTES, part->at, part->n);
	if (last)
		in->message.n = (size_t)part->number * PART_BYTES + part->n;
	return ++in->got == in->parts;
}

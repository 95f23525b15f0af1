/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/strangers.h"

#include <string.h>

#include <xdd/event.h>
#include <xdd/hash.h>

#define MINUTE_NS (60 * XDD_SECOND_NS)

static bool is_known(const struct strangers *s, u64 id)
{
	for (u32 i = 0; i < STRANGERS && i < s->n; i++)
		if (s->id[i] == id)
			return true;
	return false;
}

bool strangers_tell(struct strangers *s, u64 id, u64 now_ns)
{
	if (is_known(s, id))
		return false;
	if (!s->lines || now_ns - s->since_ns >= MINUTE_NS) {
		s->since_ns = now_ns;
		s->lines = 0;
	}
	if (s->lines == STRANGERS_AT_ONCE)
		return false;
	s->lines++;
	s->id[s->n++ % STRANGERS] = id;
	return true;
}

u64 strangers_id(const char *name)
{
	u64 id = XDD_GOLDEN;

	for (; *name; name++)
		id = xdd_mix64(id ^ (u8)*name);
	return id;
}

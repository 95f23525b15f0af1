/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/records/key.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "user/accessors.h"

#define TIME_MAX (1ull << 62)

/* Field @n of @record. Returns whether there is one. */
static bool field_find(struct span record, u8 delimiter, u32 n, struct span *field)
{
	const u8 *at = record.at, *end = at + record.len, *stop;

	while ((stop = memchr(at, delimiter, end - at)) && --n)
		at = stop + 1;
	if (!stop && n > 1)
		return false;
	field->at = at;
	field->len = (stop ?: end) - at;
	return true;
}

static struct span trimmed(struct span text)
{
	while (text.len && (*text.at == ' ' || *text.at == '\r')) {
		text.at++;
		text.len--;
	}
	while (text.len && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\r'))
		text.len--;
	return text;
}

int key_time(struct span text, u64 unit_ns, u64 *ns)
{
	struct span t = trimmed(text);
	bool digits = false, point = false;
	u64 sum = 0, scale = unit_ns;

	for (size_t i = 0; i < t.len; i++) {
		u64 digit = t.at[i] - '0';

		if (t.at[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (digit > 9)
			return -EINVAL;
		digits = true;
		if (point)
			scale /= 10;
		else if (sum > TIME_MAX / 10)
			return -EINVAL;
		sum = point ? sum + digit * scale : sum * 10 + digit * scale;
		if (sum >= TIME_MAX)
			return -EINVAL;
	}
	if (!digits)
		return -EINVAL;
	*ns = sum;
	return 0;
}

enum record_bypass key_find(const struct key_rule *rule, struct span record, struct span *key,
			    u64 *time_ns)
{
	struct span time;

	*key = record;
	if (rule->field && !field_find(record, rule->delimiter, rule->field, key))
		return RECORD_no_field;
	if (!rule->time_field)
		return RECORD_BYPASS_MAX;
	if (!field_find(record, rule->delimiter, rule->time_field, &time) ||
	    key_time(time, rule->unit_ns, time_ns))
		return RECORD_no_time;
	return RECORD_BYPASS_MAX;
}

/* A record is hashed as what LEN bytes at a place of a packet are. The packet starts 8 bytes in
 * front of it: the last, partial word is then read at once, together with bytes before it.
 */
XDD_INLINE void digest_one(const struct xdd_fixed *fixed, const struct xdd_secret *secret,
			   struct span span, struct xdd_digest *digest)
{
	struct xdd_packet packet = {
		.data = span.at - 8,
		.end = span.at + span.len,
		.len = 8 + span.len,
	};
	struct xdd_key key;

	xdd_memset(&key.head, 0, XDD_HEAD_SHORT);
	key.head.kind = XDD_KEY_offset;
	key.head.tail_len = span.len;
	key.head_len = XDD_HEAD_SHORT;
	key.tail = 8;
	xdd_key_hash(fixed, secret, &packet, &key, digest);
}

/* With hash and width of the digest as constants. */
#define DIGESTS_OF(name, width, engine_)                                          \
	static void digests_##name##_##width(const struct xdd_store *store,       \
					     const struct span *keys, u32 n,      \
					     struct xdd_digest *digests)          \
	{                                                                         \
		struct xdd_fixed fixed = store->fixed;                            \
                                                                                  \
		fixed.hash = XDD_HASH_##name;                                     \
		fixed.engine = (engine_);                                         \
		for (u32 i = 0; i < n; i++)                                       \
			digest_one(&fixed, &store->secret, keys[i], &digests[i]); \
	}
#define DIGESTS(name, help)                      \
	DIGESTS_OF(name, wide, XDD_ENGINE_exact) \
	DIGESTS_OF(name, narrow, XDD_ENGINE_bloom)
XDD_HASHES(DIGESTS)

#define DIGESTS_ROW(name, help) { digests_##name##_narrow, digests_##name##_wide },
static void (*const digests_by[][2])(const struct xdd_store *store, const struct span *keys, u32 n,
				     struct xdd_digest *digests) = { XDD_HASHES(DIGESTS_ROW) };

void key_digests(const struct xdd_store *store, const struct span *keys, u32 n,
		 struct xdd_digest *digests)
{
	digests_by[store->fixed.hash][xdd_digest_is_wide(&store->fixed)](store, keys, n, digests);
}

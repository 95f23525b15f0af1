/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/wire.h"

#include <errno.h>
#include <string.h>

#include <xdd/hash.h>

#define WIRE_WORD(name, number, word) [WIRE_##name] = word,
const char *const wire_names[WIRE_TYPE_MAX] = { WIRE_TYPES(WIRE_WORD) };

#define ANSWERS_PER_BYTE 4

static struct xdd_digest siphash(const struct wire_key *key, const u8 *at, size_t n, bool wide)
{
	struct xdd_secret secret = { .sip = { key->sip[0], key->sip[1] } };
	struct xdd_hash hash;

	xdd_hash_start(&hash, XDD_HASH_siphash, wide, &secret, 0);
	for (size_t i = 0; i + 8 <= n; i += 8)
		xdd_sip_word(hash.v, xdd_load64(at + i));
	hash.len = n;
	memcpy(hash.rest, at + n / 8 * 8, n % 8);
	return xdd_sip_finish(&hash, wide);
}

struct wire_key wire_key_of(const struct wire_key *group, const char *name)
{
	struct xdd_digest digest = siphash(group, (const u8 *)name, strlen(name), true);

	return (struct wire_key){ { digest.lo, digest.hi } };
}

struct wire_key wire_group_key(const struct xdd_secret *secret, const char *label)
{
	return wire_key_of(&(struct wire_key){ { secret->sip[0], secret->sip[1] } }, label);
}

u64 wire_tag(const struct wire_key *key, const u8 *at, size_t n)
{
	return siphash(key, at, n, false).lo;
}

size_t wire_seal(struct wire_self *self, struct wire_head *head, u8 *message)
{
	size_t size = WIRE_HEADER + head->payload_bytes;
	u64 tag;

	head->magic = WIRE_MAGIC;
	head->major = WIRE_MAJOR;
	head->minor = WIRE_MINOR;
	head->header_bytes = WIRE_HEADER;
	head->fingerprint = self->fingerprint;
	head->epoch = self->epoch;
	head->order = ++self->order;
	memcpy(message, head, WIRE_HEADER);
	tag = wire_tag(&self->key, message, size);
	memcpy(message + size, &tag, WIRE_TAG);
	return size + WIRE_TAG;
}

static bool is_filter(u8 type)
{
	return type == WIRE_FULL || type == WIRE_DELTA;
}

/* Whether what a FULL or DELTA says of its part can be. */
static bool part_fits(const struct wire_head *head)
{
	u64 n;

	if (head->shift < WIRE_SHIFT_MIN || head->shift > WIRE_SHIFT_MAX || !head->hashes)
		return false;
	n = 1ULL << head->shift;
	return head->parts <= WIRE_PARTS_MAX && head->part < head->parts && !(head->first % 64) &&
	       !(head->bits % 64) && head->bits && head->bits <= n && head->first <= n - head->bits;
}

int wire_open(const struct wire_key *key, const u8 *message, size_t size, struct wire_head *head,
	      const u8 **payload)
{
	u64 tag;

	if (size < WIRE_HEADER + WIRE_TAG)
		return -EBADMSG;
	memcpy(head, message, WIRE_HEADER);
	if (head->magic != WIRE_MAGIC)
		return -EBADMSG;
	if (head->major != WIRE_MAJOR)
		return -EPROTONOSUPPORT;
	if (head->header_bytes < WIRE_HEADER || head->payload_bytes > WIRE_PAYLOAD_MAX ||
	    size != (size_t)head->header_bytes + head->payload_bytes + WIRE_TAG)
		return -EBADMSG;
	memcpy(&tag, message + size - WIRE_TAG, WIRE_TAG);
	if (tag != wire_tag(key, message, size - WIRE_TAG))
		return -EBADMSG;
	if (!head->type || head->type >= WIRE_TYPE_MAX)
		return -EOPNOTSUPP;
	*payload = message + head->header_bytes;
	return !is_filter(head->type) || part_fits(head) ? 0 : -EBADMSG;
}

size_t wire_put_asks(u8 *payload, const struct wire_ask *ask, u32 n)
{
	memcpy(payload, &n, 4);
	memcpy(payload + 4, ask, n * sizeof(*ask));
	return 4 + n * sizeof(*ask);
}

int wire_get_asks(const u8 *payload, size_t size, struct wire_ask *ask)
{
	u32 n;

	if (size < 4)
		return -EBADMSG;
	memcpy(&n, payload, 4);
	if (n > WIRE_ASK_MAX || size < 4 + n * sizeof(*ask))
		return -EBADMSG;
	memcpy(ask, payload + 4, n * sizeof(*ask));
	return n;
}

#define ANSWERS_HEAD 20

size_t wire_put_answers(u8 *payload, const struct wire_answers *answers)
{
	size_t bytes = (answers->n + ANSWERS_PER_BYTE - 1) / ANSWERS_PER_BYTE;

	memcpy(payload, &answers->epoch, 8);
	memcpy(payload + 8, &answers->order, 8);
	memcpy(payload + 16, &answers->n, 4);
	payload += ANSWERS_HEAD;
	memset(payload, 0, bytes);
	for (u32 i = 0; i < answers->n; i++)
		payload[i / ANSWERS_PER_BYTE] |= answers->answer[i] << 2 * (i % ANSWERS_PER_BYTE);
	return ANSWERS_HEAD + bytes;
}

int wire_get_answers(const u8 *payload, size_t size, struct wire_answers *answers)
{
	if (size < ANSWERS_HEAD)
		return -EBADMSG;
	memcpy(&answers->epoch, payload, 8);
	memcpy(&answers->order, payload + 8, 8);
	memcpy(&answers->n, payload + 16, 4);
	payload += ANSWERS_HEAD;
	if (answers->n > WIRE_ASK_MAX ||
	    size - ANSWERS_HEAD < (answers->n + ANSWERS_PER_BYTE - 1) / ANSWERS_PER_BYTE)
		return -EBADMSG;
	for (u32 i = 0; i < answers->n; i++) {
		u8 answer = payload[i / ANSWERS_PER_BYTE] >> 2 * (i % ANSWERS_PER_BYTE) & 3;

		if (answer > WIRE_UNKNOWN)
			return -EBADMSG;
		answers->answer[i] = answer;
	}
	return answers->n;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC 0x43444458
#define VERSION 3

struct raw_head {
	u32 magic;
	u8 version, kind;
	u16 zero;
	u64 from, to, sequence;
};
XDD_ASSERT(sizeof(struct raw_head) == CALL_HEADER, "the header as it is sent");

struct raw_here {
	u64 fingerprint, start_ns;
	u32 first, n, of;
	u8 serves;
	char name[WIRE_NAME], about[CALL_TEXT];
} __attribute__((packed));
XDD_ASSERT(sizeof(struct raw_here) == CALL_HERE_BYTES, "the payload as it is sent");

struct wire_key call_key(const struct wire_key *group, u64 fingerprint)
{
	char name[17];

	snprintf(name, sizeof(name), "%016" PRIx64, (uint64_t)fingerprint);
	return wire_key_of(group, name);
}

size_t call_seal(const struct wire_key *key, const struct call_head *head, u8 *message, size_t n)
{
	struct raw_head raw = {
		MAGIC, VERSION, head->kind, 0, head->from, head->to, head->sequence
	};
	size_t size = CALL_HEADER + n;
	u64 tag;

	memcpy(message, &raw, sizeof(raw));
	tag = wire_tag(key, message, size);
	memcpy(message + size, &tag, CALL_TAG);
	return size + CALL_TAG;
}

int call_open(const struct wire_key *key, const u8 *message, size_t size, struct call_head *head,
	      const u8 **payload, size_t *n)
{
	struct raw_head raw;
	u64 tag;

	if (size < CALL_HEADER + CALL_TAG || size > CALL_MAX)
		return -EBADMSG;
	memcpy(&raw, message, sizeof(raw));
	if (raw.magic != MAGIC)
		return -EBADMSG;
	if (raw.version != VERSION)
		return -EPROTONOSUPPORT;
	memcpy(&tag, message + size - CALL_TAG, CALL_TAG);
	if (raw.kind >= CALL_KIND_MAX || tag != wire_tag(key, message, size - CALL_TAG))
		return -EBADMSG;
	*head = (struct call_head){ raw.kind, raw.from, raw.to, raw.sequence };
	*payload = message + CALL_HEADER;
	*n = size - CALL_HEADER - CALL_TAG;
	return 0;
}

u64 call_from(const u8 *message, size_t size)
{
	u64 from = 0;

	if (size >= CALL_HEADER)
		memcpy(&from, message + offsetof(struct raw_head, from), sizeof(from));
	return from;
}

size_t call_put_here(const struct call_here *here, u8 *payload)
{
	struct raw_here raw = { .fingerprint = here->fingerprint,
				.start_ns = here->start_ns,
				.first = here->first,
				.n = here->n,
				.of = here->of,
				.serves = here->serves };

	snprintf(raw.name, sizeof(raw.name), "%s", here->name);
	snprintf(raw.about, sizeof(raw.about), "%s", here->about);
	memcpy(payload, &raw, sizeof(raw));
	if (!*here->parent)
		return sizeof(raw);
	memset(payload + sizeof(raw), 0, WIRE_NAME);
	memcpy(payload + sizeof(raw), here->parent, strnlen(here->parent, WIRE_NAME - 1));
	return sizeof(raw) + WIRE_NAME;
}

/* A text that goes to logs and terminals. */
static int get_text(const char *from, char *to, size_t size)
{
	size_t length = strnlen(from, size);

	if (!length || length == size)
		return -EBADMSG;
	for (size_t i = 0; i < length; i++)
		if (from[i] < ' ' || from[i] > '~')
			return -EBADMSG;
	memcpy(to, from, length + 1);
	return 0;
}

int call_get_here(const u8 *payload, size_t n, struct call_here *here)
{
	struct raw_here raw;

	if (n != CALL_HERE_BYTES && n != CALL_HERE_MOST)
		return -EBADMSG;
	memcpy(&raw, payload, sizeof(raw));
	if (!raw.n || raw.n > raw.of || raw.first > raw.of - raw.n || raw.serves > 1)
		return -EBADMSG;
	*here = (struct call_here){ .fingerprint = raw.fingerprint,
				    .start_ns = raw.start_ns,
				    .first = raw.first,
				    .n = raw.n,
				    .of = raw.of,
				    .serves = raw.serves };
	if (n == CALL_HERE_MOST &&
	    get_text((const char *)payload + sizeof(raw), here->parent, WIRE_NAME))
		return -EBADMSG;
	return get_text(raw.name, here->name, WIRE_NAME)
		       ?: get_text(raw.about, here->about, CALL_TEXT);
}

/* Parts of an `about` are divided by ", ". Returns where the next one begins. */
static const char *part_end(const char *at)
{
	const char *end = strstr(at, ", ");

	return end ? end : at + strlen(at);
}

static bool has_part(const char *all, const char *part, size_t n)
{
	for (const char *at = all, *end; *at; at = *end ? end + 2 : end) {
		end = part_end(at);
		if ((size_t)(end - at) == n && !strncmp(at, part, n))
			return true;
	}
	return false;
}

/* Append parts of @of that @other has not. Returns whether there were some. */
static bool put_own_parts(const char *of, const char *other, char *text, size_t size)
{
	bool any = false;

	for (const char *at = of, *end; *at; at = *end ? end + 2 : end) {
		size_t used = strlen(text);

		end = part_end(at);
		if (has_part(other, at, end - at))
			continue;
		snprintf(text + used, size - used, "%s%.*s", any ? ", " : "", (int)(end - at), at);
		any = true;
	}
	return any;
}

void call_differs(const char *theirs, const char *ours, char text[CALL_DIFFERS])
{
	size_t used;

	*text = 0;
	if (!put_own_parts(theirs, ours, text, CALL_DIFFERS)) {
		snprintf(text, CALL_DIFFERS, "%s, and what these words do not tell", theirs);
		return;
	}
	used = strlen(text);
	snprintf(text + used, CALL_DIFFERS - used, "; here: ");
	put_own_parts(ours, theirs, text, CALL_DIFFERS);
}

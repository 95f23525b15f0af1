// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pairs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE (1u << 14)
#define LINE_MAX 128

/* A first copy. */
struct pairs_frame {
	struct xdd_digest digest;
	u64 number; /* in its input, from 1; 0: the entry is free */
	s64 time_ns;
	u64 seen; /* when the window began: at its first copy, or with --refresh at its last */
	u32 input;
	u32 iface; /* in its input, from 0 */
};

static struct pairs_frame *entry_of(struct pairs_frame *frames, size_t size,
				    const struct xdd_digest *digest)
{
	size_t at = digest->lo & (size - 1);

	while (frames[at].number && !digest_equal(&frames[at].digest, digest))
		at = (at + 1) & (size - 1);
	return &frames[at];
}

static bool is_within(const struct pairs *p, const struct pairs_frame *frame, u64 time)
{
	u64 apart = frame->seen > time ? frame->seen - time : time - frame->seen;

	return !p->window || apart <= p->window;
}

static size_t count_live(const struct pairs *p)
{
	size_t live = 0;

	for (size_t i = 0; i < p->size; i++)
		live += p->frames[i].number &&
			(p->keep_all || is_within(p, &p->frames[i], p->latest));
	return live;
}

/* Make room: leave behind what is out of the window, and double where that is not enough. */
static int make_room(struct pairs *p)
{
	size_t size = p->size;
	struct pairs_frame *to;

	while (size && count_live(p) > size / 4)
		size *= 2;
	size = size ? size : FIRST_SIZE;
	to = calloc(size, sizeof(*to));
	if (!to)
		return -ENOMEM;
	p->used = 0;
	for (size_t i = 0; i < p->size; i++) {
		struct pairs_frame *from = &p->frames[i];

		if (!from->number || (!p->keep_all && !is_within(p, from, p->latest)))
			continue;
		*entry_of(to, size, &from->digest) = *from;
		p->used++;
	}
	free(p->frames);
	p->frames = to;
	p->size = size;
	return 0;
}

static int put(struct pairs *p, const char *text)
{
	return sink_write(&p->sink, text, strlen(text));
}

/* A field of CSV (RFC 4180): quoted where it holds what would end it. */
static int put_quoted(struct pairs *p, const char *text)
{
	int rc;

	if (!strpbrk(text, ",\"\r\n"))
		return put(p, text);
	rc = put(p, "\"");
	for (const char *c = text; *c && !rc; c++) {
		rc = *c == '"' ? put(p, "\"") : 0;
		if (!rc)
			rc = sink_write(&p->sink, c, 1);
	}
	return rc ? rc : put(p, "\"");
}

/* Where the time of one is unsigned: the difference is exact if it is below 292 years. */
static int put_pair(struct pairs *p, const struct capture_item *copy,
		    const struct pairs_frame *first)
{
	char line[LINE_MAX];
	int rc;

	if (first)
		snprintf(line, sizeof(line), "%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%u,%u,",
			 (uint64_t)copy->number, (uint64_t)first->number,
			 (int64_t)(copy->time_ns - first->time_ns), copy->iface->number,
			 first->iface);
	else
		snprintf(line, sizeof(line), "%" PRIu64 ",,,%u,,", (uint64_t)copy->number,
			 copy->iface->number);
	rc = put(p, line);
	if (!rc)
		rc = put_quoted(p, p->inputs[copy->input]);
	if (!rc)
		rc = put(p, ",");
	if (!rc && first)
		rc = put_quoted(p, p->inputs[first->input]);
	return rc ? rc : put(p, "\n");
}

int pairs_open(struct pairs *p, const char *path, char **inputs, const struct xdd_store *store,
	       u64 window)
{
	int rc;

	p->path = path;
	p->inputs = inputs;
	p->fixed = store->fixed;
	p->secret = store->secret;
	p->window = window;
	rc = make_room(p);
	if (!rc)
		rc = sink_open(&p->sink, path);
	p->open = !rc;
	return rc ? rc
		  : put(p, "copy,first,nanoseconds_apart,copy_interface,first_interface,copy_file,"
			   "first_file\n");
}

static void remember(struct pairs *p, struct pairs_frame *entry, const struct xdd_digest *digest,
		     const struct capture_item *item, u64 time)
{
	p->used += !entry->number;
	*entry = (struct pairs_frame){
		.digest = *digest,
		.number = item->number,
		.time_ns = item->time_ns,
		.seen = time,
		.input = item->input,
		.iface = item->iface->number,
	};
}

int pairs_take(struct pairs *p, const struct capture_item *item, const struct xdd_packet *packet,
	       u64 time, bool seen)
{
	struct xdd_identity identity;
	struct pairs_frame *entry;

	if (identity_of(&p->fixed, &p->secret, packet, &identity) != XDD_BYPASS_MAX)
		return 0;
	p->keep_all |= time < p->latest;
	p->latest = time > p->latest ? time : p->latest;
	if (p->used >= p->size / 2 && make_room(p))
		return -ENOMEM;
	entry = entry_of(p->frames, p->size, &identity.digest);
	if (!seen) {
		remember(p, entry, &identity.digest, item, time);
		return 0;
	}
	if (!entry->number || !is_within(p, entry, time))
		return put_pair(p, item, NULL);
	if (p->fixed.refresh)
		entry->seen = time;
	return put_pair(p, item, entry);
}

int pairs_finish(struct pairs *p)
{
	return p->open ? sink_finish(&p->sink) : 0;
}

int pairs_publish(struct pairs *p)
{
	return p->open ? sink_publish(&p->sink) : 0;
}

void pairs_close(struct pairs *p)
{
	if (p->open)
		sink_close(&p->sink);
	free(p->frames);
	p->frames = NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "user/accessors.h"
#include "user/batch.h"
#include "user/capture/packet.h"
#include "user/capture/source.h"
#include "user/identity.h"
#include "user/joint/set.h"
#include "user/message.h"
#include "user/top.h"

#define READ_BUFFER (1u << 20)
#define FRONT 8 /* bytes before a key that hashing reads */

/* Where a file's keys go: each is kept once, told by 128 bits. */
struct taker {
	struct joint_list *list;
	const struct joint_reading *r;
	struct xdd_store seen;
};

int joint_reading_open(struct joint_reading *r, struct options *o, char *err, size_t err_size)
{
	*r = (struct joint_reading){ .o = o, .rule = { o->field, 0, 1, o->delimiter } };
	if (o->seed_random)
		return refuse(err, err_size, -EINVAL,
			      "--seed random: give a number, which all monitors can know");
	if (option_given(o, OPT_delimiter) && !o->field)
		return refuse(err, err_size, -EINVAL, "--delimiter says nothing without --field");
	if (filter_open(&r->filter, o->filter, o->direction))
		return refuse(err, err_size, -EINVAL, "%s", r->filter.error);
	o->engine = XDD_ENGINE_exact;
	return derive_config(o, DERIVE_FILE, 1, 1, 1, &r->derived, err, err_size);
}

void joint_reading_close(struct joint_reading *r)
{
	filter_close(&r->filter);
}

static int open_taker(struct taker *t)
{
	struct xdd_live live = t->r->derived.live;
	struct xdd_fixed fixed = t->r->derived.fixed;
	int rc;

	fixed.placement = XDD_PLACEMENT_percpu;
	live.window_ns = STORE_FOREVER_NS;
	rc = store_open(&t->seen, &fixed, &live, t->r->derived.memory_bytes);
	t->seen.in_order = true;
	t->list->secret = t->seen.secret;
	return rc;
}

static int grow(struct joint_list *list)
{
	u64 room = 2 * list->room + 1024;
	u64 *digests = realloc(list->digests, room * sizeof(*digests)), *where;

	if (!digests)
		return -ENOMEM;
	list->digests = digests;
	where = realloc(list->where, room * sizeof(*where));
	if (!where)
		return -ENOMEM;
	list->where = where;
	list->room = room;
	return 0;
}

static int take(struct taker *t, const struct xdd_digest *digest, u64 where)
{
	struct joint_list *list = t->list;
	u64 time = list->records;
	bool seen;

	batch_ask(&t->seen, digest, &time, 1, &seen);
	if (t->seen.forgotten || t->seen.unanswered)
		return -ENOMEM;
	if (seen)
		return 0;
	if (list->n == list->room && grow(list))
		return -ENOMEM;
	if (list->n == JOINT_KEYS_MAX)
		return -E2BIG;
	list->digests[list->n] = xdd_mix64(digest->lo ^ xdd_mix64(digest->hi));
	list->where[list->n++] = where;
	return 0;
}

/* @rc is what take() returned. */
static int refuse_key(const struct taker *t, int rc, char *err, size_t err_size)
{
	return refuse(err, err_size, rc, "%s: %s", t->list->path,
		      rc == -E2BIG ? "more keys than can be joined" : "no memory for its keys");
}

static int take_lines(struct taker *t, char *err, size_t err_size)
{
	struct joint_list *list = t->list;
	const u8 separator = t->r->o->null ? 0 : '\n', *at = list->text;
	const u8 *end = at + list->text_bytes;
	int rc = 0;

	while (!rc && at < end) {
		const u8 *stop = memchr(at, separator, end - at) ?: end;
		struct span record = { at, stop - at }, key;
		struct xdd_digest digest;
		u64 time;

		list->records++;
		if (key_find(&t->r->rule, record, &key, &time) != RECORD_BYPASS_MAX) {
			list->without++;
		} else {
			key_digests(&t->seen, &key, 1, &digest);
			rc = take(t, &digest, at - list->text);
		}
		at = stop == end ? end : stop + 1;
	}
	return rc ? refuse_key(t, rc, err, err_size) : 0;
}

/* Returns 1 if @item is a frame with a key. */
static int find_key(const struct joint_reading *r, const struct xdd_secret *secret,
		    const struct capture_item *item, struct xdd_identity *identity)
{
	struct xdd_packet packet = capture_packet(item);
	struct capture_filter *filter = (struct capture_filter *)&r->filter;
	int rc = filter_takes(filter, packet.link, packet.data, packet.len, packet.wire_len,
			      capture_direction(item));

	if (rc <= 0)
		return rc;
	*identity = (struct xdd_identity){ 0 };
	return identity_of(&r->derived.fixed, secret, &packet, identity) == XDD_BYPASS_MAX;
}

static int take_frame(struct taker *t, const struct capture_item *item, char *err, size_t err_size)
{
	struct xdd_identity identity;
	int rc = find_key(t->r, &t->list->secret, item, &identity);

	t->list->records++;
	if (rc < 0)
		return refuse(err, err_size, rc, "%s", t->r->filter.error);
	t->list->without += !rc;
	rc = rc ? take(t, &identity.digest, item->number) : 0;
	return rc ? refuse_key(t, rc, err, err_size) : 0;
}

static int take_capture(struct taker *t, char *err, size_t err_size)
{
	struct capture_reader *reader;
	struct capture_item item;
	int rc = capture_open(&reader, t->list->path, READ_BUFFER, err, err_size);

	if (rc)
		return rc;
	while ((rc = capture_next(reader, &item)) > 0) {
		rc = item.kind == CAPTURE_FRAME ? take_frame(t, &item, err, err_size) : 0;
		if (rc)
			break;
	}
	if (rc < 0 && capture_error(reader) && *capture_error(reader))
		refuse(err, err_size, rc, "%s", capture_error(reader));
	capture_close(reader);
	return rc;
}

/* All of @s, plain or not, behind bytes that hashing reads. */
static int take_text(struct joint_list *list, struct source *s)
{
	int rc = source_need(s, SIZE_MAX / 2);

	if (rc < 0)
		return rc;
	list->text_bytes = source_ready(s);
	list->buffer = calloc(1, FRONT + list->text_bytes + 1);
	if (!list->buffer)
		return -ENOMEM;
	list->text = list->buffer + FRONT;
	memcpy(list->text, source_at(s), list->text_bytes);
	return 0;
}

static int read_start(struct joint_list *list, char *err, size_t err_size)
{
	struct source s;
	int rc = source_open(&s, list->path, READ_BUFFER);

	if (rc)
		return refuse(err, err_size, rc, "%s: cannot be read: %s", list->path,
			      strerror(-rc));
	rc = source_need(&s, 4);
	list->is_capture = rc > 0 && capture_is_magic(source_at(&s));
	if (list->is_capture && (!strcmp(list->path, "-") || !s.regular))
		rc = refuse(err, err_size, -EINVAL,
			    "%s: a capture is read twice: give it as a file", list->path);
	else if (rc >= 0 && !list->is_capture)
		rc = take_text(list, &s);
	if (rc < 0 && rc != -EINVAL)
		refuse(err, err_size, rc, "%s: cannot be read to its end: %s", list->path,
		       rc == -EBADMSG && s.problem ? s.problem : strerror(-rc));
	source_close(&s);
	return rc < 0 ? rc : 0;
}

int joint_list_read(struct joint_list *list, const struct joint_reading *r, const char *path,
		    char *err, size_t err_size)
{
	struct taker t = { .list = list, .r = r };
	int rc;

	*list = (struct joint_list){ .path = path };
	rc = read_start(list, err, err_size);
	if (rc)
		return rc;
	if (open_taker(&t))
		rc = refuse(err, err_size, -ENOMEM, "%s: no memory for its keys", path);
	else if (list->is_capture)
		rc = take_capture(&t, err, err_size);
	else
		rc = take_lines(&t, err, err_size);
	store_close(&t.seen);
	return rc;
}

void joint_list_close(struct joint_list *list)
{
	free(list->digests);
	free(list->where);
	free(list->buffer);
	*list = (struct joint_list){ 0 };
}

static void print_line(const struct joint_list *list, u64 where, u8 separator, FILE *to)
{
	const u8 *at = list->text + where, *end = list->text + list->text_bytes;
	const u8 *stop = memchr(at, separator, end - at) ?: end;

	fwrite(at, 1, stop - at, to);
	putc(separator, to);
}

static void print_frame(const struct joint_list *list, const struct joint_reading *r,
			const struct capture_item *item, bool named, FILE *to)
{
	struct xdd_packet packet = capture_packet(item);
	struct xdd_identity identity = { 0 };
	char text[TOP_TEXT_MAX];
	struct xdd_about about;

	if (identity_of(&r->derived.fixed, &list->secret, &packet, &identity) != XDD_BYPASS_MAX)
		return;
	xdd_about(&r->derived.fixed, &packet, &identity.key, &about);
	fprintf(to, "%s%s%" PRIu64 "\t%s%c", named ? list->path : "", named ? ":" : "",
		(uint64_t)item->number, top_text(&about, r->derived.fixed.key, text),
		r->o->null ? 0 : '\n');
}

/* Once more through the file, for what was not kept of it. */
static int print_frames(const struct joint_list *list, const struct joint_reading *r,
			const u32 *which, u64 n, bool named, FILE *to, char *err, size_t err_size)
{
	struct capture_reader *reader;
	struct capture_item item;
	int rc = capture_open(&reader, list->path, READ_BUFFER, err, err_size);

	if (rc)
		return rc;
	for (u64 i = 0; i < n && (rc = capture_next(reader, &item)) > 0;) {
		if (item.kind != CAPTURE_FRAME || item.number != list->where[which[i]])
			continue;
		print_frame(list, r, &item, named, to);
		i++;
	}
	if (rc < 0)
		refuse(err, err_size, rc, "%s", capture_error(reader));
	capture_close(reader);
	return rc < 0 ? rc : 0;
}

int joint_list_print(const struct joint_list *list, const struct joint_reading *r, const u32 *which,
		     u64 n, bool named, FILE *to, char *err, size_t err_size)
{
	if (list->is_capture)
		return print_frames(list, r, which, n, named, to, err, err_size);
	for (u64 i = 0; i < n; i++)
		print_line(list, list->where[which[i]], r->o->null ? 0 : '\n', to);
	return 0;
}

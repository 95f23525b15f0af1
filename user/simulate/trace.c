/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trace.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/capture/source.h"
#include "user/message.h"
#include "user/secret.h"
#include "user/simulate/fields.h"
#include "user/store.h"
#include "user/units.h"

#define BUFFER_BYTES (256 * 1024)
#define LINE_MAX_BYTES (1u << 30)
#define HEADER_MAX_BYTES 4096
#define TIME_MAX_NS (1ull << 62)

struct reader {
	struct source source;
	struct xdd_store numbers; /* the time of a key is its number */
	struct trace *trace;
	const char *path; /* as messages name it */
	u64 line;
	int columns;		   /* 0: the whole line is the event */
	int event, time, producer; /* index of the column; -1: there is none */
	bool times, producers;
	u32 from; /* who produced the record at hand */
	u64 last_ns;
	struct field fields[FIELDS_MAX];
	char *err;
	size_t err_size;
};

/* Complain about the current line. */
#define bad_line(r, format, ...)                                                      \
	refuse((r)->err, (r)->err_size, -EBADMSG, "%s line %llu: " format, (r)->path, \
	       (unsigned long long)(r)->line, ##__VA_ARGS__)

static int bad_read(struct reader *r, int code)
{
	if (code == -EBADMSG)
		return bad_line(r, "%s", r->source.problem);
	return refuse(r->err, r->err_size, code, "cannot read %s: %s", r->path, strerror(-code));
}

/* The table that numbers the events: the exact engine, with a window that forgets nothing. */
static int numbers_open(struct xdd_store *numbers)
{
	const struct xdd_fixed fixed = {
		.engine = XDD_ENGINE_exact,
		.hashes = 1,
		.slices = 1,
		.blocks = 1,
		.lines_per_block = 1,
		.tick_ns = 1,
	};
	const struct xdd_live live = { .window_ns = STORE_FOREVER_NS };

	return store_open(numbers, &fixed, &live, 1ull << 62);
}

static struct xdd_digest digest_of(const struct xdd_secret *secret, const struct field *event)
{
	const u8 *base = (const u8 *)event->at, *end = base + event->n;
	u32 stripes = event->n - event->n % XDD_STRIPE, off = 0;
	struct xdd_hash hash;

	xdd_hash_start(&hash, XDD_HASH_siphash, true, secret, 0);
	for (; off < stripes; off += XDD_BLOCK) {
		u32 n = stripes - off < XDD_BLOCK ? stripes - off : XDD_BLOCK;

		xdd_hash_block(&hash, XDD_HASH_siphash, true, secret, base + off, end, n);
	}
	if (event->n > stripes)
		xdd_hash_rest(&hash, base, end, stripes, event->n - stripes);
	return xdd_hash_finish(&hash, XDD_HASH_siphash, true, secret);
}

/* Room for one more record. Returns 0 or -ENOMEM. */
static int make_room(struct trace *trace, bool times, bool producers)
{
	u64 room = trace->room ? trace->room * 2 : 4096;
	void *more;

	if (trace->records < trace->room)
		return 0;
	more = realloc(trace->ids, room * sizeof(*trace->ids));
	if (!more)
		return -ENOMEM;
	trace->ids = more;
	more = times ? realloc(trace->times_ns, room * sizeof(*trace->times_ns)) : NULL;
	if (times && !more)
		return -ENOMEM;
	trace->times_ns = more;
	more = producers ? realloc(trace->producers, room * sizeof(*trace->producers)) : NULL;
	if (producers && !more)
		return -ENOMEM;
	trace->producers = more;
	trace->room = room;
	return 0;
}

static int take_event(struct reader *r, const struct field *event)
{
	struct xdd_digest digest = digest_of(&r->numbers.secret, event);
	struct trace *trace = r->trace;
	bool fresh = false;
	u64 *number;

	number = store_exact(&r->numbers, &digest, trace->domain, &fresh);
	if (!number || make_room(trace, r->times, r->producers))
		return refuse(r->err, r->err_size, -ENOMEM,
			      "%s line %llu: no memory for more events: read fewer with --records",
			      r->path, (unsigned long long)r->line);
	trace->domain += fresh;
	if (trace->domain > UINT32_MAX)
		return bad_line(r, "more than 4294967295 different events: read fewer with "
				   "--records");
	if (r->times)
		trace->times_ns[trace->records] = r->last_ns;
	if (r->producers)
		trace->producers[trace->records] = r->from;
	trace->ids[trace->records++] = *number;
	return 0;
}

static int take_time(struct reader *r, const struct field *field)
{
	char text[64] = "";
	u64 ns;

	if (field->n + 2 > sizeof(text))
		return bad_line(r, "a time of %zu characters", field->n);
	snprintf(text, sizeof(text), "%.*s", (int)field->n, field->at);
	if (field->n && text[field->n - 1] >= '0' && text[field->n - 1] <= '9')
		strcat(text, "s");
	if (units_time(text, &ns) || ns > TIME_MAX_NS)
		return bad_line(r,
				"'%.*s' is no time: seconds with up to 9 decimals, or with a "
				"unit (12ms)",
				(int)field->n, field->at);
	if (r->times && ns < r->last_ns)
		return bad_line(r, "its time is before the previous one: sort the trace by time");
	r->last_ns = ns;
	return 0;
}

static int take_columns(struct reader *r, const struct field *line)
{
	int n = fields_cut(line, r->fields), err;

	if (n < 0)
		return bad_line(r, "a quoted column does not end at a comma");
	if (n != r->columns)
		return bad_line(r, "%d columns instead of %d (quote an event that has commas)", n,
				r->columns);
	if (r->time >= 0) {
		err = take_time(r, &r->fields[r->time]);
		if (err)
			return err;
	}
	if (r->producers && r->producer >= 0)
		r->from = digest_of(&r->numbers.secret, &r->fields[r->producer]).lo >> 32;
	return take_event(r, &r->fields[r->event]);
}

/* The next line, without its newline. Returns 1, 0 at the end, or a negative errno. */
static int next_line(struct reader *r, struct field *line)
{
	struct source *source = &r->source;
	size_t searched = 0, ready;
	char *end = NULL;
	int rc = 1;

	r->line++;
	while (rc > 0 && !end) {
		ready = source_ready(source);
		line->at = (char *)source->buffer + source->pos;
		line->n = ready;
		end = memchr(line->at + searched, '\n', ready - searched);
		searched = ready;
		if (ready > LINE_MAX_BYTES)
			return bad_line(r, "longer than 1GiB");
		if (!end)
			rc = source_need(source, ready + 1);
	}
	if (rc < 0)
		return bad_read(r, rc);
	if (end)
		line->n = end - line->at;
	source_consume(source, line->n + !!end);
	return end || line->n;
}

/* Take @text for the names of the columns. Returns whether one is the event; and in *@others
 * whether another has a name that is known.
 */
static bool name_columns(struct reader *r, const char *text, size_t n, bool *others)
{
	char copy[HEADER_MAX_BYTES];
	struct field names = { copy, n };

	*others = false;
	r->event = r->time = r->producer = -1;
	if (n > sizeof(copy))
		return false;
	memcpy(copy, text, n);
	r->columns = fields_cut(&names, r->fields);
	if (r->columns > FIELDS_MAX)
		return false;
	for (int i = 0; i < r->columns; i++) {
		if (field_is(&r->fields[i], "event"))
			r->event = i;
		else if (field_is(&r->fields[i], "time"))
			r->time = i;
		else if (field_is(&r->fields[i], "producer"))
			r->producer = i;
		*others |= r->time == i || r->producer == i;
	}
	return r->event >= 0;
}

/* The first line: a header, or the first record. */
static int take_first_line(struct reader *r, const struct field *line)
{
	bool others;

	if (name_columns(r, line->at, line->n, &others) && others)
		return 0;
	r->columns = 0;
	r->time = r->producer = -1;
	return take_event(r, line);
}

static int take_lines(struct reader *r, u64 most, bool header)
{
	struct field line;
	int rc;

	while (r->trace->records < most) {
		rc = next_line(r, &line);
		if (rc <= 0)
			return rc;
		if (header)
			rc = take_first_line(r, &line);
		else if (r->columns)
			rc = take_columns(r, &line);
		else
			rc = take_event(r, &line);
		if (rc)
			return rc;
		if (r->times && r->time < 0)
			return refuse(r->err, r->err_size, -EBADMSG,
				      "%s has no column time: give --rate, or --window-records "
				      "instead of --window",
				      r->path);
		if (r->producers && r->producer < 0)
			return refuse(
				r->err, r->err_size, -EBADMSG,
				"%s has no column producer, which --placement tree needs: add "
				"one, or leave --trace out",
				r->path);
		header = false;
	}
	return 0;
}

static int take_names(struct reader *r, const char *columns)
{
	bool others;

	if (name_columns(r, columns, strlen(columns), &others))
		return 0;
	return refuse(r->err, r->err_size, -EINVAL,
		      "--trace-columns %s: none of up to %d columns is called event; for example "
		      "producer,event,time",
		      columns, FIELDS_MAX);
}

int trace_read(struct trace *trace, const char *path, const char *columns, bool times,
	       bool producers, u64 most, char *err, size_t err_size)
{
	struct reader r = { .trace = trace, .path = strcmp(path, "-") ? path : "stdin" };
	int rc;

	memset(trace, 0, sizeof(*trace));
	r.times = times;
	r.producers = producers;
	r.time = r.producer = -1;
	r.err = err;
	r.err_size = err_size;
	rc = columns ? take_names(&r, columns) : 0;
	if (rc)
		return rc;
	rc = source_open(&r.source, path, BUFFER_BYTES);
	if (rc)
		return bad_read(&r, rc);
	rc = numbers_open(&r.numbers);
	rc = rc ? bad_read(&r, rc) : take_lines(&r, most, !columns);
	if (!rc && !trace->records)
		rc = refuse(err, err_size, -EBADMSG, "%s has no events", r.path);
	store_close(&r.numbers);
	source_close(&r.source);
	return rc;
}

void trace_close(struct trace *trace)
{
	free(trace->ids);
	free(trace->times_ns);
	free(trace->producers);
	memset(trace, 0, sizeof(*trace));
}

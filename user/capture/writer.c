/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "writer.h"

#define NS_PER_S 1000000000ll
#define US_NS 1000

#define PCAP_MICRO 0xa1b2c3d4
#define PCAP_NANO 0xa1b23c4d
#define PCAP_SNAPLEN 262144 /* where no input says: what capture tools write */

#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define SECTION_BLOCK 28 /* without options */
#define SECTION_LENGTH_AT 16
#define SECTION_LENGTH_UNKNOWN (~0ull)
#define PACKET_HEAD 28	 /* of an enhanced packet block, up to the frame */
#define PACKET_ID_END 12 /* ... up to behind the interface */
#define OPTIONS_END 4	 /* the marker, which says nothing by itself */
#define OPTION_COMMENT 1
#define OPTION_NAME 2
#define OPTION_TSRESOL 9
#define OPTION_TSOFFSET 14
#define NAME_MAX_BYTES 16
#define COMMENT_MAX_BYTES 256

__attribute__((format(printf, 3, 4))) static int writer_fail(struct capture_writer *w, int rc,
							     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->error, sizeof(w->error), format, args);
	va_end(args);
	return rc;
}

static const char *writer_name(const struct capture_writer *w)
{
	if (w->sink.path)
		return w->sink.path;
	return strcmp(w->path, "-") ? w->path : "standard output";
}

static int put(struct capture_writer *w, const void *data, size_t len)
{
	int rc = sink_write(&w->sink, data, len);

	if (rc)
		return writer_fail(w, rc, "%s: cannot write: %s", writer_name(w), strerror(-rc));
	return 0;
}

/* Does a block say something that only this block can hold? */
static bool describes(const struct capture_item *item)
{
	switch (item->kind) {
	case CAPTURE_FRAME:
		return false;
	case CAPTURE_INTERFACE:
		return item->iface->described;
	case CAPTURE_SECTION:
		return item->raw_len > SECTION_BLOCK + OPTIONS_END;
	case CAPTURE_OTHER:
		break;
	}
	return true;
}

static bool has_options(const struct capture_item *item)
{
	u32 padded = item->len + (-item->len & 3);

	return item->block && item->block != BLOCK_SIMPLE &&
	       item->raw_len > PACKET_HEAD + padded + 4 + OPTIONS_END;
}

/* pcap made anew */

static int pcap_head(struct capture_writer *w, u32 link)
{
	u32 snaplen = capture_set_snaplen(w->set);
	bool nano = capture_set_finer_than_us(w->set);
	u8 head[24], *at = head;

	w->started = true;
	w->link = link;
	w->ticks_ns = nano ? 1 : US_NS;
	at = put32(at, nano ? PCAP_NANO : PCAP_MICRO);
	at = put16(at, 2);
	at = put16(at, 4);
	at = put64(at, 0); /* time zone and accuracy: unused by everyone */
	at = put32(at, snaplen ? snaplen : PCAP_SNAPLEN);
	put32(at, link);
	return put(w, head, sizeof(head));
}

static int pcap_check(struct capture_writer *w, const struct capture_item *item)
{
	if (item->iface->link != w->link)
		return writer_fail(
			w, -EPROTOTYPE,
			"%s: a pcap file has one link type, and the input has frames of %u "
			"and %u: write it with --format pcapng",
			writer_name(w), w->link, item->iface->link);
	if (item->time_ns < 0 || item->time_ns / NS_PER_S > (s64) ~(u32)0)
		return writer_fail(
			w, -EOVERFLOW,
			"%s: frame %llu is dated outside the years 1970 to 2106 that a pcap "
			"file can say: write it with --format pcapng",
			writer_name(w), (unsigned long long)item->number);
	return 0;
}

static int pcap_frame(struct capture_writer *w, const struct capture_item *item)
{
	u8 head[16], *at = head;
	u32 fraction;
	int rc;

	if (!w->started) {
		rc = pcap_head(w, item->iface->link);
		if (rc)
			return rc;
	}
	rc = pcap_check(w, item);
	if (rc)
		return rc;
	fraction = item->time_ns % NS_PER_S;
	w->lost.times += fraction % w->ticks_ns != 0;
	w->lost.options += has_options(item);
	at = put32(at, item->time_ns / NS_PER_S);
	at = put32(at, fraction / w->ticks_ns);
	at = put32(at, item->len);
	put32(at, item->wire_len);
	rc = put(w, head, sizeof(head));
	return rc ? rc : put(w, item->data, item->len);
}

static int pcap_put(struct capture_writer *w, const struct capture_item *item, bool keep)
{
	w->lost.blocks += describes(item);
	return item->kind == CAPTURE_FRAME && keep ? pcap_frame(w, item) : 0;
}

/* pcapng made anew: one little-endian section with the interfaces of all inputs */

static int section_head(struct capture_writer *w)
{
	u8 block[SECTION_BLOCK], *at = block;

	w->started = true;
	at = put32(at, BLOCK_SECTION);
	at = put32(at, sizeof(block));
	at = put32(at, BYTE_ORDER_MAGIC);
	at = put16(at, 1);
	at = put16(at, 0);
	at = put64(at, SECTION_LENGTH_UNKNOWN);
	put32(at, sizeof(block));
	return put(w, block, sizeof(block));
}

/* Can the block be copied into a little-endian section? */
static bool is_ours(const struct capture_item *item)
{
	return item->block && !item->big_endian;
}

/* The option @code with @text of up to @most bytes. Returns where the next one goes. */
static u8 *put_text(u8 *at, u32 code, const char *text, size_t most)
{
	size_t len = strnlen(text, most);

	at = put16(at, code);
	at = put16(at, len);
	memset(at + len, 0, -len & 3);
	memcpy(at, text, len);
	return at + len + (-len & 3);
}

static int interface_block(struct capture_writer *w, const struct capture_item *item)
{
	const struct capture_iface *iface = item->iface;
	u8 block[68] = {}, *at = block + 8;
	u32 len;

	if (is_ours(item))
		return put(w, item->raw, item->raw_len);
	at = put16(at, iface->link);
	at = put16(at, 0);
	at = put32(at, iface->snaplen);
	if (iface->name)
		at = put_text(at, OPTION_NAME, iface->name, NAME_MAX_BYTES);
	at = put16(at, OPTION_TSRESOL);
	at = put16(at, 1);
	at = put32(at, iface->resolution);
	if (iface->offset) {
		at = put16(at, OPTION_TSOFFSET);
		at = put16(at, 8);
		at = put64(at, iface->offset);
	}
	at = put32(at, 0); /* end of options */
	len = at - block + 4;
	put32(at, len);
	put32(block, BLOCK_INTERFACE);
	put32(block + 4, len);
	w->lost.blocks += describes(item);
	return put(w, block, len);
}

/* Options and all; only the number of the interface is another here. */
static int packet_copy(struct capture_writer *w, const struct capture_item *item)
{
	u8 head[PACKET_ID_END];
	int rc;

	put32(head, BLOCK_ENHANCED);
	put32(head + 4, item->raw_len);
	put32(head + 8, item->iface->global);
	rc = put(w, head, sizeof(head));
	return rc ? rc : put(w, item->raw + sizeof(head), item->raw_len - sizeof(head));
}

/* What stands behind the frame of a block of @len bytes and this: padding, options, the length again.
 * Returns its bytes.
 */
static u32 packet_tail(const struct capture_item *item, u8 *tail, u32 len)
{
	u8 *at = tail + (-item->len & 3);

	if (item->comment) {
		at = put_text(at, OPTION_COMMENT, item->comment, COMMENT_MAX_BYTES);
		at = put32(at, 0); /* end of options */
	}
	len += at + 4 - tail;
	put32(at, len);
	return at + 4 - tail;
}

static int packet_block(struct capture_writer *w, const struct capture_item *item)
{
	u8 head[PACKET_HEAD], tail[3 + 4 + COMMENT_MAX_BYTES + 4 + 4] = {}, *at = head;
	u32 behind, len = PACKET_HEAD + item->len;
	int rc;

	if (is_ours(item) && item->block != BLOCK_SIMPLE)
		return packet_copy(w, item);
	behind = packet_tail(item, tail, len);
	len += behind;
	w->lost.options += has_options(item);
	at = put32(at, BLOCK_ENHANCED);
	at = put32(at, len);
	at = put32(at, item->iface->global);
	at = put32(at, item->ticks >> 32);
	at = put32(at, item->ticks);
	at = put32(at, item->len);
	put32(at, item->wire_len);
	rc = put(w, head, sizeof(head));
	if (!rc)
		rc = put(w, item->data, item->len);
	return rc ? rc : put(w, tail, behind);
}

/* Names and secrets mean the same everywhere; statistics count what is no longer so. */
static int other_block(struct capture_writer *w, const struct capture_item *item)
{
	bool general = item->block == BLOCK_NAMES || item->block == BLOCK_SECRETS ||
		       item->block == BLOCK_CUSTOM;

	if (general && is_ours(item))
		return put(w, item->raw, item->raw_len);
	w->lost.blocks++;
	return 0;
}

static int pcapng_put(struct capture_writer *w, const struct capture_item *item, bool keep)
{
	int rc = w->started ? 0 : section_head(w);

	if (rc)
		return rc;
	switch (item->kind) {
	case CAPTURE_FRAME:
		return keep ? packet_block(w, item) : 0;
	case CAPTURE_INTERFACE:
		return interface_block(w, item);
	case CAPTURE_SECTION:
		w->lost.blocks += describes(item);
		return 0;
	case CAPTURE_OTHER:
		break;
	}
	return other_block(w, item);
}

/* Copies */

/* A section that states its length says too much once a frame of it is left out. */
static int section_end(struct capture_writer *w)
{
	static const u64 unknown = SECTION_LENGTH_UNKNOWN;
	bool wrong = w->sized && w->dropped;
	int rc;

	w->sized = w->dropped = false;
	if (!wrong)
		return 0;
	rc = sink_patch(&w->sink, w->section_at + SECTION_LENGTH_AT, &unknown, sizeof(unknown));
	if (rc)
		return writer_fail(w, rc, "%s: cannot write: %s", writer_name(w), strerror(-rc));
	return 0;
}

static int section_begin(struct capture_writer *w, const struct capture_item *item)
{
	u8 head[SECTION_LENGTH_AT + 8];
	int rc = section_end(w);

	if (rc)
		return rc;
	memcpy(head, item->raw, sizeof(head));
	w->sized = get64(head + SECTION_LENGTH_AT, false) != SECTION_LENGTH_UNKNOWN;
	w->section_at = w->sink.offset;
	if (w->sized && !sink_can_patch(&w->sink)) {
		put64(head + SECTION_LENGTH_AT, SECTION_LENGTH_UNKNOWN);
		w->sized = false;
	}
	rc = put(w, head, sizeof(head));
	return rc ? rc : put(w, item->raw + sizeof(head), item->raw_len - sizeof(head));
}

static int copy_put(struct capture_writer *w, const struct capture_item *item, bool keep)
{
	if (item->kind == CAPTURE_SECTION)
		return section_begin(w, item);
	if (item->kind != CAPTURE_FRAME || keep)
		return put(w, item->raw, item->raw_len);
	w->dropped = true;
	return 0;
}

int capture_writer_open(struct capture_writer *w, const struct capture_set *set, const char *path,
			enum capture_format format, char *err, size_t err_size)
{
	int rc;

	memset(w, 0, sizeof(*w));
	w->path = path;
	w->set = set;
	w->format = format;
	w->copy = set && capture_set_size(set) == 1 && capture_set_input_format(set, 0) == format;
	rc = sink_open(&w->sink, path);
	if (rc == -ENOTTY)
		snprintf(err, err_size,
			 "a capture is not for a terminal: redirect standard output "
			 "or name a file");
	else if (rc)
		snprintf(err, err_size, "%s: cannot write: %s", path, strerror(-rc));
	return rc;
}

int capture_writer_put(struct capture_writer *w, const struct capture_item *item, bool keep)
{
	if (w->copy)
		return copy_put(w, item, keep);
	return w->format == CAPTURE_PCAP ? pcap_put(w, item, keep) : pcapng_put(w, item, keep);
}

/* The head of a file without frames. */
static int empty_file(struct capture_writer *w)
{
	if (w->copy || w->started)
		return 0;
	return w->format == CAPTURE_PCAP ? pcap_head(w, capture_set_link(w->set)) : section_head(w);
}

int capture_writer_finish(struct capture_writer *w)
{
	int rc = section_end(w);

	if (!rc)
		rc = empty_file(w);
	if (rc)
		return rc;
	rc = sink_finish(&w->sink);
	if (rc)
		return writer_fail(w, rc, "%s: cannot write: %s", writer_name(w), strerror(-rc));
	return 0;
}

int capture_writer_flush(struct capture_writer *w)
{
	int rc = sink_flush(&w->sink);

	if (rc)
		return writer_fail(w, rc, "%s: cannot write: %s", writer_name(w), strerror(-rc));
	return 0;
}

int capture_writer_publish(struct capture_writer *w)
{
	int rc = sink_publish(&w->sink);

	if (rc)
		return writer_fail(w, rc, "%s: cannot give the file its name: %s", writer_name(w),
				   strerror(-rc));
	return 0;
}

void capture_writer_close(struct capture_writer *w)
{
	sink_close(&w->sink);
}

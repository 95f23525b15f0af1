/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pcapng format: blocks of type, length, body, length again. Sections choose the byte
 * order, interfaces within them the link type and the clock.
 */
#include <errno.h>

#include "reader.h"

#define BLOCK_FRAME 12 /* type and both lengths */
#define BYTE_ORDER_MAGIC 0x1a2b3c4d

#define SECTION_BODY 16
#define INTERFACE_BODY 8
#define PACKET_BODY 20
#define SIMPLE_BODY 4

enum { OPTION_END = 0, OPTION_TSRESOL = 9, OPTION_TSOFFSET = 14 };

static int damaged(struct capture_reader *r, const char *why)
{
	return reader_fail(r, -EBADMSG, source_offset(&r->source), "damaged block: %s", why);
}

/* Learn the byte order from a section header, of which 12 bytes are there. */
static int section_order(struct capture_reader *r)
{
	const u8 *magic = source_at(&r->source) + 8;

	r->big_endian = get32(magic, true) == BYTE_ORDER_MAGIC;
	if (!r->big_endian && get32(magic, false) != BYTE_ORDER_MAGIC)
		return damaged(r, "the section header has no byte-order magic");
	return 0;
}

/* Have the whole next block at hand, in item->raw. Returns 1, 0 at the end, or a negative errno. */
static int whole_block(struct capture_reader *r, struct capture_item *item)
{
	int rc = source_need(&r->source, BLOCK_FRAME);
	u32 len;

	if (rc <= 0)
		return reader_cut(r, rc, "block");
	item->block = get32(source_at(&r->source), r->big_endian);
	if (item->block == BLOCK_SECTION && section_order(r))
		return -EBADMSG;
	item->big_endian = r->big_endian;
	len = get32(source_at(&r->source) + 4, r->big_endian);
	if (len < BLOCK_FRAME || len % 4)
		return damaged(r, "its length is not a multiple of 4 from 12 on");
	if (len > CAPTURE_MAX_RECORD)
		return damaged(r, "it claims to be longer than 256 MiB");
	rc = source_need(&r->source, len);
	if (rc <= 0)
		return reader_cut(r, rc, "block");
	item->raw = source_at(&r->source);
	item->raw_len = len;
	if (get32(item->raw + len - 4, r->big_endian) != len)
		return damaged(r, "the lengths before and behind it differ");
	return 1;
}

static u32 body_len(const struct capture_item *item)
{
	return item->raw_len - BLOCK_FRAME;
}

static int section(struct capture_reader *r, struct capture_item *item)
{
	u16 major;

	if (body_len(item) < SECTION_BODY)
		return damaged(r, "too short for a section header");
	major = get16(item->raw + 12, r->big_endian);
	if (major != 1)
		return reader_fail(r, -EINVAL, source_offset(&r->source),
				   "pcapng version %u is not read, only 1", major);
	r->section_iface = r->n_ifaces;
	item->kind = CAPTURE_SECTION;
	return 1;
}

/* Take the clock of @iface from the options in the @len bytes at @at. */
static int interface_options(struct capture_reader *r, struct capture_iface *iface, const u8 *at,
			     u32 len)
{
	while (len >= 4) {
		u16 code = get16(at, r->big_endian);
		u32 size = get16(at + 2, r->big_endian);

		if (code == OPTION_END)
			return 0;
		if (size > len - 4)
			return damaged(r, "an option is longer than the block");
		if (code == OPTION_TSRESOL && size >= 1)
			iface->resolution = at[4];
		else if (code == OPTION_TSOFFSET && size >= 8)
			iface->offset = get64(at + 4, r->big_endian);
		else
			iface->described = true;
		size = 4 + (size + 3) / 4 * 4;
		at += size;
		len -= size;
	}
	return 0;
}

static int interface(struct capture_reader *r, struct capture_item *item)
{
	const u8 *at = item->raw + 8;
	struct capture_iface *iface;
	int rc;

	if (body_len(item) < INTERFACE_BODY)
		return damaged(r, "too short for an interface");
	iface = reader_add_iface(r);
	if (!iface)
		return reader_fail(r, -ENOMEM, source_offset(&r->source), "out of memory");
	iface->link = get16(at, r->big_endian);
	iface->snaplen = get32(at + 4, r->big_endian);
	iface->resolution = 6;
	item->iface = iface;
	item->kind = CAPTURE_INTERFACE;
	rc = interface_options(r, iface, at + INTERFACE_BODY, body_len(item) - INTERFACE_BODY);
	return rc ? rc : 1;
}

/* A frame of interface @id in the current section, its bytes at @data up to the end of the
 * body.
 */
static int frame(struct capture_reader *r, struct capture_item *item, u32 id, const u8 *data)
{
	if (id >= r->n_ifaces - r->section_iface)
		return damaged(r, "its interface has not been described before");
	item->iface = &r->ifaces[r->section_iface + id];
	if (item->len > (size_t)(item->raw + item->raw_len - 4 - data))
		return damaged(r, "the frame is longer than the block");
	item->data = data;
	item->kind = CAPTURE_FRAME;
	item->number = ++r->frames;
	return 1;
}

/* Enhanced packet block, or the obsolete one: they differ in the width of the interface. */
static int packet(struct capture_reader *r, struct capture_item *item)
{
	const u8 *at = item->raw + 8;
	u32 id;
	int rc;

	if (body_len(item) < PACKET_BODY)
		return damaged(r, "too short for a packet");
	id = item->block == BLOCK_PACKET ? get16(at, r->big_endian) : get32(at, r->big_endian);
	item->ticks = (u64)get32(at + 4, r->big_endian) << 32 | get32(at + 8, r->big_endian);
	item->len = get32(at + 12, r->big_endian);
	item->wire_len = get32(at + 16, r->big_endian);
	rc = frame(r, item, id, at + PACKET_BODY);
	if (rc > 0)
		r->last_ns = item->time_ns = capture_time_ns(item->iface, item->ticks);
	return rc;
}

/* Simple packet block: no interface, no time, and the captured length is what the snap length
 * leaves of the wire length.
 */
static int simple_packet(struct capture_reader *r, struct capture_item *item)
{
	const struct capture_iface *first = r->ifaces + r->section_iface;
	int rc;

	if (body_len(item) < SIMPLE_BODY)
		return damaged(r, "too short for a packet");
	item->wire_len = get32(item->raw + 8, r->big_endian);
	item->len = item->wire_len;
	if (r->n_ifaces > r->section_iface && first->snaplen && item->len > first->snaplen)
		item->len = first->snaplen;
	rc = frame(r, item, 0, item->raw + 8 + SIMPLE_BODY);
	if (rc > 0) {
		item->time_ns = r->last_ns;
		item->ticks = capture_ticks(item->iface, item->time_ns);
	}
	return rc;
}

static int block(struct capture_reader *r, struct capture_item *item)
{
	switch (item->block) {
	case BLOCK_SECTION:
		return section(r, item);
	case BLOCK_INTERFACE:
		return interface(r, item);
	case BLOCK_PACKET:
	case BLOCK_ENHANCED:
		return packet(r, item);
	case BLOCK_SIMPLE:
		return simple_packet(r, item);
	}
	item->kind = CAPTURE_OTHER;
	return 1;
}

int pcapng_start(struct capture_reader *r)
{
	struct capture_item item;
	int rc = whole_block(r, &item);

	if (rc > 0)
		rc = section(r, &item);
	return rc > 0 ? 0 : rc;
}

int pcapng_next(struct capture_reader *r, struct capture_item *item)
{
	int rc = whole_block(r, item);

	if (rc <= 0)
		return rc;
	rc = block(r, item);
	if (rc > 0)
		source_consume(&r->source, item->raw_len);
	return rc;
}

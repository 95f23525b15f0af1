/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pcap format: a file header, then records of a 16-byte header and a frame.
 */
#include <errno.h>

#include "reader.h"

#define PCAP_MAJOR 2
#define PCAP_MINOR 4

int pcap_start(struct capture_reader *r)
{
	int rc = source_need(&r->source, PCAP_HEADER);
	const u8 *at = source_at(&r->source);
	struct capture_iface *iface;
	u16 major, minor;

	if (rc <= 0)
		return reader_cut(r, rc, "pcap file header");
	major = get16(at + 4, r->big_endian);
	minor = get16(at + 6, r->big_endian);
	if (major != PCAP_MAJOR || minor != PCAP_MINOR)
		return reader_fail(r, -EINVAL, 4, "pcap version %u.%u is not read, only %u.%u",
				   major, minor, PCAP_MAJOR, PCAP_MINOR);
	iface = reader_add_iface(r);
	if (!iface)
		return reader_fail(r, -ENOMEM, 0, "out of memory");
	iface->resolution = get32(at, r->big_endian) == PCAP_NANO ? 9 : 6;
	iface->snaplen = get32(at + 16, r->big_endian);
	/* Above the link type are flags and the length of the frame check sequence. */
	iface->link = get32(at + 20, r->big_endian) & 0xffff;
	r->ticks_per_s = iface->resolution == 9 ? 1000000000 : 1000000;
	r->max_frame = CAPTURE_MAX_FRAME;
	if (iface->snaplen > r->max_frame)
		r->max_frame = iface->snaplen;
	if (r->max_frame > CAPTURE_MAX_RECORD)
		r->max_frame = CAPTURE_MAX_RECORD;
	return 0;
}

static int pcap_header(struct capture_reader *r, struct capture_item *item)
{
	item->kind = CAPTURE_INTERFACE;
	item->big_endian = r->big_endian;
	item->block = 0;
	item->raw = source_at(&r->source);
	item->raw_len = PCAP_HEADER;
	item->iface = r->ifaces;
	source_consume(&r->source, PCAP_HEADER);
	r->header_given = true;
	return 1;
}

static int pcap_frame(struct capture_reader *r, struct capture_item *item)
{
	const u8 *at = source_at(&r->source);
	const struct capture_iface *iface = r->ifaces;

	item->kind = CAPTURE_FRAME;
	item->big_endian = r->big_endian;
	item->block = 0;
	item->raw = at;
	item->raw_len = PCAP_RECORD + item->len;
	item->iface = iface;
	item->data = at + PCAP_RECORD;
	item->wire_len = get32(at + 12, r->big_endian);
	item->ticks = (u64)get32(at, r->big_endian) * r->ticks_per_s + get32(at + 4, r->big_endian);
	item->time_ns = iface->resolution == 9 ? item->ticks : item->ticks * 1000;
	item->number = ++r->frames;
	source_consume(&r->source, item->raw_len);
	return 1;
}

int pcap_next(struct capture_reader *r, struct capture_item *item)
{
	int rc;

	if (!r->header_given)
		return pcap_header(r, item);
	rc = source_need(&r->source, PCAP_RECORD);
	if (rc <= 0)
		return reader_cut(r, rc, "record header");
	item->len = get32(source_at(&r->source) + 8, r->big_endian);
	if (item->len > r->max_frame)
		return reader_fail(r, -EBADMSG, source_offset(&r->source),
				   "damaged record: a frame of %u bytes, more than %u", item->len,
				   r->max_frame);
	rc = source_need(&r->source, PCAP_RECORD + (size_t)item->len);
	if (rc <= 0)
		return reader_cut(r, rc, "record");
	return pcap_frame(r, item);
}

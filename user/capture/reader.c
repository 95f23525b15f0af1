/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define NS_PER_S 1000000000ull

int reader_fail(struct capture_reader *r, int rc, u64 at, const char *format, ...)
{
	char what[320];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(r->error, sizeof(r->error), "%.128s: at byte %llu%s: %s", r->name,
		 (unsigned long long)at, r->source.gzip ? " of the uncompressed data" : "", what);
	return rc;
}

int reader_cut(struct capture_reader *r, int rc, const char *what)
{
	u64 at = source_offset(&r->source);
	size_t ready = source_ready(&r->source);

	if (rc == -EBADMSG)
		return reader_fail(r, rc, at + ready, "%s", r->source.problem);
	if (rc < 0)
		return reader_fail(r, rc, at + ready, "cannot read on: %s", strerror(-rc));
	if (!ready)
		return 0;
	return reader_fail(r, -EBADMSG, at, "the file ends within a %s", what);
}

struct capture_iface *reader_add_iface(struct capture_reader *r)
{
	struct capture_iface *iface;

	if (r->n_ifaces == r->max_ifaces) {
		u32 max = r->max_ifaces ? r->max_ifaces * 2 : 4;

		iface = realloc(r->ifaces, max * sizeof(*iface));
		if (!iface)
			return NULL;
		r->ifaces = iface;
		r->max_ifaces = max;
	}
	iface = &r->ifaces[r->n_ifaces];
	memset(iface, 0, sizeof(*iface));
	iface->number = r->n_ifaces++;
	return iface;
}

s64 capture_time_ns(const struct capture_iface *iface, u64 ticks)
{
	u32 exponent = iface->resolution & 0x7f;
	u64 ns;

	if (iface->resolution & 0x80) {
		ns = (unsigned __int128)ticks * NS_PER_S >> exponent;
	} else {
		ns = ticks;
		for (; exponent < 9; exponent++)
			ns *= 10;
		for (; exponent > 9 && ns; exponent--)
			ns /= 10;
	}
	return ns + (u64)iface->offset * NS_PER_S;
}

u64 capture_ticks(const struct capture_iface *iface, s64 time_ns)
{
	u64 ns = time_ns - (u64)iface->offset * NS_PER_S;
	u32 exponent = iface->resolution & 0x7f;

	if (iface->resolution & 0x80)
		return exponent < 64 ? ((unsigned __int128)ns << exponent) / NS_PER_S : 0;
	for (; exponent < 9; exponent++)
		ns /= 10;
	for (; exponent > 9 && ns; exponent--)
		ns *= 10;
	return ns;
}

bool capture_is_magic(const u8 at[4])
{
	u32 magic = get32(at, at[0] == 0xa1);

	return magic == PCAP_MICRO || magic == PCAP_NANO || magic == PCAP_MODIFIED ||
	       magic == BLOCK_SECTION;
}

/* The format by its magic; -EINVAL with a message if it is none of ours. */
static int find_format(struct capture_reader *r)
{
	const u8 *at = source_at(&r->source);
	u32 magic = get32(at, false);

	if (magic == BLOCK_SECTION)
		return CAPTURE_PCAPNG;
	r->big_endian = at[0] == 0xa1;
	switch (get32(at, r->big_endian)) {
	case PCAP_MICRO:
	case PCAP_NANO:
		return CAPTURE_PCAP;
	case PCAP_MODIFIED:
		return reader_fail(r, -EINVAL, 0,
				   "the modified pcap format of old Linux patches is not read: "
				   "convert the file with editcap -F pcap");
	}
	return reader_fail(r, -EINVAL, 0,
			   "not a capture: neither pcap nor pcapng begins with "
			   "%02x %02x %02x %02x",
			   at[0], at[1], at[2], at[3]);
}

static int reader_start(struct capture_reader *r)
{
	int rc = source_need(&r->source, 4);

	if (rc <= 0) {
		rc = reader_cut(r, rc, "magic number: not a capture");
		return rc ? rc : reader_fail(r, -EINVAL, 0, "the file is empty: not a capture");
	}
	rc = find_format(r);
	if (rc < 0)
		return rc;
	r->format = rc;
	return r->format == CAPTURE_PCAP ? pcap_start(r) : pcapng_start(r);
}

int capture_open(struct capture_reader **reader, const char *path, size_t buffer, char *err,
		 size_t err_size)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct capture_reader *r;
	int rc;

	r = calloc(1, sizeof(*r));
	if (!r || !(r->name = strdup(name))) {
		free(r);
		snprintf(err, err_size, "%s: out of memory", name);
		return -ENOMEM;
	}
	rc = source_open(&r->source, path, buffer);
	if (rc) {
		snprintf(err, err_size, "%s: cannot read: %s", name, strerror(-rc));
	} else {
		rc = reader_start(r);
		if (rc)
			snprintf(err, err_size, "%s", r->error);
	}
	if (rc) {
		capture_close(r);
		return rc;
	}
	*reader = r;
	return 0;
}

void capture_close(struct capture_reader *r)
{
	source_close(&r->source);
	free(r->ifaces);
	free(r->name);
	free(r);
}

int capture_next(struct capture_reader *r, struct capture_item *item)
{
	int rc;

	if (r->finished)
		return 0;
	rc = r->format == CAPTURE_PCAP ? pcap_next(r, item) : pcapng_next(r, item);
	r->finished = rc <= 0;
	return rc;
}

const char *capture_error(const struct capture_reader *r)
{
	return r->error;
}

enum capture_format capture_reader_format(const struct capture_reader *r)
{
	return r->format;
}

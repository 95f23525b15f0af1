/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Captures, read as a sequence of items: frames, and whatever else the file holds.
 *
 * pcap (both byte orders, micro- and nanoseconds) and pcapng (several sections and interfaces,
 * any timestamp resolution), plain or gzip-compressed. Every item carries its bytes as they
 * are in the file, so that a copy can be exact to the byte.
 */
#ifndef USER_CAPTURE_H
#define USER_CAPTURE_H

#include <xdd/types.h>

/* A record or block that claims to be longer is damage, not data. */
#define CAPTURE_MAX_RECORD (256u << 20)

/* pcap: the limit where the file header's snap length is smaller, as other readers have it. */
#define CAPTURE_MAX_FRAME 262144u

enum capture_format { CAPTURE_PCAP, CAPTURE_PCAPNG };

enum capture_kind {
	CAPTURE_FRAME,	   /* a captured frame */
	CAPTURE_INTERFACE, /* a pcapng interface; the file header of a pcap */
	CAPTURE_SECTION,   /* pcapng: a section starts */
	CAPTURE_OTHER,	   /* any other pcapng block */
};

/* pcapng block types, as far as anything here asks for them. */
enum capture_block {
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2, /* the obsolete one */
	BLOCK_SIMPLE = 3,
	BLOCK_NAMES = 4,
	BLOCK_ENHANCED = 6,
	BLOCK_SECRETS = 10,
	BLOCK_CUSTOM = 0xbad,
	BLOCK_SECTION = 0x0a0d0d0a,
};

/* Where frames were captured: an interface of a pcapng section, or the one of a pcap. */
struct capture_iface {
	u32 link;	  /* as in xdd_link */
	u32 snaplen;	  /* 0: no limit */
	u32 number;	  /* in its file, over all sections, from 0 */
	u32 global;	  /* over all inputs of a capture_set, in order of appearance */
	u8 resolution;	  /* if_tsresol: 10^-n seconds, or 2^-n with the top bit set */
	bool described;	  /* has options other than these: a name, a comment */
	s64 offset;	  /* if_tsoffset: seconds to add to each timestamp */
	const char *name; /* if_name for a file made anew; readers leave it NULL */
};

/* Pointers are valid until the next item of the same reader is asked for. */
struct capture_item {
	enum capture_kind kind;
	u32 input;     /* index in a capture_set */
	const u8 *raw; /* the record or block as it is in the file */
	size_t raw_len;
	u32 block; /* its pcapng type; 0 for pcap */
	bool big_endian;
	const struct capture_iface *iface; /* of a frame or interface */

	/* Frames only. */
	const u8 *data;
	u32 len;	     /* bytes of @data */
	u32 wire_len;	     /* as the file has it: damaged files may say less than @len */
	u64 ticks;	     /* timestamp in units of iface->resolution, without its offset */
	s64 time_ns;	     /* since 1970, rounded down, modulo 2^64 */
	u64 number;	     /* from 1 */
	const char *comment; /* opt_comment for a file made anew; readers leave it NULL */
};

struct capture_reader;

/* Whether a file that begins with these 4 bytes is a capture, or one of a kind that is not read. */
bool capture_is_magic(const u8 at[4]);

/* Open @path ("-": standard input), with a read buffer of @buffer bytes, and check its header.
 * Returns 0 and *@reader; or a negative errno and a message, which names the file, in @err.
 */
int capture_open(struct capture_reader **reader, const char *path, size_t buffer, char *err,
		 size_t err_size);
void capture_close(struct capture_reader *reader);

/* The next item. Returns 1; 0 at the end; a negative errno for damage (-EBADMSG) or a failed
 * read: capture_error() then names file, byte offset and fault, and the reader is at its end.
 * A simple packet block has no time: it gets that of the frame before it.
 */
int capture_next(struct capture_reader *reader, struct capture_item *item);
const char *capture_error(const struct capture_reader *reader);

enum capture_format capture_reader_format(const struct capture_reader *reader);

/* A timestamp of @iface in nanoseconds since 1970, modulo 2^64; and back, rounded down. */
s64 capture_time_ns(const struct capture_iface *iface, u64 ticks);
u64 capture_ticks(const struct capture_iface *iface, s64 time_ns);

#endif

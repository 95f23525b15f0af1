/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers of the two formats share: private to user/capture.
 */
#ifndef USER_CAPTURE_READER_H
#define USER_CAPTURE_READER_H

#include "bytes.h"
#include "capture.h"
#include "source.h"

struct capture_reader {
	struct source source;
	char *name; /* for messages */
	enum capture_format format;
	bool big_endian; /* of the file, or of the current section */
	bool finished;
	struct capture_iface *ifaces; /* pcap: one */
	u32 n_ifaces, max_ifaces;
	u32 section_iface; /* index of the current section's first interface */
	u32 max_frame;	   /* pcap: no longer frame is believed */
	u32 ticks_per_s;   /* pcap */
	bool header_given; /* pcap: the item that stands for the file header */
	u64 frames;
	s64 last_ns; /* time of the latest frame */
	char error[512];
};

/* Bytes of a pcap file header and of the header of each of its records. */
#define PCAP_HEADER 24
#define PCAP_RECORD 16

#define PCAP_MICRO 0xa1b2c3d4
#define PCAP_NANO 0xa1b23c4d
#define PCAP_MODIFIED 0xa1b2cd34

/* Check the beginning of a file that has the format's magic. */
int pcap_start(struct capture_reader *r);
int pcapng_start(struct capture_reader *r);

int pcap_next(struct capture_reader *r, struct capture_item *item);
int pcapng_next(struct capture_reader *r, struct capture_item *item);

/* Note the message, with the file's name and the offset @at, and return @rc. */
__attribute__((format(printf, 4, 5))) int reader_fail(struct capture_reader *r, int rc, u64 at,
						      const char *format, ...);

/* What source_need(@bytes) said, if not 1, as the verdict on a @what that begins here: 0 only
 * where nothing follows.
 */
int reader_cut(struct capture_reader *r, int rc, const char *what);

/* A new interface, zeroed; NULL without memory. */
struct capture_iface *reader_add_iface(struct capture_reader *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing the items of a capture_set to a capture.
 *
 * One input in its own format is copied: every byte that is not part of a dropped frame stays
 * as it is and where it is. Everything else is made anew, with exact timestamps; what the new
 * form has no place for is counted in struct capture_lost.
 */
#ifndef USER_CAPTURE_WRITER_H
#define USER_CAPTURE_WRITER_H

#include "capture.h"
#include "set.h"
#include "sink.h"

/* What was in the inputs and could not be written. */
struct capture_lost {
	u64 blocks;  /* blocks that hold no frames: comments, names, statistics, secrets */
	u64 options; /* frames with options: comments, direction, hashes */
	u64 times;   /* frames whose time was cut to microseconds */
};

struct capture_writer {
	struct sink sink;
	const char *path; /* as it was given */
	const struct capture_set *set;
	enum capture_format format;
	bool copy;	/* one input in its own format */
	bool started;	/* the head of a file made anew was written */
	u32 link;	/* pcap: of the frames so far */
	u32 ticks_ns;	/* pcap: nanoseconds per unit of the timestamps, 1 or 1000 */
	bool sized;	/* copied pcapng: the current section states its length */
	bool dropped;	/* ... and one of its frames was left out */
	u64 section_at; /* ... and it begins here */
	struct capture_lost lost;
	char error[512];
};

/* Begin to write what @set will return to @path, in @format; @set NULL: items that were made by the
 * caller, pcapng only. Returns 0 or a negative errno, with a message in @err.
 */
int capture_writer_open(struct capture_writer *w, const struct capture_set *set, const char *path,
			enum capture_format format, char *err, size_t err_size);

/* Take the next item of the set; a frame is left out unless @keep. Returns 0, or a negative
 * errno with a message in w->error: -EPIPE if nobody reads; -EPROTOTYPE or -EOVERFLOW for a
 * frame that a pcap cannot hold.
 */
int capture_writer_put(struct capture_writer *w, const struct capture_item *item, bool keep);

/* Let the readers of a stream have what they can have. Returns 0, or a negative errno with a message in
 * w->error.
 */
int capture_writer_flush(struct capture_writer *w);

/* Complete the file; capture_writer_publish() then gives it its name. */
int capture_writer_finish(struct capture_writer *w);
int capture_writer_publish(struct capture_writer *w);

/* Release everything; a file that was not published is removed. */
void capture_writer_close(struct capture_writer *w);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run --sample-dropped N:FILE: the first N duplicates of each second in a pcapng file, each with a
 * comment that says why it is one. The file appears under its name when it is complete.
 */
#ifndef USER_EVENTS_SAMPLE_H
#define USER_EVENTS_SAMPLE_H

#include <stddef.h>

#include "user/capture/writer.h"
#include "user/events/reader.h"
#include "user/message.h"

struct sample {
	bool open, started;
	struct event_reader reader;
	struct capture_writer writer;
	/* Of the slots, and a last one for packets that came by none of these. */
	struct capture_iface ifaces[XDD_MAX_IFACES + 1];
	char names[XDD_MAX_IFACES + 1][XDD_META_IFNAME];
	u32 n_ifaces;
	u64 packets;
	char err[MESSAGE_MAX]; /* of the last function that failed */
};

/* Begin the file @path. Returns 0, and then sample_close() is due, or a negative errno with a line in
 * s->err.
 */
int sample_open(struct sample *s, const char *path);

/* Begin to keep @rate duplicates a second of instance @name. Returns 0 or a negative errno with a line
 * in s->err.
 */
int sample_start(struct sample *s, const char *name, u32 rate);

/* Readable while there is something to keep; -1 if @s is not started. */
int sample_fd(const struct sample *s);

/* Keep what is there. Returns 0 or a negative errno with a line in s->err. */
int sample_read(struct sample *s);

/* The last ones, then the file gets its name. Returns 0 or a negative errno with a line in s->err. */
int sample_finish(struct sample *s);

/* Release everything; a file that was not finished is removed. Nothing if @s is all zeroes. */
void sample_close(struct sample *s);

#endif

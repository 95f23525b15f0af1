/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes of a file, a pipe, or either of them compressed by gzip, in order.
 *
 * The reader looks at a window of whole records in one buffer: nothing is copied per record.
 * Files are read, not mapped: a file that shrinks under a mapping kills the process.
 */
#ifndef USER_CAPTURE_SOURCE_H
#define USER_CAPTURE_SOURCE_H

#include <xdd/types.h>

struct gzip_input;

struct source {
	u8 *buffer;
	size_t size;	 /* of the buffer: grows with the longest record asked for */
	size_t pos, end; /* what is buffered and not yet consumed */
	u64 base;	 /* offset of buffer[0] in the (uncompressed) data */
	int fd;
	bool at_end;	/* no byte follows those buffered */
	bool regular;	/* a file: reading it does not wait for anybody */
	u64 file_bytes; /* size of a regular file, else 0 */
	u64 read_bytes; /* read from the file so far, compressed if it is */
	struct gzip_input *gzip;
	const char *problem;	     /* what is wrong with the data behind -EBADMSG */
	void (*idle)(void *context); /* called before a read that has to wait */
	void *idle_context;
};

/* Open @path, or standard input for "-", with a buffer of @size bytes (4096 or more), and find
 * out whether it is compressed. Returns 0 or a negative errno (-EISDIR for a directory).
 */
int source_open(struct source *s, const char *path, size_t size);
void source_close(struct source *s);

/* Slow path of source_need(). */
int source_more(struct source *s, size_t bytes);

/* Make @bytes consecutive bytes readable at source_at(); pointers from before may then be
 * stale. Memory grows with what really arrives, not with what was asked for. Returns 1; 0 if
 * the data ends before; a negative errno if reading fails; -EBADMSG for damaged gzip data,
 * with s->problem set.
 */
static inline int source_need(struct source *s, size_t bytes)
{
	return s->end - s->pos >= bytes ? 1 : source_more(s, bytes);
}

static inline const u8 *source_at(const struct source *s)
{
	return s->buffer + s->pos;
}

/* Bytes readable at source_at(). */
static inline size_t source_ready(const struct source *s)
{
	return s->end - s->pos;
}

/* Offset of source_at() in the (uncompressed) data. */
static inline u64 source_offset(const struct source *s)
{
	return s->base + s->pos;
}

/* Step over @bytes, at most source_ready(). What they hold stays until source_need(). */
static inline void source_consume(struct source *s, size_t bytes)
{
	s->pos += bytes;
}

#endif

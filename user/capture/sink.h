/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a capture is written to: a file that appears under its name only when it is complete,
 * standard output ("-"), or something that is no regular file (a pipe, /dev/null).
 *
 * Until sink_publish() a file has a temporary name in the same directory; sink_close(), or a
 * signal after sink_guard(), removes it.
 */
#ifndef USER_CAPTURE_SINK_H
#define USER_CAPTURE_SINK_H

#include <stdbool.h>
#include <sys/stat.h>

#include <xdd/types.h>

struct sink {
	int fd;
	char *path; /* final name, absolute, symbolic links resolved; NULL unless a file */
	char *temp; /* name until then */
	u8 *buffer;
	size_t used;
	u64 offset; /* bytes taken, buffered ones included */
	struct gzFile_s *gzip;
	int failed; /* the first error of a write: all later ones fail with it */
};

/* Whether both are about one file: what is written must not be what is read. */
static inline bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the regular file @path is there and one of the @n files @inputs; "-" is stdin, and so is none. */
bool sink_is_input(const char *path, char *const *inputs, int n);

/* Remove the temporary files of all open sinks when SIGINT, SIGTERM or SIGHUP ends the process
 * (exit 1), and let writes to a closed pipe fail with EPIPE, and beyond the size
 * that files may have with EFBIG.
 */
void sink_guard(void);

/* Open @path; compressed if it ends in .gz. Returns 0 or a negative errno: -EISDIR for a
 * directory, -EACCES where an existing file may not be written, -ENOTTY for a terminal.
 */
int sink_open(struct sink *s, const char *path);

/* Append @len bytes (below 2 GiB). Returns 0 or a negative errno (-EPIPE: nobody reads). */
int sink_write(struct sink *s, const void *data, size_t len);

/* A stream: bring to its readers what is buffered. Returns 0 or a negative errno. */
int sink_flush(struct sink *s);

/* Can bytes that were written be changed? (Not in a stream and not in compressed data.) */
bool sink_can_patch(const struct sink *s);

/* Overwrite @len bytes at @offset. */
int sink_patch(struct sink *s, u64 offset, const void *data, size_t len);

/* Write out what is buffered and close; the file keeps its temporary name. */
int sink_finish(struct sink *s);

/* After sink_finish(): wait until the file is on its disk. Returns 0 or a negative errno. */
int sink_sync(struct sink *s);

/* After sink_finish(): give the file its name. */
int sink_publish(struct sink *s);

/* Write all of a file: the @len bytes at @text, below 2 GiB. @wait: where it is a pipe that
 * nobody reads, until somebody does, else that is -ENXIO. Returns 0 or a negative errno, and then the file is as
 * it was.
 */
int sink_write_file(const char *path, const char *text, size_t len, bool wait);

/* Release everything; a file that was not published is removed. */
void sink_close(struct sink *s);

#endif

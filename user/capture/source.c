/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "source.h"

#define GZIP_CHUNK (256 * 1024)
#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, gzip header wanted */

struct gzip_input {
	z_stream z;
	bool inside; /* a member has begun and not ended */
	u8 chunk[GZIP_CHUNK];
};

/* Read once into @to. Returns the bytes read, 0 at the end, or a negative errno. */
static ssize_t read_once(struct source *s, u8 *to, size_t room)
{
	struct pollfd ready = { .fd = s->fd, .events = POLLIN };
	ssize_t got;

	if (!s->regular && s->idle && poll(&ready, 1, 0) == 0)
		s->idle(s->idle_context);
	do {
		got = read(s->fd, to, room);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	s->read_bytes += got;
	return got;
}

static int gzip_problem(struct source *s, const char *problem)
{
	s->problem = problem;
	return -EBADMSG;
}

/* Have compressed bytes at hand. Returns 1, 0 at the end, or a negative errno. */
static int gzip_refill(struct source *s)
{
	struct gzip_input *g = s->gzip;
	ssize_t got;

	if (g->z.avail_in)
		return 1;
	got = read_once(s, g->chunk, sizeof(g->chunk));
	if (got < 0)
		return got;
	if (!got)
		return g->inside ? gzip_problem(s, "the gzip data ends early") : 0;
	g->z.next_in = g->chunk;
	g->z.avail_in = got;
	return 1;
}

/* Like read_once(), of uncompressed data. A file may hold several members, and zero bytes
 * behind each.
 */
static ssize_t gzip_read(struct source *s, u8 *to, size_t room)
{
	struct gzip_input *g = s->gzip;
	int rc;

	g->z.next_out = to;
	g->z.avail_out = room;
	while (g->z.avail_out == room) {
		rc = gzip_refill(s);
		if (rc <= 0)
			return rc;
		if (!g->inside && !*g->z.next_in) {
			g->z.next_in++;
			g->z.avail_in--;
			continue;
		}
		g->inside = true;
		rc = inflate(&g->z, Z_NO_FLUSH);
		if (rc == Z_STREAM_END) {
			g->inside = false;
			inflateReset(&g->z);
		} else if (rc == Z_MEM_ERROR) {
			return -ENOMEM;
		} else if (rc != Z_OK && g->z.avail_out == room) {
			return gzip_problem(s, "the gzip data is damaged");
		}
	}
	return room - g->z.avail_out;
}

/* Make room behind what is buffered. Returns 0 or -ENOMEM. */
static int make_room(struct source *s)
{
	u8 *larger;

	if (s->pos) {
		memmove(s->buffer, s->buffer + s->pos, s->end - s->pos);
		s->base += s->pos;
		s->end -= s->pos;
		s->pos = 0;
	}
	if (s->end < s->size)
		return 0;
	larger = realloc(s->buffer, s->size * 2);
	if (!larger)
		return -ENOMEM;
	s->buffer = larger;
	s->size *= 2;
	return 0;
}

int source_more(struct source *s, size_t bytes)
{
	ssize_t got;
	int rc;

	while (s->end - s->pos < bytes) {
		if (s->at_end)
			return 0;
		if (s->end == s->size || s->pos == s->end) {
			rc = make_room(s);
			if (rc)
				return rc;
		}
		got = s->gzip ? gzip_read(s, s->buffer + s->end, s->size - s->end)
			      : read_once(s, s->buffer + s->end, s->size - s->end);
		if (got < 0)
			return got;
		s->at_end = !got;
		s->end += got;
	}
	return 1;
}

/* What was buffered turned out to be gzip data: hand it to the decompressor. */
static int gzip_start(struct source *s)
{
	struct gzip_input *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	if (inflateInit2(&g->z, GZIP_WINDOW) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	g->z.avail_in = s->end < sizeof(g->chunk) ? s->end : sizeof(g->chunk);
	memcpy(g->chunk, s->buffer, g->z.avail_in);
	g->z.next_in = g->chunk;
	s->gzip = g;
	s->pos = s->end = 0;
	s->at_end = false;
	return 0;
}

static int source_start(struct source *s)
{
	static const u8 magic[] = { 0x1f, 0x8b };
	size_t size = s->size;
	struct stat st;
	int rc;

	if (fstat(s->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	s->regular = S_ISREG(st.st_mode);
	s->file_bytes = s->regular ? st.st_size : 0;
	if (s->regular)
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	s->buffer = malloc(size);
	if (!s->buffer)
		return -ENOMEM;
	/* No more than gzip_start() can take over. */
	s->size = size < GZIP_CHUNK ? size : GZIP_CHUNK;
	rc = source_need(s, sizeof(magic));
	s->size = size;
	if (rc <= 0 || memcmp(s->buffer, magic, sizeof(magic)))
		return rc < 0 ? rc : 0;
	return gzip_start(s);
}

int source_open(struct source *s, const char *path, size_t size)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->size = size;
	s->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
				  : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (s->fd < 0)
		return -errno;
	rc = source_start(s);
	if (rc)
		source_close(s);
	return rc;
}

void source_close(struct source *s)
{
	if (s->gzip)
		inflateEnd(&s->gzip->z);
	free(s->gzip);
	free(s->buffer);
	close(s->fd);
	memset(s, 0, sizeof(*s));
	s->fd = -1;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/records/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/capture/sink.h"
#include "user/message.h"
#include "user/records/interrupt.h"

/* Fits into the second-level cache, along with what is decided about its records. */
#define FIRST_SIZE (256u << 10)
#define IN_FRONT 64

static u8 *data(const struct input *in)
{
	return in->room + IN_FRONT;
}

static int resize(struct input *in, size_t size)
{
	u8 *room = realloc(in->room, IN_FRONT + size);

	if (!room)
		return -ENOMEM;
	if (!in->room)
		memset(room, 0, IN_FRONT);
	in->room = room;
	in->size = size;
	return 0;
}

int input_open(struct input *in, char **paths, int n_paths, u8 separator)
{
	static char *from_stdin[] = { "-" };

	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->separator = separator;
	in->paths = n_paths ? paths : from_stdin;
	in->n_paths = n_paths ?: 1;
	if (fstat(STDOUT_FILENO, &in->output))
		in->output.st_mode = 0;
	return resize(in, FIRST_SIZE);
}

static void leave_file(struct input *in)
{
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	in->fd = -1;
}

void input_close(struct input *in)
{
	leave_file(in);
	free(in->room);
	in->room = NULL;
}

/* What is written would be read again, without end. */
static bool is_output(const struct input *in, int fd)
{
	struct stat st;

	return S_ISREG(in->output.st_mode) && !fstat(fd, &st) && same_file(&st, &in->output);
}

static void give_up(struct input *in, const char *why)
{
	complain("%s: %s", in->path, why);
	in->damaged = true;
	leave_file(in);
}

static void next_file(struct input *in)
{
	const char *path = in->paths[in->next++];
	bool is_stdin = !strcmp(path, "-");

	in->begun = false;
	in->path = is_stdin ? "stdin" : path;
	in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		give_up(in, strerror(errno));
	else if (is_output(in, in->fd))
		give_up(in, "is the output, too: write to another file");
}

/* Room for more, what is kept at the front: at least half of the buffer. */
static int make_room(struct input *in)
{
	if (in->start) {
		memmove(data(in), data(in) + in->start, in->end - in->start);
		in->end -= in->start;
		in->start = 0;
	}
	if (in->end >= RECORD_MAX)
		return -EFBIG;
	return in->end > in->size / 2 ? resize(in, in->size * 2) : 0;
}

static bool is_gzip(const u8 *at, size_t n)
{
	return n >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

/* Read what there is. Returns the number of bytes; 0 at the end of the file or of it all. */
static ssize_t read_some(struct input *in)
{
	ssize_t got;
	int rc;

	do {
		rc = interrupt_wait(in->fd);
		in->interrupted = !rc;
		if (!rc)
			return 0;
		got = read(in->fd, data(in) + in->end, in->size - in->end);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	if (got < 0)
		give_up(in, strerror(errno));
	else if (in->no_gzip && !in->begun && is_gzip(data(in) + in->end, got)) {
		give_up(in, "is compressed: zcat FILE | xdp-dedup stream --join - reads it");
		return 0;
	}
	in->begun = true;
	return got > 0 ? got : 0;
}

static int give(struct input *in, size_t end, bool whole, struct block *block)
{
	block->at = data(in) + in->start;
	block->len = end - in->start;
	block->whole = whole;
	in->start = end;
	return 1;
}

/* Read from the file until a record is complete, or the file is not. */
static int next_of_file(struct input *in, struct block *block)
{
	const u8 *last;
	ssize_t got;
	int rc;

	do {
		rc = make_room(in);
		if (rc)
			return rc;
		got = read_some(in);
		in->end += got;
		last = memrchr(data(in) + in->end - got, in->separator, got);
		if (last)
			return give(in, last + 1 - data(in), true, block);
	} while (got);
	leave_file(in);
	return in->end > in->start ? give(in, in->end, false, block) : 0;
}

int input_next(struct input *in, struct block *block)
{
	int rc = 0;

	while (!rc && !in->interrupted) {
		if (in->fd < 0 && in->next == in->n_paths)
			return 0;
		if (in->fd < 0)
			next_file(in);
		if (in->fd >= 0)
			rc = next_of_file(in, block);
	}
	return rc;
}

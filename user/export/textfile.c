/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/export/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/capture/sink.h"
#include "user/message.h"

/* How every page begins. */
#define MARKER "# HELP xdp_dedup_"

/* Without a word to who waits at a pipe: those are not opened. Returns -1 where there is no regular file. */
static int open_regular(const char *path)
{
	struct stat found;

	if (stat(path, &found) || !S_ISREG(found.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static bool is_held(const struct textfile *file, int fd)
{
	struct stat held, found;

	return file->held >= 0 && !fstat(file->held, &held) && !fstat(fd, &found) &&
	       same_file(&held, &found);
}

/* An empty file has nothing to lose. */
static bool is_page(int fd)
{
	char begin[sizeof(MARKER) - 1];
	ssize_t got = read(fd, begin, sizeof(begin));

	return !got || (got == sizeof(begin) && !memcmp(begin, MARKER, sizeof(begin)));
}

static int may_replace(const struct textfile *file, char *err, size_t err_size)
{
	int fd = open_regular(file->path), code = 0;

	if (fd < 0 || is_held(file, fd))
		code = 0;
	else if (!is_page(fd))
		code = refuse(err, err_size, -EEXIST,
			      "what is there was not made by xdp-dedup: remove it, or name "
			      "another file");
	else if (flock(fd, LOCK_EX | LOCK_NB))
		code = refuse(err, err_size, -EBUSY,
			      "another process writes to it: name another file");
	if (fd >= 0)
		close(fd);
	return code;
}

/* What is there now is ours: others find it locked. */
static void hold(struct textfile *file)
{
	int fd = open_regular(file->path);

	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	if (file->held >= 0)
		close(file->held);
	file->held = fd;
}

int textfile_write(struct textfile *file, const char *text, size_t length, char *err,
		   size_t err_size)
{
	int code = may_replace(file, err, err_size);

	if (code)
		return code;
	code = sink_write_file(file->path, text, length, false);
	if (code)
		return refuse(err, err_size, code, "%s",
			      code == -ENXIO ? "nobody reads from that pipe" : strerror(-code));
	hold(file);
	return 0;
}

void textfile_remove(struct textfile *file)
{
	char *path = file->held >= 0 ? realpath(file->path, NULL) : NULL;
	int fd = path ? open_regular(path) : -1;

	if (fd >= 0 && is_held(file, fd))
		unlink(path);
	if (fd >= 0)
		close(fd);
	if (file->held >= 0)
		close(file->held);
	file->held = -1;
	free(path);
}

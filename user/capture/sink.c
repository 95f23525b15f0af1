/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "sink.h"

#define SINK_BUFFER (1u << 20)
#define MAX_SINKS 4
#define MAX_LINKS 40 /* as the kernel follows */

/* Temporary files that exist. The handler reads it at any moment: a name is entered before its
 * file is made and leaves after the file has.
 */
static char *volatile temporaries[MAX_SINKS];

static void remove_temporaries(int signal)
{
	static const char said[] = "xdp-dedup: interrupted: no file was written\n";
	bool any = false;
	u32 i;

	(void)signal;
	for (i = 0; i < MAX_SINKS; i++) {
		if (temporaries[i] && !unlink(temporaries[i]))
			any = true;
	}
	if (any)
		(void)!write(STDERR_FILENO, said, sizeof(said) - 1);
	_exit(1);
}

void sink_guard(void)
{
	struct sigaction end = { .sa_handler = remove_temporaries };

	sigfillset(&end.sa_mask);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static int temporary_enter(char *name)
{
	u32 i;

	for (i = 0; i < MAX_SINKS; i++) {
		if (!temporaries[i]) {
			temporaries[i] = name;
			return 0;
		}
	}
	return -EMFILE;
}

static void temporary_leave(const char *name)
{
	u32 i;

	for (i = 0; i < MAX_SINKS; i++) {
		if (temporaries[i] == name)
			temporaries[i] = NULL;
	}
}

/* A name in the directory of s->path that nobody else uses. */
static int temporary_name(struct sink *s)
{
	const char *slash = strrchr(s->path, '/');
	int directory = slash ? slash - s->path + 1 : 0;
	u64 random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	if (asprintf(&s->temp, "%.*s.xdp-dedup-%016llx.tmp", directory, s->path,
		     (unsigned long long)random) < 0) {
		s->temp = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int open_temporary(struct sink *s)
{
	int rc = temporary_name(s);

	if (rc)
		return rc;
	rc = temporary_enter(s->temp);
	if (rc)
		return rc;
	s->fd = open(s->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (s->fd >= 0)
		return 0;
	rc = -errno;
	temporary_leave(s->temp);
	free(s->temp);
	s->temp = NULL;
	return rc;
}

/* What symbolic links point at that is not there yet, or @path where there is none; NULL with errno. */
static char *follow_links(const char *path)
{
	char *at = strdup(path), target[PATH_MAX], *next;
	ssize_t length;

	for (int links = 0; at; links++) {
		const char *slash = strrchr(at, '/');
		int directory = slash ? slash - at + 1 : 0;

		length = readlink(at, target, sizeof(target));
		if (length < 0)
			return at;
		errno = links == MAX_LINKS ? ELOOP : ENOMEM;
		if (links == MAX_LINKS ||
		    asprintf(&next, "%.*s%.*s", *target == '/' ? 0 : directory, at, (int)length,
			     target) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	return at;
}

/* The absolute name of a file that does not exist in a directory that does; NULL with errno. */
static char *absolute(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *given = slash ? strndup(path, slash - path + 1) : strdup(".");
	char *directory = given ? realpath(given, NULL) : NULL;
	char *result = NULL;

	if (directory && asprintf(&result, "%s/%s", directory, slash ? slash + 1 : path) < 0)
		result = NULL;
	free(directory);
	free(given);
	return result;
}

static char *new_path(const char *given)
{
	char *path = follow_links(given), *result = path ? absolute(path) : NULL;

	free(path);
	return result;
}

/* A symbolic link stays one: its target is replaced, by a file with the same permissions. */
static int open_path(struct sink *s, const char *path, int flags)
{
	struct stat st;
	bool exists = !stat(path, &st);
	int rc;

	if (exists && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (exists && access(path, W_OK))
		return -errno;
	if (exists && !S_ISREG(st.st_mode)) {
		s->fd = open(path, O_WRONLY | O_CLOEXEC | flags);
		return s->fd < 0 ? -errno : 0;
	}
	s->path = exists ? realpath(path, NULL) : new_path(path);
	rc = s->path ? open_temporary(s) : -errno;
	if (!rc && exists && fchmod(s->fd, st.st_mode & 0777))
		return -errno;
	return rc;
}

static int open_stdout(struct sink *s)
{
	if (isatty(STDOUT_FILENO))
		return -ENOTTY;
	s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return s->fd < 0 ? -errno : 0;
}

static bool ends_in_gz(const char *path)
{
	size_t len = strlen(path);

	return len > 3 && !strcmp(path + len - 3, ".gz");
}

static int open_with(struct sink *s, const char *path, int flags)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->buffer = malloc(SINK_BUFFER);
	if (!s->buffer)
		return -ENOMEM;
	rc = strcmp(path, "-") ? open_path(s, path, flags) : open_stdout(s);
	if (!rc && ends_in_gz(path)) {
		s->gzip = gzdopen(s->fd, "wb");
		rc = s->gzip ? 0 : -ENOMEM;
	}
	if (rc)
		sink_close(s);
	return rc;
}

int sink_open(struct sink *s, const char *path)
{
	return open_with(s, path, 0);
}

static int write_out(struct sink *s, const u8 *data, size_t len)
{
	while (len && !s->failed) {
		ssize_t done;

		errno = 0;
		done = s->gzip ? gzwrite(s->gzip, data, len) : write(s->fd, data, len);
		if (done <= 0)
			s->failed = errno ? -errno : -EIO;
		data += done;
		len -= done;
	}
	return s->failed;
}

static int write_buffered(struct sink *s)
{
	size_t used = s->used;

	s->used = 0;
	return write_out(s, s->buffer, used);
}

int sink_write(struct sink *s, const void *data, size_t len)
{
	int rc;

	s->offset += len;
	if (len > SINK_BUFFER - s->used) {
		rc = write_buffered(s);
		if (rc)
			return rc;
		if (len >= SINK_BUFFER)
			return write_out(s, data, len);
	}
	memcpy(s->buffer + s->used, data, len);
	s->used += len;
	return 0;
}

int sink_flush(struct sink *s)
{
	return s->temp || s->gzip ? 0 : write_buffered(s);
}

bool sink_can_patch(const struct sink *s)
{
	return s->temp && !s->gzip;
}

int sink_patch(struct sink *s, u64 offset, const void *data, size_t len)
{
	int rc = write_buffered(s);
	ssize_t done;

	if (rc)
		return rc;
	done = pwrite(s->fd, data, len, offset);
	if (done < 0)
		return -errno;
	return (size_t)done == len ? 0 : -EIO;
}

int sink_finish(struct sink *s)
{
	int rc = write_buffered(s), closed;

	errno = 0;
	if (s->gzip)
		closed = gzclose(s->gzip) == Z_OK ? 0 : errno ? -errno : -EIO;
	else
		closed = close(s->fd) ? -errno : 0;
	s->gzip = NULL;
	s->fd = -1;
	return rc ? rc : closed;
}

int sink_sync(struct sink *s)
{
	int fd = s->temp ? open(s->temp, O_RDONLY | O_CLOEXEC) : -1, rc;

	if (!s->temp)
		return 0;
	if (fd < 0)
		return -errno;
	rc = fsync(fd) ? -errno : 0;
	close(fd);
	return rc;
}

int sink_publish(struct sink *s)
{
	if (!s->temp)
		return 0;
	if (rename(s->temp, s->path))
		return -errno;
	temporary_leave(s->temp);
	free(s->temp);
	s->temp = NULL;
	return 0;
}

void sink_close(struct sink *s)
{
	if (s->gzip)
		gzclose(s->gzip);
	else if (s->fd >= 0)
		close(s->fd);
	if (s->temp) {
		unlink(s->temp);
		temporary_leave(s->temp);
	}
	free(s->temp);
	free(s->path);
	free(s->buffer);
	memset(s, 0, sizeof(*s));
	s->fd = -1;
}

int sink_write_file(const char *path, const char *text, size_t len, bool wait)
{
	struct sink sink;
	int code = open_with(&sink, path, wait ? 0 : O_NONBLOCK);

	if (code)
		return code;
	code = sink_write(&sink, text, len);
	if (!code)
		code = sink_finish(&sink);
	if (!code)
		code = sink_publish(&sink);
	sink_close(&sink);
	return code;
}

bool sink_is_input(const char *path, char *const *inputs, int n)
{
	struct stat file, input;

	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return false;
	for (int i = 0; i < (n ?: 1); i++) {
		const char *in = n ? inputs[i] : "-";
		bool read = strcmp(in, "-") ? !stat(in, &input) : !fstat(STDIN_FILENO, &input);

		if (read && same_file(&input, &file))
			return true;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/message.h"
#include "user/watch/view.h"

static bool is_roots(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int check_folder(char *err, size_t err_size)
{
	struct stat st;

	if (lstat(WATCH_FOLDER, &st))
		return -errno;
	if (S_ISDIR(st.st_mode) && is_roots(&st))
		return 0;
	return refuse(err, err_size, -EACCES,
		      WATCH_FOLDER
		      ": others than root can write there, so nothing in it is believed: "
		      "remove it, or chown root and chmod 700 it");
}

int trust_folder(char *err, size_t err_size)
{
	if (mkdir(WATCH_FOLDER, 0700) && errno != EEXIST)
		return refuse(err, err_size, -errno, WATCH_FOLDER ": cannot be made: %m");
	return check_folder(err, err_size);
}

int trust_path(const char *path, char *err, size_t err_size)
{
	int rc = check_folder(err, err_size);
	struct stat st;

	if (rc)
		return rc;
	if (lstat(path, &st))
		return -errno;
	if (S_ISREG(st.st_mode) && is_roots(&st))
		return 0;
	return refuse(
		err, err_size, -EACCES,
		"%s: is not believed: others than root can change it: clear the set, or chown "
		"root and chmod go-w it if it is what it was",
		path);
}

static void path_of(char path[PATH_MAX], const char *name, const char *ending)
{
	snprintf(path, PATH_MAX, WATCH_FOLDER "/%s%s", name, ending);
}

int trust_open(const char *name, const char *ending, int flags)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	path_of(path, name, ending);
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_roots(&st))
		return fd;
	close(fd);
	return -EACCES;
}

void trust_remove(const char *name, const char *ending)
{
	char path[PATH_MAX];

	path_of(path, name, ending);
	unlink(path);
}

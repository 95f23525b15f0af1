// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "user/message.h"
#include "user/watch/trust.h"

#define ENDING ".share"
#define MAGIC "xdshare"
#define FORMAT 2

static int read_it(int fd, struct shared *shared)
{
	if (pread(fd, shared, sizeof(*shared), 0) != sizeof(*shared) ||
	    memcmp(shared->magic, MAGIC, sizeof(shared->magic)) || shared->format != FORMAT ||
	    shared->owner[SHARED_NAME - 1])
		return -EBADMSG;
	return 0;
}

int shared_lock(const char *name, struct shared *shared)
{
	struct flock lock = { .l_type = F_WRLCK };
	char why[MESSAGE_MAX];
	int rc = trust_folder(why, sizeof(why));
	int fd = rc ?: trust_open(name, ENDING, O_CREAT | O_RDWR);

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_OFD_SETLK, &lock)) {
		rc = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
		close(fd);
		return rc;
	}
	if (read_it(fd, shared))
		*shared = (struct shared){ .magic = MAGIC, .format = FORMAT };
	return fd;
}

int shared_write(int fd, const struct shared *shared)
{
	ssize_t n = pwrite(fd, shared, sizeof(*shared), 0);

	return n == sizeof(*shared) ? 0 : n < 0 ? -errno : -ENOSPC;
}

int shared_read(const char *name, struct shared *shared, bool *now)
{
	struct flock lock = { .l_type = F_WRLCK };
	int fd = trust_open(name, ENDING, O_RDWR), rc;

	if (fd < 0)
		return fd;
	*now = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
	rc = read_it(fd, shared);
	close(fd);
	return rc;
}

void shared_forget(const char *name)
{
	trust_remove(name, ENDING);
}

int shared_check(const char *name, char *err, size_t err_size)
{
	struct shared shared;
	bool now;

	if (shared_read(name, &shared, &now) || !now || shared.role != SHARED_follower)
		return 0;
	return refuse(
		err, err_size, -EPERM,
		"%s: its watch set follows that of %s: change it there, or end the agent with "
		"--share-watch here first",
		name, shared.owner);
}

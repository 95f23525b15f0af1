// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "user/watch/trust.h"

#define ENDING ".log"

int journal_make(const char *name)
{
	int fd = trust_open(name, ENDING, O_CREAT | O_TRUNC | O_WRONLY);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

void journal_remove(const char *name)
{
	trust_remove(name, ENDING);
}

void journal_append(const char *name, const struct journal_head *head, const u64 *keys)
{
	const struct iovec parts[] = { { (void *)head, sizeof(*head) },
				       { (void *)keys, head->n * sizeof(*keys) } };
	ssize_t size = parts[0].iov_len + parts[1].iov_len;
	int fd = trust_open(name, ENDING, O_APPEND | O_WRONLY);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) || st.st_size + size > JOURNAL_MAX || writev(fd, parts, 2) != size)
		(void)!ftruncate(fd, 0);
	close(fd);
}

void journal_break(const char *name)
{
	int fd = trust_open(name, ENDING, O_TRUNC | O_WRONLY);

	if (fd >= 0)
		close(fd);
}

int journal_take(const char *name, u8 *to)
{
	int fd = trust_open(name, ENDING, O_RDWR), rc = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read(fd, to + rc, JOURNAL_MAX - rc)) > 0)
		rc += n;
	if (n < 0 || ftruncate(fd, 0))
		rc = -errno;
	close(fd);
	return rc;
}

const u8 *journal_next(const u8 **at, size_t *left, struct journal_head *head)
{
	const u8 *keys = *at + sizeof(*head);
	size_t size;

	if (*left < sizeof(*head))
		return NULL;
	memcpy(head, *at, sizeof(*head));
	size = sizeof(*head) + head->n * sizeof(u64);
	if (head->what >= JOURNAL_WHATS || size > *left)
		return NULL;
	*at += size;
	*left -= size;
	return keys;
}

bool journal_leads(const u8 *at, size_t size, const struct watch_print *from,
		   const struct watch_print *to)
{
	struct watch_print is = *from;
	struct journal_head head;

	while (journal_next(&at, &size, &head)) {
		if (!watch_print_same(&head.before, &is))
			return false;
		is = head.after;
	}
	return !size && watch_print_same(&is, to);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/records/output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Whoever shares the terminal or pipe may have made it non-blocking. */
static void wait_for_room(void)
{
	struct pollfd wanted = { .fd = STDOUT_FILENO, .events = POLLOUT };

	poll(&wanted, 1, -1);
}

static int write_all(const u8 *at, size_t n)
{
	while (n) {
		ssize_t done = write(STDOUT_FILENO, at, n);

		if (done < 0 && errno == EAGAIN)
			wait_for_room();
		else if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			at += done;
			n -= done;
		}
	}
	return 0;
}

/* Records that end with a file get their separator when another one follows. */
static int write_records(struct output *out, const u8 *at, size_t n)
{
	int rc = out->owed ? write_all(&out->separator, 1) : 0;

	out->owed = false;
	return rc ?: write_all(at, n);
}

void output_start(struct output *out, u8 *at)
{
	out->at = at;
	out->len = 0;
}

int output_keep(struct output *out, const u8 *at, size_t n)
{
	if (out->each)
		return write_records(out, at, n);
	if (out->at + out->len != at)
		memmove(out->at + out->len, at, n);
	out->len += n;
	return 0;
}

int output_flush(struct output *out, bool cut)
{
	int rc = out->len ? write_records(out, out->at, out->len) : 0;

	out->len = 0;
	out->owed = out->owed || cut;
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "user/clock.h"

int signals_hold(void)
{
	sigset_t ends;
	int fd;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int signals_hold_asking(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Signals of this kind that wait are one. */
bool signals_asked(int asking)
{
	struct signalfd_siginfo info;

	return read(asking, &info, sizeof(info)) == sizeof(info);
}

bool signals_take_hangup(int signals)
{
	struct signalfd_siginfo info;

	return read(signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGHUP;
}

enum signals_wait signals_wait(int signals, const int fds[SIGNALS_FDS], u64 until_ns)
{
	struct pollfd wanted[] = { { .fd = signals, .events = POLLIN },
				   { .fd = fds[0], .events = POLLIN },
				   { .fd = fds[1], .events = POLLIN },
				   { .fd = fds[2], .events = POLLIN } };
	u64 now = now_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec timeout = { left / 1000000000, left % 1000000000 };

	if (ppoll(wanted, XDD_ARRAY_SIZE(wanted), &timeout, NULL) <= 0)
		return SIGNALS_LATE;
	return wanted[0].revents ? SIGNALS_END : SIGNALS_READABLE;
}

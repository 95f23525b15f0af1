/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/records/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

#include "user/capture/sink.h"

static volatile sig_atomic_t interrupted;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static void note_signal(int number)
{
	(void)number;
	interrupted = 1;
	sink_guard();
}

void interrupt_catch(void)
{
	struct sigaction catch = { .sa_handler = note_signal }, before;

	sigfillset(&catch.sa_mask); /* a second signal finds the other handler */
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &before);
		if (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)
			sigaction(signals[i], &catch, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool interrupt_came(void)
{
	return interrupted;
}

static void ours(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(set, signals[i]);
}

bool interrupt_waits(void)
{
	sigset_t waiting;

	sigpending(&waiting);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigismember(&waiting, signals[i]))
			return true;
	return interrupted;
}

void interrupt_block(sigset_t *before)
{
	sigset_t set;

	ours(&set);
	sigprocmask(SIG_BLOCK, &set, before);
}

void interrupt_restore(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* The signals stay blocked from the look at the flag to the wait: none slips in between. */
int interrupt_wait(int fd)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };
	sigset_t set, before;
	int rc = 0;

	ours(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	while (!interrupted && !rc) {
		rc = ppoll(&wanted, 1, NULL, &before);
		if (rc < 0)
			rc = errno == EINTR ? 0 : -errno;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return interrupted ? 0 : rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SIGINT, SIGTERM and SIGHUP as something that a loop waits for beside its other work. */
#ifndef USER_SIGNALS_H
#define USER_SIGNALS_H

#include <stdbool.h>

#include <xdd/types.h>

enum signals_wait { SIGNALS_LATE, SIGNALS_READABLE, SIGNALS_END };

/* From now on the signals wait to be asked for, and a closed pipe is an error of write(). Returns a
 * file descriptor for signals_wait(), or a negative errno.
 */
int signals_hold(void);

/* The same of SIGUSR1, which asks for a report: a file descriptor for signals_asked(), or a negative errno. */
int signals_hold_asking(void);

/* Whether it came, once or more, since it was last asked. */
bool signals_asked(int asking);

/* Take one signal that came. Returns whether it was SIGHUP: not the end, for who can begin anew. */
bool signals_take_hangup(int signals);

#define SIGNALS_FDS 3

/* Wait until a signal came (SIGNALS_END), one of @fds can be read (-1: there is none), or
 * CLOCK_MONOTONIC is at @until_ns (SIGNALS_LATE).
 */
enum signals_wait signals_wait(int signals, const int fds[SIGNALS_FDS], u64 until_ns);

#endif

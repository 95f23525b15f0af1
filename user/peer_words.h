/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What agents and status say alike of other hosts. */
#ifndef USER_PEER_WORDS_H
#define USER_PEER_WORDS_H

#include <stdbool.h>

#include <xdd/types.h>

/* Whether two hosts were heard in one name lately, at CLOCK_MONOTONIC @heard_ns (0: never). */
bool peer_twins_lately(u64 heard_ns);

/* "its window is 10 s, here 1 s: set both alike". Returns @text. */
#define PEER_WINDOWS_MAX 128
const char *peer_windows_text(u64 theirs_ns, u64 own_ns, char text[PEER_WINDOWS_MAX]);

#endif

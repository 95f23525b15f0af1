/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the user reads when something is wrong: one line, what failed, on what, what to do.
 */
#ifndef USER_MESSAGE_H
#define USER_MESSAGE_H

#include <stddef.h>

#define MESSAGE_MAX 512

/* For functions that can fail: format a line into @err (@size bytes, cut to fit) and return @code,
 * a negative errno. */
__attribute__((format(printf, 4, 5))) int refuse(char *err, size_t size, int code,
						 const char *format, ...);

/* "xdp-dedup: LINE" on stderr. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* The same for what is worth knowing but no error; not shown after messages_quiet(). */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);
void messages_quiet(void);

/* The same for what must be known: shown even then. */
__attribute__((format(printf, 1, 2))) void note_always(const char *format, ...);

/* From now on what is worth knowing is kept, for a JSON object that is alone on its stream: the @i-th such
 * line, or NULL behind the last one.
 */
void messages_keep(void);
const char *messages_kept(unsigned int i);

#endif

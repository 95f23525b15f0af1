/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many files this process may have open. */
#ifndef USER_OPEN_FILES_H
#define USER_OPEN_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* As many open files as the hard limit allows: each instance that is aged or shown takes some 25, and the soft limit
 * is often 1024 (setrlimit(2)). What cannot be had is no error before it is needed.
 */
void open_files_raise(void);

/* Whether @code, a negative errno, says that files cannot be opened any more. */
bool open_files_are_short(int code);

/* That in words, and what to do about it. */
#define OPEN_FILES_TEXT_MAX 96
const char *open_files_text(char text[OPEN_FILES_TEXT_MAX]);

#endif

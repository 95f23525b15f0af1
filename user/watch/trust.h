/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lies in WATCH_FOLDER is believed only if nobody but root can have put it there. */
#ifndef USER_WATCH_TRUST_H
#define USER_WATCH_TRUST_H

#include <stddef.h>

/* Make the folder, if it is missing, so that nobody else can write there. Returns 0; or -EACCES with a line in @err: it
 * is there, and others can; or what mkdir() failed with.
 */
int trust_folder(char *err, size_t err_size);

/* Whether the file @path in the folder is believed. Returns 0; -ENOENT: it is not there; or -EACCES with a line in @err. */
int trust_path(const char *path, char *err, size_t err_size);

/* Open the file of instance @name in the folder that ends in @ending, such as ".log", with @flags of open(), never through a
 * link. Returns a file descriptor; -EACCES: it is not believed; or another negative errno.
 */
int trust_open(const char *name, const char *ending, int flags);
void trust_remove(const char *name, const char *ending);

#endif

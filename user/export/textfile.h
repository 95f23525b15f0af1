/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of --textfile: replaced each time, removed at the end; never one that something else made. */
#ifndef USER_EXPORT_TEXTFILE_H
#define USER_EXPORT_TEXTFILE_H

#include <stddef.h>

struct textfile {
	const char *path;
	int held; /* what was put there last, locked as long as this process lives; -1: nothing */
};

/* Put @length bytes at @text there. Returns 0 or a negative errno with the reason in @err: -EEXIST, there is a file
 * that does not begin as a page of metrics does, -EBUSY, another process keeps its file there, or what writing said.
 */
int textfile_write(struct textfile *file, const char *text, size_t length, char *err,
		   size_t err_size);

/* Remove what textfile_write() put there, also behind a symbolic link: nobody would bring it up to date. */
void textfile_remove(struct textfile *file);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records from files, one after the other, in blocks of whole records. */
#ifndef USER_RECORDS_INPUT_H
#define USER_RECORDS_INPUT_H

#include <stdbool.h>
#include <sys/stat.h>

#include <xdd/types.h>

/* Records are shorter than this. */
#define RECORD_MAX ((4ull << 30) - 4096)

/* Bytes of the caller's to change; those in front of them, at least 8, can be read. */
struct block {
	u8 *at;
	size_t len;
	bool whole; /* false: the last record lacks its separator */
};

struct input {
	u8 separator;
	char **paths;
	int n_paths, next;	 /* paths[next] comes next */
	const char *path;	 /* being read */
	int fd;			 /* -1: none */
	u8 *room;		 /* the buffer, behind some bytes that only hashing reads */
	size_t size, start, end; /* of the buffer; what of it is not yet given out */
	bool interrupted;	 /* a signal asked for the end */
	bool damaged;		 /* a file could not be read to its end: complained about */
	bool no_gzip;		 /* a file that begins as one is refused: set after input_open() */
	bool begun;		 /* something was read of the file */
	struct stat output;	 /* no file to be read, if it is the regular one on stdout */
};

/* @paths as given: "-" is stdin, and so is none. Returns 0 or -ENOMEM; input_close() is due. */
int input_open(struct input *in, char **paths, int n_paths, u8 separator);
void input_close(struct input *in);

/*
 * The next records: those that are there, as soon as one is. Waits for the first of them; the
 * block before is gone. Files that cannot be read are complained about and left out.
 *
 * Returns 1 with @block; 0 at the end of the last file, or after what was read when a signal asked
 * for the end; -EFBIG for a record of RECORD_MAX bytes, -ENOMEM.
 */
int input_next(struct input *in, struct block *block);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a monitor has, from a file: lines, or the frames of a capture, each key once. */
#ifndef USER_JOINT_LIST_H
#define USER_JOINT_LIST_H

#include <stdio.h>

#include "user/capture/filter.h"
#include "user/derive.h"
#include "user/records/key.h"

/* How keys are found and hashed, the same for all lists. */
struct joint_reading {
	const struct options *o;
	struct derived derived;
	struct key_rule rule;
	struct capture_filter filter;
};

struct joint_list {
	const char *path;
	bool is_capture;
	u64 records, without; /* lines, or frames; those that have no key */
	u64 n;		      /* keys */
	u64 room;
	u64 *digests;
	u64 *where;	   /* each came first: offset in @text; frame, from 1 */
	u8 *buffer, *text; /* of lines, or NULL; @text lies in @buffer */
	u64 text_bytes;
	struct xdd_secret secret; /* under which keys of frames are found */
};

/* Returns 0, or with a line in @err -EINVAL. joint_reading_close() in either case. */
int joint_reading_open(struct joint_reading *r, struct options *o, char *err, size_t err_size);
void joint_reading_close(struct joint_reading *r);

/* Read @path, which is a capture or not; "-" is stdin. Returns 0, or a negative errno with a line in
 * @err: also where not all of it could be read, since keys that are missing would be lost to all.
 * joint_list_close() in either case.
 */
int joint_list_read(struct joint_list *list, const struct joint_reading *r, const char *path,
		    char *err, size_t err_size);
void joint_list_close(struct joint_list *list);

/*
 * Write the keys numbered @which, @n of them, ascending, to @to: lines as they are, or for frames the number
 * of the first one, where keys of other files stand there too (@named) behind the path and a colon, a tab,
 * and what the key is of. Returns 0, or a negative errno with a line in @err.
 */
int joint_list_print(const struct joint_list *list, const struct joint_reading *r, const u32 *which,
		     u64 n, bool named, FILE *to, char *err, size_t err_size);

#endif

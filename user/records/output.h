/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records to stdout: whole ones with each write, and none held back. */
#ifndef USER_RECORDS_OUTPUT_H
#define USER_RECORDS_OUTPUT_H

#include <stdbool.h>

#include <xdd/types.h>

struct output {
	u8 separator;
	bool each; /* a write for each record */
	bool owed; /* the last record that was written lacked its separator */
	u8 *at;	   /* kept records of the block, moved together at its start */
	size_t len;
};

/* A block starts at @at. */
void output_start(struct output *out, u8 *at);

/* Keep the @n bytes at @at, records of the block behind those that were kept before. Returns 0 or
 * a negative errno of write().
 */
int output_keep(struct output *out, const u8 *at, size_t n);

/* Write what was kept; @cut: the last kept record lacks its separator. Returns 0 or a negative
 * errno.
 */
int output_flush(struct output *out, bool cut);

#endif

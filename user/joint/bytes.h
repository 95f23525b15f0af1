/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes of a message of joint detection, written and read in order. A message is a byte of type, one
 * of the round, what the type needs, and a CRC-32 of all before it: what was cut or damaged is not read.
 */
#ifndef USER_JOINT_BYTES_H
#define USER_JOINT_BYTES_H

#include <stddef.h>

#include <xdd/types.h>

/* What is written. All zeroes is empty; bytes_free() is due. */
struct bytes {
	u8 *at;
	size_t n, room;
	bool failed; /* no memory: what is written from then on is lost */
};

/* What is left to be read. */
struct bytes_in {
	const u8 *at;
	size_t n;
};

void bytes_free(struct bytes *b);

/* Have @b be what @from is. Returns 0 or -ENOMEM. */
int bytes_copy(struct bytes *b, const struct bytes *from);

/* Begin a message, in the place of what was there. */
void bytes_start(struct bytes *b, u8 type, u8 round);
void bytes_put(struct bytes *b, u8 byte);
void bytes_put_number(struct bytes *b, u64 number); /* LEB128 */
void bytes_put_word(struct bytes *b, u64 word);	    /* 8 bytes, little-endian */

/* The message is complete. Returns 0, or -ENOMEM if some of it found no memory. */
int bytes_end(struct bytes *b);

/* Read what bytes_start() to bytes_end() have written, of @type and @round. Returns 0, and @in is what
 * lies between; or -EBADMSG.
 */
int bytes_open(struct bytes_in *in, const struct bytes *message, u8 type, u8 round);

/* Each returns 0, or -EBADMSG where the message has ended before. */
int bytes_get(struct bytes_in *in, u8 *byte);
int bytes_get_number(struct bytes_in *in, u64 *number);
int bytes_get_word(struct bytes_in *in, u64 *word);

#endif

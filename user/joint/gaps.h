/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers in ascending order, each once, in about as many bits as their entropy: Golomb's code of the gaps
 * between them (Golomb 1966), whose low bits are written as they are and whose quotient, in unary, goes
 * through a binary range coder, so that gaps below 1 bit cost less than 1 bit.
 *
 * How it is coded follows from the range of the numbers and from how many there are, which both sides know.
 */
#ifndef USER_JOINT_GAPS_H
#define USER_JOINT_GAPS_H

#include "user/joint/bytes.h"

struct gaps {
	u64 range, count; /* numbers below @range, @count of them */
	u64 next;	  /* the least that the next one can be */
	u32 low_bits;	  /* of a gap, written as they are */
	u32 p;		  /* that the quotient goes on, of 2^16 */
	u32 width;
	u64 low;     /* writing */
	u32 code;    /* reading */
	u8 cache;    /* writing: the last byte, and */
	u64 pending; /* those behind it, that a carry may change */
	struct bytes *out;
	struct bytes_in in;
};

/* Write @count numbers below @range to @out: gaps_put() each, then gaps_end(). */
void gaps_write(struct gaps *g, u64 range, u64 count, struct bytes *out);
void gaps_put(struct gaps *g, u64 number);
void gaps_end(struct gaps *g);

/* Read them from @in, which may be anything. */
void gaps_read(struct gaps *g, u64 range, u64 count, struct bytes_in in);

/* The next one. Returns 0, or -EBADMSG if there is none below the range: this is no such code. */
int gaps_get(struct gaps *g, u64 *number);

#endif

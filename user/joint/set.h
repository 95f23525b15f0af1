/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter as what it has set: positions below its length, ascending, each once. A Bloom filter and a
 * Golomb-coded set differ in nothing else than how long they are and how they are sent.
 *
 * Combined filters (cai-2014 section IV-C): lengths are powers of two, and a filter of length l stands for
 * one of a multiple of l by repeating it.
 */
#ifndef USER_JOINT_SET_H
#define USER_JOINT_SET_H

#include "user/joint/bytes.h"

/* What a monitor may have, and what a message may make one hold. */
#define JOINT_KEYS_MAX (1u << 26)
#define JOINT_ONES_MAX (1ull << 30)
#define JOINT_LENGTH_MAX (1ull << 56)

struct joint_set {
	u64 length; /* 0: 2^64, of digests themselves */
	u64 n;
	u64 *at;
	u64 *bits; /* the same as bits, or NULL: joint_set_has() searches */
};

void joint_set_free(struct joint_set *s);

/* Make @s of the @n positions @at, in any order and more than once, below @length; takes @at, which
 * came from malloc(), also where it fails. Returns 0 or -ENOMEM.
 */
int joint_set_make(struct joint_set *s, u64 length, u64 *at, u64 n);

/* Have joint_set_has() answer fast, if that takes not much more memory than the set. */
void joint_set_index(struct joint_set *s);
bool joint_set_has(const struct joint_set *s, u64 position);

/* Share of its length that is set. */
double joint_set_fill(const struct joint_set *s);

/* How often @s is repeated in a filter of @length, a power of two that is at least its own. */
static inline u64 joint_set_copies(const struct joint_set *s, u64 length)
{
	return s->length == length ? 1 : length / s->length;
}

/* What remains of a sum of filters, repeated to the same length. */
struct joint_sum {
	u64 length; /* as in struct joint_set */
	u32 added;  /* filters so far */
	u64 n;
	u64 *at;
	u8 *count; /* how many filters have it */
};

void joint_sum_free(struct joint_sum *sum);

/* Add @s; positions that fewer than @least have are dropped, if no more than @more filters follow.
 * Returns 0, -ENOMEM, or -EBADMSG where it would repeat into more than JOINT_ONES_MAX.
 */
int joint_sum_add(struct joint_sum *sum, const struct joint_set *s, u32 least, u32 more);

/* Write the filter as it is, bit by bit; its positions, 8 bytes each; its gaps. */
void joint_put_bits(struct bytes *b, const struct joint_set *s);
void joint_put_words(struct bytes *b, const u64 *at, u64 n);
void joint_put_gaps(struct bytes *b, const struct joint_set *s);
/* ... what @sum, no shorter than @own, has of what @own has: so much less than what all have, for who knows @own.
 * -ENOMEM or 0.
 */
int joint_put_part(struct bytes *b, const struct joint_sum *sum, const struct joint_set *own);

/* Each reads what the one above has written from anything. Returns 0 with @s, to be freed; -EBADMSG or
 * -ENOMEM.
 */
int joint_get_bits(struct bytes_in *in, struct joint_set *s);
/* The length of the filter that joint_put_gaps() or joint_put_bits() has written. 0 or -EBADMSG. */
int joint_peek_length(struct bytes_in in, bool gaps, u64 *length);
int joint_get_words(struct bytes_in *in, struct joint_set *s);
int joint_get_gaps(struct bytes_in *in, struct joint_set *s);
int joint_get_part(struct bytes_in *in, const struct joint_set *own, struct joint_set *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changed bits of a filter, as they are sent: a byte that says how, then
 *   DELTA_sparse  the zeros before each one: few bits have changed
 *   DELTA_runs    the lengths of runs, in turn of zeros and of ones
 *   DELTA_raw     the bits themselves
 * Lengths are LEB128. The shortest form is taken, so that no message is longer than the bits and one
 * byte.
 */
#ifndef USER_CLUSTER_DELTA_H
#define USER_CLUSTER_DELTA_H

#include <stddef.h>

#include <xdd/types.h>

enum delta_form { DELTA_raw, DELTA_sparse, DELTA_runs };

/* Bytes that delta_encode() may need for @n bits. */
static inline size_t delta_room(u64 n)
{
	return 1 + (n + 7) / 8;
}

/* Write the @n bits of @changed (bit i is 1 << i % 64 of word i / 64; those beyond @n are 0) to @to,
 * which has delta_size() bytes, at most delta_room(@n). Returns the bytes written.
 */
size_t delta_encode(const u64 *changed, u64 n, u8 *to);
size_t delta_size(const u64 *changed, u64 n);

/* Read @n bits from the @size bytes at @from, which may be anything. Returns 0, or -EBADMSG if that is
 * no such message of @n bits; @changed then has any content.
 */
int delta_decode(const u8 *from, size_t size, u64 *changed, u64 n);

#endif

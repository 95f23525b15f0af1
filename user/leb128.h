/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers as LEB128 in messages: seven bits a byte, the lowest first, all but the last byte with bit 7. */
#ifndef USER_LEB128_H
#define USER_LEB128_H

#include <stddef.h>

#include <xdd/types.h>

#define LEB128_MAX 10 /* bytes of 64 bits */

/* Write @number to @at, which has room for LEB128_MAX bytes. Returns the bytes written. */
static inline size_t leb128_put(u8 *at, u64 number)
{
	size_t n = 0;

	for (; number > 127; number >>= 7)
		at[n++] = number | 128;
	at[n++] = number;
	return n;
}

/* Read *@number from the bytes at @at before @end. Returns how many they were, or 0: they end before it does, or it
 * has more than 64 bits.
 */
static inline size_t leb128_get(const u8 *at, const u8 *end, u64 *number)
{
	size_t n = 0;

	*number = 0;
	for (u32 shift = 0; shift < 64 && at + n < end; shift += 7) {
		u8 byte = at[n++];

		if (shift == 63 && byte > 1)
			return 0;
		*number |= (u64)(byte & 127) << shift;
		if (byte < 128)
			return n;
	}
	return 0;
}

#endif

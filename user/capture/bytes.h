/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unaligned integers in files of either byte order.
 */
#ifndef USER_CAPTURE_BYTES_H
#define USER_CAPTURE_BYTES_H

#include <string.h>

#include <xdd/types.h>

static inline u16 get16(const u8 *at, bool big_endian)
{
	u16 v;

	memcpy(&v, at, sizeof(v));
	return big_endian ? __builtin_bswap16(v) : v;
}

static inline u32 get32(const u8 *at, bool big_endian)
{
	u32 v;

	memcpy(&v, at, sizeof(v));
	return big_endian ? __builtin_bswap32(v) : v;
}

static inline u64 get64(const u8 *at, bool big_endian)
{
	u64 v;

	memcpy(&v, at, sizeof(v));
	return big_endian ? __builtin_bswap64(v) : v;
}

/* What we make ourselves is little-endian, as the host is. */
static inline u8 *put16(u8 *at, u16 v)
{
	memcpy(at, &v, sizeof(v));
	return at + sizeof(v);
}

static inline u8 *put32(u8 *at, u32 v)
{
	memcpy(at, &v, sizeof(v));
	return at + sizeof(v);
}

static inline u8 *put64(u8 *at, u64 v)
{
	memcpy(at, &v, sizeof(v));
	return at + sizeof(v);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The only header of the core that knows which target it is compiled for.
 *
 * Everything else in include/xdd/ is freestanding C that both the BPF and the
 * host compiler accept. Integers, byte order, memory barriers for the BPF
 * optimiser and the atomic operations that both targets have are here.
 */
#ifndef XDD_TYPES_H
#define XDD_TYPES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

/* Always inlined, no body of its own: an inline function may then call an accessor that
 * its includer defines as one.
 */
#define XDD_INLINE extern inline __attribute__((gnu_inline, always_inline))
#define XDD_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define XDD_ASSERT(what, why) _Static_assert(what, why)

/* The compiler may assume nothing about @v after this: the verifier then sees the
 * clamp that follows, and loops over it stay loops.
 */
#define xdd_opaque(v) __asm__ volatile("" : "+r"(v))

/* @v, which lies in memory that was handed to a function: the verifier forgets what was stored
 * there, and looks at what follows once for all values.
 */
#define xdd_forget(v) (*(volatile __typeof__(v) *)&(v))

#define xdd_memset __builtin_memset

#ifdef __bpf__
/* The fixed configuration is read-only data that libbpf fills before load: volatile
 * keeps clang from folding the zeroes it sees, the verifier folds the real values.
 */
#define XDD_FIXED const volatile
/* 1024-byte blocks of a packet that are hashed: 64 KiB of IP and its link header. */
#define XDD_MAX_BLOCKS 66
/* Levels of a tree of filters: CPUs, NUMA nodes, the root. */
#define XDD_TREE_MAX_LEVELS 3

/* BPF takes loads of any alignment on the machines XDP runs on, but clang would split
 * them if it knew that they are not aligned.
 */
typedef u64 xdd_u64_any;
typedef u32 xdd_u32_any;
typedef u16 xdd_u16_any;
#else
#define XDD_FIXED const
#define XDD_MAX_BLOCKS (1u << 22)
#define XDD_TREE_MAX_LEVELS 12
typedef u64 __attribute__((aligned(1), may_alias)) xdd_u64_any;
typedef u32 __attribute__((aligned(1), may_alias)) xdd_u32_any;
typedef u16 __attribute__((aligned(1), may_alias)) xdd_u16_any;
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the filter's word-wise layout is little-endian"
#endif

/* Host order from network order and back (little-endian host). */
XDD_INLINE u16 xdd_ntohs(u16 v)
{
	return __builtin_bswap16(v);
}

XDD_INLINE u32 xdd_ntohl(u32 v)
{
	return __builtin_bswap32(v);
}

/* Loads in memory order from any address. */
XDD_INLINE u64 xdd_load64(const void *at)
{
	return *(const xdd_u64_any *)at;
}

XDD_INLINE u32 xdd_load32(const void *at)
{
	return *(const xdd_u32_any *)at;
}

XDD_INLINE u16 xdd_load16(const void *at)
{
	return *(const xdd_u16_any *)at;
}

/* Copy @n bytes, a constant, from any address to @to, aligned to 4 where @n is at least 4:
 * in words, as __builtin_memcpy() on BPF would not.
 */
XDD_INLINE void xdd_copy(void *to, const void *from, const u32 n)
{
	u32 i = 0;

	for (; i + 4 <= n; i += 4)
		*(xdd_u32_any *)((u8 *)to + i) = xdd_load32((const u8 *)from + i);
	for (; i < n; i++)
		((u8 *)to)[i] = ((const u8 *)from)[i];
}

/* Replace *@at by @to if it is @from. Returns the value found. */
XDD_INLINE u64 xdd_cas64(u64 *at, u64 from, u64 to)
{
	return __sync_val_compare_and_swap(at, from, to);
}

/* *@at or, and, plus the second argument. Return the value before. */
XDD_INLINE u64 xdd_fetch_or64(u64 *at, u64 bits)
{
	return __sync_fetch_and_or(at, bits);
}

XDD_INLINE u64 xdd_fetch_and64(u64 *at, u64 bits)
{
	return __sync_fetch_and_and(at, bits);
}

XDD_INLINE u64 xdd_fetch_add64(u64 *at, u64 n)
{
	return __sync_fetch_and_add(at, n);
}

XDD_INLINE u64 xdd_rotl64(u64 v, u32 by)
{
	return (v << by) | (v >> (64 - by));
}

/* Map a uniform 32-bit @hash to [0, @n) without division (Lemire 2019); the low half
 * of the product, in *@rest, is uniform again and serves a further draw.
 */
XDD_INLINE u32 xdd_range(u32 hash, u32 n, u32 *rest)
{
	u64 wide = (u64)hash * n;

	*rest = (u32)wide;
	return wide >> 32;
}

#endif

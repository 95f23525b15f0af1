/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hash of a message of any length, fed in blocks.
 *
 * A message is a head (32 or 64 bytes, see key.h) and a tail that lies in the packet. The
 * head states the tail's length, so no two messages are the same after zero padding.
 *
 * keyed: NH (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, CRYPTO '99) of the head, of each
 * 1024-byte block of the tail and of its rest, fewer than 32 bytes; NH again over the blocks' results, then two multilinear
 * functions (strongly universal, Lemire and Kaser 2014), all under one random secret. Two
 * different messages of up to XDD_NH_BLOCKS blocks collide, before the last step, with
 * probability at most 2^-31 for whoever does not know the secret; wide digests, whose second
 * half uses the secret shifted by one pair (Toeplitz), at most 2^-62.
 * siphash: SipHash-2-4 of the message (Aumasson, Bernstein 2012), its 128-bit form if wide.
 * xxh64: XXH64 of the message, wide with a second seed. Reproducible; colliding pairs are
 * known that work for half of all seeds.
 */
#ifndef XDD_HASH_H
#define XDD_HASH_H

#include "config.h"
#include "packet.h"

#define XDD_STRIPE 32
#define XDD_BLOCK 1024
#define XDD_NH_WORDS (XDD_BLOCK / 8 + 1)
#define XDD_NH_BLOCKS 128

/* Drawn at random per load. Read-only data in BPF. */
struct xdd_secret {
	u64 nh[XDD_NH_WORDS];
	u64 block[2][XDD_NH_BLOCKS];
	u64 last[2][6];
	u64 sip[2];
};

struct xdd_digest {
	u64 lo;
	u64 hi; /* 0 unless wide */
};

struct xdd_hash {
	u64 v[8];     /* keyed: 0,1 this block, 2,3 all blocks; siphash: 0..3; xxh64: 0..7 */
	u64 rest[4];  /* the last, incomplete stripe, zero-padded */
	u32 rest_len; /* its bytes, 0..31 */
	u32 len;      /* bytes so far */
	u32 block;    /* blocks so far */
	u32 pad;
};

#define XDD_P1 0x9E3779B185EBCA87ULL
#define XDD_P2 0xC2B2AE3D27D4EB4FULL
#define XDD_P3 0x165667B19E3779F9ULL
#define XDD_P4 0x85EBCA77C2B2AE63ULL
#define XDD_P5 0x27D4EB2F165667C5ULL

#define XDD_GOLDEN 0x9E3779B97F4A7C15ULL /* the step of splitmix64 */

/* A bijection of 64 bits that spreads every bit (Stafford's mix 13, as in splitmix64). */
XDD_INLINE u64 xdd_mix64(u64 v)
{
	v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9ULL;
	v = (v ^ (v >> 27)) * 0x94D049BB133111EBULL;
	return v ^ (v >> 31);
}

XDD_INLINE u64 xdd_nh_pair(u64 word, u64 key)
{
	return (u64)((u32)word + (u32)key) * ((u32)(word >> 32) + (u32)(key >> 32));
}

XDD_INLINE u64 xdd_xxh_round(u64 lane, u64 word)
{
	return xdd_rotl64(lane + word * XDD_P2, 31) * XDD_P1;
}

XDD_INLINE void xdd_xxh_start(u64 *lane, u64 seed)
{
	lane[0] = seed + XDD_P1 + XDD_P2;
	lane[1] = seed + XDD_P2;
	lane[2] = seed;
	lane[3] = seed - XDD_P1;
}

XDD_INLINE void xdd_sip_round(u64 *v)
{
	v[0] += v[1];
	v[1] = xdd_rotl64(v[1], 13) ^ v[0];
	v[0] = xdd_rotl64(v[0], 32);
	v[2] += v[3];
	v[3] = xdd_rotl64(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = xdd_rotl64(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = xdd_rotl64(v[1], 17) ^ v[2];
	v[2] = xdd_rotl64(v[2], 32);
}

XDD_INLINE void xdd_sip_word(u64 *v, u64 word)
{
	v[3] ^= word;
	xdd_sip_round(v);
	xdd_sip_round(v);
	v[0] ^= word;
}

/* Start @hash of @kind; @wide asks for both halves of the digest. @seed: XXH64 only. */
XDD_INLINE void xdd_hash_start(struct xdd_hash *hash, u32 kind, bool wide,
			       XDD_FIXED struct xdd_secret *secret, u64 seed)
{
	xdd_memset(hash, 0, sizeof(*hash));
	if (kind == XDD_HASH_xxh64) {
		xdd_xxh_start(hash->v, seed);
		xdd_xxh_start(hash->v + 4, xdd_mix64(seed + XDD_P5));
	} else if (kind == XDD_HASH_siphash) {
		hash->v[0] = secret->sip[0] ^ 0x736f6d6570736575ULL;
		hash->v[1] = secret->sip[1] ^ 0x646f72616e646f6dULL ^ (wide ? 0xee : 0);
		hash->v[2] = secret->sip[0] ^ 0x6c7967656e657261ULL;
		hash->v[3] = secret->sip[1] ^ 0x7465646279746573ULL;
	}
}

/* Feed one 32-byte stripe to the sums or lanes @v, the @stripe-th (0..31) of its block. */
XDD_INLINE void xdd_hash_stripe(u64 *v, u32 kind, bool wide, XDD_FIXED struct xdd_secret *secret,
				const u64 *word, u32 stripe)
{
	for (u32 i = 0; i < 4; i++) {
		if (kind == XDD_HASH_keyed) {
			v[0] += xdd_nh_pair(word[i], secret->nh[4 * stripe + i]);
			if (wide)
				v[1] += xdd_nh_pair(word[i], secret->nh[4 * stripe + i + 1]);
		} else if (kind == XDD_HASH_siphash) {
			xdd_sip_word(v, word[i]);
		} else {
			v[i] = xdd_xxh_round(v[i], word[i]);
			if (wide)
				v[i + 4] = xdd_xxh_round(v[i + 4], word[i]);
		}
	}
}

/* End a block: NH over the blocks. Past XDD_NH_BLOCKS blocks the block secret is used
 * again; a bijective mix keeps the order of the rounds in the result.
 */
XDD_INLINE void xdd_hash_end_block(struct xdd_hash *hash, u32 kind, bool wide,
				   XDD_FIXED struct xdd_secret *secret)
{
	u32 at = hash->block % XDD_NH_BLOCKS;

	hash->block++;
	if (kind != XDD_HASH_keyed)
		return;
	for (u32 half = 0; half <= wide; half++) {
		hash->v[2 + half] += xdd_nh_pair(hash->v[half], secret->block[half][at]);
		if (at == XDD_NH_BLOCKS - 1)
			hash->v[2 + half] = xdd_mix64(hash->v[2 + half]);
		hash->v[half] = 0;
	}
}

/* Feed the whole stripes at @at. @kind and @wide are constants to the compiler, which then keeps
 * the sums in registers.
 */
XDD_INLINE void xdd_hash_stripes(struct xdd_hash *hash, const u32 kind, const bool wide,
				 XDD_FIXED struct xdd_secret *secret, const u8 *at, const u8 *end,
				 u32 n)
{
	const u32 used = kind == XDD_HASH_xxh64 && wide ? 8 : 4;
	u64 v[8], word[4];

	for (u32 i = 0; i < used; i++)
		v[i] = hash->v[i];
	for (u32 stripe = 0; stripe < XDD_BLOCK / XDD_STRIPE; stripe++) {
		if (XDD_STRIPE * stripe >= n || at + XDD_STRIPE > end)
			break;
		for (u32 i = 0; i < 4; i++)
			word[i] = xdd_load64(at + 8 * i);
		xdd_hash_stripe(v, kind, wide, secret, word, stripe);
		at += XDD_STRIPE;
	}
	for (u32 i = 0; i < used; i++)
		hash->v[i] = v[i];
}

/*
 * Feed a block of whole stripes, @n bytes (32..XDD_BLOCK), that lie at @at, linear up to @end.
 * All blocks but a message's last have XDD_BLOCK bytes.
 */
XDD_INLINE void xdd_hash_block(struct xdd_hash *hash, u32 kind, bool wide,
			       XDD_FIXED struct xdd_secret *secret, const u8 *at, const u8 *end,
			       u32 n)
{
	if (kind == XDD_HASH_keyed && wide)
		xdd_hash_stripes(hash, XDD_HASH_keyed, true, secret, at, end, n);
	else if (kind == XDD_HASH_keyed)
		xdd_hash_stripes(hash, XDD_HASH_keyed, false, secret, at, end, n);
	else if (kind == XDD_HASH_siphash)
		xdd_hash_stripes(hash, XDD_HASH_siphash, false, secret, at, end, n);
	else if (wide)
		xdd_hash_stripes(hash, XDD_HASH_xxh64, true, secret, at, end, n);
	else
		xdd_hash_stripes(hash, XDD_HASH_xxh64, false, secret, at, end, n);
	hash->len += n;
	xdd_hash_end_block(hash, kind, wide, secret);
}

/*
 * Keep the message's last @n bytes (1..31), fewer than a stripe, for xdd_hash_finish(). They
 * lie at @base + @off, linear from @base up to @end; a partial word is loaded together with
 * bytes in front of it, where there are enough.
 */
XDD_INLINE void xdd_hash_rest(struct xdd_hash *hash, const u8 *base, const u8 *end, u32 off, u32 n)
{
	u32 part = n & 7, whole = n / 8, last = off + n - 8;
	const u8 *at = base + off;
	u64 word = 0;

	hash->rest_len = n;
	hash->len += n;
	for (u32 i = 0; i < 3; i++) {
		if (i >= whole || at + 8 * i + 8 > end)
			break;
		hash->rest[i] = xdd_load64(at + 8 * i);
	}
	if (part && last <= XDD_MAX_OFFSET && base + last + 8 <= end) {
		word = xdd_load64(base + last) >> (64 - 8 * part);
	} else {
		at += n & 24;
		xdd_opaque(at); /* the address that is compared is the one that is read */
		for (u32 i = 0; i < 7; i++) {
			if (i < part && at + i + 1 <= end)
				word |= (u64)at[i] << (8 * i);
		}
	}
	xdd_opaque(whole);
	if (whole < 4)
		hash->rest[whole] = word;
}

/* XXH64's last steps: merge the lanes, then what is left of the message. */
XDD_INLINE u64 xdd_xxh_finish(const struct xdd_hash *hash, const u64 *v)
{
	u64 h = xdd_rotl64(v[0], 1) + xdd_rotl64(v[1], 7) + xdd_rotl64(v[2], 12) +
		xdd_rotl64(v[3], 18);
	u64 part = 0;
	u32 left = hash->rest_len;

	for (u32 i = 0; i < 4; i++)
		h = (h ^ xdd_xxh_round(0, v[i])) * XDD_P1 + XDD_P4;
	h += hash->len;
	for (u32 i = 0; i < 4; i++) {
		if (left < 8) {
			part = hash->rest[i];
			break;
		}
		h = xdd_rotl64(h ^ xdd_xxh_round(0, hash->rest[i]), 27) * XDD_P1 + XDD_P4;
		left -= 8;
	}
	if (left & 4) {
		h = xdd_rotl64(h ^ (u64)(u32)part * XDD_P1, 23) * XDD_P2 + XDD_P3;
		part >>= 32;
	}
	for (u32 i = 0; i < 3; i++) {
		if (i >= (left & 3))
			break;
		h = xdd_rotl64(h ^ (part & 0xff) * XDD_P5, 11) * XDD_P1;
		part >>= 8;
	}
	h = (h ^ (h >> 33)) * XDD_P2;
	h = (h ^ (h >> 29)) * XDD_P3;
	return h ^ (h >> 32);
}

XDD_INLINE struct xdd_digest xdd_sip_finish(struct xdd_hash *hash, bool wide)
{
	u64 *v = hash->v, last = (u64)hash->len << 56;
	u32 left = hash->rest_len;
	struct xdd_digest out = { 0, 0 };

	for (u32 i = 0; i < 4; i++) {
		if (left < 8) {
			last |= hash->rest[i];
			break;
		}
		xdd_sip_word(v, hash->rest[i]);
		left -= 8;
	}
	xdd_sip_word(v, last);
	v[2] ^= wide ? 0xee : 0xff;
	for (u32 i = 0; i < 4; i++)
		xdd_sip_round(v);
	out.lo = v[0] ^ v[1] ^ v[2] ^ v[3];
	if (!wide)
		return out;
	v[1] ^= 0xdd;
	for (u32 i = 0; i < 4; i++)
		xdd_sip_round(v);
	out.hi = v[0] ^ v[1] ^ v[2] ^ v[3];
	return out;
}

/* 64 bits from one NH result: two strongly universal 32-bit functions of its halves. */
XDD_INLINE u64 xdd_nh_finish(u64 nh, XDD_FIXED u64 *key)
{
	u64 low = (u32)nh, high = nh >> 32;
	u64 one = key[0] + key[1] * low + key[2] * high;
	u64 two = key[3] + key[4] * low + key[5] * high;

	return (one & 0xffffffff00000000ULL) | two >> 32;
}

/* The digest of all that was fed. */
XDD_INLINE struct xdd_digest xdd_hash_finish(struct xdd_hash *hash, u32 kind, bool wide,
					     XDD_FIXED struct xdd_secret *secret)
{
	struct xdd_digest out = { 0, 0 };

	if (kind == XDD_HASH_siphash)
		return xdd_sip_finish(hash, wide);
	if (kind == XDD_HASH_keyed) {
		if (hash->rest_len) {
			xdd_hash_stripe(hash->v, kind, wide, secret, hash->rest, 0);
			xdd_hash_end_block(hash, kind, wide, secret);
		}
		out.lo = xdd_nh_finish(hash->v[2], secret->last[0]);
		if (wide)
			out.hi = xdd_nh_finish(hash->v[3], secret->last[1]);
		return out;
	}
	out.lo = xdd_xxh_finish(hash, hash->v);
	if (wide)
		out.hi = xdd_xxh_finish(hash, hash->v + 4);
	return out;
}

#endif

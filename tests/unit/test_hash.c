/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hashes of whole keys, each against a reference of its own: libxxhash, and slow SipHash
 * and NH written from their definitions.
 */
#include <stdlib.h>
#include <xxhash.h>

#include "tests/common/config.h"
#include "tests/common/guard.h"
#include "user/accessors.h"
#include "user/secret.h"

#define MESSAGE_MAX 50000

/* A key with @head_len bytes of head, and @len bytes of tail from @off in @bytes. */
struct message {
	struct xdd_key key;
	u8 bytes[MESSAGE_MAX];
};

static struct message message;
static struct xdd_secret secret;

static struct xdd_fixed hash_fixed(u32 hash, bool wide, u64 seed)
{
	struct xdd_fixed fixed =
		config_fixed(wide ? XDD_ENGINE_exact : XDD_ENGINE_tagged, XDD_KEY_packet);

	fixed.hash = hash;
	fixed.seed = seed;
	return fixed;
}

static struct xdd_digest digest_of(const struct xdd_fixed *fixed, const u8 *at, u32 at_len)
{
	struct xdd_packet packet = { at, at + at_len, NULL, at_len, at_len, fixed->link };
	struct xdd_digest digest;

	assert_int_equal(xdd_key_hash(fixed, &secret, &packet, &message.key, &digest), 0);
	return digest;
}

/* Digest of the tail of @len bytes at @off behind a random head of 32 or 64. */
static struct xdd_digest random_message(const struct xdd_fixed *fixed, u64 *seed, u32 off, u32 len)
{
	struct xdd_key *key = &message.key;

	key->head_len = random64(seed) & 32 ? 32 : 64;
	random_bytes(seed, (u8 *)&key->head, sizeof(key->head));
	random_bytes(seed, message.bytes, off + len);
	key->head.tail_len = len;
	key->tail = off;
	return digest_of(fixed, message.bytes, off + len);
}

/* Head and tail in one piece, for the references. Returns the length. */
static u32 flatten(u8 *to)
{
	const struct xdd_key *key = &message.key;

	memcpy(to, &key->head, key->head_len);
	memcpy(to + key->head_len, message.bytes + key->tail, key->head.tail_len);
	return key->head_len + key->head.tail_len;
}

/* Lengths that end in every way behind 0, 1 and many blocks, at all kinds of offsets. */
static void each_length(void (*check)(u64 *seed, u32 off, u32 len))
{
	u64 seed = 99;

	for (u32 len = 0; len <= 200; len++)
		check(&seed, random_below(&seed, 40), len);
	for (u32 len = 0; len < 10; len++)
		check(&seed, 0, len);
	for (u32 len = 201; len <= 10000; len += 37)
		check(&seed, random_below(&seed, 100), len);
	for (u32 block = 1; block <= 9; block++) {
		for (u32 around = 0; around <= 66; around++)
			check(&seed, 34, block * XDD_BLOCK - 33 + around);
	}
	for (u32 off = XDD_MAX_OFFSET - 40; off <= XDD_MAX_OFFSET + 3; off++)
		check(&seed, off, 75);
	check(&seed, 14, 40000);
}

static void check_xxh64(u64 *seed, u32 off, u32 len)
{
	static u8 flat[MESSAGE_MAX + 64];
	u64 xxh_seed = random64(seed);
	struct xdd_fixed fixed = hash_fixed(XDD_HASH_xxh64, true, xxh_seed);
	struct xdd_digest digest = random_message(&fixed, seed, off, len);
	u32 bytes = flatten(flat);

	assert_true(digest.lo == XXH64(flat, bytes, xxh_seed));
	assert_true(digest.hi == XXH64(flat, bytes, xdd_mix64(xxh_seed + XDD_P5)));
	fixed.engine = XDD_ENGINE_timer;
	digest = digest_of(&fixed, message.bytes, off + len);
	assert_true(digest.lo == XXH64(flat, bytes, xxh_seed));
	assert_true(digest.hi == 0);
}

static void test_xxh64(void **state)
{
	(void)state;
	each_length(check_xxh64);
}

static u64 rotl(u64 v, u32 by)
{
	return v << by | v >> (64 - by);
}

static void sip_reference_round(u64 v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13);
	v[3] = rotl(v[3], 16);
	v[1] ^= v[0];
	v[3] ^= v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17);
	v[3] = rotl(v[3], 21);
	v[1] ^= v[2];
	v[3] ^= v[0];
	v[2] = rotl(v[2], 32);
}

static u64 sip_reference_words(u64 v[4], u32 rounds)
{
	for (u32 i = 0; i < rounds; i++)
		sip_reference_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* SipHash-2-4 byte by byte; both halves if @wide. */
static struct xdd_digest sip_reference(const u64 key[2], const u8 *at, u32 len, bool wide)
{
	u64 v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
		     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
	struct xdd_digest out = { 0, 0 };
	u64 word = 0;

	if (wide)
		v[1] ^= 0xee;
	for (u32 i = 0; i <= len; i++) {
		bool last = i == len;

		word |= (u64)(last ? 0 : at[i]) << 8 * (i % 8);
		if (!last && i % 8 != 7)
			continue;
		word |= last ? (u64)len << 56 : 0;
		v[3] ^= word;
		sip_reference_words(v, 2);
		v[0] ^= word;
		word = 0;
	}
	v[2] ^= wide ? 0xee : 0xff;
	out.lo = sip_reference_words(v, 4);
	if (wide) {
		v[1] ^= 0xdd;
		out.hi = sip_reference_words(v, 4);
	}
	return out;
}

/* The vectors that SipHash's authors publish: key 00 01 ... 0f, message 00 01 ... */
static void test_sip_reference(void **state)
{
	static const u64 key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	static const u8 at[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct xdd_digest wide;

	(void)state;
	assert_true(sip_reference(key, at, 0, false).lo == 0x726fdb47dd0e0e31);
	assert_true(sip_reference(key, at, 1, false).lo == 0x74f839c593dc67fd);
	assert_true(sip_reference(key, at, 15, false).lo == 0xa129ca6149be45e5);
	wide = sip_reference(key, at, 0, true);
	assert_true(wide.lo == 0xe6a825ba047f81a3 && wide.hi == 0x930255c71472f66d);
	wide = sip_reference(key, at, 1, true);
	assert_true(wide.lo == 0x44af996bd8c187da && wide.hi == 0x45fc229b11597634);
}

static void check_siphash(u64 *seed, u32 off, u32 len)
{
	static u8 flat[MESSAGE_MAX + 64];

	for (u32 wide = 0; wide <= 1; wide++) {
		struct xdd_fixed fixed = hash_fixed(XDD_HASH_siphash, wide, 0);
		struct xdd_digest digest, want;

		secret_from_seed(&secret, random64(seed));
		digest = random_message(&fixed, seed, off, len);
		want = sip_reference(secret.sip, flat, flatten(flat), wide);
		assert_true(digest.lo == want.lo);
		assert_true(digest.hi == want.hi);
	}
}

static void test_siphash(void **state)
{
	(void)state;
	each_length(check_siphash);
}

/* NH of @len bytes, padded with zeros to whole stripes, under the words of @key. */
static u64 nh_reference(const u8 *at, u32 len, const u64 *key)
{
	u64 sum = 0;

	for (u32 word = 0; word < (len + 31) / 32 * 4; word++) {
		u32 half[2] = { 0, 0 };

		for (u32 i = 0; i < 8 && word * 8 + i < len; i++)
			half[i / 4] |= (u32)at[word * 8 + i] << 8 * (i % 4);
		half[0] += (u32)(key[word] & 0xffffffff);
		half[1] += (u32)(key[word] >> 32);
		sum += (u64)half[0] * half[1];
	}
	return sum;
}

static u64 nh_pair_reference(u64 value, u64 key)
{
	return (u64)(u32)((u32)value + (u32)key) * (u32)((value >> 32) + (key >> 32));
}

/* Half @half of the digest: head, blocks of 1024, and what is left over in whole stripes and
 * behind them, are hashed one by one, then their results.
 */
static u64 keyed_reference(u32 half)
{
	const struct xdd_key *key = &message.key;
	const u8 *at = message.bytes + key->tail;
	u32 left = key->head.tail_len, block = 0;
	u64 sum = 0, value, out;
	u32 n = key->head_len;
	const u64 *last = secret.last[half];

	value = nh_reference((const u8 *)&key->head, n, secret.nh + half);
	for (;;) {
		sum += nh_pair_reference(value, secret.block[half][block++]);
		if (!left)
			break;
		n = left >= 1024 ? 1024 : left >= 32 ? left / 32 * 32 : left;
		value = nh_reference(at, n, secret.nh + half);
		at += n;
		left -= n;
	}
	out = (last[0] + last[1] * (sum & 0xffffffff) + last[2] * (sum >> 32)) >> 32 << 32;
	out |= (last[3] + last[4] * (sum & 0xffffffff) + last[5] * (sum >> 32)) >> 32;
	return out;
}

static void check_keyed(u64 *seed, u32 off, u32 len)
{
	for (u32 wide = 0; wide <= 1; wide++) {
		struct xdd_fixed fixed = hash_fixed(XDD_HASH_keyed, wide, 0);
		struct xdd_digest digest;

		secret_from_seed(&secret, random64(seed));
		digest = random_message(&fixed, seed, off, len);
		assert_true(digest.lo == keyed_reference(0));
		assert_true(digest.hi == (wide ? keyed_reference(1) : 0));
	}
}

static void test_keyed(void **state)
{
	(void)state;
	each_length(check_keyed);
}

/* Beyond the blocks that have a secret of their own, two of them exchanged still matter. */
static void test_keyed_order_of_rounds(void **state)
{
	u32 len = 2 * XDD_NH_BLOCKS * XDD_BLOCK;
	u8 *bytes = calloc(1, len), byte = 9;
	struct xdd_fixed fixed = hash_fixed(XDD_HASH_keyed, false, 0);
	struct xdd_digest first, second;

	(void)state;
	memset(&message.key, 0, sizeof(message.key));
	message.key.head_len = 32;
	message.key.head.tail_len = len;
	bytes[0] = byte;
	first = digest_of(&fixed, bytes, len);
	bytes[0] = 0;
	bytes[XDD_NH_BLOCKS * XDD_BLOCK] = byte;
	second = digest_of(&fixed, bytes, len);
	free(bytes);
	assert_true(first.lo != second.lo);
}

/* No byte beyond the packet is read, whatever its length, and none before it. */
static void test_bounds(void **state)
{
	struct guard guard = guard_open();
	u64 seed = 3;

	(void)state;
	for (u32 hash = 0; hash < XDD_HASH_MAX; hash++) {
		struct xdd_fixed fixed = hash_fixed(hash, true, 1);

		for (u32 len = 1; len <= 2200; len += len < 100 ? 1 : 13) {
			struct xdd_digest want = random_message(&fixed, &seed, 0, len), found;

			for (u32 at_start = 0; at_start <= 1; at_start++) {
				found = digest_of(&fixed,
						  guard_copy(&guard, message.bytes, len, at_start),
						  len);
				assert_memory_equal(&found, &want, sizeof(found));
			}
		}
	}
	guard_close(&guard);
}

static void test_too_short(void **state)
{
	struct xdd_fixed fixed = hash_fixed(XDD_HASH_keyed, true, 1);
	struct xdd_packet packet = { message.bytes, message.bytes + 99, NULL, 99, 99, 1 };
	struct xdd_digest digest;

	(void)state;
	memset(&message.key, 0, sizeof(message.key));
	message.key.head_len = 32;
	for (u32 len = 1; len < 1200; len++) {
		message.key.tail = 100 - (len < 100 ? len : 100);
		message.key.head.tail_len = len;
		assert_int_not_equal(xdd_key_hash(&fixed, &secret, &packet, &message.key, &digest),
				     0);
	}
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u32 repeats(u64 *values, u32 n)
{
	u32 same = 0;

	qsort(values, n, sizeof(*values), compare_u64);
	for (u32 i = 1; i < n; i++)
		same += values[i] == values[i - 1];
	return same;
}

/* Zeros only, of all lengths: the padding of the last word is not part of the message. */
static void test_zeros(void **state)
{
	static u64 low[3000];

	(void)state;
	memset(&message, 0, sizeof(message));
	for (u32 hash = 0; hash < XDD_HASH_MAX; hash++) {
		struct xdd_fixed fixed = hash_fixed(hash, false, 0);

		fixed.key = XDD_KEY_frame;
		for (u32 len = 0; len < XDD_ARRAY_SIZE(low); len++) {
			struct xdd_packet packet = { message.bytes, message.bytes + len,
						     NULL,	    len,
						     3000,	    1 };
			struct xdd_digest digest = {};

			assert_int_equal(xdd_key_build(&fixed, &packet, &message.key),
					 XDD_BYPASS_MAX);
			assert_int_equal(
				xdd_key_hash(&fixed, &secret, &packet, &message.key, &digest), 0);
			low[len] = digest.lo;
		}
		assert_int_equal(repeats(low, XDD_ARRAY_SIZE(low)), 0);
	}
}

#define SPREAD_KEYS (1u << 20)
#define SPREAD_LINES 4096

/* Sum over the bins of (found - expected)^2 / expected. */
static double chi_square(const u32 *bins, u32 n)
{
	double expected = (double)SPREAD_KEYS / n, sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += (bins[i] - expected) * (bins[i] - expected) / expected;
	return sum;
}

/* A chi-square of n - 1 degrees of freedom, within 5 standard deviations of its mean. */
static void expect_uniform(const u32 *bins, u32 n)
{
	double sum = chi_square(bins, n), wide = 5 * __builtin_sqrt(2.0 * (n - 1));

	if (sum > n - 1 + wide || sum < n - 1 - wide)
		fail_msg("chi-square %.0f of %u bins", sum, n);
}

/*
 * A million keys that differ in one counter: no two have the same 64 bits, and lines, tags'
 * low bits and timers' draws are uniform.
 */
static void check_spread(u32 hash)
{
	u32 *lines = calloc(SPREAD_LINES, sizeof(u32)), *low = calloc(SPREAD_LINES, sizeof(u32));
	struct xdd_fixed fixed = hash_fixed(hash, false, 12345);
	u64 *values = malloc(SPREAD_KEYS * sizeof(u64));

	memset(&message.key, 0, sizeof(message.key));
	message.key.head_len = 32;
	for (u32 i = 0; i < SPREAD_KEYS; i++) {
		u32 rest;

		message.key.head.v4[0] = i;
		values[i] = digest_of(&fixed, message.bytes, 0).lo;
		lines[xdd_range(values[i] >> 32, SPREAD_LINES, &rest)]++;
		low[values[i] % SPREAD_LINES]++;
	}
	expect_uniform(lines, SPREAD_LINES);
	expect_uniform(low, SPREAD_LINES);
	assert_int_equal(repeats(values, SPREAD_KEYS), 0);
	free(values);
	free(lines);
	free(low);
}

static void test_spread(void **state)
{
	(void)state;
	secret_from_seed(&secret, 4);
	for (u32 hash = 0; hash < XDD_HASH_MAX; hash++)
		check_spread(hash);
}

/* Each bit of a message changes about half of the digest's bits. Keyed mixes the halves of
 * an NH result into one half of the digest each by strongly universal functions.
 */
static void test_avalanche(void **state)
{
	u64 seed = 5;

	(void)state;
	for (u32 hash = 0; hash < XDD_HASH_MAX; hash++) {
		u32 flips = 0, n = 0;

		for (u32 i = 0; i < 4000; i++, n++) {
			struct xdd_fixed fixed = hash_fixed(hash, false, random64(&seed));
			struct xdd_digest before, after;
			u32 bit = random_below(&seed, 90 * 8);

			secret_from_seed(&secret, random64(&seed));
			before = random_message(&fixed, &seed, 0, 90);
			message.bytes[bit / 8] ^= 1 << bit % 8;
			after = digest_of(&fixed, message.bytes, 90);
			flips += __builtin_popcountll(before.lo ^ after.lo);
		}
		assert_in_range(flips, n * 31, n * 33);
	}
}

/* The inverse of an odd number modulo 2^64, by Newton's steps. */
static u64 inverse(u64 odd)
{
	u64 x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* How many of @tries pairs with XXH64's known differences collide under @hash. */
static u32 attack(u32 hash, u32 tries)
{
	u64 one = (1ULL << 63) * inverse(XDD_P2);
	u64 two = (1ULL << 30) * XDD_P1 * inverse(XDD_P2);
	u64 seed = 6, *word = (u64 *)message.bytes;
	u32 same = 0;

	for (u32 i = 0; i < tries; i++) {
		struct xdd_fixed fixed = hash_fixed(hash, false, random64(&seed));
		struct xdd_digest first;

		if (hash == XDD_HASH_keyed && i % 1000 == 0)
			secret_from_seed(&secret, random64(&seed));
		first = random_message(&fixed, &seed, 0, 64);
		word[0] += one;
		word[4] -= two;
		same += digest_of(&fixed, message.bytes, 64).lo == first.lo;
	}
	return same;
}

static void test_attack_on_xxh64(void **state)
{
	u32 same = attack(XDD_HASH_xxh64, 2000);

	(void)state;
	assert_in_range(same, 900, 1100);
}

static void test_attack_on_keyed(void **state)
{
	(void)state;
	assert_int_equal(attack(XDD_HASH_keyed, 1000000), 0);
}

static int setup(void **state)
{
	(void)state;
	secret_from_seed(&secret, 1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xxh64),
		cmocka_unit_test(test_sip_reference),
		cmocka_unit_test(test_siphash),
		cmocka_unit_test(test_keyed),
		cmocka_unit_test(test_keyed_order_of_rounds),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_avalanche),
		cmocka_unit_test(test_attack_on_xxh64),
		cmocka_unit_test(test_attack_on_keyed),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

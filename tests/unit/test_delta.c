/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Changed bits as they are sent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/cluster/delta.h"
#include "user/stream.h"

#define BITS 1000
#define WORDS ((BITS + 63) / 64)

static size_t there_and_back(const u64 *bits, u64 n, enum delta_form form)
{
	u8 *message = malloc(delta_room(n));
	u64 back[WORDS];
	size_t size = delta_encode(bits, n, message);

	assert_true(size <= delta_room(n));
	assert_int_equal(message[0], form);
	assert_int_equal(delta_decode(message, size, back, n), 0);
	assert_memory_equal(back, bits, (n + 63) / 64 * sizeof(u64));
	free(message);
	return size;
}

static void test_forms(void **state)
{
	struct stream random;
	u64 bits[WORDS] = {};

	(void)state;
	assert_int_equal(there_and_back(bits, BITS, DELTA_sparse), 1);
	bits[0] = 1;
	assert_int_equal(there_and_back(bits, BITS, DELTA_sparse), 2);
	bits[(BITS - 1) / 64] |= 1ULL << (BITS - 1) % 64;
	assert_int_equal(there_and_back(bits, BITS, DELTA_sparse), 4);
	memset(bits, 0xff, sizeof(u64) * (BITS / 64));
	bits[BITS / 64] = (1ULL << BITS % 64) - 1;
	assert_int_equal(there_and_back(bits, BITS, DELTA_runs), 1 + 1 + 2);
	stream_open(&random, 1, 0, 1);
	for (u32 i = 0; i < BITS / 64; i++)
		bits[i] = stream_draw(&random);
	assert_int_equal(there_and_back(bits, BITS, DELTA_raw), delta_room(BITS));
}

/* Any density, any number of bits. */
static void test_random(void **state)
{
	struct stream random;

	(void)state;
	stream_open(&random, 1, 0, 2);
	for (u32 turn = 0; turn < 5000; turn++) {
		u64 n = 1 + stream_draw(&random) % BITS, chance = stream_draw(&random) % 100;
		u64 bits[WORDS] = {}, back[WORDS];
		u8 message[1 + (BITS + 7) / 8];
		size_t size;

		for (u64 i = 0; i < n; i++)
			if (stream_draw(&random) % 100 < chance)
				bits[i / 64] |= 1ULL << i % 64;
		size = delta_encode(bits, n, message);
		assert_true(size <= delta_room(n));
		assert_int_equal(delta_decode(message, size, back, n), 0);
		assert_memory_equal(back, bits, (n + 63) / 64 * sizeof(u64));
	}
}

/* Anything else is refused, or bits of the filter: with guards on both sides. */
static void test_damaged(void **state)
{
	struct stream random;

	(void)state;
	stream_open(&random, 1, 0, 3);
	for (u32 turn = 0; turn < 100000; turn++) {
		u64 n = 1 + stream_draw(&random) % BITS, words = (n + 63) / 64;
		size_t size = stream_draw(&random) % 40;
		u64 bits[WORDS + 2];
		u8 *message = malloc(size + !size);

		for (size_t i = 0; i < size; i++)
			message[i] = i ? stream_draw(&random) : stream_draw(&random) % 4;
		bits[0] = bits[words + 1] = XDD_GOLDEN;
		if (!delta_decode(message, size, bits + 1, n) && n % 64)
			assert_true(!(bits[words] >> n % 64));
		assert_true(bits[0] == XDD_GOLDEN && bits[words + 1] == XDD_GOLDEN);
		free(message);
	}
	assert_int_equal(delta_decode((const u8 *)"\1\5", 2, (u64[1]){}, 5), -EBADMSG);
	assert_int_equal(delta_decode((const u8 *)"\1\4", 2, (u64[1]){}, 5), 0);
	assert_int_equal(delta_decode((const u8 *)"\1\4\0", 3, (u64[1]){}, 5), -EBADMSG);
	assert_int_equal(delta_decode((const u8 *)"\2\0\6", 3, (u64[1]){}, 5), -EBADMSG);
	assert_int_equal(delta_decode((const u8 *)"\0\x20", 2, (u64[1]){}, 5), -EBADMSG);
	assert_int_equal(delta_decode((const u8 *)"\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1",
				      12, (u64[1]){}, 5),
			 -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

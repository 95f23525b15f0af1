/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages between hosts: what is written is read, and nothing else is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/cluster/wire.h"

static const struct wire_key group = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };

#define PAYLOAD 37

static struct wire_self make_self(const char *name)
{
	return (struct wire_self){ .key = wire_key_of(&group, name), .fingerprint = 7, .epoch = 9 };
}

/* A FULL of 2^10 bits from host "a" to @message. Returns its bytes. */
static size_t make(u8 *message)
{
	struct wire_self self = make_self("a");
	struct wire_head head = { .type = WIRE_FULL,
				  .hashes = 4,
				  .shift = 10,
				  .seq = 3,
				  .parts = 1,
				  .bits = 1024,
				  .keys = 55,
				  .payload_bytes = PAYLOAD };

	memset(message + WIRE_HEADER, 0xa5, PAYLOAD);
	return wire_seal(&self, &head, message);
}

static int open_as(const char *name, const u8 *message, size_t size)
{
	struct wire_key key = wire_key_of(&group, name);
	struct wire_head head;
	const u8 *payload;

	return wire_open(&key, message, size, &head, &payload);
}

static void test_round_trip(void **state)
{
	u8 message[WIRE_HEADER + PAYLOAD + WIRE_TAG];
	struct wire_key key = wire_key_of(&group, "a");
	struct wire_head head;
	const u8 *payload;

	(void)state;
	assert_int_equal(make(message), sizeof(message));
	assert_int_equal(wire_open(&key, message, sizeof(message), &head, &payload), 0);
	assert_ptr_equal(payload, message + WIRE_HEADER);
	assert_int_equal(head.type, WIRE_FULL);
	assert_int_equal(head.fingerprint, 7);
	assert_int_equal(head.epoch, 9);
	assert_int_equal(head.order, 1);
	assert_int_equal(head.seq, 3);
	assert_int_equal(head.keys, 55);
	assert_int_equal(head.payload_bytes, PAYLOAD);
	assert_string_equal(wire_names[WIRE_AUDIT_ASK], "audit_ask");
}

/* Aumasson and Bernstein's vectors: the paper's own of 64 bits, and the reference's first of 128. */
static void test_tag(void **state)
{
	struct wire_key of_nothing = wire_key_of(&group, "");
	u8 bytes[15];

	(void)state;
	for (u32 i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_true(wire_tag(&group, bytes, sizeof(bytes)) == 0xa129ca6149be45e5ULL);
	assert_true(of_nothing.sip[0] == 0xe6a825ba047f81a3ULL);
	assert_true(of_nothing.sip[1] == 0x930255c71472f66dULL);
}

/* The layout by byte is what the header says. */
static void test_layout(void **state)
{
	u8 message[WIRE_HEADER + PAYLOAD + WIRE_TAG];

	(void)state;
	make(message);
	assert_memory_equal(message, "XDDR\1\0\x78\0\1\0\4\0\12\0\0\0", 16);
	assert_int_equal(message[16], 7);  /* fingerprint */
	assert_int_equal(message[24], 9);  /* epoch */
	assert_int_equal(message[32], 1);  /* order */
	assert_int_equal(message[40], 3);  /* seq */
	assert_int_equal(message[52], 1);  /* parts */
	assert_int_equal(message[65], 4);  /* bits */
	assert_int_equal(message[72], 55); /* keys */
	assert_int_equal(message[116], PAYLOAD);
}

static void test_damaged(void **state)
{
	u8 message[WIRE_HEADER + PAYLOAD + WIRE_TAG + 1];
	size_t size;

	(void)state;
	size = make(message);
	message[size] = 0;
	assert_int_equal(open_as("a", message, size), 0);
	for (size_t i = 0; i < size; i++) {
		u8 *cut = malloc(i ?: 1); /* so that reading behind it is found */

		memcpy(cut, message, i);
		assert_int_equal(open_as("a", cut, i), -EBADMSG);
		free(cut);
	}
	assert_int_equal(open_as("a", message, size + 1), -EBADMSG);
	for (size_t i = 0; i < 8 * size; i++) {
		message[i / 8] ^= 1 << i % 8;
		assert_true(open_as("a", message, size) < 0);
		message[i / 8] ^= 1 << i % 8;
	}
	assert_int_equal(open_as("b", message, size), -EBADMSG);
	assert_int_equal(open_as("a", message, size), 0);
}

static void put_tag(u8 *message, size_t size)
{
	struct wire_key key = wire_key_of(&group, "a");
	u64 tag = wire_tag(&key, message, size - WIRE_TAG);

	memcpy(message + size - WIRE_TAG, &tag, WIRE_TAG);
}

/* What a message is taken for when the byte @at of its header is @value, and its sender meant it. */
static int open_with(u32 at, u8 value)
{
	u8 message[WIRE_HEADER + PAYLOAD + WIRE_TAG];
	size_t size = make(message);

	message[at] = value;
	put_tag(message, size);
	return open_as("a", message, size);
}

/* Another minor version, with a longer header, is read; another major one or a new type is told apart. */
static void test_versions(void **state)
{
	struct wire_key key = wire_key_of(&group, "a");
	u8 message[WIRE_HEADER + PAYLOAD + WIRE_TAG];
	struct wire_head head;
	const u8 *payload;
	size_t size = make(message);

	(void)state;
	message[5] = 1; /* minor */
	message[6] += 16;
	message[116] -= 16; /* of the payload, the first 16 bytes are header */
	put_tag(message, size);
	assert_int_equal(wire_open(&key, message, size, &head, &payload), 0);
	assert_ptr_equal(payload, message + WIRE_HEADER + 16);
	assert_int_equal(head.payload_bytes, PAYLOAD - 16);
	assert_int_equal(open_with(4, 2), -EPROTONOSUPPORT);
	assert_int_equal(open_with(4, 0), -EPROTONOSUPPORT);
	assert_int_equal(open_with(8, 0), -EOPNOTSUPP);
	assert_int_equal(open_with(8, WIRE_TYPE_MAX), -EOPNOTSUPP);
	assert_int_equal(open_with(8, 255), -EOPNOTSUPP);
	assert_int_equal(open_with(9, 255), 0); /* flags */
	assert_int_equal(open_with(6, WIRE_HEADER - 1), -EBADMSG);
}

/* What cannot be is refused, though its tag is right. */
static void test_ranges(void **state)
{
	(void)state;
	assert_int_equal(open_with(8, WIRE_DELTA), 0);
	assert_int_equal(open_with(10, 0), -EBADMSG);  /* hashes */
	assert_int_equal(open_with(12, 9), -EBADMSG);  /* shift */
	assert_int_equal(open_with(12, 33), -EBADMSG); /* shift */
	assert_int_equal(open_with(13, 1), -EBADMSG);  /* shift */
	assert_int_equal(open_with(48, 1), -EBADMSG);  /* part of 1 */
	assert_int_equal(open_with(52, 0), -EBADMSG);  /* of none */
	assert_int_equal(open_with(54, 1), -EBADMSG);  /* of too many */
	assert_int_equal(open_with(56, 64), -EBADMSG); /* first bit: the end is beyond */
	assert_int_equal(open_with(63, 255), -EBADMSG);
	assert_int_equal(open_with(64, 1), -EBADMSG); /* bits: no multiple */
	assert_int_equal(open_with(65, 0), -EBADMSG); /* none */
	assert_int_equal(open_with(65, 8), -EBADMSG); /* more than there are */
	assert_int_equal(open_with(71, 255), -EBADMSG);
	assert_int_equal(open_with(116, PAYLOAD - 1), -EBADMSG);
}

static void test_asks(void **state)
{
	static struct wire_ask asks[WIRE_ASK_MAX], back[WIRE_ASK_MAX];
	static u8 payload[WIRE_PAYLOAD_MAX];
	u64 random = 1;

	(void)state;
	for (u32 i = 0; i < WIRE_ASK_MAX; i++)
		asks[i] = (struct wire_ask){ random64(&random), random64(&random) };
	for (u32 n = 0; n <= WIRE_ASK_MAX; n = 3 * n + 1) {
		size_t size = wire_put_asks(payload, asks, n);

		assert_int_equal(wire_get_asks(payload, size, back), n);
		assert_memory_equal(asks, back, n * sizeof(*asks));
		assert_int_equal(wire_get_asks(payload, size + 1, back), n); /* a later version */
		assert_int_equal(wire_get_asks(payload, size - 1, back), -EBADMSG);
	}
	memcpy(payload, &(u32){ WIRE_ASK_MAX + 1 }, 4);
	assert_int_equal(wire_get_asks(payload, sizeof(payload), back), -EBADMSG);
}

static void test_answers(void **state)
{
	static struct wire_answers answers = { .epoch = 5, .order = 6 }, back;
	static u8 payload[WIRE_PAYLOAD_MAX];
	u64 random = 1;

	(void)state;
	for (u32 i = 0; i < WIRE_ASK_MAX; i++)
		answers.answer[i] = random_below(&random, 3);
	for (answers.n = 0; answers.n <= WIRE_ASK_MAX; answers.n = 3 * answers.n + 1) {
		size_t size = wire_put_answers(payload, &answers);

		assert_int_equal(wire_get_answers(payload, size, &back), answers.n);
		assert_true(back.epoch == 5 && back.order == 6);
		assert_memory_equal(answers.answer, back.answer, answers.n);
		assert_int_equal(wire_get_answers(payload, size - 1, &back), -EBADMSG);
	}
	answers.n = 1;
	wire_put_answers(payload, &answers);
	payload[20] = 3;
	assert_int_equal(wire_get_answers(payload, 21, &back), -EBADMSG);
	memcpy(payload + 16, &(u32){ WIRE_ASK_MAX + 1 }, 4);
	assert_int_equal(wire_get_answers(payload, sizeof(payload), &back), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_tag),
		cmocka_unit_test(test_layout),	   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_versions),   cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_asks),	   cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

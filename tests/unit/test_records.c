/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records: what of them is the key, what time they have, and their digests. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/common/config.h"
#include "tests/common/guard.h"
#include "user/records/key.h"
#include "user/store.h"

#define S 1000000000ull

static struct span span_of(const char *text)
{
	struct span span = { (const u8 *)text, strlen(text) };

	return span;
}

static void is_key(const char *record, u32 field, const char *expected)
{
	struct key_rule rule = { .field = field, .delimiter = ',' };
	struct span key;
	u64 time = 77;

	if (!expected) {
		assert_int_equal(key_find(&rule, span_of(record), &key, &time), RECORD_no_field);
		return;
	}
	assert_int_equal(key_find(&rule, span_of(record), &key, &time), RECORD_BYPASS_MAX);
	assert_int_equal(key.len, strlen(expected));
	assert_memory_equal(key.at, expected, key.len);
	assert_int_equal(time, 77);
}

static void test_fields(void **state)
{
	(void)state;
	is_key("a,b,c", 0, "a,b,c");
	is_key("a,b,c", 1, "a");
	is_key("a,b,c", 2, "b");
	is_key("a,b,c", 3, "c");
	is_key("a,b,c", 4, NULL);
	is_key("", 0, "");
	is_key("", 1, "");
	is_key("", 2, NULL);
	is_key(",", 1, "");
	is_key(",", 2, "");
	is_key(",", 3, NULL);
	is_key(",,x,", 3, "x");
	is_key(",,x,", 4, "");
	is_key("no", 1, "no");
	is_key("no", 1000000, NULL);
	is_key("a,b\r", 2, "b\r");
}

static void is_time(const char *text, u64 unit_ns, u64 expected)
{
	u64 ns = 1;

	if (key_time(span_of(text), unit_ns, &ns))
		fail_msg("%s is no time", text);
	assert_int_equal(ns, expected);
}

static void no_time(const char *text, u64 unit_ns)
{
	u64 ns = 1;

	if (key_time(span_of(text), unit_ns, &ns) != -EINVAL)
		fail_msg("%s is a time", text);
	assert_int_equal(ns, 1);
}

static void test_times(void **state)
{
	(void)state;
	is_time("0", S, 0);
	is_time("12", S, 12 * S);
	is_time("1722000000.123456789", S, 1722000000 * S + 123456789);
	is_time("1.5", S, 3 * S / 2);
	is_time("1.0000000019", S, S + 1);
	is_time(".25", S, S / 4);
	is_time("3.", S, 3 * S);
	is_time(" 7\r", S, 7 * S);
	is_time("1500.25", 1000000, 1500250000);
	is_time("1500.2509", 1000, 1500250);
	is_time("123.9", 1, 123);
	is_time("4611686018.427387903", S, (1ull << 62) - 1);
	no_time("4611686018.427387904", S);
	no_time("46116860184", S);
	no_time("99999999999999999999999999999999999", 1);
	no_time("18446744073709551617", 1);
	no_time("", S);
	no_time(".", S);
	no_time(" ", S);
	no_time("-1", S);
	no_time("+1", S);
	no_time("1e5", S);
	no_time("1 2", S);
	no_time("1.2.3", S);
	no_time("12:30", S);
	no_time("0x10", S);
}

static void test_time_field(void **state)
{
	struct key_rule rule = { .field = 1, .time_field = 2, .unit_ns = S, .delimiter = '\t' };
	struct span key;
	u64 time;

	(void)state;
	assert_int_equal(key_find(&rule, span_of("k\t5\tx"), &key, &time), RECORD_BYPASS_MAX);
	assert_int_equal(time, 5 * S);
	assert_int_equal(key.len, 1);
	assert_int_equal(key_find(&rule, span_of("k"), &key, &time), RECORD_no_time);
	assert_int_equal(key_find(&rule, span_of("k\tyesterday"), &key, &time), RECORD_no_time);
	rule.field = 3;
	assert_int_equal(key_find(&rule, span_of("k\t5"), &key, &time), RECORD_no_field);
}

/* Nothing behind a key is read, and no more than 8 bytes in front of it; neither is part of it. */
static void test_digests(void **state)
{
	struct guard guard = guard_open();
	u64 random = 5;
	u8 bytes[4096];

	(void)state;
	random_bytes(&random, bytes, sizeof(bytes));
	for (u32 hash = 0; hash < XDD_HASH_MAX; hash++) {
		for (u32 wide = 0; wide < 2; wide++) {
			struct xdd_fixed fixed = config_fixed(
				wide ? XDD_ENGINE_exact : XDD_ENGINE_bloom, XDD_KEY_packet);
			struct xdd_live live = config_live();
			struct xdd_store store;

			fixed.hash = hash;
			assert_int_equal(store_open(&store, &fixed, &live, 1 << 20), 0);
			for (u32 len = 0; len < 2100; len++) {
				struct xdd_digest one, two, other;
				struct span key = { guard_copy(&guard, bytes, 8 + len, false) + 8,
						    len };

				key_digests(&store, &key, 1, &one);
				memset((u8 *)key.at - 8, 0x55, 8);
				key_digests(&store, &key, 1, &two);
				assert_memory_equal(&one, &two, sizeof(one));
				assert_int_equal(!one.hi, !wide);
				key.len++;
				key.at--;
				key_digests(&store, &key, 1, &other);
				assert_true(other.lo != one.lo);
			}
			store_close(&store);
		}
	}
	guard_close(&guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_time_field),
		cmocka_unit_test(test_digests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

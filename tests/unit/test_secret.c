/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Secrets: the same for the same seed, unlike for others, and complete. */
#include <string.h>

#include "tests/common/test.h"
#include "user/secret.h"

#define WORDS (sizeof(struct xdd_secret) / sizeof(u64))

/* No word is 0 and no two are equal: nothing was left out and nothing written twice. */
static void expect_filled(const struct xdd_secret *secret)
{
	u64 word[WORDS];

	memcpy(word, secret, sizeof(word));
	for (u32 i = 0; i < WORDS; i++) {
		assert_true(word[i] != 0);
		for (u32 j = 0; j < i; j++)
			assert_true(word[i] != word[j]);
	}
}

static void test_seed(void **state)
{
	struct xdd_secret one, two;

	(void)state;
	memset(&two, 0xff, sizeof(two));
	secret_from_seed(&one, 1);
	secret_from_seed(&two, 1);
	assert_memory_equal(&one, &two, sizeof(one));
	expect_filled(&one);
	secret_from_seed(&two, 0);
	expect_filled(&two);
	assert_true(one.nh[0] != two.nh[0] && one.sip[1] != two.sip[1]);
}

static void test_random(void **state)
{
	struct xdd_secret one = {}, two = {};

	(void)state;
	assert_int_equal(secret_random(&one), 0);
	assert_int_equal(secret_random(&two), 0);
	expect_filled(&one);
	expect_filled(&two);
	assert_true(one.nh[0] != two.nh[0] && one.sip[1] != two.sip[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Secrets: the same for the same seed, unlike for others, and complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int from_file(struct xdd_secret *secret, size_t size, mode_t mode)
{
	char path[] = "/tmp/test_secret.XXXXXX", err[256];
	int fd = mkstemp(path), code;

	for (size_t i = 0; i < size; i++)
		assert_int_equal(write(fd, &(u8){ i * 7 }, 1), 1);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	code = secret_from_file(secret, path, err, sizeof(err));
	unlink(path);
	return code;
}

/* The same for the same bytes, another one for one byte more, and none from what others can read. */
static void test_file(void **state)
{
	struct xdd_secret one = {}, two = {};
	char err[256];

	(void)state;
	assert_int_equal(from_file(&one, 32, 0600), 0);
	assert_int_equal(from_file(&two, 32, 0400), 0);
	assert_memory_equal(&one, &two, sizeof(one));
	expect_filled(&one);
	assert_int_equal(from_file(&two, 33, 0600), 0);
	expect_filled(&two);
	assert_true(one.nh[0] != two.nh[0] && one.sip[1] != two.sip[1]);
	assert_int_equal(from_file(&two, 32, 0640), -EPERM);
	assert_int_equal(from_file(&two, 32, 0604), -EPERM);
	assert_int_equal(from_file(&two, 31, 0600), -EINVAL);
	assert_int_equal(from_file(&two, 0, 0600), -EINVAL);
	assert_int_equal(secret_from_file(&two, "/nonexistent", err, sizeof(err)), -ENOENT);
	assert_int_equal(secret_from_file(&two, "/tmp", err, sizeof(err)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

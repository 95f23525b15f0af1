/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text of others: what is UTF-8, and what a terminal and a JSON parser get instead of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "user/utf8.h"

static void check_next(const char *text, size_t length, u32 code)
{
	u32 found = 0;

	assert_int_equal(utf8_next(text, &found), length);
	if (length)
		assert_int_equal(found, code);
}

static void test_characters(void **state)
{
	(void)state;
	check_next("a", 1, 'a');
	check_next("\x7f", 1, 0x7f);
	check_next("\xc2\x80", 2, 0x80);
	check_next("\xdf\xbf", 2, 0x7ff);
	check_next("\xe0\xa0\x80", 3, 0x800);
	check_next("\xed\x9f\xbf", 3, 0xd7ff);
	check_next("\xee\x80\x80", 3, 0xe000);
	check_next("\xf0\x90\x80\x80", 4, 0x10000);
	check_next("\xf4\x8f\xbf\xbf", 4, 0x10ffff);
}

static void test_not_characters(void **state)
{
	static const char *const wrong[] = {
		"\x80",		/* a byte that goes on */
		"\xc3",		/* the end of the text in between */
		"\xe2\x82",	/* the same */
		"\xc3(",	/* another character in between */
		"\xc0\xaf",	/* '/' in two bytes */
		"\xe0\x9f\xbf", /* U+07FF in three */
		"\xf0\x8f\xbf\xbf",
		"\xed\xa0\x80",
		"\xed\xbf\xbf", /* surrogates */
		"\xf4\x90\x80\x80",
		"\xf8\x88\x80\x80\x80",
		"\xff",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		check_next(wrong[i], 0, 0);
}

static void check_mask(const char *text, const char *expected)
{
	char masked[64];

	snprintf(masked, sizeof(masked), "%s", text);
	assert_string_equal(utf8_mask(masked), expected);
}

static void test_mask(void **state)
{
	(void)state;
	check_mask("", "");
	check_mask("eth0: \xc3\xa9 is\tup\n", "eth0: \xc3\xa9 is\tup\n");
	check_mask("\033[2Ja\rb\x7f", "?[2Ja?b?");
	check_mask("a\x9b"
		   "2Jb\xff",
		   "a?2Jb?");
	check_mask("a\xc2\x9b"
		   "2J\xc2\xa0.",
		   "a?2J\xc2\xa0.");
	check_mask("\xe2\x82", "??");
}

static void check_json(const char *text, const char *expected)
{
	json_t *json = utf8_json(text);

	assert_non_null(json);
	assert_string_equal(json_string_value(json), expected);
	json_decref(json);
}

static void test_json(void **state)
{
	(void)state;
	check_json("", "");
	check_json("eth0", "eth0");
	check_json("\xc3\xa9", "\xc3\xa9");
	check_json("a\xff"
		   "b",
		   "a" UTF8_REPLACEMENT "b");
	check_json("\xe2\x82", UTF8_REPLACEMENT UTF8_REPLACEMENT);
	check_json("\033\x01", "\033\x01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_not_characters),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

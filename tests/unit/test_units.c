/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers with units: what is read, to the last unit, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "message.h"
#include "names.h"
#include "units.h"

#define UNTOUCHED 0x5eed5eedull

struct example {
	const char *text;
	int err;
	u64 value;
};

static void try_all(int (*parse)(const char *, u64 *), const struct example *examples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		u64 value = UNTOUCHED;
		int err = parse(examples[i].text, &value);

		if (err != examples[i].err)
			fail_msg("\"%s\": %d instead of %d", examples[i].text, err,
				 examples[i].err);
		assert_int_equal(value, err ? UNTOUCHED : examples[i].value);
	}
}

static void test_time(void **state)
{
	static const struct example examples[] = {
		{ "50ms", 0, 50000000 },
		{ "100us", 0, 100000 },
		{ "1.5s", 0, 1500000000 },
		{ "1ns", 0, 1 },
		{ "0", 0, 0 },
		{ "2min", 0, 120000000000 },
		{ "1h", 0, 3600000000000 },
		{ "0.000000001s", 0, 1 },
		{ "18446744073709551615ns", 0, UINT64_MAX },
		{ "007ms", 0, 7000000 },
		{ "18446744073709551616ns", -ERANGE, 0 },
		{ "99999999999999999999999ms", -ERANGE, 0 },
		{ "18446744074s", -ERANGE, 0 },
		{ "0.0000000001s", -EINVAL, 0 },
		{ "1.5ns", -EINVAL, 0 },
		{ "12abc", -EINVAL, 0 },
		{ "12", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "ms", -EINVAL, 0 },
		{ "-5ms", -EINVAL, 0 },
		{ "+5ms", -EINVAL, 0 },
		{ " 5ms", -EINVAL, 0 },
		{ "5 ms", -EINVAL, 0 },
		{ "5ms ", -EINVAL, 0 },
		{ "5MS", -EINVAL, 0 },
		{ "5msms", -EINVAL, 0 },
		{ "1.ms", -EINVAL, 0 },
		{ ".5ms", -EINVAL, 0 },
		{ "1.2.3ms", -EINVAL, 0 },
		{ "1e3ms", -EINVAL, 0 },
		{ "0x5ms", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
	};

	(void)state;
	try_all(units_time, examples, XDD_ARRAY_SIZE(examples));
}

static void test_size(void **state)
{
	static const struct example examples[] = {
		{ "64MiB", 0, 67108864 },
		{ "64M", 0, 67108864 },
		{ "64MB", 0, 64000000 },
		{ "1.5KiB", 0, 1536 },
		{ "1kB", 0, 1000 },
		{ "4096", 0, 4096 },
		{ "4096B", 0, 4096 },
		{ "2GiB", 0, 2147483648 },
		{ "16777215TiB", 0, 18446742974197923840u },
		{ "16777216TiB", -ERANGE, 0 },
		{ "0.3KiB", 0, 307 },
		{ "6.4MiB", 0, 6710886 },
		{ "1.5B", -EINVAL, 0 },
		{ "1.5", -EINVAL, 0 },
		{ "64Mib", -EINVAL, 0 },
		{ "64mb", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
	};

	(void)state;
	try_all(units_size, examples, XDD_ARRAY_SIZE(examples));
}

static void test_count(void **state)
{
	static const struct example examples[] = {
		{ "1M", 0, 1000000 },	     { "1Mi", 0, 1048576 },
		{ "2.5k", 0, 2500 },	     { "42", 0, 42 },
		{ "1m", -EINVAL, 0 },	     { "0.5", -EINVAL, 0 },
		{ "1T", 0, 1000000000000 },  { "1Ti", 0, 1ull << 40 },
		{ "20000000T", -ERANGE, 0 }, { "20000000000G", -ERANGE, 0 },
	};

	(void)state;
	try_all(units_count, examples, XDD_ARRAY_SIZE(examples));
}

static void test_number(void **state)
{
	static const struct example examples[] = {
		{ "42", 0, 42 },
		{ "0", 0, 0 },
		{ "0x2a", 0, 42 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "0xffffffffffffffff", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "0x10000000000000000", -ERANGE, 0 },
		{ "0x", -EINVAL, 0 },
		{ "x1", -EINVAL, 0 },
		{ "2a", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
	};

	(void)state;
	try_all(units_number, examples, XDD_ARRAY_SIZE(examples));
}

static void test_ratio(void **state)
{
	static const struct {
		const char *text;
		int err;
		double value;
	} examples[] = {
		{ "0.001", 0, 0.001 },	{ "1e-3", 0, 1e-3 },	  { "1/1024", 0, 1.0 / 1024 },
		{ "0.1%", 0, 0.001 },	{ "50%", 0, 0.5 },	  { "0", -ERANGE, 0 },
		{ "1", -ERANGE, 0 },	{ "2/1", -ERANGE, 0 },	  { "1e-999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },	{ "-0.5", -EINVAL, 0 },	  { "0.5x", -EINVAL, 0 },
		{ "1/0", -EINVAL, 0 },	{ "1/", -EINVAL, 0 },	  { "nan", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },	{ "0x1p-3", -EINVAL, 0 }, { "1/2/3", -EINVAL, 0 },
		{ "1/2%", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(examples); i++) {
		double value = 7;
		int err = units_ratio(examples[i].text, &value);

		if (err != examples[i].err)
			fail_msg("\"%s\": %d instead of %d", examples[i].text, err,
				 examples[i].err);
		assert_true(value == (err ? 7 : examples[i].value));
	}
}

static void test_text(void **state)
{
	char text[UNITS_TEXT_MAX];

	(void)state;
	assert_string_equal(units_time_text(20000000, text), "20 ms");
	assert_string_equal(units_time_text(1250000, text), "1.25 ms");
	assert_string_equal(units_time_text(0, text), "0 ns");
	assert_string_equal(units_time_text(999, text), "999 ns");
	assert_string_equal(units_time_text(7200000000000, text), "2 h");
	assert_string_equal(units_time_text(127000000000, text), "127 s");
	assert_string_equal(units_size_text(33554432, text), "32 MiB");
	assert_string_equal(units_size_text(0, text), "0 B");
	assert_string_equal(units_size_text(1536, text), "1.5 KiB");
	assert_non_null(strstr(units_size_text(UINT64_MAX, text), "TiB"));
}

static void test_nearest(void **state)
{
	static const char *const names[] = { "window", "ticks", "memory", NULL };

	(void)state;
	assert_string_equal(name_nearest(names, "windw"), "window");
	assert_string_equal(name_nearest(names, "mmeory"), "memory");
	assert_string_equal(name_nearest(names, "tick"), "ticks");
	assert_string_equal(name_nearest(names, "windows"), "window");
	assert_null(name_nearest(names, "zzz"));
	assert_null(name_nearest(names, ""));
	assert_null(name_nearest(names, "a-word-of-more-than-forty-characters-is-no-typo"));
	assert_int_equal(name_index(names, "memory"), 2);
	assert_int_equal(name_index(names, "mem"), -ENOENT);
}

static void test_refuse_cuts(void **state)
{
	char err[8];

	(void)state;
	assert_int_equal(refuse(err, sizeof(err), -ENOENT, "%s", "123456789"), -ENOENT);
	assert_string_equal(err, "1234567");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),	cmocka_unit_test(test_size),
		cmocka_unit_test(test_count),	cmocka_unit_test(test_number),
		cmocka_unit_test(test_ratio),	cmocka_unit_test(test_text),
		cmocka_unit_test(test_nearest), cmocka_unit_test(test_refuse_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

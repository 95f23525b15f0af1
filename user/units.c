/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "units.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	u64 factor;
};

static const struct unit times[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000 * 1000 },
	{ "s", 1000 * 1000 * 1000 },
	{ "min", 60ull * 1000 * 1000 * 1000 },
	{ "h", 3600ull * 1000 * 1000 * 1000 },
	{ NULL, 0 },
};

static const struct unit sizes[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "KiB", 1ull << 10 },
	{ "K", 1ull << 10 },
	{ "MiB", 1ull << 20 },
	{ "M", 1ull << 20 },
	{ "GiB", 1ull << 30 },
	{ "G", 1ull << 30 },
	{ "TiB", 1ull << 40 },
	{ "T", 1ull << 40 },
	{ "kB", 1000 },
	{ "MB", 1000 * 1000 },
	{ "GB", 1000 * 1000 * 1000 },
	{ "TB", 1000ull * 1000 * 1000 * 1000 },
	{ NULL, 0 },
};

static const struct unit counts[] = {
	{ "", 1 },
	{ "k", 1000 },
	{ "M", 1000 * 1000 },
	{ "G", 1000 * 1000 * 1000 },
	{ "T", 1000ull * 1000 * 1000 * 1000 },
	{ "Ki", 1ull << 10 },
	{ "Mi", 1ull << 20 },
	{ "Gi", 1ull << 30 },
	{ "Ti", 1ull << 40 },
	{ NULL, 0 },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Append the digits at *@at to *@value and count them; -ERANGE beyond 64 bits. */
static int read_digits(const char **at, u64 *value, unsigned int *digits)
{
	for (*digits = 0; is_digit(**at); ++*at, ++*digits)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (u64)(**at - '0'), value))
			return -ERANGE;
	return 0;
}

/* @round: drop what is less than one, except of the smallest unit. */
static int read_scaled(const char *text, const struct unit *units, bool round, u64 *result)
{
	unsigned int whole, decimals = 0;
	const char *at = text;
	unsigned __int128 product;
	u64 value = 0, scale = 1;
	int err;

	err = read_digits(&at, &value, &whole);
	if (!err && whole && *at == '.') {
		at++;
		err = read_digits(&at, &value, &decimals);
		if (!err && !decimals)
			return -EINVAL;
	}
	if (err || !whole)
		return err ?: -EINVAL;
	while (units->name && strcmp(units->name, at))
		units++;
	if (!units->name)
		return -EINVAL;
	while (decimals--)
		if (__builtin_mul_overflow(scale, 10, &scale))
			return -ERANGE;
	product = (unsigned __int128)value * units->factor;
	if (product % scale && (!round || units->factor == 1))
		return -EINVAL;
	product /= scale;
	if (product > UINT64_MAX)
		return -ERANGE;
	*result = product;
	return 0;
}

int units_time(const char *text, u64 *ns)
{
	if (!strcmp(text, "0")) {
		*ns = 0;
		return 0;
	}
	return read_scaled(text, times, false, ns);
}

int units_size(const char *text, u64 *bytes)
{
	return read_scaled(text, sizes, true, bytes);
}

int units_count(const char *text, u64 *count)
{
	return read_scaled(text, counts, false, count);
}

int units_number(const char *text, u64 *number)
{
	const char *digits = text;
	int base = 10;
	u64 value;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		digits += 2;
		base = 16;
	}
	if (!*digits ||
	    strspn(digits, base == 16 ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
		return -EINVAL;
	errno = 0;
	value = strtoull(digits, NULL, base);
	if (errno)
		return -errno;
	*number = value;
	return 0;
}

/* strtod() without signs, spaces, infinities and hexadecimal. */
static int read_decimal(const char *text, char **end, double *value)
{
	if (!is_digit(*text) || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')))
		return -EINVAL;
	errno = 0;
	*value = strtod(text, end);
	return errno ? -errno : 0;
}

int units_ratio(const char *text, double *ratio)
{
	double value, divisor = 1;
	char *end;
	int err;

	err = read_decimal(text, &end, &value);
	if (!err && *end == '/')
		err = read_decimal(end + 1, &end, &divisor);
	else if (!err && !strcmp(end, "%")) {
		divisor = 100;
		end++;
	}
	if (err)
		return err;
	if (*end || divisor == 0)
		return -EINVAL;
	value /= divisor;
	if (!(value > 0 && value < 1))
		return -ERANGE;
	*ratio = value;
	return 0;
}

/* In the largest unit there is, or a smaller one in which a number below 1000 says it exactly. */
static const char *write_scaled(u64 value, const struct unit *units, const int *order,
				char text[UNITS_TEXT_MAX])
{
	const struct unit *unit = &units[*order], *exact = NULL;

	for (; *order >= 0; order++) {
		u64 factor = units[*order].factor;

		if (value >= factor)
			unit = &units[*order];
		if (value >= factor && value / factor < 1000 && value % factor * 1000 % factor == 0)
			exact = unit;
	}
	if (exact)
		unit = exact;
	snprintf(text, UNITS_TEXT_MAX, "%.6g %s", (double)value / unit->factor, unit->name);
	return text;
}

const char *units_time_text(u64 ns, char text[UNITS_TEXT_MAX])
{
	static const int order[] = { 0, 1, 2, 3, 4, 5, -1 };

	return write_scaled(ns, times, order, text);
}

const char *units_size_text(u64 bytes, char text[UNITS_TEXT_MAX])
{
	static const int order[] = { 1, 2, 4, 6, 8, -1 };

	return write_scaled(bytes, sizes, order, text);
}

const char *units_time_word(u64 ns, char text[UNITS_TEXT_MAX])
{
	char *space = strchr(units_time_text(ns, text), ' ');

	memmove(space, space + 1, strlen(space));
	return text;
}

const char *units_count_text(double count, char text[UNITS_TEXT_MAX])
{
	static const char *const names[] = { "", "k", "M", "G", "T" };
	size_t unit = 0;

	while (count >= 999.5 && unit + 1 < XDD_ARRAY_SIZE(names)) {
		count /= 1000;
		unit++;
	}
	if (!unit && count < 9.95)
		snprintf(text, UNITS_TEXT_MAX, "%.2g", count);
	else
		snprintf(text, UNITS_TEXT_MAX, "%.*f%s", unit && count < 9.95, count, names[unit]);
	return text;
}

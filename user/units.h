/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers as people write them, parsed strictly: digits, at most one decimal point, a unit, and
 * nothing else. No sign, no space, no trailing character; the value is exact or refused.
 *
 * All return 0; -EINVAL if @text is no such number or not a whole number of the result's unit;
 * -ERANGE if it does not fit. The result is untouched then.
 */
#ifndef USER_UNITS_H
#define USER_UNITS_H

#include <xdd/types.h>

/* Nanoseconds from "50ms": ns, us, ms, s, min or h. Only 0 needs no unit. */
int units_time(const char *text, u64 *ns);

/* Bytes from "64MiB": KiB, MiB, GiB, TiB (1024), kB, MB, GB, TB (1000), B or nothing. K, M, G and
 * T alone mean the binary units, as memory sizes do. 6.4MiB is rounded down to whole bytes.
 */
int units_size(const char *text, u64 *bytes);

/* A count from "1M": k, M, G, T (1000), Ki, Mi, Gi, Ti (1024) or nothing. */
int units_count(const char *text, u64 *count);

/* A share above 0 and below 1 from "0.001", "1e-3", "0.1%" or "1/1024". */
int units_ratio(const char *text, double *ratio);

/* A number without unit from "42" or "0x2a". */
int units_number(const char *text, u64 *number);

/* Write @ns as "20 ms", "1.25 ms", @bytes as "32 MiB" to @text, and return it. */
#define UNITS_TEXT_MAX 32
const char *units_time_text(u64 ns, char text[UNITS_TEXT_MAX]);
const char *units_size_text(u64 bytes, char text[UNITS_TEXT_MAX]);

/* "0.25", "999", "1.2k", "2.5M". */
const char *units_count_text(double count, char text[UNITS_TEXT_MAX]);

/* A time as an option takes it: "1.25ms". */
const char *units_time_word(u64 ns, char text[UNITS_TEXT_MAX]);

#endif

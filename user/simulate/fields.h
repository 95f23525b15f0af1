/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The columns of a line of CSV. */
#ifndef USER_SIMULATE_FIELDS_H
#define USER_SIMULATE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#define FIELDS_MAX 64

/* Text that does not end with a zero. */
struct field {
	char *at;
	size_t n;
};

/*
 * Cut @line at its commas into @fields, FIELDS_MAX of them, which point into it. A field in double
 * quotes may have commas in it, and quotes that are doubled there (RFC 4180): it is unquoted in
 * place. A carriage return at the end of the line is not part of it. Returns the number of fields,
 * at least 1, or -1 where a closing quote is missing or something else than a comma follows it;
 * FIELDS_MAX + 1 if there are more.
 */
int fields_cut(const struct field *line, struct field *fields);

bool field_is(const struct field *field, const char *text);

#endif

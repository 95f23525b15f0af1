/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fields.h"

#include <string.h>

/* Cut the field at @from off, up to @end. Returns where the next one begins; NULL: it was the
 * last.
 */
static char *cut_plain(char *from, char *end, struct field *field)
{
	char *comma = memchr(from, ',', end - from);

	field->at = from;
	field->n = (comma ?: end) - from;
	return comma ? comma + 1 : NULL;
}

/* The same for one that begins with a quote; *@ok: it ends as it should. */
static char *cut_quoted(char *from, char *end, struct field *field, bool *ok)
{
	char *to = ++from;

	field->at = from;
	for (; from < end; from++) {
		if (*from == '"' && (from + 1 == end || *++from != '"'))
			break;
		*to++ = *from;
	}
	field->n = to - field->at;
	*ok = from < end && (*from == ',' || (from + 1 == end && *from == '"'));
	return *ok && *from == ',' ? from + 1 : NULL;
}

int fields_cut(const struct field *line, struct field *fields)
{
	char *at = line->at, *end = at + line->n;
	bool ok = true;
	int n = 0;

	if (line->n && end[-1] == '\r')
		end--;
	while (at && n < FIELDS_MAX) {
		if (at < end && *at == '"')
			at = cut_quoted(at, end, &fields[n++], &ok);
		else
			at = cut_plain(at, end, &fields[n++]);
	}
	if (!ok)
		return -1;
	return at ? FIELDS_MAX + 1 : n;
}

bool field_is(const struct field *field, const char *text)
{
	return field->n == strlen(text) && !memcmp(field->at, text, field->n);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t utf8_next(const char *text, u32 *code)
{
	static const struct {
		u8 mask, head;
		u32 least;
	} lengths[] = { { 0x80, 0x00, 0 },
			{ 0xe0, 0xc0, 0x80 },
			{ 0xf0, 0xe0, 0x800 },
			{ 0xf8, 0xf0, 0x10000 } };
	const u8 *byte = (const u8 *)text;
	size_t length = 0;

	while (length < XDD_ARRAY_SIZE(lengths) &&
	       (*byte & lengths[length].mask) != lengths[length].head)
		length++;
	if (length == XDD_ARRAY_SIZE(lengths))
		return 0;
	*code = *byte & ~lengths[length].mask;
	for (size_t i = 1; i <= length; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (byte[i] & 0x3f);
	}
	if (*code < lengths[length].least || *code > 0x10ffff || (*code & ~0x7ffu) == 0xd800)
		return 0;
	return length + 1;
}

static bool is_control(u32 code)
{
	return (code < ' ' && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
}

char *utf8_mask(char *text)
{
	char *to = text;
	size_t length;
	u32 code;

	for (const char *from = text; *from; from += length ?: 1) {
		length = utf8_next(from, &code);
		if (!length || is_control(code)) {
			*to++ = '?';
			continue;
		}
		memmove(to, from, length);
		to += length;
	}
	*to = 0;
	return text;
}

json_t *utf8_json(const char *text)
{
	size_t most = strlen(UTF8_REPLACEMENT) * strlen(text), used = 0, length;
	char *clean = malloc(most + 1);
	json_t *json;
	u32 code;

	if (!clean)
		return NULL;
	for (; *text; text += length ?: 1) {
		length = utf8_next(text, &code);
		memcpy(clean + used, length ? text : UTF8_REPLACEMENT,
		       length ?: strlen(UTF8_REPLACEMENT));
		used += length ?: strlen(UTF8_REPLACEMENT);
	}
	json = json_stringn(clean, used);
	free(clean);
	return json;
}

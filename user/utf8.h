/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text of others that is shown: names of interfaces may have any byte but '/' and white space, and words of
 * a file any at all.
 */
#ifndef USER_UTF8_H
#define USER_UTF8_H

#include <jansson.h>
#include <stddef.h>

#include <xdd/types.h>

/* The character at @text, which is not at its end, into *@code. Returns its length in bytes, 1 to 4, or 0:
 * what is there is not UTF-8 (RFC 3629: too long, a surrogate or above U+10FFFF neither).
 */
size_t utf8_next(const char *text, u32 *code);

/* In place, '?' for every control character but line feed and tab, and for every byte that is not UTF-8: a
 * terminal takes neither for a command. Returns @text.
 */
char *utf8_mask(char *text);

/* A string with U+FFFD for every byte of @text that is not UTF-8; NULL without memory. */
json_t *utf8_json(const char *text);

/* What stands for such a byte. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

#endif

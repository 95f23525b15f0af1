/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "utf8.h"

#define MOST_KEPT 16 /* more kinds of lines than any command has */

static bool quiet, keep;
static char kept[MOST_KEPT][MESSAGE_MAX];
static unsigned int n_kept;

int refuse(char *err, size_t size, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, size, format, args);
	va_end(args);
	return code;
}

static void line(const char *format, va_list args)
{
	char text[MESSAGE_MAX];

	vsnprintf(text, sizeof(text), format, args);
	fprintf(stderr, "xdp-dedup: %s\n", utf8_mask(text));
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
}

/* Show it, or keep it. */
static void tell(const char *format, va_list args)
{
	if (!keep) {
		line(format, args);
	} else if (n_kept < MOST_KEPT) {
		vsnprintf(kept[n_kept], MESSAGE_MAX, format, args);
		utf8_mask(kept[n_kept++]);
	}
}

void note(const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	tell(format, args);
	va_end(args);
}

void note_always(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(format, args);
	va_end(args);
}

void messages_keep(void)
{
	keep = true;
}

const char *messages_kept(unsigned int i)
{
	return i < n_kept ? kept[i] : NULL;
}

void messages_quiet(void)
{
	quiet = true;
}

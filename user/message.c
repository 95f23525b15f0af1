/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool quiet;

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
	fprintf(stderr, "xdp-dedup: %s\n", text);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
}

void note(const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	line(format, args);
	va_end(args);
}

void messages_quiet(void)
{
	quiet = true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "kernel_log.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

static char first[256], driver[256];

static void strip(char *text)
{
	text[strcspn(text, "\n")] = 0;
}

static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	static const char said[] = "Kernel error message: ";
	char text[256], *at;

	if (level > LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	strip(text);
	/* lines side by side (program.c): it succeeds then */
	if (strstr(text, "Retrying without BTF"))
		return 0;
	at = strstr(text, said);
	if (at)
		snprintf(driver, sizeof(driver), "%s", at + strlen(said));
	at = strstr(text, "libbpf: ") == text ? text + strlen("libbpf: ") : text;
	if (!*first)
		snprintf(first, sizeof(first), "%s", at);
	return 0;
}

void kernel_log_start(void)
{
	*first = *driver = 0;
	libbpf_set_print(keep);
}

const char *kernel_log_driver(void)
{
	return *driver ? driver : NULL;
}

const char *kernel_log_first(void)
{
	return *first ? first : NULL;
}

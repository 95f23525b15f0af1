// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/urls.h"

#include <stdlib.h>
#include <string.h>

char *urls_without_users(const char *urls)
{
	char *text = strdup(urls), *to = text;

	for (const char *from = urls; text && *from;) {
		const char *end = from + strcspn(from, ","), *scheme = strstr(from, "://");
		const char *host = scheme ? scheme + 3 : from;

		to = mempcpy(to, from, host - from);
		for (const char *at = host; at < end; at++)
			if (*at == '@')
				host = at + 1;
		to = mempcpy(to, host, end - host);
		if (*end)
			*to++ = ',';
		from = *end ? end + 1 : end;
	}
	if (text)
		*to = 0;
	return text;
}

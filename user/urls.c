// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/urls.h"

#include <stdlib.h>
#include <string.h>

char *urls_without_users(const char *url)
{
	char *text = strdup(url), *to = text;

	for (const char *from = url; text && *from;) {
		const char *end = from + strcspn(from, ","), *host = strstr(from, "://") + 3;

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

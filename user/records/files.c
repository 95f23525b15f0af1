/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/records/files.h"

#include <errno.h>
#include <string.h>

#include "user/message.h"

int records_open(struct sink *sink, const char *option, const char *path)
{
	size_t n = path ? strlen(path) : 0;
	int rc = 0;

	if (n > 3 && !strcmp(path + n - 3, ".gz")) {
		complain("stream: --%s %s: is not compressed: give a name without .gz", option,
			 path);
		return -EINVAL;
	}
	if (path)
		rc = sink_open(sink, path);
	if (rc)
		complain("stream: --%s %s: cannot be written: %s", option, path, strerror(-rc));
	return rc;
}

int records_refuse_input(const char *option, const char *path, char *const *inputs, int n)
{
	if (!path || !sink_is_input(path, inputs, n))
		return 0;
	complain("stream: --%s %s: is an input, too: write to another file", option, path);
	return -EINVAL;
}

int records_write_summary(struct sink *sink, const char *json, const char *path)
{
	int rc = sink_write(sink, json, strlen(json)) ?: sink_write(sink, "\n", 1);

	rc = rc ?: sink_finish(sink) ?: sink_publish(sink);
	if (rc)
		complain("stream: --summary %s: cannot be written: %s", path, strerror(-rc));
	return rc;
}

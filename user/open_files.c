/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/open_files.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

void open_files_raise(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

bool open_files_are_short(int code)
{
	return code == -EMFILE || code == -ENFILE;
}

const char *open_files_text(char text[OPEN_FILES_TEXT_MAX])
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		files.rlim_cur = 0;
	snprintf(text, OPEN_FILES_TEXT_MAX,
		 "too many open files (limit %llu): raise it: ulimit -n, LimitNOFILE= of the unit",
		 (unsigned long long)files.rlim_cur);
	return text;
}

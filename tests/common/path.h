/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file for each test: cmocka_unit_test_setup_teardown(test, make_path, remove_path). */
#ifndef TESTS_COMMON_PATH_H
#define TESTS_COMMON_PATH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%.40s/file.XXXXXX", folder ?: "/tmp");
	fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

#endif

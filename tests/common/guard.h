/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buffers that end, or start, where memory ends: a read beyond them is a fault. */
#ifndef TESTS_GUARD_H
#define TESTS_GUARD_H

#include <string.h>
#include <sys/mman.h>

#include "tests/common/test.h"

#define GUARD_PAGE 4096
#define GUARD_BYTES (17 * GUARD_PAGE)

struct guard {
	u8 *start; /* GUARD_BYTES between two pages without access */
};

static inline struct guard guard_open(void)
{
	u8 *all = mmap(NULL, GUARD_BYTES + 2 * GUARD_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	struct guard guard = { all + GUARD_PAGE };

	assert_true(all != MAP_FAILED);
	assert_int_equal(mprotect(guard.start, GUARD_BYTES, PROT_READ | PROT_WRITE), 0);
	return guard;
}

static inline void guard_close(struct guard *guard)
{
	munmap(guard->start - GUARD_PAGE, GUARD_BYTES + 2 * GUARD_PAGE);
}

/* A copy of @n bytes with nothing behind it, or with nothing before it. */
static inline const u8 *guard_copy(struct guard *guard, const u8 *from, u32 n, bool at_start)
{
	u8 *to = guard->start + (at_start ? 0 : GUARD_BYTES - n);

	memcpy(to, from, n);
	return to;
}

#endif

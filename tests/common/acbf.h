/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TESTS_COMMON_ACBF_H
#define TESTS_COMMON_ACBF_H

#include <stdlib.h>

#include "tests/common/test.h"
#include "user/watch/acbf.h"

/* Both count the same keys, and all their levels are equal, bit for bit. */
static inline void assert_same(struct acbf *a, struct acbf *b)
{
	u8 *one = malloc(a->bits + a->room), *other = malloc(a->bits + a->room);
	u64 n = 1;

	assert_int_equal(a->keys, b->keys);
	assert_int_equal(a->used, b->used);
	for (u32 j = 1; n; j++) {
		n = acbf_level(a, j, one);
		assert_int_equal(acbf_level(b, j, other), n);
		assert_memory_equal(one, other, n);
	}
	free(one);
	free(other);
}

#endif

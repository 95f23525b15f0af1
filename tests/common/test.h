/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every cmocka program includes, and random numbers that are the same in every run. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "xdd/types.h"

/* xorshift64*: not the mixer that the core uses. The state must not be 0. */
static inline u64 random64(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

/* A number in [0, @n). */
static inline u32 random_below(u64 *state, u32 n)
{
	return (random64(state) >> 33) % n;
}

static inline void random_bytes(u64 *state, u8 *at, u32 n)
{
	for (u32 i = 0; i < n; i++)
		at[i] = random64(state) >> 56;
}

#endif

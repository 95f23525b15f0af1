// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The exact engine on the host against a list that forgets nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "user/store.h"
#include "xdd/decide.h"

#define KEYS 200000
#define WINDOW_NS 1000
#define NEVER (-1)

static s64 last[KEYS]; /* when each key was found distinct */
static u64 random_state;

static u32 draw(u32 below)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % below;
}

static void start(struct xdd_store *store, bool refresh, u64 memory)
{
	struct xdd_fixed fixed = { .engine = XDD_ENGINE_exact,
				   .key = XDD_KEY_frame,
				   .hashes = 1,
				   .slices = 1,
				   .blocks = 1,
				   .lines_per_block = 1,
				   .tick_ns = 10,
				   .refresh = refresh };
	struct xdd_live live = { .abi = XDD_ABI, .window_ticks = 100, .window_ns = WINDOW_NS };

	assert_int_equal(store_open(store, &fixed, &live, memory), 0);
	memset(last, 0xff, sizeof(last));
	random_state = 42;
}

static bool is_seen(struct xdd_store *store, u32 key, u64 now)
{
	struct xdd_packet packet = { .data = (u8 *)&key,
				     .end = (u8 *)(&key + 1),
				     .len = sizeof(key),
				     .wire_len = sizeof(key),
				     .link = XDD_LINK_ETHERNET };
	struct xdd_verdict verdict = store_decide(store, &packet, now);

	assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
	return verdict.found & XDD_SEEN;
}

static bool is_in_list(u32 key, s64 now, bool refresh)
{
	bool seen = last[key] != NEVER && llabs(now - last[key]) <= WINDOW_NS;

	if (!seen || refresh)
		last[key] = now;
	return seen;
}

/* Half a million look-ups: time goes on, with small steps back, and starts again at @jump. */
static void compare(bool refresh, u32 jump)
{
	struct xdd_store store;
	s64 now = 1000000;
	u32 seen = 0;

	start(&store, refresh, 64 << 20);
	for (u32 i = 0; i < 500000; i++) {
		/* Mostly keys of late, some of any age. */
		u32 key = draw(10) ? (i / 8 + draw(400)) % KEYS : draw(KEYS);
		bool expected;
		s64 at;

		now = i == jump ? 1000000 : now + draw(5);
		at = now - draw(50);
		expected = is_in_list(key, at, refresh);
		if (is_seen(&store, key, at) != expected)
			fail_msg("look-up %u of key %u: expected %d", i, key, expected);
		seen += expected;
	}
	assert_true(seen > 1000);
	assert_int_equal(store.forgotten, 0);
	assert_int_equal(store.keep_all, jump > 1000);
	store_close(&store);
}

static void time_goes_on(void **state)
{
	(void)state;
	compare(false, 0);
	compare(true, 0);
}

static void time_starts_again(void **state)
{
	(void)state;
	compare(false, 300000);
	compare(true, 300000);
	compare(false, 20);
}

/* The second of two captures, one behind the other, is a copy of the first. */
static void two_captures_in_a_row(void **state)
{
	struct xdd_store store;

	(void)state;
	start(&store, false, 64 << 20);
	for (u32 i = 0; i < 100000; i++)
		assert_false(is_seen(&store, i, 1000000 + 10ull * i));
	for (u32 i = 0; i < 100000; i++)
		assert_true(is_seen(&store, i, 1000000 + 10ull * i + WINDOW_NS));
	store_close(&store);
}

/* In order of time, whatever is outside of the window costs no more than the memory given. */
static void memory_is_bounded(void **state)
{
	struct xdd_store store;
	u32 seen = 0;

	(void)state;
	start(&store, false, 1 << 20);
	for (u32 i = 0; i < 3000000; i++) {
		assert_false(is_seen(&store, i, 10ull * i));
		seen += i >= 100 && is_seen(&store, i - 100, 10ull * i);
		assert_true(store_bytes(&store) <= 1 << 20);
	}
	assert_int_equal(seen, 3000000 - 100);
	assert_int_equal(store.forgotten, 0);
	store_close(&store);
}

/* More live keys than memory holds: some are forgotten, and counted. */
static void too_many_live_keys(void **state)
{
	struct xdd_store store;

	(void)state;
	start(&store, false, 1 << 20);
	for (u32 i = 0; i < KEYS; i++) {
		is_seen(&store, i, 1000000 + i / 1000);
		assert_true(store_bytes(&store) <= 1 << 20);
	}
	assert_true(store.forgotten > 0);
	assert_true(is_seen(&store, KEYS - 1, 1000000 + KEYS / 1000));
	store_close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_goes_on),		 cmocka_unit_test(time_starts_again),
		cmocka_unit_test(two_captures_in_a_row), cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(too_many_live_keys),
	};

	return cmocka_run_group_tests_name("store_exact", tests, NULL, NULL);
}

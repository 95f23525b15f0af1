/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engine exact and its table against an array of last times: any order of time, any growth. */
#include <stdlib.h>

#include "tests/common/ask.h"

#define NEVER (~0ULL)

static struct xdd_digest digest_of(u32 key)
{
	struct xdd_digest digest = { xdd_mix64(key), xdd_mix64(key + 0x100000000ULL) };

	return digest;
}

static bool oracle_ask(u64 *last, u64 now, u64 window, bool refresh)
{
	u64 apart = *last > now ? *last - now : now - *last;
	bool seen = *last != NEVER && apart <= window;

	if (!seen || refresh)
		*last = now;
	return seen;
}

static u64 *never(u32 n)
{
	u64 *last = malloc(n * sizeof(*last));

	for (u32 i = 0; i < n; i++)
		last[i] = NEVER;
	return last;
}

/* Time goes on, jumps, and steps back by more than the window. */
static void check_run(u32 n_keys, bool refresh, u64 window_ns)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	u64 *last = never(n_keys), seed = 51, now = 1000000;
	struct xdd_store store;
	u32 seen = 0;

	fixed.refresh = refresh;
	ask_open(&store, &fixed);
	store.live.window_ns = window_ns;
	for (u32 i = 0; i < 400000; i++) {
		u32 key = random_below(&seed, n_keys);
		bool want = oracle_ask(&last[key], now, window_ns, refresh);

		assert_int_equal(ask_at_ns(&store, digest_of(key), now), want);
		seen += want;
		now += random_below(&seed, 30);
		if (!random_below(&seed, 100))
			now -= random_below(&seed, 1000);
		if (!random_below(&seed, 1000))
			now += random_below(&seed, 100000);
		if (!random_below(&seed, 1000) && now > 200000)
			now -= random_below(&seed, 100000);
	}
	assert_in_range(seen, 100, 399000);
	assert_int_equal(store.forgotten, 0);
	free(last);
	store_close(&store);
}

static void test_oracle(void **state)
{
	(void)state;
	for (u32 refresh = 0; refresh <= 1; refresh++) {
		check_run(100, refresh, 2000);
		check_run(20000, refresh, 100000);
		check_run(300000, refresh, 4000000);
	}
}

/* The window is inclusive, in both directions; 0 means the very same nanosecond. */
static void test_window_bounds(void **state)
{
	static const u64 windows[] = { 0, 1, 1000, 1000000000 };
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct xdd_store store;
	u64 now = 5000000000;

	(void)state;
	ask_open(&store, &fixed);
	for (u32 i = 0; i < XDD_ARRAY_SIZE(windows); i++) {
		u64 window = store.live.window_ns = windows[i];

		assert_int_equal(ask_at_ns(&store, digest_of(4 * i), now), 0);
		assert_int_equal(ask_at_ns(&store, digest_of(4 * i), now + window), XDD_SEEN);
		assert_int_equal(ask_at_ns(&store, digest_of(4 * i), now - window), XDD_SEEN);
		assert_int_equal(ask_at_ns(&store, digest_of(4 * i), now + window + 1), 0);
		assert_int_equal(ask_at_ns(&store, digest_of(4 * i + 1), now), 0);
		assert_int_equal(ask_at_ns(&store, digest_of(4 * i + 1), now - window - 1), 0);
	}
	store_close(&store);
}

/* Both halves of a digest count. */
static void test_digest_halves(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct xdd_digest digest = { 7, 7 };
	struct xdd_store store;

	(void)state;
	ask_open(&store, &fixed);
	assert_int_equal(ask_at_ns(&store, digest, 9), 0);
	digest.hi = 8;
	assert_int_equal(ask_at_ns(&store, digest, 9), 0);
	digest.lo = 8;
	assert_int_equal(ask_at_ns(&store, digest, 9), 0);
	assert_int_equal(ask_at_ns(&store, digest, 9), XDD_SEEN);
	store_close(&store);
}

/* In 1 MiB, a stream in order of time of many more keys than fit, few of them in a window. */
static void test_memory_in_order(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct xdd_live live = config_live();
	const u32 n_keys = 400000;
	u64 *last = never(n_keys), seed = 52;
	struct xdd_store store;
	u32 newest = 10, seen = 0;

	(void)state;
	live.window_ns = 50000;
	assert_int_equal(store_open(&store, &fixed, &live, 1 << 20), 0);
	for (u64 now = 1000; newest < n_keys; now += random_below(&seed, 100)) {
		u32 key = random_below(&seed, 2) ? newest++ : newest - random_below(&seed, 10) - 1;
		bool want;

		if (key >= n_keys)
			break;
		want = oracle_ask(&last[key], now, live.window_ns, false);
		assert_int_equal(ask_at_ns(&store, digest_of(key), now), want);
		assert_true(store_bytes(&store) <= 1 << 20);
		seen += want;
	}
	assert_int_equal(store.forgotten, 0);
	assert_true(seen > 100000);
	free(last);
	store_close(&store);
}

/* More live keys than fit: copies may pass, and are counted; no new key is called a copy. */
static void test_memory_overflow(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct xdd_live live = config_live();
	struct xdd_store store;

	(void)state;
	live.window_ns = 1000000000;
	assert_int_equal(store_open(&store, &fixed, &live, 1 << 20), 0);
	for (u32 key = 0; key < 200000; key++) {
		u64 now = 5000000000 + key;

		assert_int_equal(ask_at_ns(&store, digest_of(key), now), 0);
		assert_int_equal(ask_at_ns(&store, digest_of(key), now), XDD_SEEN);
		assert_true(store_bytes(&store) <= 1 << 20);
	}
	assert_in_range(store.forgotten, 100000, 200000);
	store_close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),		cmocka_unit_test(test_window_bounds),
		cmocka_unit_test(test_digest_halves),	cmocka_unit_test(test_memory_in_order),
		cmocka_unit_test(test_memory_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filter in heap memory: what it refuses, what bypasses it, what it counts. */
#include <errno.h>

#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "user/store.h"
#include "xdd/decide.h"

static struct frame frame;

static void open_store(struct xdd_store *store, u32 engine)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
	struct xdd_live live = config_live();

	assert_int_equal(store_open(store, &fixed, &live, 1 << 20), 0);
}

static struct xdd_verdict decide(struct xdd_store *store, u64 now_ns)
{
	struct xdd_packet packet = frame_packet(&frame);

	return store_decide(store, &packet, now_ns);
}

static void expect(struct xdd_store *store, u32 bypass, u32 found)
{
	struct xdd_verdict verdict = decide(store, 1000ULL * CONFIG_TICK_NS);

	assert_int_equal(verdict.bypass, bypass);
	assert_int_equal(verdict.found, found);
}

static void refuse(const char *what, const struct xdd_fixed *fixed)
{
	struct xdd_live live = config_live();
	struct xdd_store store;

	if (store_open(&store, fixed, &live, 1 << 20) != -EINVAL)
		fail_msg("%s was not refused", what);
}

#define REFUSE(field, value)                                                             \
	do {                                                                             \
		struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet); \
		fixed.field = (value);                                                   \
		refuse(#field " " #value, &fixed);                                       \
	} while (0)

static void test_refused(void **state)
{
	(void)state;
	REFUSE(engine, XDD_ENGINE_MAX);
	REFUSE(key, XDD_KEY_MAX);
	REFUSE(hash, XDD_HASH_MAX);
	REFUSE(blocks, 0);
	REFUSE(lines_per_block, 0);
	REFUSE(lines_per_block, 1u << 31);
	REFUSE(slices, 0);
	REFUSE(slices, CONFIG_LINES + 1);
	REFUSE(hashes, 0);
	REFUSE(hashes, XDD_MAX_HASHES + 1);
	REFUSE(tick_ns, 0);
}

static void test_first_and_copy(void **state)
{
	struct xdd_store store;

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:40");
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		if (!config_takes(engine, XDD_KEY_packet))
			continue;
		open_store(&store, engine);
		expect(&store, XDD_BYPASS_MAX, 0);
		expect(&store, XDD_BYPASS_MAX, XDD_SEEN);
		frame_number(&frame, engine + 1);
		expect(&store, XDD_BYPASS_MAX, 0);
		assert_true(store_bytes(&store) >= CONFIG_LINES * sizeof(struct xdd_line));
		store_close(&store);
	}
}

/* A wrong checksum is passed and never remembered: the good packet behind it is the first. */
static void test_bad_checksum_shadows_nothing(void **state)
{
	struct xdd_store store;

	(void)state;
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		if (!config_takes(engine, XDD_KEY_packet))
			continue;
		open_store(&store, engine);
		frame_build(&frame, "eth ip4 udp pay:40");
		frame.byte[frame.l3 + 10] ^= 0x10;
		expect(&store, XDD_BYPASS_bad_checksum, 0);
		expect(&store, XDD_BYPASS_bad_checksum, 0);
		frame_fix_sum(&frame);
		expect(&store, XDD_BYPASS_MAX, 0);
		frame.byte[frame.l3 + 10] ^= 0x10;
		expect(&store, XDD_BYPASS_bad_checksum, 0);
		frame_fix_sum(&frame);
		expect(&store, XDD_BYPASS_MAX, XDD_SEEN);
		store_close(&store);
	}
}

/* What cannot be trusted passes. */
static void test_stale(void **state)
{
	struct xdd_store store;

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:40");
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		if (!config_takes(engine, XDD_KEY_packet))
			continue;
		open_store(&store, engine);
		store.live.abi++;
		expect(&store, XDD_BYPASS_stale, 0);
		store.live.abi--;
		store.live.window_ticks = 0;
		expect(&store, XDD_BYPASS_stale, 0);
		store.live.window_ticks = XDD_MAX_WINDOW_TICKS + 1;
		expect(&store, XDD_BYPASS_stale, 0);
		store.live.window_ticks = XDD_MAX_WINDOW_TICKS;
		expect(&store, XDD_BYPASS_MAX, 0);
		store_close(&store);
	}
}

static void test_counts(void **state)
{
	u64 now = 1000ULL * CONFIG_TICK_NS;
	struct xdd_store store;

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:40");
	open_store(&store, XDD_ENGINE_tagged);
	decide(&store, now);
	assert_int_equal(store.time_back, 0);
	decide(&store, now - 3 * CONFIG_TICK_NS);
	assert_int_equal(store.time_back, 1);
	for (u32 i = 1; i <= CONFIG_LINES * (XDD_LINE_CELLS + 1); i++) {
		frame_number(&frame, i);
		decide(&store, now);
	}
	assert_in_range(store.evictions, CONFIG_LINES, CONFIG_LINES * 4);
	store_close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_first_and_copy),
		cmocka_unit_test(test_bad_checksum_shadows_nothing),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

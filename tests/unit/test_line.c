/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines that age by themselves: lane arithmetic against one timer at a time; expiry against
 * counting down; sweeping that changes nothing; ticks that step back; the wrap of the header.
 */
#include <string.h>

#include "tests/common/ask.h"

/* Whether a stored @timer is live at tick number @mod of 255, by going through the ticks. */
static bool live_by_counting(u32 timer, u32 mod)
{
	if (!timer)
		return false;
	for (u32 left = 0; left <= XDD_HORIZON_TICKS; left++) {
		if ((mod + left) % 255 == timer - 1)
			return true;
	}
	return false;
}

static void test_live(void **state)
{
	(void)state;
	for (u32 mod = 0; mod < 255; mod++) {
		struct xdd_when when = xdd_when(510 + mod, 1);

		assert_int_equal(when.mod, mod);
		for (u32 timer = 0; timer < 256; timer++)
			assert_int_equal(xdd_timer_live(timer, &when),
					 live_by_counting(timer, mod));
	}
}

static void test_new(void **state)
{
	(void)state;
	for (u64 tick = 0; tick < 600; tick++) {
		for (u32 window = 1; window <= XDD_MAX_WINDOW_TICKS; window++) {
			struct xdd_when when = xdd_when(tick, window);
			u32 timer = xdd_timer_new(&when);

			assert_in_range(timer, 1, 255);
			assert_int_equal(xdd_timer_left(timer, &when), window - 1);
		}
	}
}

/* All pairs of timer and present, in each lane, beside lanes that hold anything. */
static void test_lanes(void **state)
{
	u64 seed = 21;

	(void)state;
	for (u32 mod = 0; mod < 255; mod++) {
		struct xdd_when when = xdd_when(mod, 1);

		for (u32 timer = 0; timer < 256; timer++) {
			u64 wide = random64(&seed) & XDD_LANES_TIMER * 255;
			u64 two = random64(&seed) & XDD_LANES_CELL * 255, found;

			for (u32 lane = 0; lane < 64; lane += 16) {
				found = xdd_lanes_live((wide & ~(255ULL << lane)) | (u64)timer
											    << lane,
						       XDD_LANES_TIMER, &when);
				assert_int_equal(found >> lane & 0xffff,
						 live_by_counting(timer, mod));
			}
			for (u32 lane = 0; lane < 64; lane += 32) {
				found = xdd_lanes_live((two & ~(255ULL << lane)) | (u64)timer
											   << lane,
						       XDD_LANES_CELL, &when);
				assert_int_equal(found >> lane & 0xffffffff,
						 live_by_counting(timer, mod));
			}
		}
	}
}

static void fill(struct xdd_line *line, u64 *seed, bool cells)
{
	random_bytes(seed, (u8 *)line, sizeof(*line));
	for (u32 i = 0; i < XDD_LINE_TIMERS; i++) {
		if (!random_below(seed, 3) && (!cells || i % 4 == 0))
			line->timer[i] = 0;
	}
}

/* Cleaning and sweeping keep what is live, zero the rest, and only cleaning stamps the line. */
static void test_clean_and_sweep(void **state)
{
	u64 seed = 22;

	(void)state;
	for (u32 i = 0; i < 20000; i++) {
		struct xdd_when when = xdd_when(1000 + random_below(&seed, 1000), 16);
		struct xdd_line line, swept, want;
		bool cells = i & 1;
		s32 age = random_below(&seed, 2 * XDD_HORIZON_TICKS + 20);
		u32 live = 0, unit = cells ? 4 : 1;

		fill(&line, &seed, cells);
		line.tick = when.tick - age;
		swept = want = line;
		for (u32 at = 0; at < XDD_LINE_TIMERS; at += unit) {
			bool keep = age <= XDD_HORIZON_TICKS &&
				    live_by_counting(line.timer[at], when.mod);

			if (!keep)
				memset(&want.timer[at], 0, unit);
			live += keep;
		}
		assert_int_equal(xdd_line_sweep(&swept, cells, when), live);
		assert_memory_equal(&swept, &want, sizeof(want));
		assert_true(xdd_line_clean(&line, cells, &when));
		want.tick = when.tick;
		assert_memory_equal(&line, &want, sizeof(want));
	}
}

static void test_age(void **state)
{
	static const u64 ticks[] = { 500, (1ULL << 32) - 3, 1ULL << 32, (7ULL << 32) + 2 };
	struct xdd_line line;

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(ticks); i++) {
		for (s32 age = -300; age <= 300; age++) {
			struct xdd_when when = xdd_when(ticks[i], 16);
			bool back = age < 0 && age >= -XDD_HORIZON_TICKS;

			line.tick = ticks[i] - age;
			assert_int_equal(xdd_line_age(&line, &when), age);
			assert_int_equal(xdd_line_is_stale(age),
					 age > XDD_HORIZON_TICKS || age < -XDD_HORIZON_TICKS);
			assert_int_equal(xdd_line_catch_up(age, &when), back ? XDD_TIME_BACK : 0);
			assert_true(when.tick == ticks[i] - (back ? age : 0));
			assert_int_equal(when.mod, when.tick % 255);
		}
	}
}

#define KEYS 12

/* Key @key looked up in @line: no more keys than cells, so nothing is ever evicted. */
static u32 touch(struct xdd_line *line, u32 key, u64 tick, u32 window, bool refresh)
{
	struct xdd_when when = xdd_when(tick, window);
	u32 found = xdd_tagged_touch(line, (key + 1) << 8, &when, refresh);

	assert_false(found & (XDD_EVICTED | XDD_STALE));
	return found;
}

/*
 * A key is a duplicate exactly if fewer than @window ticks have passed since it was set
 * (koloniari-2011 section 4), over more than ten wraps of the timers, whether or not
 * anybody sweeps the line.
 */
static void check_expiry(u32 window, bool refresh, u64 start)
{
	struct xdd_line line = {}, swept = {};
	u64 set[KEYS] = {}, seed = window, tick = start;

	while (tick < start + 11 * 255) {
		u32 key = random_below(&seed, KEYS);
		bool seen = set[key] && tick - set[key] < window;

		assert_int_equal(touch(&line, key, tick, window, refresh), seen);
		assert_int_equal(touch(&swept, key, tick, window, refresh), seen);
		if (!seen || refresh)
			set[key] = tick;
		if (!random_below(&seed, 3))
			xdd_line_sweep(&swept, true, xdd_when(tick, window));
		tick += ask_step(&seed);
	}
}

static void test_expiry(void **state)
{
	(void)state;
	for (u32 window = 1; window <= XDD_MAX_WINDOW_TICKS; window++) {
		for (u32 refresh = 0; refresh <= 1; refresh++) {
			check_expiry(window, refresh, 3000);
			check_expiry(window, refresh, (1ULL << 32) - 1000 - window);
		}
	}
}

/* A line that was cleaned at any earlier moment holds what is set now for the whole window. */
static void test_expiry_at_each_age(void **state)
{
	(void)state;
	for (u32 window = 1; window <= XDD_MAX_WINDOW_TICKS; window++) {
		for (u32 age = 0; age <= 300; age++) {
			for (u32 late = 0; late <= 1; late++) {
				u64 tick = 5000;
				struct xdd_line line = { .tick = tick - age };

				assert_int_equal(touch(&line, 1, tick, window, false), 0);
				tick += window - 1 + late;
				assert_int_equal(touch(&line, 1, tick, window, false), !late);
			}
		}
	}
}

/* One look-up is up to 8 ticks late: nothing is lost, and it sees what came after its tick. */
static void test_step_back(void **state)
{
	(void)state;
	for (u32 window = 1; window <= XDD_MAX_WINDOW_TICKS; window++) {
		for (u32 age = 0; age <= 130; age++) {
			for (u32 back = 1; back <= 8; back++) {
				u64 tick = 5000;
				struct xdd_line line = { .tick = tick - age };

				touch(&line, 1, tick, window, false);
				assert_true(touch(&line, 1, tick - back, window, false) & XDD_SEEN);
				assert_false(touch(&line, 2, tick - back, window, false) &
					     XDD_SEEN);
				assert_true(touch(&line, 1, tick + window - 1, window, false) &
					    XDD_SEEN);
				assert_false(touch(&line, 1, tick + window, window, false) &
					     XDD_SEEN);
			}
		}
	}
}

/* The same at random: each key's window is kept to within the 8 ticks that time jitters. */
static void test_jitter(void **state)
{
	u64 seed = 23;

	(void)state;
	for (u32 window = 1; window <= XDD_MAX_WINDOW_TICKS; window++) {
		struct xdd_line line = {};
		u64 set[KEYS] = {}, at = 3000;

		for (; at < 3000 + 11 * 255; at += ask_step(&seed)) {
			u32 key = random_below(&seed, KEYS);
			u64 tick = at - random_below(&seed, 9);
			bool seen = touch(&line, key, tick, window, false) & XDD_SEEN;

			if (set[key] && tick + 8 < set[key] + window)
				assert_true(seen);
			if (!set[key] || tick >= set[key] + window + 8)
				assert_false(seen);
			if (!seen)
				set[key] = tick;
		}
	}
}

/* Further than the horizon, in either direction, a line is empty. */
static void test_far(void **state)
{
	(void)state;
	for (s32 far = XDD_HORIZON_TICKS + 1; far < 3000; far++) {
		for (s32 sign = -1; sign <= 1; sign += 2) {
			struct xdd_line line = {};
			u64 tick = 10000;

			touch(&line, 1, tick, 100, false);
			assert_int_equal(touch(&line, 1, tick + sign * far, 100, false), 0);
			assert_int_equal(touch(&line, 1, tick + sign * far, 100, false), XDD_SEEN);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_clean_and_sweep),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_expiry_at_each_age),
		cmocka_unit_test(test_step_back),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

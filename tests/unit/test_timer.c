/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine timer against a Bloom filter that keeps each cell's wide expiry tick and needs no
 * ageing; cells in one slice; vertical slices like none; the rate of false positives.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/common/ask.h"
#include "user/model.h"

#define LINES 32
#define CELLS (LINES * XDD_LINE_TIMERS)

struct oracle {
	u64 expires[CELLS];
};

static u32 part_of(u32 *hash, u32 n)
{
	u64 wide = (u64)*hash * n;

	*hash = wide & 0xffffffff;
	return wide >> 32;
}

/* Number @i of the digest's sequence (splitmix64), in halves: the line's, and the cell's. */
static void draw_of(u64 digest, u32 i, u32 *line, u32 *cell)
{
	u64 draw = xdd_mix64(digest + (i + 1) * 0x9E3779B97F4A7C15ULL);

	*line = draw >> 32;
	*cell = draw & 0xffffffff;
}

/* The cells of a digest, from the definition of each slicing. */
static void oracle_cells(const struct xdd_fixed *fixed, u64 digest, u32 *cell)
{
	u32 pick = digest >> 32, first = 0, lines = LINES, line, low, high;
	u64 mixed = xdd_mix64(digest);

	low = mixed & 0xffffffff;
	high = mixed >> 32;
	if (fixed->slicing == XDD_SLICING_horizontal) {
		lines = LINES / fixed->slices;
		first = part_of(&pick, fixed->slices) * lines;
	}
	for (u32 i = 0; i < fixed->hashes; i++) {
		if (lines == 1) {
			cell[i] = first * XDD_LINE_TIMERS +
				  part_of(i & 1 ? &high : &low, XDD_LINE_TIMERS);
			continue;
		}
		draw_of(digest, i, &line, &cell[i]);
		cell[i] = part_of(&cell[i], XDD_LINE_TIMERS);
		cell[i] += (first + part_of(&line, lines)) * XDD_LINE_TIMERS;
	}
}

static bool oracle_ask(struct oracle *oracle, const struct xdd_fixed *fixed, u64 digest, u64 tick,
		       u32 window)
{
	u32 cell[XDD_MAX_HASHES], live = 0;
	bool seen;

	oracle_cells(fixed, digest, cell);
	for (u32 i = 0; i < fixed->hashes; i++)
		live += oracle->expires[cell[i]] > tick;
	seen = live == fixed->hashes;
	if (seen && !fixed->refresh)
		return true;
	for (u32 i = 0; i < fixed->hashes; i++) {
		if (oracle->expires[cell[i]] < tick + window)
			oracle->expires[cell[i]] = tick + window;
	}
	return seen;
}

/* A run over more than ten wraps; the second store is swept at random. */
static void check_run(const struct xdd_fixed *fixed, bool change_window)
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));
	struct xdd_store store, swept;
	u64 seed = 41 + fixed->hashes, tick = (1ULL << 32) - 4000, keys[300];
	u32 seen = 0;

	ask_open(&store, fixed);
	ask_open(&swept, fixed);
	for (u32 i = 0; i < XDD_ARRAY_SIZE(keys); i++)
		keys[i] = random64(&seed);
	for (u32 i = 0; i < 60000; i++) {
		u64 key = keys[random_below(&seed, XDD_ARRAY_SIZE(keys))];
		bool want;

		if (change_window && !random_below(&seed, 300))
			store.live.window_ticks = 1 + random_below(&seed, XDD_MAX_WINDOW_TICKS);
		swept.live = store.live;
		want = oracle_ask(oracle, fixed, key, tick, store.live.window_ticks);
		assert_int_equal(ask_at(&store, key, tick), want);
		assert_int_equal(ask_at(&swept, key, tick), want);
		seen += want;
		if (!random_below(&seed, 8))
			xdd_line_sweep(&swept.lines[random_below(&seed, LINES)], false,
				       xdd_when(tick, 1));
		if (!random_below(&seed, 20))
			tick += ask_step(&seed);
	}
	assert_in_range(seen, 1000, 59000);
	assert_true(tick > (1ULL << 32) + 11 * 255);
	free(oracle);
	store_close(&store);
	store_close(&swept);
}

static struct xdd_fixed timer_fixed(u32 slicing, u32 slices, u32 hashes)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet);

	fixed.slicing = slicing;
	fixed.slices = slices;
	fixed.hashes = hashes;
	fixed.blocks = LINES;
	return fixed;
}

static void test_oracle(void **state)
{
	static const struct {
		u32 slicing, slices;
	} rows[] = {
		{ XDD_SLICING_none, 1 },	   { XDD_SLICING_vertical, 4 },
		{ XDD_SLICING_horizontal, 1 },	   { XDD_SLICING_horizontal, 8 },
		{ XDD_SLICING_horizontal, LINES },
	};

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		for (u32 hashes = 1; hashes <= XDD_MAX_HASHES; hashes++) {
			struct xdd_fixed fixed =
				timer_fixed(rows[i].slicing, rows[i].slices, hashes);

			fixed.refresh = hashes & 1;
			if (hashes % 3 == 0) {
				fixed.placement = XDD_PLACEMENT_percpu;
				fixed.blocks = 4;
				fixed.lines_per_block = LINES / 4;
			}
			check_run(&fixed, hashes & 2);
		}
	}
}

/* Vertical slices are ranges of the same filter: every verdict and every byte as without. */
static void test_vertical_is_none(void **state)
{
	struct xdd_fixed fixed = timer_fixed(XDD_SLICING_none, 1, 4);
	struct xdd_store none, vertical;
	u64 seed = 42;

	(void)state;
	ask_open(&none, &fixed);
	fixed = timer_fixed(XDD_SLICING_vertical, 8, 4);
	ask_open(&vertical, &fixed);
	for (u32 i = 0; i < 100000; i++) {
		u64 key = xdd_mix64(random_below(&seed, 400)), tick = 1000 + i / 40;

		assert_int_equal(ask_at(&none, key, tick), ask_at(&vertical, key, tick));
	}
	assert_memory_equal(none.lines, vertical.lines, LINES * sizeof(struct xdd_line));
	store_close(&none);
	store_close(&vertical);
}

/* The model's rate of false positives at half load, to within 20 % or 5 deviations. */
static void check_rate(u32 slicing, u32 slices, u32 hashes, u32 keys)
{
	struct xdd_fixed fixed = timer_fixed(slicing, slices, hashes);
	const u32 lines = 4096, asked = 200000;
	struct xdd_store store, again;
	u64 seed = 43, found = 0;
	double want;

	fixed.blocks = lines;
	ask_open(&store, &fixed);
	for (u32 i = 0; i < keys; i++)
		ask_at(&store, random64(&seed), 1000);
	ask_open(&again, &fixed);
	for (u32 i = 0; i < asked; i++) {
		/* Put back what an answer changed: the load stays. */
		if (i % 500 == 0)
			memcpy(again.lines, store.lines, lines * sizeof(struct xdd_line));
		found += ask_at(&again, random64(&seed), 1000) & XDD_SEEN;
	}
	want = asked * model_timer(keys, slices, (double)lines * XDD_LINE_TIMERS / slices, hashes);
	if (found > want * 1.2 + 5 * __builtin_sqrt(want) ||
	    found < want * 0.8 - 5 * __builtin_sqrt(want))
		fail_msg("slicing %u, %u slices, k %u: %lu false, model %.1f", slicing, slices,
			 hashes, (unsigned long)found, want);
	store_close(&store);
	store_close(&again);
}

static void test_rate(void **state)
{
	(void)state;
	for (u32 hashes = 2; hashes <= 6; hashes += 2) {
		check_rate(XDD_SLICING_none, 1, hashes, 30000);
		check_rate(XDD_SLICING_horizontal, 16, hashes, 30000);
		check_rate(XDD_SLICING_horizontal, 4096, hashes, 30000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_vertical_is_none),
		cmocka_unit_test(test_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

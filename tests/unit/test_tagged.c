/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine tagged against lists of tags and expiries, one a line: every verdict is the same, and
 * where a line is full the entry that goes is one of those closest to expiry.
 */
#include <stdlib.h>

#include "tests/common/ask.h"

struct entry {
	u32 tag;
	u64 expires; /* first tick at which it is no longer live */
};

struct list {
	struct entry entry[XDD_LINE_CELLS];
	u32 n;
};

/* The line and the tag of a digest, in plain 64-bit arithmetic. */
static u32 line_of(const struct xdd_fixed *fixed, u64 digest)
{
	u64 wide = (digest >> 32) * fixed->blocks;

	return (wide >> 32) * fixed->lines_per_block +
	       ((wide & 0xffffffff) * fixed->lines_per_block >> 32);
}

static u32 tag_of(u64 digest)
{
	u32 tag = digest & 0xffffff;

	return tag ? tag : 1;
}

static struct entry *list_find(struct list *list, u32 tag)
{
	for (u32 i = 0; i < list->n; i++) {
		if (list->entry[i].tag == tag)
			return &list->entry[i];
	}
	return NULL;
}

static void list_expire(struct list *list, u64 tick)
{
	u32 kept = 0;

	for (u32 i = 0; i < list->n; i++) {
		if (list->entry[i].expires > tick)
			list->entry[kept++] = list->entry[i];
	}
	list->n = kept;
}

/* The entry that the real line no longer has must be one of the first to expire. */
static void list_evict(struct list *list, const struct xdd_line *line)
{
	u64 soonest = ~0ULL;
	u32 gone = XDD_LINE_CELLS, n_gone = 0;

	for (u32 i = 0; i < list->n; i++) {
		bool there = false;

		for (u32 cell = 0; cell < XDD_LINE_CELLS; cell++)
			there |= line->cell[cell] >> 8 == list->entry[i].tag;
		if (!there) {
			gone = i;
			n_gone++;
		}
		if (list->entry[i].expires < soonest)
			soonest = list->entry[i].expires;
	}
	assert_int_equal(n_gone, 1);
	assert_true(list->entry[gone].expires == soonest);
	list->entry[gone] = list->entry[--list->n];
}

/* What the engine must answer at @tick, after it did, with the real @line. */
static u32 list_ask(struct list *list, const struct xdd_line *line, u64 digest, u64 tick,
		    u32 window, bool refresh)
{
	struct entry entry = { tag_of(digest), tick + window }, *found;
	u32 evicted = 0;

	list_expire(list, tick);
	found = list_find(list, entry.tag);
	if (found) {
		if (refresh)
			*found = entry;
		return XDD_SEEN;
	}
	if (list->n == XDD_LINE_CELLS) {
		list_evict(list, line);
		evicted = XDD_EVICTED;
	}
	list->entry[list->n++] = entry;
	return evicted;
}

struct run {
	u32 n_keys;
	bool refresh;
	bool percpu;
	bool change_window;
};

static void check_run(const struct run *run, u32 *evictions, u32 *seen)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	u64 *keys = malloc(run->n_keys * sizeof(*keys)), seed = 31, tick = 900;
	struct list *lists;
	struct xdd_store store;

	fixed.refresh = run->refresh;
	fixed.blocks = fixed.slices = run->percpu ? 3 : 24;
	fixed.lines_per_block = run->percpu ? 8 : 1;
	fixed.placement = run->percpu ? XDD_PLACEMENT_percpu : XDD_PLACEMENT_shared;
	ask_open(&store, &fixed);
	lists = calloc(24, sizeof(*lists));
	for (u32 i = 0; i < run->n_keys; i++)
		keys[i] = random64(&seed);
	keys[0] &= ~0xffffffULL; /* tag 0 */
	for (u32 i = 0; i < 200000; i++) {
		u64 key = keys[random_below(&seed, run->n_keys)];
		u32 line = line_of(&fixed, key), found, want;

		if (run->change_window && !random_below(&seed, 500))
			store.live.window_ticks = 1 + random_below(&seed, XDD_MAX_WINDOW_TICKS);
		found = ask_at(&store, key, tick);
		want = list_ask(&lists[line], &store.lines[line], key, tick,
				store.live.window_ticks, run->refresh);
		assert_int_equal(found, want);
		*evictions += !!(found & XDD_EVICTED);
		*seen += found & XDD_SEEN;
		if (!random_below(&seed, 20))
			tick += ask_step(&seed);
	}
	free(keys);
	free(lists);
	store_close(&store);
}

static void test_oracle(void **state)
{
	(void)state;
	for (u32 bits = 0; bits < 8; bits++) {
		struct run few = { 100, bits & 1, bits & 2, bits & 4 };
		struct run many = { 2000, bits & 1, bits & 2, bits & 4 };
		u32 evictions = 0, seen = 0;

		check_run(&few, &evictions, &seen);
		assert_int_equal(evictions, 0);
		assert_in_range(seen, 1000, 199000);
		check_run(&many, &evictions, &seen);
		assert_in_range(evictions, 1000, 199000);
	}
}

/* Two digests in one line that differ in any bit of the tag are told apart. */
static void test_tag_bits(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	struct xdd_store store;
	u64 digest = 0x1234567800abcdefULL;

	(void)state;
	for (u32 bit = 0; bit < 24; bit++) {
		ask_open(&store, &fixed);
		assert_int_equal(ask_at(&store, digest, 1000), 0);
		assert_int_equal(ask_at(&store, digest ^ 1ULL << bit, 1000), 0);
		assert_int_equal(ask_at(&store, digest, 1000), XDD_SEEN);
		assert_int_equal(ask_at(&store, digest ^ 1ULL << bit, 1000), XDD_SEEN);
		store_close(&store);
	}
}

/* Each of the 15 cells is the victim when it is the closest to expiry. */
static void test_victim(void **state)
{
	(void)state;
	for (u64 tick = 1000; tick < 1300; tick++) {
		for (u32 oldest = 0; oldest < XDD_LINE_CELLS; oldest++) {
			struct xdd_when now = xdd_when(tick, 1);
			struct xdd_line line = { .tick = tick };

			for (u32 i = 0; i < XDD_LINE_CELLS; i++) {
				struct xdd_when when = xdd_when(tick, i == oldest ? 5 : 6 + i);

				line.cell[i] = (i + 1) << 8 | xdd_timer_new(&when);
			}
			assert_int_equal(xdd_tagged_victim(&line, &now), oldest);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_tag_bits),
		cmocka_unit_test(test_victim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

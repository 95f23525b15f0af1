/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rule of equal timers in engine timer: how many agree, and the rates against the model, which
 * test_model_equal.c holds against the paper's figure 9. There a window has 1000 ticks, here at most 119:
 * the fewer there are, the more timers agree by chance.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/common/ask.h"
#include "user/model.h"

static u32 most_agree(u64 word)
{
	u32 most = 0;

	for (u32 i = 0; i < 64; i += 8) {
		u32 same = 0;

		for (u32 j = 0; j < 64; j += 8)
			same += (word >> i & 255) == (word >> j & 255);
		if (word >> i & 255 && same > most)
			most = same;
	}
	return most;
}

static void test_agree(void **state)
{
	u64 seed = 5;

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		u32 used = 1 + random_below(&seed, 8), values = 1 + random_below(&seed, 9);
		u64 word = 0;

		for (u32 k = 0; k < used; k++)
			word = word << 8 | (1 + (random_below(&seed, values) * 37 + i) % 255);
		for (u32 equal = 1; equal <= 8; equal++)
			assert_int_equal(xdd_timer_agree(word, equal), most_agree(word) >= equal);
	}
	assert_false(xdd_timer_agree(0, 1));
}

#define TICKS 100
#define KEYS 5 /* new ones a tick */
#define LINES 80
#define CELLS 55
#define SPANS 400 /* windows */

/* New keys that are each asked once, and copies of keys of the window, as many. */
struct course {
	u64 key[TICKS * KEYS]; /* those that were delivered; 0: taken for a copy */
	u64 new, fp, copies, fn;
};

static void ask_new(struct course *c, struct xdd_store *store, u64 *slot, u64 tick, u64 *seed)
{
	u64 key = xdd_mix64(*seed += XDD_GOLDEN);
	bool seen = ask_at(store, key, tick) & XDD_SEEN;

	c->new ++;
	c->fp += seen;
	*slot = seen ? 0 : key;
}

/* Of another tick than those whose keys are not all there yet. */
static void ask_copy(struct course *c, struct xdd_store *store, u64 *key, u64 tick)
{
	bool seen;

	if (!*key)
		return;
	seen = ask_at(store, *key, tick) & XDD_SEEN;
	c->copies++;
	c->fn += !seen;
	if (!seen)
		*key = 0; /* it is in the filter anew, for another window */
}

static void run(const struct xdd_fixed *fixed, struct course *c)
{
	struct xdd_store store;
	u64 seed = 99, tick = 1000;

	ask_open(&store, fixed);
	store.live.window_ticks = TICKS;
	for (u32 i = 0; i < SPANS * TICKS; i++, tick++) {
		u64 *now = &c->key[i % TICKS * KEYS];

		if (i == 2 * TICKS)
			c->new = c->fp = c->copies = c->fn = 0;
		for (u32 k = 0; k < KEYS; k++)
			ask_new(c, &store, &now[k], tick, &seed);
		ask_copy(c, &store, &c->key[random_below(&seed, TICKS * KEYS)], tick);
	}
	store_close(&store);
}

static void near(const char *what, double found, double want, double share)
{
	print_message("# %s %.5f, by the model %.5f\n", what, found, want);
	if (want > .001 && !(fabs(found - want) <= share * want))
		fail_msg("%s %.6g is not within %g of %.6g", what, found, share, want);
}

static struct course rates(u32 slicing, u32 slices, u32 equal)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet);
	struct course c = {};

	fixed.blocks = LINES;
	fixed.line_cells = CELLS;
	fixed.slicing = slicing;
	fixed.slices = slices;
	fixed.hashes = 8;
	fixed.equal = equal;
	run(&fixed, &c);
	print_message("# slicing %u in %u, at least %u equal: %llu new, %llu copies\n", slicing,
		      slices, equal, (unsigned long long)c.new, (unsigned long long)c.copies);
	if (equal < 2)
		assert_int_equal(c.fn, 0);
	return c;
}

static void test_vertical(void **state)
{
	(void)state;
	for (u32 equal = 1; equal <= 3; equal++) {
		struct model_equal f = { TICKS * KEYS, 1, LINES * CELLS, TICKS, 8, equal };
		struct course c = rates(XDD_SLICING_vertical, 40, equal);

		near("FPR", (double)c.fp / c.new, model_equal_fpr(&f), .2);
		near("FNR", (double)c.fn / c.copies, model_equal_fnr(&f), .2);
	}
}

/* In slices of few cells some of a key's fall together, and agree by themselves: more false positives
 * and fewer false negatives than by the model, which leaves that out.
 */
static void check_horizontal(u32 slices)
{
	double all = 0;

	for (u32 equal = 1; equal <= 3; equal++) {
		struct model_equal f = { TICKS * KEYS, slices, (double)LINES * CELLS / slices,
					 TICKS,	       8,      equal };
		struct course c = rates(XDD_SLICING_horizontal, slices, equal);
		double fpr = (double)c.fp / c.new, fnr = (double)c.fn / c.copies;

		if (equal < 3) {
			near("FPR", fpr, model_equal_fpr(&f), .2);
			all = fpr;
			continue;
		}
		print_message("# FPR %.5f, FNR %.5f, by the model %.5f and %.5f\n", fpr, fnr,
			      model_equal_fpr(&f), model_equal_fnr(&f));
		assert_true(fpr > model_equal_fpr(&f) && fpr < .7 * all);
		assert_true(fnr < model_equal_fnr(&f) && fnr > .7 * model_equal_fnr(&f));
	}
}

static void test_horizontal(void **state)
{
	(void)state;
	check_horizontal(40);
	check_horizontal(LINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_vertical),
		cmocka_unit_test(test_horizontal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

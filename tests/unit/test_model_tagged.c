/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engine tagged: what the models of collisions and evictions say, and what the engine does. */
#include <math.h>
#include <stdlib.h>

#include "tests/common/ask.h"
#include "user/model.h"

#define LINES 1024
#define TICKS 100
#define WINDOWS 16
#define CAPACITY 8 /* live keys a line, for which derive.c sizes it */

static void near(double found, double want, double share)
{
	print_message("# %.6g, by the model %.6g\n", found, want);
	if (!(fabs(found - want) <= share * fabs(want)))
		fail_msg("%.9g instead of %.9g, to within %g of it", found, want, share);
}

/* What a stream came to: of the copies that the window holds, those that were missed. */
struct found {
	double copies, missed, live;
};

/* A copy comes in a tick of the window after its first, each equally often, or in none. */
static void send_copies(struct xdd_store *store, u64 **due, u32 *n_due, u32 tick, struct found *f)
{
	u32 slot = tick % (TICKS + 1);

	for (u32 i = 0; i < n_due[slot]; i++) {
		f->copies++;
		f->missed += !(ask_at(store, due[slot][i], tick) & XDD_SEEN);
	}
	n_due[slot] = 0;
}

/* @keys new ones in a window, evenly, each with @copies copies; counted after a window. */
static struct found stream(double keys, u32 copies)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	struct found found = { 0 };
	u32 n_due[TICKS + 1] = { 0 };
	u64 *due[TICKS + 1], seed = 11, sent = 0;
	struct xdd_store store;
	struct xdd_fill fill;

	fixed.blocks = LINES;
	fixed.slices = LINES;
	ask_open(&store, &fixed);
	store.live.window_ticks = TICKS;
	for (u32 i = 0; i <= TICKS; i++)
		due[i] = malloc(copies * keys * sizeof(u64));
	for (u32 tick = 1; tick <= WINDOWS * TICKS; tick++) {
		if (tick == TICKS + 1)
			found = (struct found){ 0 };
		for (; sent < keys * tick / TICKS; sent++) {
			u64 key = xdd_mix64(sent);

			ask_at(&store, key, tick);
			for (u32 i = 0; i < copies; i++) {
				u32 slot = (tick + random_below(&seed, TICKS)) % (TICKS + 1);

				due[slot][n_due[slot]++] = key;
			}
		}
		send_copies(&store, due, n_due, tick, &found);
	}
	store_fill(&store, WINDOWS * TICKS * fixed.tick_ns, &fill);
	found.live = fill.live;
	store_close(&store);
	for (u32 i = 0; i <= TICKS; i++)
		free(due[i]);
	return found;
}

/* From 10 % to 150 % of capacity: wherever 1000 copies are to be missed the model is within 20 % of what are,
 * and where they are not, no more are missed. Tags are compared with the
 * cells that are live: a few more than the model has, by what was made again.
 */
static void test_evictions(void **state)
{
	u32 compared = 0;

	(void)state;
	for (u32 i = 0; i < 30; i++) {
		u32 copies = 1 + i % 2;
		double part = (1 + i / 2) / 10., keys = round(part * CAPACITY * LINES);
		double model = model_tagged_fnr(keys, copies, LINES);
		struct found found = stream(keys, copies);

		near(found.live, model_tagged(keys, LINES) * (1 << 24) * LINES, .08);
		if (model * found.copies < 1000) {
			assert_true(found.missed < 1200);
			continue;
		}
		compared++;
		near(found.missed / found.copies, model, .2);
		near(found.missed / found.copies, model_tagged_live_fnr(found.live / LINES, copies),
		     .2);
	}
	assert_in_range(compared, 5, 20);
}

static void test_limits(void **state)
{
	(void)state;
	assert_true(model_tagged_evicted(0) == 0);
	assert_true(fabs(model_tagged_evicted(1) / 3.000e-13 - 1) < .01);
	assert_true(fabs(model_tagged_evicted(15) - .5343) < .0001);
	assert_true(fabs(model_tagged_evicted(1000) - 1) < 1e-12);
	assert_true(model_tagged_fnr(0, 1, 10) == 0);
	assert_true(model_tagged_fnr(80, 0, 10) < model_tagged_fnr(80, 1, 10));
	assert_true(model_tagged_fnr(1e9, 5, 10) > .99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evictions),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

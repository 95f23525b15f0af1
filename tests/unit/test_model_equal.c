/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rule of equal timers: koloniari-2011 figure 9 as prototypes measured it, and a filter made here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/model.h"

static void near(double found, double want, double share)
{
	print_message("# %.6g, by the model %.6g\n", found, want);
	if (!(fabs(found - want) <= share * fabs(want)))
		fail_msg("%.9g instead of %.9g, to within %g of it", found, want, share);
}

/* k = 8, 1000 ticks, in half of which a new key comes, in as many cells as give a rate of .0164. */
static void test_values(void **state)
{
	struct model_equal f = { 500, 1, 0, 500, 8, 1 };

	(void)state;
	f.cells = model_bloom_cells(500, .0164, 8);
	near(model_equal_fpr(&f), .0164, .01);
	assert_true(model_equal_fnr(&f) == 0);
	f.equal = 2;
	near(model_equal_fpr(&f), .0010, .06);
	f.equal = 3;
	f.slices = 40;
	f.cells /= 40;
	near(model_equal_fpr(&f), .0059, .06);
	/* All of them, of one slice, in few cells: one given event, times the events. */
	f = (struct model_equal){ 10, 1, 1e6, 10, 2, 2 };
	near(model_equal_fpr(&f), 10 * pow(2e-6, 2), .001);
}

#define HASHES 8
#define WINDOW 500 /* keys, each in a tick of its own */
#define SLICES 40

/* A key's cells, and whether at least @equal of those agree that were set in the window before @now. */
static bool asked(const u32 *cell, const u32 *set_at, u32 now, u32 equal)
{
	u32 most = 0;

	for (u32 i = 0; i < HASHES; i++) {
		u32 same = 0;

		if (set_at[cell[i]] + WINDOW <= now)
			return false;
		for (u32 j = 0; j < HASHES; j++)
			same += set_at[cell[j]] == set_at[cell[i]];
		most = same > most ? same : most;
	}
	return most >= equal;
}

static void draw(u64 *seed, u32 *cell, u32 slices, u32 cells)
{
	u32 slice = random_below(seed, slices);

	for (u32 i = 0; i < HASHES; i++)
		cell[i] = slice * cells + random_below(seed, cells);
}

/* FPR of new keys, and FNR of copies of keys anywhere in the window. A key that is taken for a copy is not
 * set; the model takes all as set, so they are here.
 */
static void measure(const struct model_equal *f, double *fpr, double *fnr)
{
	const u32 keys = 150000, slices = f->slices, cells = f->cells;
	u32 *set_at = calloc(slices * cells, sizeof(u32)), (*cell)[HASHES];
	u64 seed = 17, fp = 0, fn = 0, copies = 0;

	cell = calloc(keys, sizeof(*cell));
	for (u32 now = WINDOW; now < keys; now++) {
		draw(&seed, cell[now], slices, cells);
		fp += asked(cell[now], set_at, now, f->equal);
		for (u32 i = 0; i < HASHES; i++)
			set_at[cell[now][i]] = now;
		if (now < 2 * WINDOW)
			continue;
		copies++;
		fn += !asked(cell[now - random_below(&seed, WINDOW)], set_at, now, f->equal);
	}
	*fpr = (double)fp / (keys - WINDOW);
	*fnr = (double)fn / copies;
	free(set_at);
	free(cell);
}

/* 150000 keys: deviations of 7 % at .0014, the least that is compared. Vertical, cells of a key that fall
 * together agree by themselves, which the model leaves out: one pair in 28 / cells keys.
 */
static void test_filter(void **state)
{
	double cells = model_bloom_cells(WINDOW, .02, HASHES), fpr, fnr;

	(void)state;
	for (u32 slices = 1; slices <= SLICES; slices += SLICES - 1)
		for (u32 equal = 1; equal <= 5; equal++) {
			struct model_equal f = { WINDOW, slices, floor(cells / slices),
						 WINDOW, HASHES, equal };

			measure(&f, &fpr, &fnr);
			if (model_equal_fpr(&f) > .001)
				near(fpr, model_equal_fpr(&f), .15);
			if (equal > 1)
				near(fnr, model_equal_fnr(&f), .2);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

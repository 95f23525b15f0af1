// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rates that follow from how full a filter is, and how a person reads them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/config.h"
#include "user/metrics/counters.h"
#include "user/metrics/expected.h"
#include "user/metrics/fullness.h"
#include "user/metrics/status.h"
#include "user/metrics/warnings.h"

static void assert_near(double found, double expected)
{
	if (fabs(found - expected) > 1e-9 * expected)
		fail_msg("%.12g instead of %.12g", found, expected);
}

/* @full lines of 256 with @live cells each, the others empty. */
static struct xdd_fill fill(u32 full, u32 live)
{
	struct xdd_fill f = { .lines = CONFIG_LINES, .live = (u64)full * live };

	f.histogram[0] = CONFIG_LINES - full;
	f.histogram[live] += full;
	return f;
}

static double fpr_of(const struct xdd_fixed *fixed, const struct xdd_fill *fill)
{
	const struct xdd_live live = config_live();

	const struct contents in = { .fill = fill };

	return expected_of_timers(fixed, &live, &in).fpr;
}

static void tagged_rate(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	struct xdd_fill empty = fill(0, 0), half = fill(128, 8), full = fill(256, 15);

	(void)state;
	assert_true(fpr_of(&fixed, &empty) == 0);
	assert_near(fpr_of(&fixed, &half), 4.0 / (1 << 24));
	assert_near(fpr_of(&fixed, &full), 15.0 / (1 << 24));
}

/* Where a key's timers lie in one line, uneven lines cost; where they lie anywhere, the mean counts. */
static void timer_rate(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet);
	struct xdd_fill half = fill(128, 30);

	(void)state;
	assert_near(fpr_of(&fixed, &half), 0.5 * pow(0.5, 4));
	fixed.slicing = XDD_SLICING_none;
	fixed.slices = 1;
	assert_near(fpr_of(&fixed, &half), pow(0.25, 4));
}

static void no_lines(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet);
	const struct xdd_fill none = { 0 };

	(void)state;
	assert_true(fpr_of(&fixed, &none) == 0);
}

/* Keys divide over sites; more keys, more mistakes. */
static void rate_at_capacity(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);

	(void)state;
	for (u32 engine = XDD_ENGINE_tagged; engine <= XDD_ENGINE_timer; engine++) {
		fixed.engine = engine;
		assert_near(fullness_rate_of(&fixed, 1000, 2), fullness_rate_of(&fixed, 500, 1));
		assert_true(fullness_rate_of(&fixed, 1000, 1) > fullness_rate_of(&fixed, 500, 1));
	}
	fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	assert_near(fullness_rate_of(&fixed, CONFIG_LINES, 1), 1.0 / (1 << 24));
}

static void loss_in_words(void **state)
{
	static const struct {
		double fpr, rate;
		const char *text;
	} rows[] = {
		{ 1e-3, 5000, "about 5 distinct packets a second at this rate" },
		{ 1e-3, 1, "about 4 distinct packets an hour at this rate" },
		{ 1.0 / 3600, 1, "about 1 distinct packet an hour at this rate" },
		{ 1e-9, 100000, "about 9 distinct packets a day at this rate" },
		{ 1e-9, 1000, "about 32 distinct packets a year at this rate" },
		{ 1e-12, 1, "less than one distinct packet a year at this rate" },
	};
	char text[STATUS_LOSS_MAX];

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++)
		assert_string_equal(status_loss_text(rows[i].fpr, rows[i].rate, text),
				    rows[i].text);
}

/* Every reason is in the sum, and nothing else. */
static void bypassed_sum(void **state)
{
	struct xdd_counters counters = { .received = { 1000, 1000 }, .distinct = { 500, 500 } };
	u64 expected = 0, next = 1;

	(void)state;
#define SET(name, help)                                       \
	counters.name = (struct xdd_count){ next, 2 * next }; \
	expected += next;                                     \
	next *= 2;
	XDD_BYPASSES(SET)
	assert_int_equal(counters_bypassed(&counters).packets, expected);
	assert_int_equal(counters_bypassed(&counters).bytes, 2 * expected);
	assert_int_equal(expected, (1u << XDD_BYPASS_MAX) - 1);
}

/* Whether @words are in a warning of an instance that is so full, and was walked over so long ago. */
static bool warned(double density, pid_t ageing, u64 since_sweep_s, const char *words)
{
	struct instance instance = {
		.fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet),
		.live = config_live(),
		.meta = { .memory_bytes = CONFIG_LINES * 64, .capacity_keys = CONFIG_LINES * 8 },
	};
	struct status *status = calloc(1, sizeof(*status));
	bool found = false;

	status->instance = &instance;
	status->ageing = ageing;
	status->fullness = (struct fullness){ .known = true,
					      .density = density,
					      .since_sweep_ns = since_sweep_s * 1000000000 };
	warnings_find(status);
	for (int i = 0; i < status->warnings; i++)
		found = found || strstr(status->warning[i], words);
	free(status);
	return found;
}

/* Of its lines of 15 cells 8 are meant to be used. */
static void capacity_warning(void **state)
{
	(void)state;
	assert_false(warned(8.0 / 15, 0, 0, "meant for"));
	assert_true(warned(12.0 / 15, 0, 0, "150 % of the keys that it is meant for"));
}

/* An ager that stands still is worth a warning; where there is none, nobody is late. */
static void late_warning(void **state)
{
	(void)state;
	assert_false(warned(0, 42, 60, "process 42"));
	assert_true(warned(0, 42, 61, "process 42 ages it, and has not come round for 61 s"));
	assert_false(warned(0, 0, 600, "ages it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tagged_rate),	    cmocka_unit_test(timer_rate),
		cmocka_unit_test(no_lines),	    cmocka_unit_test(rate_at_capacity),
		cmocka_unit_test(loss_in_words),    cmocka_unit_test(bypassed_sum),
		cmocka_unit_test(capacity_warning), cmocka_unit_test(late_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

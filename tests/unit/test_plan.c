/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What plan proposes, load takes, and it is the filter that was planned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <xdd/faults.h>

#include "cmd/cmd.h"
#include "derive.h"
#include "message.h"
#include "plan/plan.h"

#define MOST_WORDS 64

static char err[MESSAGE_MAX];

/* The command line @text of command @name, which is cut into words, to @o. */
static int parse(const char *name, unsigned int on, char *text, struct options *o)
{
	static char *words[MOST_WORDS];
	char *rest = NULL;
	int n = 0;

	words[n++] = (char *)name;
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[n++] = word;
	words[n] = NULL;
	options_init(o, name);
	return options_parse(o, n, words, on, err, sizeof(err));
}

/* What it would be on an interface of @queues receive queues, of a machine of four CPUs. */
static void loads(const struct plan *plan, const char *proposal, unsigned int queues)
{
	struct options o;
	struct derived d;
	char text[512];
	int code;

	snprintf(text, sizeof(text), "%s", proposal);
	if (parse("load", ON_LOAD, text, &o))
		fail_msg("load %s: %s", proposal, err);
	code = derive_config(&o, DERIVE_NIC, 1, queues, 4, &d, err, sizeof(err));
	if (code == -ENOMEM)
		return; /* a matter of this machine */
	if (code)
		fail_msg("load %s: %s", proposal, err);
	assert_int_equal(d.fixed.engine, plan->fixed.engine);
	assert_int_equal(d.fixed.key, plan->fixed.key);
	if (d.fixed.engine == XDD_ENGINE_exact)
		return;
	if (d.lines != plan->fixed.blocks || d.fixed.slicing != plan->fixed.slicing ||
	    d.fixed.filters != plan->fixed.filters || d.fixed.equal != plan->fixed.equal)
		fail_msg("load %s: not the filter that was planned", proposal);
	if (xdd_engine_may_fail(d.fixed.engine) && d.fixed.slices != plan->fixed.slices)
		fail_msg("load %s: %u slices instead of %u", proposal, d.fixed.slices,
			 plan->fixed.slices);
}

/* Does @engine have what @o asks for? Nor is tagged planned again where it has no such option. */
static bool is_planned(const struct options *o, u32 engine)
{
	bool sliced = o->slicing != OPTION_AUTO || o->slices || o->hashes;

	if (engine == XDD_ENGINE_recovery || (o->faults && !xdd_engine_may_fail(engine)) ||
	    (engine == XDD_ENGINE_tagged && sliced))
		return false;
	return engine == XDD_ENGINE_timer || !(o->grow || o->equal);
}

/* Plan @text with each engine; whatever comes out must load. Returns how many were proposed. */
static u32 proposes(const char *text)
{
	char line[256], proposal[512];
	struct plan_demand demand;
	struct options o;
	struct plan plan;
	u32 n = 0;

	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		snprintf(line, sizeof(line), "%s", text);
		if (parse("plan", ON_PLAN, line, &o))
			fail_msg("plan %s: %s", text, err);
		assert_int_equal(plan_demand(&o, &demand), EXIT_OK);
		if (!is_planned(&o, engine))
			continue;
		plan_engine(&o, &demand, engine, &plan);
		if (plan.binds == BINDS_NEVER)
			continue;
		plan_options(&plan, &demand, &o, proposal, sizeof(proposal));
		loads(&plan, proposal, 1);
		loads(&plan, proposal, 4);
		n++;
	}
	return n;
}

/* Every one of these with each of those. */
static void test_grid(void **state)
{
	static const char *const much[] = {
		"--capacity 10",
		"--capacity 3k",
		"--capacity 3k",
		"--rate 1M",
		"--rate 123457 --window 3ns",
		"--rate 1M --memory 1000",
		"--rate 10 --window 1h --memory 70001KiB",
		"--rate 10Gbit --packets-size 500 --key flow --window 1s",
		"--capacity 5k --key offset:8@14 --window 7ms",
	};
	static const char *const how[] = {
		"",
		"--fpr-target 0.02",
		"--fnr-target 0.001",
		"--fpr-target 1e-7 --ticks 100",
		"--faults 1",
		"--faults 4",
		"--faults 4 --fnr-target 0.15 --cost-ratio 10",
		"--faults 100 --fnr-target 0.3",
		"--faults 511",
		"--hashes 3 --slicing vertical --slices 17",
		"--slicing hv --slices 9 --subslices 4",
		"--slicing vh --slices 9 --subslices 4 --faults 2",
		"--slicing 2x2",
		"--slicing 2x2 --faults 2",
		"--slices 2000",
		"--equal 2",
		"--equal 3 --slicing vertical --slices 40",
		"--grow density",
		"--grow cardinality --burst 5x",
		"--grow density --burst 3x --max-filters 3 --slicing vertical --slices 5",
	};
	char text[256];

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(much); i++) {
		for (u32 j = 0; j < XDD_ARRAY_SIZE(how); j++) {
			snprintf(text, sizeof(text), "%s %s", much[i], how[j]);
			if (!proposes(text))
				fail_msg("plan %s: nothing is proposed", text);
		}
	}
}

static struct plan planned(const char *text, u32 engine, struct plan_demand *demand)
{
	struct options o;
	struct plan plan;
	char line[256];

	snprintf(line, sizeof(line), "%s", text);
	assert_int_equal(parse("plan", ON_PLAN, line, &o), 0);
	assert_int_equal(plan_demand(&o, demand), EXIT_OK);
	plan_engine(&o, demand, engine, &plan);
	return plan;
}

/* Beyond XDD_MAX_PARTS slices a fault takes a whole state: more of them do not help. */
static void test_states(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_tagged, XDD_ENGINE_timer, XDD_ENGINE_bloom };
	struct plan_demand d;
	struct plan plan;

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		plan = planned("--rate 1M --faults 5", engines[i], &d);
		assert_true(plan.met);
		assert_true(plan.faults.slices_fn <= XDD_MAX_PARTS);
		assert_true(plan.faults.fnr <= 0.01 && plan.faults.fnr >= 5.0 / XDD_MAX_PARTS);
		assert_int_equal(plan_most_faults(&plan, &d), 5);
		plan = planned("--rate 1M --faults 6", engines[i], &d);
		assert_false(plan.met);
		assert_true(plan.faults.fnr > 0.01);
		assert_int_equal(plan_most_faults(&plan, &d), 5);
	}
	plan = planned("--rate 1M --faults 6 --slices 60000", XDD_ENGINE_timer, &d);
	assert_false(plan.met);
	assert_float_equal(plan.faults.fnr, 6.0 / XDD_MAX_PARTS, 1e-9);
}

/* The paper's chain of filters of 1.05 times the usual rate: three in a burst of twice, six in one of five times. */
static void test_growth(void **state)
{
	struct plan_demand d;
	struct plan plan = planned("--rate 1M --grow cardinality --burst 2x", XDD_ENGINE_timer, &d);

	(void)state;
	assert_true(plan.met && plan.growth.filters == 3 && plan.fixed.filters == 3);
	assert_true(plan.growth.threshold >= 1.05 * d.keys);
	assert_true(plan.growth.threshold < 1.06 * d.keys);
	assert_true(plan.fpr <= 0.001 && plan.fpr > 0.00099);
	assert_float_equal(plan.growth.usual_fpr, 2 * plan.growth.fpr, 1e-6);
	plan = planned("--rate 1M --grow density --burst 5x --max-filters 6", XDD_ENGINE_timer, &d);
	assert_true(plan.met && plan.growth.filters == 6);
	assert_true(plan.growth.usual_fpr < plan.growth.fpr);
	assert_true(plan.memory_bytes == 6.0 * plan.fixed.blocks * XDD_LINE_BYTES);
	plan = planned("--rate 1M --grow density --burst 5x --max-filters 6 --memory 1MiB",
		       XDD_ENGINE_timer, &d);
	assert_false(plan.met);
	assert_true(plan.growth.filters > 6 && plan.fpr > 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grid),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

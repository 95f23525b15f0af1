/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Monitors whose lists have some keys in common, and all others to themselves (cai-2014 section V): what they have
 * to send until each knows which.
 */
#include "user/joint/run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/provenance.h"
#include "user/simulate/kinds.h"
#include "user/simulate/values.h"
#include "user/stream.h"

/*
 * What a run came to: X(name, JSON's name, digits of text, words). Bits are those on the coordinator's link.
 */
#define JOINT_VALUES(X)                                                                       \
	X(keys, keys, 0, "keys of all monitors")                                              \
	X(common, common, 0, "keys that all of them have")                                    \
	X(lost, lost, 0, "common keys that a monitor has lost")                               \
	X(wrong, misclassified, 7, "share of the other keys that a monitor takes for common") \
	X(up, up_mbit, 3, "sent to the coordinator, Mbit")                                    \
	X(down, down_mbit, 3, "sent by the coordinator, Mbit")                                \
	X(total, total_mbit, 3, "both, Mbit")                                                 \
	X(per_key, bits_per_key, 3, "both, bits for each key")                                \
	X(formula_up, formula_up_mbit, 3, "up by the paper's formula, Mbit")                  \
	X(formula_down, formula_down_mbit, 3, "down by the paper's formula, Mbit")            \
	X(formula, formula_mbit, 3, "both by the paper's formula, Mbit")                      \
	X(shared_down, shared_down_mbit, 3, "down if one filter went to all, coded, Mbit")    \
	X(hashes, hashes, 0, "hashes for filters")                                            \
	X(lookups, lookups, 0, "hashes to look up in them")                                   \
	X(exchanges, exchanges, 0, "exchanges of messages")                                   \
	X(coordinator_seconds, coordinator_seconds, 3, "seconds of the coordinator")          \
	X(seconds, seconds, 3, "seconds of all of them in one process")

#define JOINT_VALUE(name, json, digits, words) VALUE_##name,
enum joint_value { JOINT_VALUES(JOINT_VALUE) VALUE_MAX };

struct outcome {
	double sum[VALUE_MAX], squares[VALUE_MAX]; /* over runs */
};

/* The lists: the first keys of each are the common ones. */
struct lists {
	u32 n;
	u64 common, all;
	struct joint_monitor monitors[JOINT_MONITORS_MAX];
};

static int open_list(struct lists *l, const struct joint_plan *plan, struct stream *random,
		     u64 common_seed, u64 size)
{
	u64 *digests = malloc((size + 1) * sizeof(*digests));
	int rc;

	if (!digests)
		return -ENOMEM;
	for (u64 i = 0; i < size; i++)
		digests[i] = i < l->common ? xdd_mix64(common_seed + i) : stream_draw(random);
	rc = joint_monitor_open(&l->monitors[l->n], plan, l->n, digests, size);
	l->n++;
	l->all += size;
	free(digests);
	return rc;
}

static int open_lists(struct lists *l, const struct options *o, const struct joint_plan *plan)
{
	u64 sizes[JOINT_MONITORS_MAX], least = ~0ull;
	struct stream random;
	int rc = 0;

	stream_open(&random, o->sizes_last - o->sizes + 1, 0, plan->seed);
	for (u32 i = 0; i < plan->monitors; i++) {
		sizes[i] = o->sizes + stream_next(&random);
		least = sizes[i] < least ? sizes[i] : least;
	}
	l->common = o->intersection * least + .5;
	for (u32 i = 0; !rc && i < plan->monitors; i++)
		rc = open_list(l, plan, &random, xdd_mix64(plan->seed), sizes[i]);
	return rc;
}

/* What is left, against what is common. */
static void judge(const struct lists *l, double *value)
{
	u64 lost = 0, wrong = 0;

	for (u32 i = 0; i < l->n; i++) {
		const struct joint_monitor *m = &l->monitors[i];
		u64 kept = 0;

		while (kept < m->n && m->from[kept] < l->common)
			kept++;
		lost += l->common - kept;
		wrong += m->n - kept;
	}
	value[VALUE_lost] = lost;
	value[VALUE_wrong] =
		l->all > l->n * l->common ? (double)wrong / (l->all - l->n * l->common) : 0;
}

static void measure(const struct lists *l, const struct joint_result *r,
		    const struct joint_plan *plan, double *value)
{
	const double mega = 8e-6;

	value[VALUE_keys] = l->all;
	value[VALUE_common] = l->common;
	value[VALUE_up] = r->up * mega;
	value[VALUE_down] = r->down * mega;
	value[VALUE_total] = (r->up + r->down) * mega;
	value[VALUE_per_key] = 8. * (r->up + r->down) / (l->all ?: 1);
	value[VALUE_formula_up] = r->formula.up * 1e-6;
	value[VALUE_formula_down] = r->formula.down * 1e-6;
	if (plan->algorithm == JOINT_raw) {
		value[VALUE_formula_up] = 1e-6 * JOINT_DIGEST_BITS * l->all;
		value[VALUE_formula_down] = 1e-6 * JOINT_DIGEST_BITS * l->common * l->n;
	}
	value[VALUE_formula] = value[VALUE_formula_up] + value[VALUE_formula_down];
	value[VALUE_shared_down] = r->shared_down_bits ? r->shared_down_bits * 1e-6 : NAN;
	value[VALUE_hashes] = r->hashes;
	value[VALUE_lookups] = r->lookups;
	value[VALUE_exchanges] = r->exchanges;
	value[VALUE_coordinator_seconds] = r->coordinator_seconds;
	value[VALUE_seconds] = r->seconds;
}

static int run_once(const struct options *o, struct joint_plan *plan, u32 run,
		    struct outcome *outcome)
{
	struct lists *l = calloc(1, sizeof(*l));
	double value[VALUE_MAX] = { 0 };
	struct joint_result result;
	int rc;

	if (!l)
		return -ENOMEM;
	plan->seed = xdd_mix64(o->seed + run);
	rc = open_lists(l, o, plan) ?: joint_run(plan, l->monitors, &result);
	if (!rc) {
		measure(l, &result, plan, value);
		judge(l, value);
	}
	for (u32 i = 0; i < l->n; i++)
		joint_monitor_close(&l->monitors[i]);
	free(l);
	for (u32 i = 0; i < VALUE_MAX; i++) {
		outcome->sum[i] += value[i];
		outcome->squares[i] += value[i] * value[i];
	}
	return rc;
}

static double deviation(const struct outcome *outcome, u32 i, u32 runs)
{
	double mean = outcome->sum[i] / runs, rest = outcome->squares[i] - runs * mean * mean;

	return runs > 1 && rest > 0 ? sqrt(rest / (runs - 1)) : 0;
}

static const struct value_about about[] = {
#define JOINT_ABOUT(name, json, digits, words) { #json, words, digits },
	JOINT_VALUES(JOINT_ABOUT)
};

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(const struct options *o, const struct joint_plan *plan,
		       const struct outcome *outcome, u32 runs)
{
	json_t *all = json_pack("{s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:I, s:I, s:i, s:I}",
				"simulation", "joint", "algorithm", joint_names[plan->algorithm],
				"monitors", (int)plan->monitors, "at_least", (int)plan->at_least,
				"rounds", (int)plan->rounds, "epsilon", plan->epsilon,
				"intersection", o->intersection, "least_keys", (json_int_t)o->sizes,
				"most_keys", (json_int_t)o->sizes_last, "runs", (int)runs, "seed",
				(json_int_t)o->seed);

	values_json(all, about, VALUE_MAX, outcome->sum, runs);
	json_object_set_new(all, "total_mbit_sd", number(deviation(outcome, VALUE_total, runs)));
	json_object_set_new(all, "formula_mbit_sd",
			    number(deviation(outcome, VALUE_formula, runs)));
	provenance_json(all, o);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_text(const struct options *o, const struct joint_plan *plan,
		       const struct outcome *outcome, u32 runs)
{
	printf("joint: %u monitors, %s, epsilon %g, intersection %g; mean of %u run%s\n",
	       plan->monitors, joint_names[plan->algorithm], plan->epsilon, o->intersection, runs,
	       runs == 1 ? "" : "s");
	values_print(about, VALUE_MAX, outcome->sum, runs);
}

int simulate_joint(struct options *o)
{
	struct joint_plan plan = joint_plan_of(o, o->monitors);
	struct outcome outcome = { 0 };
	u32 runs = o->runs ?: 1;
	char err[MESSAGE_MAX];
	int rc = 0;

	if (o->seed_random) {
		complain("simulate: --seed random: give a number, so that the run can be repeated");
		return EXIT_USAGE;
	}
	if (joint_plan_check(&plan, err, sizeof(err))) {
		complain("simulate joint: %s", err);
		return EXIT_USAGE;
	}
	for (u32 run = 0; !rc && run < runs; run++)
		rc = run_once(o, &plan, run, &outcome);
	if (rc)
		complain("simulate joint: %s: fewer --monitors, or smaller --sizes", strerror(-rc));
	else if (o->json)
		print_json(o, &plan, &outcome, runs);
	else
		print_text(o, &plan, &outcome, runs);
	return rc ? EXIT_FAILED : EXIT_OK;
}

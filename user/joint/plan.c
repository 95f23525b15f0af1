/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/plan.h"

#include <errno.h>
#include <math.h>

#include "user/message.h"
#include "user/options.h"

#define LEAST_LENGTH 2
#define MOST_FILL .5 /* of a filter of one round that is left too much by those before */

#define JOINT_NAME(name, word, help) word,
#define JOINT_HELP(name, word, help) help,
const char *const joint_names[] = { JOINT_ALGORITHMS(JOINT_NAME) NULL };
const char *const joint_help[] = { JOINT_ALGORITHMS(JOINT_HELP) NULL };

static bool is_progressive(u32 algorithm)
{
	return algorithm == JOINT_cfsp || algorithm == JOINT_best;
}

bool joint_is_exact(const struct joint_plan *plan)
{
	return plan->algorithm == JOINT_raw || plan->algorithm == JOINT_smallest_first;
}

/* Hashes of all rounds together: each halves what is left. */
static u32 all_hashes(const struct joint_plan *plan)
{
	return ceil(-log2(plan->epsilon) - 1e-9);
}

u32 joint_default_rounds(u32 algorithm)
{
	return is_progressive(algorithm) ? 2 : 1;
}

struct joint_plan joint_plan_of(const struct options *o, u32 monitors)
{
	return (struct joint_plan){
		.algorithm = o->algorithm,
		.monitors = monitors,
		.at_least = o->at_least ?: monitors,
		.rounds = o->rounds ?: joint_default_rounds(o->algorithm),
		.epsilon = o->epsilon,
		.seed = o->seed,
	};
}

static int check_count(const struct joint_plan *plan, char *err, size_t err_size)
{
	const char *name = joint_names[plan->algorithm];

	if (plan->at_least < 2 || plan->at_least > plan->monitors)
		return refuse(err, err_size, -EINVAL,
			      "--at-least %u: from 2 to %u, the number of monitors", plan->at_least,
			      plan->monitors);
	if (plan->at_least == plan->monitors || plan->algorithm == JOINT_raw ||
	    plan->algorithm == JOINT_best)
		return 0;
	if (plan->algorithm == JOINT_smallest_first)
		return refuse(err, err_size, -EINVAL,
			      "--algorithm %s cannot do --at-least: what the smallest list lacks "
			      "is lost at once; raw and best can",
			      name);
	return refuse(err, err_size, -EINVAL,
		      "--algorithm %s cannot do --at-least: of a key's bits, each may have been "
		      "counted from other monitors; raw and best can",
		      name);
}

int joint_plan_check(const struct joint_plan *plan, char *err, size_t err_size)
{
	u32 most = all_hashes(plan);

	if (plan->monitors < 2 || plan->monitors > JOINT_MONITORS_MAX)
		return refuse(err, err_size, -EINVAL, "%u monitors: from 2 to %u can be joined",
			      plan->monitors, JOINT_MONITORS_MAX);
	if (plan->rounds > 1 && !is_progressive(plan->algorithm))
		return refuse(err, err_size, -EINVAL,
			      "--rounds %u: --algorithm %s has one round of filters; cfsp and best "
			      "have more",
			      plan->rounds, joint_names[plan->algorithm]);
	if (plan->epsilon < JOINT_EPSILON_MIN)
		return refuse(err, err_size, -EINVAL,
			      "--epsilon %g: at least %g: keys are known by 64 bits of hash",
			      plan->epsilon, JOINT_EPSILON_MIN);
	if (!plan->rounds || plan->rounds > most)
		return refuse(err, err_size, -EINVAL,
			      "--rounds %u: from 1 to %u, that halve what is left to --epsilon %g",
			      plan->rounds, most, plan->epsilon);
	return check_count(plan, err, err_size);
}

u32 joint_steps(const struct joint_plan *plan)
{
	if (plan->algorithm == JOINT_smallest_first)
		return 1 + plan->monitors;
	return plan->rounds + (plan->algorithm == JOINT_bfs);
}

u32 joint_hashes(const struct joint_plan *plan, u32 round)
{
	if (plan->algorithm == JOINT_best || round + 1 < plan->rounds)
		return 1;
	return all_hashes(plan) - (plan->rounds - 1);
}

double joint_passes(const struct joint_plan *plan, double fill)
{
	u32 lack = plan->monitors - plan->at_least + 1;

	return lack == 1 ? fill : -expm1(lack * log1p(-fill));
}

/* The inverse. */
static double share_of(const struct joint_plan *plan, double passes)
{
	u32 lack = plan->monitors - plan->at_least + 1;

	return lack == 1 ? passes : -expm1(log1p(-passes) / lack);
}

double joint_target(const struct joint_plan *plan, u32 round, double passed)
{
	if (round + 1 < plan->rounds)
		return share_of(plan, .5);
	if (plan->algorithm != JOINT_best)
		return plan->epsilon * exp2(plan->rounds - 1);
	return fmin(MOST_FILL, share_of(plan, fmin(plan->epsilon / passed, .5)));
}

u64 joint_length(u64 keys, u32 hashes, double target)
{
	double length = -(double)hashes * keys / log1p(-pow(target, 1. / hashes));

	return length < LEAST_LENGTH ? LEAST_LENGTH : ceil(length);
}

u64 joint_length_power(u64 keys, u32 hashes, double target)
{
	u64 least = joint_length(keys, hashes, target), length = LEAST_LENGTH;

	while (length < least)
		length *= 2;
	return length;
}

static double formula_length(double hashes, u64 keys)
{
	double length = hashes * keys / M_LN2;

	return length > 1 ? exp2(ceil(log2(length))) : 1;
}

struct joint_bits joint_formula(const struct joint_plan *plan, u32 round, const u64 *keys)
{
	double hashes = -log2(plan->epsilon) - (plan->rounds - 1), most = 0, least = INFINITY;
	struct joint_bits bits = { 0, 0 };
	const u32 n = plan->monitors;

	if (round + 1 < plan->rounds)
		hashes = 1;
	for (u32 i = 0; i < n; i++) {
		most = fmax(most, keys[i]);
		least = fmin(least, formula_length(hashes, keys[i]));
		bits.up += formula_length(hashes, keys[i]);
	}
	bits.down = n * least;
	if (plan->algorithm == JOINT_bfs)
		bits.up = bits.down = n * most * hashes / M_LN2;
	else if (plan->algorithm != JOINT_cfs && plan->algorithm != JOINT_cfsp)
		bits.up = bits.down = NAN;
	return bits;
}

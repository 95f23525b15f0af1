/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/update.h"

#include <math.h>
#include <stddef.h>

#include "user/model/replica.h"
#include "user/words.h"

/* Of the target, what staleness is left at least, however much of it a fresh replica takes. */
#define LEAST_SHARE 0.25

#define UPDATE_NAME(name, word) word,
const char *const update_names[] = { UPDATE_RULES(UPDATE_NAME) NULL };
const char *const bound_names[] = { "model", "member", NULL };

static double fnr(const struct update_policy *policy, const struct staleness *s)
{
	if (policy->bound == BOUND_model)
		return model_replica_fnr(s->fill, s->delta1, s->hashes);
	return model_replica_member_fnr(s->unpublished, s->keys,
					model_replica_fill(s->fill, s->delta1, s->delta0),
					s->hashes);
}

double update_rate(const struct update_policy *policy, const struct staleness *s)
{
	return policy->fp_weight * model_replica_fpr(s->fill, s->delta1, s->delta0, s->hashes) +
	       policy->fn_weight * fnr(policy, s);
}

double update_floor(const struct update_policy *policy, const struct staleness *s)
{
	return policy->fp_weight * pow(s->fill, s->hashes);
}

bool update_due(const struct update_policy *policy, const struct staleness *s)
{
	double floor = update_floor(policy, s);

	switch (policy->rule) {
	case UPDATE_every:
		return s->since >= policy->every;
	case UPDATE_dirty:
		return s->delta1 + s->delta0 >= policy->dirty;
	case UPDATE_false_rate:
		return update_rate(policy, s) + s->growth >
		       fmax(policy->target, floor + LEAST_SHARE * policy->target);
	case UPDATE_printed:
		return update_rate(policy, s) > policy->target;
	default:
		return false;
	}
}

void update_compare(struct staleness *s, const u64 *home, const u64 *sent, u64 n)
{
	u64 words = (n + 63) / 64;

	s->cells = n;
	s->fill = words_ones(home, words) / s->cells;
	s->delta1 = words_ones_beyond(home, sent, words) / s->cells;
	s->delta0 = words_ones_beyond(sent, home, words) / s->cells;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A filter that grows: how large each is to be, and how many a burst takes (koloniari-2011 section 5). */
#include <math.h>

#include "user/model.h"
#include "user/model/growth.h"
#include "user/plan/plan.h"

/* What is usual stays below what fills a filter: as the paper's figures 10 and 11 are made. */
#define ROOM 1.05

/* All filters of the chain together are to keep the target, so each is full at a lower rate. */
static double fpr_of_each(const struct plan *plan)
{
	return -expm1(log1p(-plan->fpr_target) / plan->fixed.filters);
}

/* The most that is erred with @keys live, in filters of @cells cells. No filter holds more than those: where
 * there are too few filters, the newest may.
 */
static double most_fpr(const struct plan *plan, double keys, double cells)
{
	const struct plan_growth *g = &plan->growth;
	double filters = model_chain_filters(keys, g->threshold);
	double rate = model_bloom_rate(keys, cells, plan->fixed.hashes);

	if (filters <= plan->fixed.filters)
		return model_chain_fpr(g->fpr, filters);
	return 1 - (1 - model_chain_fpr(g->fpr, plan->fixed.filters - 1)) * (1 - rate);
}

/* Without a burst: by density all in one filter, if it has room. */
static double usual_fpr(const struct plan *plan, double keys, double cells)
{
	if (plan->fixed.grow == XDD_GROWTH_density && keys <= plan->growth.threshold)
		return model_bloom_rate(keys, cells, plan->fixed.hashes);
	return most_fpr(plan, keys, cells);
}

void plan_growth_rates(struct plan *plan, const struct plan_demand *d)
{
	struct plan_growth *g = &plan->growth;
	double cells = plan->cells / plan->fixed.filters;

	g->fpr = fpr_of_each(plan);
	g->threshold = model_growth_keys(cells, g->fpr, plan->fixed.hashes);
	g->filters = model_chain_filters(d->burst * d->keys, g->threshold);
	g->usual_fpr = usual_fpr(plan, d->keys, cells);
	plan->fpr = most_fpr(plan, d->burst * d->keys, cells);
}

bool plan_growth_fits(const struct plan *plan, const struct plan_demand *d)
{
	return plan->growth.filters <= plan->fixed.filters &&
	       plan->growth.threshold >= ROOM * d->keys;
}

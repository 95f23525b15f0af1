/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/chain.h"

#include <math.h>

#include "user/model/growth.h"
#include "xdd/slices.h"

#define DENSITY_UNIT 4294967296.0

u32 chain_density(double density)
{
	return fmin(fmax(ceil(density * DENSITY_UNIT), 1), DENSITY_UNIT - 1);
}

static double cells_of(const struct xdd_fixed *fixed)
{
	return (double)xdd_chain_lines(fixed) * xdd_line_cells(fixed);
}

u64 chain_limit(const struct xdd_fixed *fixed)
{
	double density = fixed->grow_density / DENSITY_UNIT, limit = cells_of(fixed) * density;

	if (fixed->grow == XDD_GROWTH_cardinality)
		limit = model_growth_keys(cells_of(fixed), pow(density, fixed->hashes),
					  fixed->hashes);
	return fmax(limit, 1);
}

static void set_state(struct xdd_chain *chain, u32 asked, u32 newest)
{
	__atomic_store_n(&chain->state, xdd_chain_state(asked, newest), __ATOMIC_RELEASE);
}

u32 chain_shrink(struct xdd_chain *chain, const struct xdd_fixed *fixed, u64 walk_tick,
		 u32 skew_ticks)
{
	u64 state = xdd_chain_read(chain);
	u32 asked = xdd_chain_asked(state), newest = xdd_chain_newest(state), kept = asked;

	for (u32 i = 0; i < fixed->filters; i++)
		if (i != newest && !chain->live[i] &&
		    walk_tick >= chain->closed_tick[i] + skew_ticks)
			kept &= ~(1u << i);
	if (kept == asked)
		return 0;
	set_state(chain, kept, newest);
	chain->retired += __builtin_popcount(asked & ~kept);
	return __builtin_popcount(asked & ~kept);
}

static bool is_full(const struct xdd_chain *chain, const struct xdd_fixed *fixed, u32 newest)
{
	if (fixed->grow == XDD_GROWTH_cardinality)
		return *(volatile const u64 *)&chain->inserted >= chain_limit(fixed);
	return chain->live[newest] > chain_limit(fixed);
}

bool chain_grow(struct xdd_chain *chain, const struct xdd_fixed *fixed, u64 now_tick)
{
	u64 state = xdd_chain_read(chain);
	u32 asked = xdd_chain_asked(state), newest = xdd_chain_newest(state);
	u32 next = (newest + 1) % fixed->filters;

	chain->full = 0;
	if (!is_full(chain, fixed, newest))
		return false;
	if (asked >> next & 1) {
		chain->full = 1;
		chain->refused++;
		return false;
	}
	chain->live[next] = 0;
	__atomic_store_n(&chain->inserted, 0, __ATOMIC_RELAXED);
	set_state(chain, asked | 1u << next, next);
	chain->closed_tick[newest] = now_tick;
	chain->opened++;
	return true;
}

u32 chain_live(const struct xdd_chain *chain)
{
	return __builtin_popcount(xdd_chain_asked(xdd_chain_read(chain)));
}

double chain_fpr(const struct xdd_chain *chain, const struct xdd_fixed *fixed)
{
	u32 asked = xdd_chain_asked(xdd_chain_read(chain));
	double none = 1;

	for (u32 i = 0; i < fixed->filters; i++)
		if (asked >> i & 1)
			none *= 1 - pow(chain->live[i] / cells_of(fixed), fixed->hashes);
	return 1 - none;
}

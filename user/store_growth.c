/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of a chain in heap memory are opened and retired as their questions come. Counting live
 * cells takes a walk over the chain's lines. So many insertions as could not have filled the newest
 * need none, and a filter that was closed is looked at again when the last of its timers has run out.
 */
#include "user/chain.h"
#include "user/store.h"
#include "xdd/slices.h"

/* A walk for each hundredth of the keys that a filter holds, at most. */
#define WALKS 100

static u64 max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Count the live cells of the chain's filters, and zero what ran out. */
static void walk(const struct xdd_store *store, u32 number, u64 tick)
{
	struct xdd_when when = xdd_when(tick, store->live.window_ticks);
	u64 places = xdd_chain_lines(&store->fixed), filters = store->filters;
	struct xdd_line *lines = store->lines + number * places * filters;
	struct xdd_chain *chain = &store->chains[number];
	u32 asked = xdd_chain_asked(chain->state);

	for (u32 filter = 0; filter < filters; filter++) {
		u64 live = 0;

		for (u64 i = 0; asked >> filter & 1 && i < places; i++)
			live += xdd_line_sweep(&lines[i * filters + filter], false, when);
		chain->live[filter] = live;
	}
}

/* When the next of the filters that are closed is empty: a window after it was. */
static u64 next_expiry(const struct xdd_store *store, const struct xdd_chain *chain, u64 tick)
{
	u32 asked = xdd_chain_asked(chain->state), newest = xdd_chain_newest(chain->state);
	u64 next = 0;

	for (u32 i = 0; i < store->filters; i++) {
		u64 expires = chain->closed_tick[i] + store->live.window_ticks;

		if (i == newest || !(asked >> i & 1))
			continue;
		if (expires <= tick)
			expires = tick + 1;
		next = !next || expires < next ? expires : next;
	}
	return next;
}

/* How many insertions the newest filter surely takes before it is to be looked at. Where none is left
 * to be opened, counting keys says nothing more until one expires.
 */
static u64 insertions_left(const struct xdd_store *store, const struct xdd_chain *chain)
{
	u64 limit = chain_limit(&store->fixed), live = chain->live[xdd_chain_newest(chain->state)];
	u64 least = max(limit / store->fixed.hashes / WALKS, 1);
	u64 left = live < limit ? (limit - live) / store->fixed.hashes : 0;

	if (store->fixed.grow == XDD_GROWTH_cardinality)
		return chain->full ? ~0ULL : limit - chain->inserted;
	return max(left, least);
}

/* Count the live cells of chain @number, and open and retire filters by them. */
static void look(struct xdd_store *store, u32 number, u64 tick)
{
	struct store_growth *growth = &store->growth[number];
	struct xdd_chain *chain = &store->chains[number];

	walk(store, number, tick);
	chain_shrink(chain, &store->fixed, tick, 0);
	chain_grow(chain, &store->fixed, tick);
	store->filters_most = max(store->filters_most, chain_live(chain));
	growth->inserted = 0;
	growth->enough = insertions_left(store, chain);
	growth->expires_tick = next_expiry(store, chain, tick);
}

static bool expired(const struct store_growth *growth, u64 tick)
{
	return growth->expires_tick && tick >= growth->expires_tick;
}

void store_grow(struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns, u32 found)
{
	const struct xdd_fixed *fixed = &store->fixed;
	u32 number = xdd_chain_of(fixed, digest);
	struct store_growth *growth = &store->growth[number];
	u64 tick = now_ns / fixed->tick_ns;

	growth->inserted += !(found & XDD_SEEN) || fixed->refresh;
	if (growth->inserted >= growth->enough || expired(growth, tick))
		look(store, number, tick);
}

void store_grow_all(struct xdd_store *store, u64 now_ns)
{
	for (u32 i = 0; store->chains && i < xdd_chains(&store->fixed); i++)
		if (expired(&store->growth[i], now_ns / store->fixed.tick_ns))
			look(store, i, now_ns / store->fixed.tick_ns);
}

double store_growth_fpr(const struct xdd_store *store, u64 now_ns)
{
	u32 chains = xdd_chains(&store->fixed);
	double sum = 0;

	for (u32 i = 0; i < chains; i++) {
		walk(store, i, now_ns / store->fixed.tick_ns);
		sum += chain_fpr(&store->chains[i], &store->fixed);
	}
	return sum / chains;
}

double store_filters_live(const struct xdd_store *store)
{
	u32 chains = xdd_chains(&store->fixed);
	double sum = 0;

	if (!store->chains)
		return 1;
	for (u32 i = 0; i < chains; i++)
		sum += chain_live(&store->chains[i]);
	return sum / chains;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/age/growth.h"
#include "user/names.h"
#include "user/store.h"

static void add(struct chains *to, const struct xdd_chain *chain)
{
	u32 live = chain_live(chain);

	to->live += (double)live / to->number;
	if (live > to->most)
		to->most = live;
	to->full += chain->full;
	to->opened += chain->opened;
	to->retired += chain->retired;
	to->refused += chain->refused;
}

int chains_read(struct chains *chains, const struct instance *in)
{
	struct growth growth;
	int err = growth_open(&growth, in, false);

	memset(chains, 0, sizeof(*chains));
	if (err || !growth.number)
		return err;
	chains->chain = calloc(growth.number, sizeof(*chains->chain));
	if (chains->chain) {
		chains->number = growth.number;
		memcpy(chains->chain, growth.chains, growth.number * sizeof(*chains->chain));
	}
	growth_close(&growth);
	for (u32 i = 0; i < chains->number; i++)
		add(chains, &chains->chain[i]);
	return chains->chain ? 0 : -ENOMEM;
}

void chains_free(struct chains *chains)
{
	free(chains->chain);
	memset(chains, 0, sizeof(*chains));
}

double chains_fpr(const struct chains *chains, const struct xdd_fixed *fixed, u32 site)
{
	u32 n = xdd_chains(fixed);
	double sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += chain_fpr(&chains->chain[site * n + i], fixed);
	return sum / n;
}

static json_t *make_json(const struct chains *chains, const struct xdd_fixed *fixed)
{
	json_t *live = json_array();

	for (u32 i = 0; i < chains->number; i++)
		json_array_append_new(live, json_integer(chain_live(&chains->chain[i])));
	return json_pack("{s:s, s:i, s:I, s:f, s:i, s:o, s:I, s:I, s:I, s:i}", "by",
			 growth_names[fixed->grow], "max_filters", (int)fixed->filters, "limit",
			 (json_int_t)chain_limit(fixed), "filters_live", chains->live,
			 "filters_most", (int)chains->most, "filters_live_of", live, "opened",
			 (json_int_t)chains->opened, "retired", (json_int_t)chains->retired,
			 "refused", (json_int_t)chains->refused, "full", (int)chains->full);
}

json_t *chains_json(const struct chains *chains, const struct xdd_fixed *fixed)
{
	return chains->number ? make_json(chains, fixed) : json_null();
}

json_t *chains_of_store(const struct xdd_store *store)
{
	struct chains chains = { .chain = store->chains };

	if (!store->chains)
		return json_null();
	chains.number = xdd_chains(&store->fixed);
	for (u32 i = 0; i < chains.number; i++)
		add(&chains, &store->chains[i]);
	chains.most = store->filters_most;
	return make_json(&chains, &store->fixed);
}

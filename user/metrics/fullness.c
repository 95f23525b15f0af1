/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/fullness.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xdd/bits.h>
#include <xdd/key.h>
#include <xdd/slices.h>
#include <xdd/tree.h>

#include "user/clock.h"
#include "user/loader/instance.h"
#include "user/model.h"
#include "user/store.h"

#define TAG_VALUES 16777216.0

/* A new key meets one line: the mean over the lines of what it meets there. Or it meets k cells
 * anywhere in the filter.
 */
double fullness_rate(const struct xdd_fixed *fixed, const struct xdd_fill *fill)
{
	double cells = xdd_line_cells(fixed), rate = 0;

	if (!fill->lines)
		return 0;
	if (fixed->engine == XDD_ENGINE_timer && !xdd_slices_one_line(fixed))
		return pow(fill->live / (cells * fill->lines), fixed->hashes);
	for (u32 live = 0; live <= XDD_LINE_TIMERS; live++) {
		double hit = fixed->engine == XDD_ENGINE_tagged ? live / TAG_VALUES
								: pow(live / cells, fixed->hashes);

		rate += hit * fill->histogram[live];
	}
	return rate / fill->lines;
}

double fullness_rate_of(const struct xdd_fixed *fixed, double keys, u32 sites)
{
	if (fixed->engine == XDD_ENGINE_tagged)
		return model_tagged(keys / sites, xdd_lines(fixed));
	return model_sliced(fixed, keys / sites, fixed->slices, xdd_cells(fixed));
}

double store_fpr(struct xdd_store *store, u64 distinct, u64 now_ns)
{
	const struct xdd_fixed *fixed = &store->fixed;
	u64 ones[XDD_MAX_HASHES] = {};
	struct xdd_fill fill;

	if (xdd_digest_is_wide(fixed))
		return ldexp(distinct, -63);
	if (xdd_bits_in_line(fixed))
		return store_parts_ones(fixed, store->lines, xdd_lines(fixed), ones) /
		       xdd_lines(fixed);
	if (xdd_engine_has_bits(fixed->engine))
		return pow(store_load(store, now_ns), fixed->hashes);
	store_fill(store, now_ns, &fill);
	return fullness_rate(fixed, &fill);
}

static bool rate_by_slices(const struct xdd_fixed *fixed)
{
	return xdd_slices_pick_one(fixed) || fixed->slicing == XDD_SLICING_K1xK2;
}

double fullness_fairness(const double *loads, u32 n)
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < n; i++) {
		sum += loads[i];
		squares += loads[i] * loads[i];
	}
	return model_fairness(sum, squares, n);
}

/* Density of each slice of @site into @density. Returns 0 or a negative errno. */
static int read_slices(const struct instance *in, u32 site, double *density)
{
	const struct xdd_fixed *fixed = &in->fixed;
	double cells = (double)xdd_slice_lines(fixed) * xdd_line_cells(fixed);
	u32 count = xdd_slices_count(fixed);
	struct xdd_slice slice;

	for (u32 i = 0; i < count; i++) {
		u32 at = site * count + i;

		if (bpf_map_lookup_elem(in->maps.slices, &at, &slice))
			return -errno;
		density[i] = slice.live / cells;
	}
	return 0;
}

/* How many filters take packets side by side: in a tree the root decides for all. */
static u32 equals(const struct xdd_fixed *fixed)
{
	return fixed->placement == XDD_PLACEMENT_percpu ? libbpf_num_possible_cpus() : 1;
}

/* Add what a site's walk says about the ager. */
static void add_walk(const struct xdd_ager *record, struct fullness *f)
{
	f->known = f->known && record->sweeps;
	if (!record->sweeps)
		return;
	f->since_sweep_ns = fmax(f->since_sweep_ns, now_ns() - record->last_sweep_ns);
	f->sweep_ns += record->sweep_ns;
	f->period_ns = record->period_ns;
	f->sweeps = fmax(f->sweeps, record->sweeps);
	f->missed = fmax(f->missed, record->missed);
}

/* Add how full it was found. @share: how much of the traffic it has; @slices: room for its densities.
 */
static int add_site(const struct instance *in, u32 site, double share, struct fullness *f,
		    double *slices)
{
	const struct xdd_fixed *fixed = &in->fixed;
	const struct model_policy none_failed = { 0 };
	double sites = equals(fixed), rate;
	struct xdd_ager record;
	int err;

	if (bpf_map_lookup_elem(in->maps.ager, &site, &record))
		return -errno;
	add_walk(&record, f);
	if (!record.sweeps || site >= sites)
		return 0;
	f->density +=
		record.fill.live / ((double)record.fill.lines * xdd_line_cells(fixed)) / sites;
	rate = fullness_rate(fixed, &record.fill);
	if (slices) {
		err = read_slices(in, site, slices);
		if (err)
			return err;
		if (rate_by_slices(fixed))
			rate = model_fpr_of_slices(fixed, slices, NULL, none_failed);
		for (u32 i = 0; i < f->slices_used; i++)
			f->slices[i] += slices[i] / sites;
	}
	f->fpr += share * rate;
	return 0;
}

static int read_sites(const struct instance *in, const struct counters *counters,
		      struct fullness *f, double *slices)
{
	u32 sites = xdd_sites(&in->fixed, counters->cpus), weigh = equals(&in->fixed);
	u64 distinct = counters->total.distinct.packets;
	int err = 0;

	f->known = true;
	f->fpr_full = fullness_rate_of(&in->fixed, in->meta.capacity_keys, weigh);
	for (u32 site = 0; !err && site < sites; site++) {
		double share = 1.0 / weigh;

		if (weigh > 1 && distinct)
			share = (double)counters->distinct[site] / distinct;
		err = add_site(in, site, share, f, slices);
	}
	return err;
}

static int read_exact(const struct instance *in, struct fullness *f)
{
	if (in->fixed.engine == XDD_ENGINE_recovery || !xdd_key_is_flow(in->fixed.key))
		f->fpr = ldexp(in->meta.capacity_keys, -128);
	f->fpr_full = f->fpr;
	return 0;
}

/* Sites weigh as much as their distinct packets. */
static int read_bits(const struct instance *in, const struct counters *counters, struct fullness *f)
{
	u64 distinct = counters->total.distinct.packets;
	int err = loads_read(in, &f->loads);

	if (err)
		return err;
	for (u32 site = 0; site < f->loads.sites; site++) {
		double share = 1.0 / f->loads.sites;

		if (f->loads.sites > 1 && distinct)
			share = (double)counters->distinct[site] / distinct;
		f->fpr += share * f->loads.lost[site];
	}
	if (in->fixed.engine == XDD_ENGINE_bloom)
		f->fpr_full = fullness_rate_of(&in->fixed, in->meta.capacity_keys, f->loads.sites);
	return 0;
}

int fullness_read(const struct instance *in, const struct counters *counters,
		  struct fullness *fullness)
{
	double *slices = NULL;
	int err;

	memset(fullness, 0, sizeof(*fullness));
	if (xdd_digest_is_wide(&in->fixed))
		return read_exact(in, fullness);
	if (xdd_engine_has_bits(in->fixed.engine))
		return read_bits(in, counters, fullness);
	if (xdd_slices_counted(&in->fixed)) {
		fullness->slices_used = xdd_slices_count(&in->fixed);
		fullness->slices = calloc(fullness->slices_used, sizeof(double));
		slices = calloc(fullness->slices_used, sizeof(double));
		if (!slices || !fullness->slices) {
			free(slices);
			fullness_free(fullness);
			return -ENOMEM;
		}
	}
	err = read_sites(in, counters, fullness, slices);
	free(slices);
	if (err)
		fullness_free(fullness);
	else
		fullness->fairness = fullness_fairness(fullness->slices, fullness->slices_used);
	return err;
}

void fullness_free(struct fullness *fullness)
{
	free(fullness->slices);
	fullness->slices = NULL;
	loads_free(&fullness->loads);
}

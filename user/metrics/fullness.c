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
#include "user/metrics/expected.h"
#include "user/model.h"

double fullness_rate_of(const struct xdd_fixed *fixed, double keys, u32 sites)
{
	if (fixed->engine == XDD_ENGINE_tagged)
		return model_tagged(keys / sites, xdd_lines(fixed));
	return model_sliced(fixed, keys / sites, fixed->slices, xdd_cells(fixed));
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

/* What a site has: its share of the packets, and how many copies there are of each distinct one. */
struct traffic {
	double share, copies;
};

/* Add a site's walk, of @traffic. @slices: room for its densities. */
static int add_site(const struct instance *in, u32 site, const struct traffic *traffic,
		    struct fullness *f, double *slices)
{
	const struct xdd_fixed *fixed = &in->fixed;
	double sites = equals(fixed);
	struct xdd_ager record;
	struct expected e;
	int err;

	if (bpf_map_lookup_elem(in->maps.ager, &site, &record))
		return -errno;
	add_walk(&record, f);
	if (!record.sweeps || site >= sites)
		return 0;
	f->density +=
		record.fill.live / ((double)record.fill.lines * xdd_line_cells(fixed)) / sites;
	if (slices) {
		err = read_slices(in, site, slices);
		if (err)
			return err;
		for (u32 i = 0; i < f->slices_used; i++)
			f->slices[i] += slices[i] / sites;
	}
	if (f->chains.number)
		e = expected_of_chains(fixed, chains_fpr(&f->chains, fixed, site), traffic->copies);
	else
		e = expected_of_fill(fixed, &in->live, &record.fill, slices, traffic->copies);
	f->fpr += traffic->share * e.fpr;
	f->fnr += traffic->share * e.fnr;
	return 0;
}

static int read_sites(const struct instance *in, const struct counters *counters,
		      struct fullness *f, double *slices)
{
	u32 sites = xdd_sites(&in->fixed, counters->cpus), weigh = equals(&in->fixed);
	u64 distinct = counters->total.distinct.packets;
	double copies = distinct ? (double)counters->total.duplicate.packets / distinct : 0;
	int err = 0;

	f->known = true;
	f->fpr_full = fullness_rate_of(&in->fixed, in->meta.capacity_keys, weigh);
	for (u32 site = 0; !err && site < sites; site++) {
		struct traffic traffic = { 1.0 / weigh, copies };

		if (weigh > 1 && distinct)
			traffic.share = (double)counters->distinct[site] / distinct;
		err = add_site(in, site, &traffic, f, slices);
	}
	return err;
}

static int read_exact(const struct instance *in, struct fullness *f)
{
	if (in->fixed.engine == XDD_ENGINE_recovery || !xdd_key_is_flow(in->fixed.key))
		f->fpr = ldexp(in->meta.capacity_keys, -128);
	f->fpr_full = f->fpr;
	f->fnr = NAN;
	return 0;
}

/* The mean over the sites of each slice's density. Returns 0 or -ENOMEM. */
static int keep_slices(struct fullness *f)
{
	f->slices = calloc(f->loads.slices, sizeof(*f->slices));
	if (!f->slices)
		return -ENOMEM;
	f->slices_used = f->loads.slices;
	for (u32 i = 0; i < f->slices_used; i++)
		f->slices[i] = loads_slice_mean(&f->loads, i);
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
	f->fnr = expected_of_bits(&in->fixed, f->fpr).fnr;
	if (in->fixed.engine == XDD_ENGINE_bloom)
		f->fpr_full = fullness_rate_of(&in->fixed, in->meta.capacity_keys, f->loads.sites);
	if (!f->loads.slices || 2ULL * f->loads.slices > xdd_lines(&in->fixed))
		return 0;
	return keep_slices(f);
}

static int read_timers(const struct instance *in, const struct counters *counters,
		       struct fullness *f)
{
	u32 count = xdd_slices_counted(&in->fixed) ? xdd_slices_count(&in->fixed) : 0;
	double *slices = calloc(count ?: 1, sizeof(*slices));
	int err = -ENOMEM;

	if (count)
		f->slices = calloc(count, sizeof(*f->slices));
	f->slices_used = count;
	if (slices && (f->slices || !count))
		err = chains_read(&f->chains, in)
			      ?: read_sites(in, counters, f, count ? slices : NULL);
	free(slices);
	return err;
}

int fullness_read(const struct instance *in, const struct counters *counters,
		  struct fullness *fullness)
{
	int err;

	memset(fullness, 0, sizeof(*fullness));
	if (xdd_digest_is_wide(&in->fixed))
		return read_exact(in, fullness);
	if (xdd_engine_has_bits(in->fixed.engine))
		err = read_bits(in, counters, fullness);
	else
		err = read_timers(in, counters, fullness);
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
	chains_free(&fullness->chains);
}

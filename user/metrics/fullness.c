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
#include "user/loader/faults.h"
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
	u64 now = now_ns();

	f->known = f->known && record->sweeps;
	f->missed = fmax(f->missed, record->missed);
	if (!record->sweeps)
		return;
	/* In a time namespace the clock may be behind the ager's. */
	if (now > record->last_sweep_ns)
		f->since_sweep_ns = fmax(f->since_sweep_ns, now - record->last_sweep_ns);
	f->sweep_ns += record->sweep_ns;
	f->period_ns = record->period_ns;
	f->sweeps = fmax(f->sweeps, record->sweeps);
}

/* What a site has: its share of the packets, how many copies there are of each distinct one, and the
 * states of its slices; NULL: they do not fail.
 */
struct site {
	double share, copies;
	const struct xdd_health *health;
};

static struct site site_of(const struct counters *counters, const struct faults *f, u32 site,
			   u32 sites)
{
	u64 distinct = counters->total.distinct.packets;
	struct site s = { 1.0 / sites, 0, f->sites ? faults_site(f, site) : NULL };

	if (!distinct)
		return s;
	s.copies = (double)counters->total.duplicate.packets / distinct;
	if (sites > 1)
		s.share = (double)counters->distinct[site] / distinct;
	return s;
}

/* Add the walk over site number @site. @slices: room for its densities. */
static int add_site(const struct instance *in, u32 site, const struct site *of, struct fullness *f,
		    double *slices)
{
	const struct xdd_fixed *fixed = &in->fixed;
	double sites = equals(fixed);
	struct xdd_ager record;
	const struct contents contents = { &record.fill, slices, of->health, now_ns(), of->copies };
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
		e = expected_of_chains(fixed, chains_fpr(&f->chains, fixed, site), of->copies);
	else
		e = expected_of_timers(fixed, &in->live, &contents);
	f->fpr += of->share * e.fpr;
	f->fnr += of->share * e.fnr;
	return 0;
}

static int read_sites(const struct instance *in, const struct counters *counters,
		      struct fullness *f, double *slices)
{
	u32 sites = xdd_sites(&in->fixed, counters->cpus), weigh = equals(&in->fixed);
	struct faults faults;
	int err;

	f->known = true;
	f->fpr_full = fullness_rate_of(&in->fixed, in->meta.capacity_keys, weigh);
	err = faults_open(&faults, in);
	for (u32 i = 0; !err && i < sites; i++) {
		struct site site = site_of(counters, &faults, i, weigh);

		err = add_site(in, i, &site, f, slices);
	}
	faults_close(&faults);
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

/* What site @site's loads let expect. */
static struct expected of_loads(const struct instance *in, const struct loads *loads, u32 site,
				const struct xdd_health *health)
{
	if (loads->slice)
		return expected_of_bloom(&in->fixed, loads->slice + (size_t)site * loads->slices,
					 health, now_ns());
	return expected_of_bits(&in->fixed, loads->lost[site]);
}

/* Sites weigh as much as their distinct packets. */
static int read_bits(const struct instance *in, const struct counters *counters, struct fullness *f)
{
	struct faults faults;
	int err = loads_read(in, &f->loads);

	err = err ?: faults_open(&faults, in);
	if (err)
		return err;
	for (u32 i = 0; i < f->loads.sites; i++) {
		struct site site = site_of(counters, &faults, i, f->loads.sites);
		struct expected e = of_loads(in, &f->loads, i, site.health);

		f->fpr += site.share * e.fpr;
		f->fnr += site.share * e.fnr;
	}
	faults_close(&faults);
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

bool fullness_is_measured(const struct fullness *fullness)
{
	return fullness->known || fullness->loads.share;
}

void fullness_free(struct fullness *fullness)
{
	free(fullness->slices);
	fullness->slices = NULL;
	loads_free(&fullness->loads);
	chains_free(&fullness->chains);
}

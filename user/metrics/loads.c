/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/loads.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xdd/slices.h>
#include <xdd/tree.h>

#include "user/loader/instance.h"
#include "user/loader/mapped.h"
#include "user/store.h"

/* rlbsbf: as it counts itself. */
static int read_kept(const struct instance *in, struct loads *loads)
{
	bool percpu = in->fixed.placement == XDD_PLACEMENT_percpu;
	double bits = xdd_bits_filter(&in->fixed);
	struct xdd_loads *kept = calloc(loads->sites, sizeof(*kept));
	u32 zero = 0;
	int err = 0;

	if (!kept)
		return -ENOMEM;
	if (bpf_map_lookup_elem(percpu ? in->maps.cpu_loads : in->maps.loads, &zero, kept))
		err = -errno;
	for (u32 i = 0; i < loads->sites * loads->filters; i++)
		loads->share[i] = kept[i / loads->filters].ones[i % loads->filters] / bits;
	free(kept);
	return err;
}

static int count_shared(const struct instance *in, struct loads *loads)
{
	u64 lines = xdd_lines(&in->fixed), bytes = lines * sizeof(struct xdd_line);
	u32 bits = xdd_cell_bits(&in->fixed);
	const struct xdd_line *all;

	all = mapped_open(in->maps.lines, bytes, false);
	if (!all)
		return -errno;
	lines /= loads->filters;
	for (u32 i = 0; i < loads->filters; i++) {
		u64 used = store_cells_used(all[i * lines].word, lines * XDD_LINE_WORDS, bits);

		loads->share[i] = (double)used * bits / (lines * XDD_LINE_BITS);
	}
	mapped_close(all, bytes);
	return 0;
}

static int count_percpu(const struct instance *in, struct loads *loads)
{
	double cells = (double)xdd_lines(&in->fixed) * XDD_LINE_BITS / xdd_cell_bits(&in->fixed);
	const u32 words = XDD_CPU_BLOCK_BYTES / 8;
	u64 *values = malloc((size_t)loads->sites * XDD_CPU_BLOCK_BYTES);
	int err = values ? 0 : -ENOMEM;

	for (u32 block = 0; !err && block < in->fixed.blocks; block++) {
		if (bpf_map_lookup_elem(in->maps.cpu_blocks, &block, values))
			err = -errno;
		for (u32 i = 0; !err && i < loads->sites; i++)
			loads->share[i] += store_cells_used(values + (size_t)i * words, words,
							    xdd_cell_bits(&in->fixed)) /
					   cells;
	}
	free(values);
	return err;
}

/* Add @n lines of a sliced filter, of @site, from line @first on. */
static void add_slices(const struct instance *in, u32 site, u64 first, const struct xdd_line *lines,
		       u64 n, struct loads *loads)
{
	double *slice = loads->slice + (size_t)site * loads->slices;
	u32 each = xdd_slice_lines(&in->fixed);

	for (u64 i = 0; i < n && (first + i) / each < loads->slices; i++) {
		double ones = store_cells_used(lines[i].word, XDD_LINE_WORDS, 1);

		slice[(first + i) / each] += ones / each / XDD_LINE_BITS;
		loads->share[site] += ones / xdd_cells(&in->fixed);
	}
}

/* Add @n lines of filters in line, or of slices, of @site, from line @first on. */
static void add_lines(const struct instance *in, u32 site, u64 first, const struct xdd_line *lines,
		      u64 n, struct loads *loads)
{
	double bits = xdd_bits_filter(&in->fixed) * in->fixed.hashes / loads->filters;
	u64 ones[XDD_MAX_HASHES] = {};

	if (loads->slice) {
		add_slices(in, site, first, lines, n, loads);
		return;
	}
	loads->lost[site] += store_parts_ones(&in->fixed, lines, n, ones) / xdd_lines(&in->fixed);
	for (u32 i = 0; i < in->fixed.hashes; i++)
		loads->share[site * loads->filters + i % loads->filters] += ones[i] / bits;
}

static int lines_shared(const struct instance *in, struct loads *loads)
{
	u64 lines = xdd_lines(&in->fixed), bytes = lines * sizeof(struct xdd_line);
	const struct xdd_line *all;

	all = mapped_open(in->maps.lines, bytes, false);
	if (!all)
		return -errno;
	add_lines(in, 0, 0, all, lines, loads);
	mapped_close(all, bytes);
	return 0;
}

/*
 * Where the lines of a block begin: what lies before and behind them is 0. In a block so empty that
 * this is so in several places, it is the first, and what is lost is next to nothing either way.
 */
static const struct xdd_line *block_lines(const u64 *block)
{
	const u32 spare = XDD_LINE_WORDS, lines = XDD_CPU_BLOCK_LINES * XDD_LINE_WORDS;

	for (u32 skip = 0; skip < spare; skip++) {
		if (!store_cells_used(block, skip, 1) &&
		    !store_cells_used(block + skip + lines, spare - skip, 1))
			return (const struct xdd_line *)(block + skip);
	}
	return (const struct xdd_line *)block;
}

static int lines_percpu(const struct instance *in, struct loads *loads)
{
	const u32 words = XDD_CPU_BLOCK_BYTES / 8;
	u64 *values = malloc((size_t)loads->sites * XDD_CPU_BLOCK_BYTES);
	struct xdd_line *lines = malloc(XDD_CPU_BLOCK_LINES * sizeof(*lines));
	int err = values && lines ? 0 : -ENOMEM;

	for (u32 block = 0; !err && block < in->fixed.blocks; block++) {
		if (bpf_map_lookup_elem(in->maps.cpu_blocks, &block, values))
			err = -errno;
		for (u32 i = 0; !err && i < loads->sites; i++) {
			memcpy(lines, block_lines(values + (size_t)i * words),
			       XDD_CPU_BLOCK_LINES * sizeof(*lines));
			add_lines(in, i, (u64)block * XDD_CPU_BLOCK_LINES, lines,
				  XDD_CPU_BLOCK_LINES, loads);
		}
	}
	free(values);
	free(lines);
	return err;
}

/* How it is with filters that do not lie in line. */
static void set_lost(const struct instance *in, struct loads *loads)
{
	for (u32 site = 0; site < loads->sites; site++) {
		double rate = 1;

		for (u32 i = 0; i < loads->filters; i++)
			rate *= loads->share[site * loads->filters + i];
		loads->lost[site] = pow(rate, (double)in->fixed.hashes / loads->filters);
	}
}

static int read_lines(const struct instance *in, struct loads *loads, bool kept)
{
	bool percpu = in->fixed.placement == XDD_PLACEMENT_percpu;
	int err = percpu ? lines_percpu(in, loads) : lines_shared(in, loads);

	return err || !kept ? err : read_kept(in, loads);
}

static int read_filters(const struct instance *in, struct loads *loads, bool kept)
{
	bool percpu = in->fixed.placement == XDD_PLACEMENT_percpu;
	int err;

	if (kept)
		err = read_kept(in, loads);
	else
		err = percpu ? count_percpu(in, loads) : count_shared(in, loads);
	set_lost(in, loads);
	return err;
}

int loads_read(const struct instance *in, struct loads *loads)
{
	bool percpu = in->fixed.placement == XDD_PLACEMENT_percpu;
	bool kept = in->fixed.engine == XDD_ENGINE_rlbsbf;
	bool sliced = in->fixed.engine == XDD_ENGINE_bloom && xdd_slices_count(&in->fixed) > 1;
	int err;

	loads->sites = percpu ? libbpf_num_possible_cpus() : 1;
	loads->filters = in->fixed.hashes;
	if (xdd_bits_one_array(&in->fixed) || (percpu && !kept))
		loads->filters = 1;
	loads->share = calloc((size_t)loads->sites * loads->filters, sizeof(*loads->share));
	loads->lost = calloc(loads->sites, sizeof(*loads->lost));
	if (sliced) {
		loads->slices = xdd_slices_count(&in->fixed);
		loads->slice = calloc((size_t)loads->sites * loads->slices, sizeof(*loads->slice));
	}
	if (!loads->share || !loads->lost || (sliced && !loads->slice))
		err = -ENOMEM;
	else if (sliced || xdd_bits_in_line(&in->fixed))
		err = read_lines(in, loads, kept);
	else
		err = read_filters(in, loads, kept);
	if (err)
		loads_free(loads);
	return err;
}

void loads_free(struct loads *loads)
{
	free(loads->share);
	free(loads->lost);
	free(loads->slice);
	loads->slice = NULL;
	loads->share = NULL;
	loads->lost = NULL;
}

static double mean(const double *of, u32 sites, u32 each, u32 i)
{
	double sum = 0;

	for (u32 site = 0; site < sites; site++)
		sum += of[(size_t)site * each + i];
	return sum / sites;
}

double loads_mean(const struct loads *loads, u32 i)
{
	return mean(loads->share, loads->sites, loads->filters, i);
}

double loads_slice_mean(const struct loads *loads, u32 i)
{
	return mean(loads->slice, loads->sites, loads->slices, i);
}

/* The shared ones among them. */
static int count_filters(const struct instance *in, double *share, u32 filters)
{
	u64 lines = xdd_lines(&in->fixed), bytes = filters * lines * sizeof(struct xdd_line);
	double cells = xdd_cells(&in->fixed);
	const struct xdd_line *all;

	all = mapped_open(in->maps.lines, bytes, false);
	if (!all)
		return -errno;
	for (u32 i = 0; i < filters; i++)
		share[i] = store_cells_used(all[i * lines].word, lines * XDD_LINE_WORDS,
					    xdd_cell_bits(&in->fixed)) /
			   cells;
	mapped_close(all, bytes);
	return 0;
}

int loads_of_sites(const struct instance *in, double *share, u32 sites)
{
	u32 shared = xdd_shared_filters(&in->fixed);
	struct loads leaves = { .sites = sites - shared, .filters = 1, .share = share + shared };
	int err = count_filters(in, share, shared);

	return err ?: count_percpu(in, &leaves);
}

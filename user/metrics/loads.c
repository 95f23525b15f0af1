/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/loads.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <xdd/slices.h>

#include "user/loader/instance.h"
#include "user/store.h"

/* rlbsbf: as it counts itself. */
static int read_kept(const struct instance *in, struct loads *loads)
{
	bool percpu = in->fixed.placement == XDD_PLACEMENT_percpu;
	double bits = (double)xdd_bits_filter_lines(&in->fixed) * XDD_LINE_BITS;
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

	all = mmap(NULL, bytes, PROT_READ, MAP_SHARED, in->maps.lines, 0);
	if (all == MAP_FAILED)
		return -errno;
	lines /= loads->filters;
	for (u32 i = 0; i < loads->filters; i++) {
		u64 used = store_cells_used(all[i * lines].word, lines * XDD_LINE_WORDS, bits);

		loads->share[i] = (double)used * bits / (lines * XDD_LINE_BITS);
	}
	munmap((void *)all, bytes);
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

int loads_read(const struct instance *in, struct loads *loads)
{
	bool percpu = in->fixed.placement == XDD_PLACEMENT_percpu;
	bool kept = in->fixed.engine == XDD_ENGINE_rlbsbf;
	int err;

	loads->sites = percpu ? libbpf_num_possible_cpus() : 1;
	loads->filters = in->fixed.hashes;
	if (xdd_bits_one_array(&in->fixed) || (percpu && !kept))
		loads->filters = 1;
	loads->share = calloc((size_t)loads->sites * loads->filters, sizeof(*loads->share));
	if (!loads->share)
		return -ENOMEM;
	if (kept)
		err = read_kept(in, loads);
	else
		err = percpu ? count_percpu(in, loads) : count_shared(in, loads);
	if (err)
		loads_free(loads);
	return err;
}

void loads_free(struct loads *loads)
{
	free(loads->share);
	loads->share = NULL;
}

double loads_rate(const struct loads *loads, u32 site, u32 hashes)
{
	double rate = 1;

	for (u32 i = 0; i < loads->filters; i++)
		rate *= loads->share[site * loads->filters + i];
	return pow(rate, (double)hashes / loads->filters);
}

double loads_mean(const struct loads *loads, u32 i)
{
	double sum = 0;

	for (u32 site = 0; site < loads->sites; site++)
		sum += loads->share[site * loads->filters + i];
	return sum / loads->sites;
}

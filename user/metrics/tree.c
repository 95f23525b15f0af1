/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/tree.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <xdd/age.h>

#include "user/loader/instance.h"
#include "user/metrics/loads.h"
#include "user/names.h"

static int read_counts(const struct instance *in, struct tree *tree, int cpus)
{
	struct xdd_tree_level *each = calloc(cpus, sizeof(*each));
	int err = each ? 0 : -ENOMEM;

	for (u32 level = 0; !err && level < tree->levels; level++) {
		if (bpf_map_lookup_elem(in->maps.tree, &level, each))
			err = -errno;
		for (int cpu = 0; !err && cpu < cpus; cpu++) {
#define ADD_COUNT(name, help) tree->counts[level].name += each[cpu].name;
			XDD_TREE_COUNTS(ADD_COUNT)
		}
	}
	free(each);
	return err;
}

/* Of the sites that the ager walks; NAN where it was not yet. */
static int read_walks(const struct instance *in, double *density, u32 sites)
{
	double cells = xdd_line_cells(&in->fixed);
	struct xdd_ager record;

	for (u32 site = 0; site < sites; site++) {
		if (bpf_map_lookup_elem(in->maps.ager, &site, &record))
			return -errno;
		density[site] =
			record.sweeps ? record.fill.live / (cells * record.fill.lines) : NAN;
	}
	return 0;
}

static int read_densities(const struct instance *in, struct tree *tree, u32 sites)
{
	double *density = calloc(sites, sizeof(*density));
	int err = density ? 0 : -ENOMEM;
	u32 site = 0;

	if (!err && xdd_engine_has_bits(in->fixed.engine))
		err = loads_of_sites(in, density, sites);
	else if (!err)
		err = read_walks(in, density, sites);
	for (u32 level = 0; !err && level < tree->levels; level++)
		for (u32 i = 0; i < tree->nodes[level]; i++)
			tree->density[level] += density[site++] / tree->nodes[level];
	free(density);
	return err;
}

int tree_read(const struct instance *in, struct tree *tree)
{
	int cpus = libbpf_num_possible_cpus(), err;

	*tree = (struct tree){ 0 };
	if (in->fixed.placement != XDD_PLACEMENT_tree)
		return 0;
	if (cpus < 0)
		return cpus;
	tree->levels = in->fixed.levels;
	for (u32 level = 0; level < tree->levels; level++)
		tree->nodes[level] = xdd_tree_width(&in->fixed, level);
	err = read_counts(in, tree, cpus);
	return err ?: read_densities(in, tree, xdd_sites(&in->fixed, cpus));
}

json_t *tree_json(const struct instance *in, const struct tree *tree)
{
	json_t *levels = json_array();

	if (!tree->levels) {
		json_decref(levels);
		return json_null();
	}
	for (u32 i = 0; i < tree->levels; i++) {
		json_t *level = json_pack("{s:I, s:I}", "level", (json_int_t)i, "nodes",
					  (json_int_t)tree->nodes[i]);

		json_object_set_new(level, "density",
				    isnan(tree->density[i]) ? json_null()
							    : json_real(tree->density[i]));
#define SET_COUNT(name, help) json_object_set_new(level, #name, json_integer(tree->counts[i].name));
		XDD_TREE_COUNTS(SET_COUNT)
		json_array_append_new(levels, level);
	}
	return json_pack("{s:s, s:I, s:o}", "kind", tree_names[in->fixed.tree], "top_down",
			 (json_int_t)in->fixed.top_down, "levels", levels);
}

void tree_print(const struct instance *in, const struct tree *tree)
{
	if (!tree->levels)
		return;
	printf("  tree        %s, duplicates by the level that they were found at:\n",
	       tree_names[in->fixed.tree]);
	for (u32 i = tree->levels; i-- > 0;) {
		const char *name = i ? i + 1 < tree->levels ? "NUMA node" : "CPU" : "root";

		printf("              %u %-10s %11" PRIu64 " of %11" PRIu64 " visits", i, name,
		       (uint64_t)tree->counts[i].hits, (uint64_t)tree->counts[i].accesses);
		if (!isnan(tree->density[i]))
			printf("  %.3g %% of the cells in use", 100 * tree->density[i]);
		if (tree->counts[i].refuted)
			printf("  %" PRIu64 " matches refuted", (uint64_t)tree->counts[i].refuted);
		printf("\n");
	}
}

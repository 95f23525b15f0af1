// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/loader/program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xdd/age.h"
#include "xdd/audit.h"
#include "xdd/growth.h"
#include "xdd/replica.h"
#include "dedup.skel.h"
#include "xdd/tree.h"

#define PEER_AUDIT_BYTES (1u << 16)

static struct bpf_map *rodata_map(struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, object) {
		if (strstr(bpf_map__name(map), ".rodata"))
			return map;
	}
	return NULL;
}

/* Where the variable @name of @size bytes lies in the read-only data, or a negative errno. */
static long rodata_offset(const struct btf *btf, const char *name, size_t size)
{
	int section = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *type;

	if (section < 0)
		return -ENOENT;
	type = btf__type_by_id(btf, section);
	for (int i = 0; i < btf_vlen(type); i++) {
		const struct btf_var_secinfo *info = &btf_var_secinfos(type)[i];
		const struct btf_type *var = btf__type_by_id(btf, info->type);

		if (!strcmp(btf__name_by_offset(btf, var->name_off), name))
			return info->size == size ? (long)info->offset : -EINVAL;
	}
	return -ENOENT;
}

static int rodata_set(struct bpf_object *object, const char *name, const void *value, size_t size)
{
	long offset = rodata_offset(bpf_object__btf(object), name, size);
	struct bpf_map *map = rodata_map(object);
	size_t map_size;
	char *data;
	int err;

	if (offset < 0 || !map)
		return offset < 0 ? (int)offset : -ENOENT;
	map_size = bpf_map__value_size(map);
	data = malloc(map_size);
	if (!data)
		return -ENOMEM;
	memcpy(data, bpf_map__initial_value(map, &map_size), map_size);
	memcpy(data + offset, value, size);
	err = bpf_map__set_initial_value(map, data, map_size);
	free(data);
	return err;
}

/* Size map @name to @entries, or leave it out where that is 0. */
static int map_size(struct bpf_object *object, const char *name, u32 entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (!map)
		return -ENOENT;
	if (!entries)
		return bpf_map__set_autocreate(map, false);
	return bpf_map__set_max_entries(map, entries);
}

/* Filters that lie side by side are one value of several lines. The kernel knows no type of that size
 * then: bpftool shows bytes.
 */
static int lines_size(struct bpf_object *object, const struct xdd_fixed *fixed)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "lines");

	return bpf_map__set_value_size(map, xdd_filters(fixed) * sizeof(struct xdd_line));
}

/* The ager's maps, in an object that has it: an entry per site, and per slice or part that is counted. */
static int ager_maps_size(struct bpf_object *object, const struct xdd_fixed *fixed, u32 sites)
{
	int err;

	if (!bpf_object__find_map_by_name(object, "ager"))
		return 0;
	err = map_size(object, "ager", sites);
	return err ?: map_size(object, "slices", sites * xdd_counted(fixed));
}

int program_prepare(struct bpf_object *object, const struct xdd_fixed *fixed,
		    const struct xdd_secret *secret, u32 exact_entries)
{
	bool exact = fixed->engine == XDD_ENGINE_exact;
	bool shared = fixed->placement == XDD_PLACEMENT_shared;
	bool percpu = fixed->placement == XDD_PLACEMENT_percpu;
	bool bits = xdd_engine_has_bits(fixed->engine);
	bool digests = fixed->key == XDD_KEY_packet || fixed->key == XDD_KEY_frame ||
		       fixed->key == XDD_KEY_offset;
	bool is_tree = fixed->placement == XDD_PLACEMENT_tree;
	u32 lines = xdd_shared_filters(fixed) * xdd_lines(fixed);
	u32 sites = xdd_sites(fixed, libbpf_num_possible_cpus());
	const struct {
		const char *name;
		u32 entries;
	} sizes[] = {
		{ "lines", exact ? 0 : lines },
		{ "chains", xdd_grows(fixed) ? sites * xdd_chains(fixed) : 0 },
		{ "locks", exact || !lines ? 0 : fixed->stripes },
		{ "cpu_blocks", exact || shared ? 0 : fixed->blocks },
		{ "health", fixed->fault_policy ? sites * xdd_healths(fixed) : 0 },
		{ "loads", bits && shared },
		{ "cpu_loads", bits && percpu },
		{ "tree", is_tree ? fixed->levels : 0 },
		{ "digests", exact && digests ? exact_entries : 0 },
		{ "flows", exact && !digests ? exact_entries : 0 },
		{ "audit", fixed->audit_threshold ? fixed->audit_buckets : 0 },
		{ "audit_counts", fixed->audit_threshold != 0 },
		{ "distances", xdd_audit_has_times(fixed) },
		{ "replicas", xdd_replica_words(fixed) },
		{ "peer_gate", fixed->peers != 0 },
		{ "peers", fixed->peers },
		{ "peer_hits", fixed->peers },
		{ "peer_audit", fixed->peers && fixed->audit_threshold ? PEER_AUDIT_BYTES : 0 },
		{ "watch", (fixed->watch_bits + 63ull) / 64 },
		{ "collected", fixed->collect_keys },
		{ "collecting", fixed->collect_keys != 0 },
	};
	int err;

	err = rodata_set(object, "xdd_fixed", fixed, sizeof(*fixed));
	if (!err)
		err = rodata_set(object, "xdd_secret", secret, sizeof(*secret));
	for (size_t i = 0; !err && i < XDD_ARRAY_SIZE(sizes); i++)
		err = map_size(object, sizes[i].name, sizes[i].entries);
	if (!err && lines && xdd_grows(fixed))
		err = lines_size(object, fixed);
	return err ?: ager_maps_size(object, fixed, sites);
}

int program_set_live(int config_fd, const struct xdd_live *live)
{
	u32 zero = 0;

	return bpf_map_update_elem(config_fd, &zero, live, BPF_ANY) ? -errno : 0;
}

int program_set_meta(int meta_fd, const struct xdd_meta *meta)
{
	u32 zero = 0;

	return bpf_map_update_elem(meta_fd, &zero, meta, BPF_ANY) ? -errno : 0;
}

/* Read the only entry of map @fd, which holds @size bytes. */
static int entry_get(int fd, void *value, u32 size)
{
	struct bpf_map_info info = {};
	u32 info_size = sizeof(info), zero = 0;

	if (bpf_obj_get_info_by_fd(fd, &info, &info_size))
		return -errno;
	if (info.value_size != size)
		return -EPROTO;
	return bpf_map_lookup_elem(fd, &zero, value) ? -errno : 0;
}

int program_get_live(int config_fd, struct xdd_live *live)
{
	int err = entry_get(config_fd, live, sizeof(*live));

	return !err && live->abi != XDD_ABI ? -EPROTO : err;
}

int program_get_meta(int meta_fd, struct xdd_meta *meta)
{
	int err = entry_get(meta_fd, meta, sizeof(*meta));

	return !err && meta->abi != XDD_ABI ? -EPROTO : err;
}

/* Where the variable lies in a loaded program's read-only data, by what the kernel knows of it: -EPERM
 * without CAP_SYS_ADMIN.
 */
static long loaded_offset(const struct bpf_map_info *info, const char *name, size_t size)
{
	struct btf *btf = btf__load_from_kernel_by_id(info->btf_id);
	long offset = btf ? rodata_offset(btf, name, size) : -errno;

	btf__free(btf);
	return offset;
}

/* The same in the program that this one brings, if its data are as large: -EPERM. */
static long own_offset(const struct bpf_map_info *info, const char *name, size_t size)
{
	struct dedup *skel = dedup__open();
	long offset = -EPERM;

	if (!skel)
		return -errno;
	if (bpf_map__value_size(rodata_map(skel->obj)) == info->value_size)
		offset = rodata_offset(bpf_object__btf(skel->obj), name, size);
	dedup__destroy(skel);
	return offset;
}

/* Copy the variable @name out of pinned read-only data. */
static int rodata_get(int fd, const char *name, void *value, size_t size)
{
	struct bpf_map_info info = {};
	u32 info_size = sizeof(info);
	long offset;
	char *data;
	int err;

	if (bpf_obj_get_info_by_fd(fd, &info, &info_size))
		return -errno;
	offset = loaded_offset(&info, name, size);
	if (offset == -EPERM)
		offset = own_offset(&info, name, size);
	if (offset == -EPERM)
		return -EPERM;
	if (offset < 0 || offset + size > info.value_size)
		return -EPROTO;
	data = malloc(info.value_size);
	if (!data)
		return -ENOMEM;
	err = entry_get(fd, data, info.value_size);
	if (!err)
		memcpy(value, data + offset, size);
	free(data);
	return err;
}

int program_get_fixed(int rodata_fd, struct xdd_fixed *fixed)
{
	return rodata_get(rodata_fd, "xdd_fixed", fixed, sizeof(*fixed));
}

int program_get_secret(int rodata_fd, struct xdd_secret *secret)
{
	return rodata_get(rodata_fd, "xdd_secret", secret, sizeof(*secret));
}

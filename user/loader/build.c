/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "build.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "kernel_log.h"
#include "pins.h"
#include "program.h"
#include "user/message.h"
#include "user/units.h"

#include "xdd/age.h"
#include "xdd/growth.h"
#include "dedup.skel.h"

/* Counters never go backwards, whoever reads events goes on reading, what has failed stays so, and
 * what is watched.
 */
static int keep_maps(struct dedup *skel, const struct instance_maps *kept)
{
	int err = bpf_map__reuse_fd(skel->maps.counters, kept->counters);

	if (!err)
		err = bpf_map__reuse_fd(skel->maps.ethertypes, kept->ethertypes);
	if (!err && kept->audit_counts >= 0)
		err = bpf_map__reuse_fd(skel->maps.audit_counts, kept->audit_counts);
	if (!err && kept->distances >= 0)
		err = bpf_map__reuse_fd(skel->maps.distances, kept->distances);
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.top, kept->top);
	if (!err && kept->watch >= 0)
		err = bpf_map__reuse_fd(skel->maps.watch, kept->watch);
	if (!err && kept->health >= 0)
		err = bpf_map__reuse_fd(skel->maps.health, kept->health);
	return err ?: bpf_map__reuse_fd(skel->maps.events, kept->events);
}

static int prepare(struct dedup *skel, const struct build_plan *plan)
{
	struct bpf_program *program = skel->progs.xdp_dedup;
	int err;

	err = program_prepare(skel->obj, &plan->fixed, &plan->secret, plan->exact_entries);
	if (!err && plan->meta.frags)
		err = bpf_program__set_flags(program,
					     bpf_program__flags(program) | BPF_F_XDP_HAS_FRAGS);
	if (!err && plan->kept)
		err = keep_maps(skel, plan->kept);
	return err ?: dedup__load(skel);
}

static int pin(int fd, const char *name, const char *file)
{
	char path[PATH_MAX];

	pins_path(path, name, PINS_NEW, file);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

/* Read-only data has a name of libbpf's with a dot. */
static const char *pin_name(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map);

	return strstr(name, ".rodata") ? "rodata" : name;
}

static int pin_all(const struct dedup *skel, const char *name)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map (map, skel->obj) {
		if (!err && bpf_map__autocreate(map))
			err = pin(bpf_map__fd(map), name, pin_name(map));
	}
	if (!err)
		err = pin(bpf_program__fd(skel->progs.xdp_dedup), name, PINS_PROGRAM);
	return err ?: pin(bpf_program__fd(skel->progs.xdp_ager), name, PINS_AGER);
}

/* The counts, words at the offsets @counts, of each value of map @from to those of @to, whose rest begins anew. */
static int carry_counts(int from, int to, const size_t *counts, size_t n)
{
	union {
		struct xdd_ager ager;
		struct xdd_chain chain;
	} old, now;
	int err = 0;

	for (u32 i = 0; !err && !bpf_map_lookup_elem(from, &i, &old); i++) {
		if (bpf_map_lookup_elem(to, &i, &now))
			return -errno;
		for (size_t count = 0; count < n; count++)
			memcpy((char *)&now + counts[count], (const char *)&old + counts[count],
			       sizeof(u64));
		err = bpf_map_update_elem(to, &i, &now, BPF_ANY) ? -errno : 0;
	}
	return err;
}

static int carry(const struct dedup *skel, const struct instance_maps *kept)
{
	static const size_t ager[] = { offsetof(struct xdd_ager, missed) };
	static const size_t chain[] = { offsetof(struct xdd_chain, opened),
					offsetof(struct xdd_chain, retired),
					offsetof(struct xdd_chain, refused) };
	int err = 0;

	if (kept->ager >= 0)
		err = carry_counts(kept->ager, bpf_map__fd(skel->maps.ager), ager,
				   XDD_ARRAY_SIZE(ager));
	if (!err && kept->chains >= 0)
		err = carry_counts(kept->chains, bpf_map__fd(skel->maps.chains), chain,
				   XDD_ARRAY_SIZE(chain));
	return err;
}

static int configure(const struct dedup *skel, const struct build_plan *plan)
{
	int err = program_set_meta(bpf_map__fd(skel->maps.meta), &plan->meta);

	if (!err && plan->kept)
		err = carry(skel, plan->kept);
	for (u32 i = 0; !err && i < XDD_DEV_MAX; i++)
		if (plan->targets[i] && bpf_map_update_elem(bpf_map__fd(skel->maps.targets), &i,
							    &plan->targets[i], BPF_ANY))
			err = -errno;
	return err ?: program_set_live(bpf_map__fd(skel->maps.config), &plan->live);
}

static int load_error(const struct build_plan *plan, int code, char *err, size_t err_size)
{
	const char *words = kernel_log_first();
	char memory[UNITS_TEXT_MAX];

	/* The verifier says -E2BIG, too, of a program that it finds too long to follow. */
	if (code == -ENOMEM || (code == -E2BIG && words && strncmp(words, "prog ", 5)))
		return refuse(err, err_size, code,
			      "the kernel has no memory for the filter of %s: a smaller --memory",
			      units_size_text(plan->meta.memory_bytes, memory));
	errno = -code;
	return refuse(err, err_size, code, "the kernel does not load the program: %m%s%s%s",
		      words ? " (" : "", words ?: "", words ? ")" : "");
}

static int pin_error(const char *name, int code, char *err, size_t err_size)
{
	char path[PATH_MAX];

	pins_path(path, name, PINS_NEW, NULL);
	errno = -code;
	return refuse(err, err_size, code, "cannot pin the instance in %s: %m%s", path,
		      code == -EROFS ? ": " PINS_WRITABLE : "");
}

int build(const struct build_plan *plan, const char *name, struct dedup **skel, char *err,
	  size_t err_size)
{
	int code;

	kernel_log_start();
	*skel = dedup__open();
	code = *skel ? prepare(*skel, plan) : -errno;
	if (code) {
		load_error(plan, code, err, err_size);
	} else {
		code = pins_begin(name);
		if (!code)
			code = pin_all(*skel, name);
		if (!code)
			code = configure(*skel, plan);
		if (code)
			pin_error(name, code, err, err_size);
	}
	if (!code)
		return 0;
	build_free(*skel);
	*skel = NULL;
	return code;
}

void build_free(struct dedup *skel)
{
	dedup__destroy(skel);
}

int build_program(const struct dedup *skel)
{
	return bpf_program__fd(skel->progs.xdp_dedup);
}

int build_meta(const struct dedup *skel)
{
	return bpf_map__fd(skel->maps.meta);
}

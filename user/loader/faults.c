/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/loader/faults.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mapped.h"
#include "program.h"
#include "user/clock.h"
#include "xdd/age.h"
#include "xdd/tree.h"

#define LINES_PER_RUN 4096 /* of BPF_PROG_RUN: as the ager */

static size_t map_bytes(const struct faults *f)
{
	return (size_t)f->sites * xdd_healths(&f->in->fixed) * sizeof(*f->health);
}

int faults_open(struct faults *f, const struct instance *in)
{
	memset(f, 0, sizeof(*f));
	f->in = in;
	if (!in->fixed.fault_policy || in->maps.health < 0)
		return 0;
	f->sites = xdd_sites(&in->fixed, libbpf_num_possible_cpus());
	f->health = mapped_open(in->maps.health, map_bytes(f), true);
	if (f->health)
		return 0;
	f->sites = 0;
	return -errno;
}

void faults_close(struct faults *f)
{
	mapped_close(f->health, map_bytes(f));
	f->health = NULL;
}

struct xdd_health *faults_site(const struct faults *f, u32 site)
{
	return f->health + (size_t)site * xdd_healths(&f->in->fixed);
}

void faults_fail(struct faults *f, u32 site, u32 part, enum health_cause cause)
{
	health_fail(&f->in->fixed, faults_site(f, site), part, cause);
}

/* The program does not write them: the part has failed. */
static int empty(const struct faults *f, u32 site, u32 part)
{
	u32 end = xdd_part_first(&f->in->fixed, part + 1);
	struct xdd_age_run run = { .site = site, .empty = 1 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &run, .ctx_size_in = sizeof(run));

	run.first = xdd_part_first(&f->in->fixed, part);
	for (; run.first < end; run.first += run.n) {
		run.n = end - run.first < LINES_PER_RUN ? end - run.first : LINES_PER_RUN;
		if (bpf_prog_test_run_opts(f->in->ager_program, &opts))
			return -errno;
		if (opts.retval != run.n)
			return -EIO;
	}
	return 0;
}

int faults_recover(struct faults *f, u32 site, u32 part, enum health_cause cause)
{
	struct xdd_health *health = faults_site(f, site);
	struct xdd_live live;
	int err = 0;

	if (!health_failed_by(&health[1 + part], cause))
		return 0;
	if (health_may_recover(health, part, cause))
		err = empty(f, site, part);
	if (!err)
		err = program_get_live(f->in->maps.config, &live);
	if (!err)
		health_recover(&f->in->fixed, health, part, cause, now_ns(), live.window_ticks);
	return err;
}

static int watch_site(struct faults *f, u32 site, bool offline)
{
	struct xdd_health *health = faults_site(f, site);
	u32 parts = xdd_parts(&f->in->fixed);
	int err = 0;

	for (u32 part = 0; part < parts && !err; part++) {
		if (offline == health_failed_by(&health[1 + part], HEALTH_CAUSE_cpu))
			continue;
		if (offline)
			faults_fail(f, site, part, HEALTH_CAUSE_cpu);
		else
			err = faults_recover(f, site, part, HEALTH_CAUSE_cpu);
	}
	return err;
}

/* Whether @cpu is in @list, such as "1,3-5"; -EINVAL for what is no list. */
static int in_list(const char *list, u32 cpu)
{
	unsigned int first, last;
	int used;

	while (*list && *list != '\n') {
		if (sscanf(list, "%u%n", &first, &used) != 1)
			return -EINVAL;
		list += used;
		last = first;
		if (*list == '-') {
			if (sscanf(list, "-%u%n", &last, &used) != 1)
				return -EINVAL;
			list += used;
		}
		if (cpu >= first && cpu <= last)
			return true;
		list += *list == ',';
	}
	return false;
}

int faults_offline(char *list, int size)
{
	FILE *file = fopen(FAULTS_OFFLINE, "re");

	if (!file)
		return -errno;
	if (!fgets(list, size, file))
		*list = 0;
	fclose(file);
	return 0;
}

bool faults_by_cpu(const struct faults *f)
{
	return f->sites && f->in->fixed.placement == XDD_PLACEMENT_percpu;
}

int faults_watch(struct faults *f, const char *offline)
{
	int err = 0, is;

	if (!faults_by_cpu(f))
		return 0;
	for (u32 site = 0; site < f->sites && !err; site++) {
		is = in_list(offline, site);
		err = is < 0 ? is : watch_site(f, site, is);
	}
	return err;
}

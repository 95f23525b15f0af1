/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/age/ager.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xdd/age.h>
#include <xdd/tree.h>

#include "user/age/growth.h"
#include "user/clock.h"
#include "user/loader/faults.h"
#include "user/loader/instance.h"
#include "user/message.h"

/* About half a millisecond. */
#define LINES_PER_STEP 4096

#define SECOND_NS 1000000000ull
#define BYTES_PER_SECOND (32ull << 20)

/* Where the filter grows, what a walk finds decides: it is to be known within a part of a window, if
 * that takes no more than a few percent of a CPU.
 */
#define GROWTH_WALKS 4 /* in a window */
#define GROWTH_BYTES_PER_SECOND (64ull << 20)
#define GROWTH_LEAST_NS 1000000ull
#define GROWTH_MOST_NS 100000000ull

struct ager {
	struct instance *instance;
	struct growth growth;
	u32 lines; /* of a site; 0: engine exact */
	u32 sites;
	u32 site, line; /* where the walk goes on */
	u64 start_ns;	/* when it began on this site */
	bool blind;	/* which CPUs are offline could not be read, and that was said */
	u64 round_ns;	/* from the start of a walk to that of the next */
};

/* From the start of a walk over all sites to that of the next. */
static u64 round_of(const struct ager *ager)
{
	const struct xdd_fixed *fixed = &ager->instance->fixed;
	double bytes = (double)ager->lines * ager->sites * XDD_LINE_BYTES;
	u64 walk_ns, window_ns = ager->instance->live.window_ns;

	if (!xdd_grows(fixed))
		return fmax(SECOND_NS, bytes / BYTES_PER_SECOND * SECOND_NS);
	walk_ns = bytes * fixed->filters / GROWTH_BYTES_PER_SECOND * SECOND_NS;
	return fmax(walk_ns, fmin(GROWTH_MOST_NS, fmax(window_ns / GROWTH_WALKS, GROWTH_LEAST_NS)));
}

struct ager *ager_open(struct instance *instance, char *err, size_t err_size)
{
	const struct xdd_fixed *fixed = &instance->fixed;
	struct ager *ager = calloc(1, sizeof(*ager));
	int code;

	if (!ager) {
		refuse(err, err_size, -ENOMEM, "%s: no memory to age it", instance->name);
		return NULL;
	}
	ager->instance = instance;
	ager->sites = xdd_sites(fixed, libbpf_num_possible_cpus());
	if (xdd_engine_has_timers(fixed->engine))
		ager->lines = xdd_lines(fixed);
	ager->round_ns = round_of(ager);
	code = growth_open(&ager->growth, instance, true);
	if (!code)
		return ager;
	refuse(err, err_size, code, "%s: cannot map its chains of filters: %s", instance->name,
	       strerror(-code));
	free(ager);
	return NULL;
}

void ager_close(struct ager *ager)
{
	if (ager)
		growth_close(&ager->growth);
	free(ager);
}

u64 ager_period_ns(const struct ager *ager)
{
	u64 steps = (u64)(ager->lines + LINES_PER_STEP - 1) / LINES_PER_STEP * ager->sites;

	return ager->round_ns / (steps ?: 1);
}

/* A walk over a site begins: the tally starts from nothing. */
static int begin_site(struct ager *ager)
{
	const struct xdd_fill nothing = { 0 };
	u32 zero = 0;

	ager->start_ns = now_ns();
	return bpf_map_update_elem(ager->instance->maps.tally, &zero, &nothing, BPF_ANY);
}

/* Periods that passed between the starts of two walks without one. */
static u64 missed_between(u64 before_ns, u64 start_ns, u64 round_ns)
{
	u64 rounds = (start_ns - before_ns + round_ns / 2) / round_ns;

	return rounds > 1 ? rounds - 1 : 0;
}

/* The walk over a site is done: what it found replaces what the last one did. */
static int end_site(struct ager *ager)
{
	const struct instance_maps *maps = &ager->instance->maps;
	struct xdd_ager record;
	u32 zero = 0;
	int err;

	err = bpf_map_lookup_elem(maps->ager, &ager->site, &record);
	if (!err)
		err = bpf_map_lookup_elem(maps->tally, &zero, &record.fill);
	if (err)
		return err;
	if (record.sweeps)
		record.missed += missed_between(record.last_sweep_ns - record.sweep_ns,
						ager->start_ns, ager->round_ns);
	record.last_sweep_ns = now_ns();
	record.sweep_ns = record.last_sweep_ns - ager->start_ns;
	record.period_ns = ager->round_ns;
	record.sweeps++;
	growth_walked(&ager->growth, ager->site, ager->start_ns);
	return bpf_map_update_elem(maps->ager, &ager->site, &record, BPF_ANY);
}

static int sweep(struct ager *ager, u32 n)
{
	struct xdd_age_run run = { .site = ager->site, .first = ager->line, .n = n };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &run, .ctx_size_in = sizeof(run));
	int err = bpf_prog_test_run_opts(ager->instance->ager_program, &opts);

	if (err)
		return err;
	return opts.retval == n ? 0 : -EIO;
}

/* With each round: has a part failed, or come back, by itself? */
static int watch(struct ager *ager)
{
	struct faults faults;
	char offline[4096];
	int err = faults_open(&faults, ager->instance), unread = 0;

	if (!err && faults_by_cpu(&faults))
		unread = faults_offline(offline, sizeof(offline));
	if (!err && !unread)
		err = faults_watch(&faults, offline);
	faults_close(&faults);
	if (unread && !ager->blind)
		note_always(
			"%s: %s: %s: slices of a CPU that goes offline are not taken for failed; "
			"xdp-dedup fault does it",
			ager->instance->name, FAULTS_OFFLINE, strerror(-unread));
	ager->blind = unread;
	return err;
}

int ager_step(struct ager *ager)
{
	u32 left = ager->lines - ager->line, n = left < LINES_PER_STEP ? left : LINES_PER_STEP;
	int err = 0;

	if (!ager->line && !ager->site)
		err = watch(ager);
	if (err || !ager->lines)
		return err;
	growth_counted(&ager->growth);
	if (!ager->line)
		err = begin_site(ager);
	err = err ?: sweep(ager, n);
	if (err)
		return err;
	ager->line += n;
	if (ager->line < ager->lines)
		return 0;
	err = end_site(ager);
	ager->line = 0;
	ager->site = (ager->site + 1) % ager->sites;
	return err;
}

int ager_round(struct ager *ager)
{
	int err = 0;

	do
		err = ager_step(ager);
	while (!err && (ager->line || ager->site));
	return err;
}

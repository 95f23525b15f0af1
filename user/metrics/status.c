/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/status.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/clock.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/metrics/warnings.h"
#include "user/model.h"
#include "user/model/replica.h"
#include "xdd/key.h"
#include "xdd/slices.h"

/* What the window is worth in ticks of the filter's clock; see include/xdd/line.h. */
static void read_range(struct status *status)
{
	const struct xdd_fixed *fixed = &status->instance->fixed;
	const struct xdd_live *live = &status->instance->live;

	status->sure_ns = live->window_ns;
	status->never_ns = live->window_ns;
	if (xdd_engine_has_timers(fixed->engine)) {
		status->sure_ns = (live->window_ticks - 1) * fixed->tick_ns;
		status->never_ns = live->window_ticks * fixed->tick_ns;
	}
	if (fixed->clock != XDD_CLOCK_coarse)
		return;
	status->clock_step_ns = derive_coarse_step_ns();
	status->never_ns += status->clock_step_ns;
	status->sure_ns -=
		status->clock_step_ns < status->sure_ns ? status->clock_step_ns : status->sure_ns;
}

static int read_audit(struct status *status)
{
	const struct xdd_counters *total = &status->counters.total;
	const struct instance *in = status->instance;
	struct xdd_audit_counts counts = {};
	u32 zero = 0;

	if (in->fixed.audit_threshold && bpf_map_lookup_elem(in->maps.audit_counts, &zero, &counts))
		return -errno;
	/* The audit takes what a failed slice left open as called distinct: it passed. */
	audit_make(&status->audit, &in->fixed, &counts,
		   total->distinct.packets + total->faulted.packets, total->duplicate.packets);
	return 0;
}

/* The keys most often suppressed, on all CPUs. */
static int read_top(const struct instance *in, struct top *top)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	struct xdd_top *buckets;

	if (cpus < 0)
		return cpus;
	buckets = calloc((size_t)XDD_TOP_BUCKETS * cpus, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	for (u32 i = 0; !err && i < XDD_TOP_BUCKETS; i++)
		if (bpf_map_lookup_elem(in->maps.top, &i, &buckets[(size_t)i * cpus]))
			err = -errno;
	if (!err)
		err = top_merge(buckets, (size_t)XDD_TOP_BUCKETS * cpus, top);
	free(buckets);
	return err;
}

int status_read(struct status *status, struct instance *instance, struct activity *activity,
		char *err, size_t err_size)
{
	u64 now_s = time(NULL);
	int code;

	memset(status, 0, sizeof(*status));
	status->instance = instance;
	code = counters_read(instance->maps.counters, &status->counters);
	if (!code)
		code = read_audit(status);
	if (!code)
		code = distances_read(instance, &status->distances);
	if (!code)
		code = ethertypes_read(instance->maps.ethertypes, &status->ethertypes);
	if (!code)
		code = fullness_read(instance, &status->counters, &status->fullness);
	if (!code)
		code = health_view_read(instance, &status->fullness, &status->health);
	if (!code)
		code = tree_read(instance, &status->tree);
	if (!code)
		code = peers_read(instance, &status->peers);
	if (!code)
		code = collected_read(instance, &status->collected);
	if (!code)
		code = read_top(instance, &status->top);
	if (code) {
		status_free(status);
		return refuse(err, err_size, code, "%s: cannot read its maps: %s", instance->name,
			      strerror(-code));
	}
	watch_view_read(instance, &status->watch);
	links_read(instance, &status->links);
	read_range(status);
	status->false_positives = status->fullness.fpr * status->counters.total.distinct.packets;
	if (now_s > instance->meta.loaded_s)
		status->loaded_s = now_s - instance->meta.loaded_s;
	status->ageing = instance_ageing_pid(instance);
	activity_note(activity, status, now_ns());
	warnings_find(status);
	return 0;
}

bool status_is_modelled(const struct status *status)
{
	return fullness_is_measured(&status->fullness) ||
	       xdd_digest_is_wide(&status->instance->fixed);
}

double status_fpr(const struct status *status)
{
	double replicas = peers_fpr(status->instance, &status->peers);

	return model_host_fpr(status->fullness.fpr, replicas, 1);
}

double status_density(const struct status *status)
{
	const struct fullness *f = &status->fullness;
	double sum = 0;

	if (!f->loads.share)
		return f->known ? f->density : NAN;
	for (u32 i = 0; i < f->loads.filters; i++)
		sum += loads_mean(&f->loads, i);
	return sum / f->loads.filters;
}

double status_capacity_used(const struct status *status)
{
	const struct instance *in = status->instance;
	u32 hashes = in->fixed.engine == XDD_ENGINE_tagged ? 1 : in->fixed.hashes;
	double cells = (double)in->meta.memory_bytes / XDD_LINE_BYTES * xdd_line_cells(&in->fixed);
	double live;

	if (!in->meta.capacity_keys)
		return NAN;
	if (xdd_grows(&in->fixed))
		cells *= status->fullness.chains.live / in->fixed.filters;
	live = cells * status_density(status);
	if (in->fixed.engine != XDD_ENGINE_tagged)
		live = model_growth_keys(cells, pow(status_density(status), hashes), hashes);
	return live / in->meta.capacity_keys;
}

void status_free(struct status *status)
{
	counters_free(&status->counters);
	fullness_free(&status->fullness);
	health_view_free(&status->health);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/distances.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/loader/instance.h"

#define LAST (XDD_DISTANCE_BUCKETS - 1)

void distances_sum(struct distances *d)
{
	d->copies = 0;
	for (u32 i = 0; i < XDD_DISTANCE_BUCKETS; i++)
		d->copies += d->counts.copies[i];
}

static void add(struct xdd_distances *to, const struct xdd_distances *from)
{
	to->sum_ns += from->sum_ns;
	for (u32 i = 0; i < XDD_DISTANCE_BUCKETS; i++)
		to->copies[i] += from->copies[i];
}

int distances_read(const struct instance *in, struct distances *d)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;
	struct xdd_distances *each;
	u32 zero = 0;

	memset(d, 0, sizeof(*d));
	d->known = in->maps.distances >= 0;
	if (!d->known)
		return 0;
	if (cpus < 0)
		return cpus;
	each = calloc(cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(in->maps.distances, &zero, each))
		err = -errno;
	for (int cpu = 0; !err && cpu < cpus; cpu++)
		add(&d->counts, &each[cpu]);
	distances_sum(d);
	free(each);
	return err;
}

u64 distances_end_ns(u32 bucket)
{
	return bucket < LAST ? 1000ull << bucket : ~0ull;
}

const char *distances_end_text(u32 first, u32 last, u64 never_ns, char text[UNITS_TEXT_MAX])
{
	u64 from = first ? distances_end_ns(first - 1) : 0, to = distances_end_ns(last);

	if (never_ns > from && never_ns < to)
		to = never_ns;
	if (to != ~0ull)
		return units_time_text(to, text);
	snprintf(text, UNITS_TEXT_MAX, "any time");
	return text;
}

u32 distances_quantile(const struct distances *d, double share)
{
	u64 wanted = ceil(share * d->copies), until = 0;
	u32 bucket = 0;

	for (; bucket < LAST; bucket++) {
		until += d->counts.copies[bucket];
		if (until >= wanted)
			break;
	}
	return bucket;
}

json_t *distances_json(const struct distances *d)
{
	json_t *buckets, *end;

	if (!d->known)
		return json_null();
	buckets = json_array();
	for (u32 i = 0; i < XDD_DISTANCE_BUCKETS; i++) {
		if (!d->counts.copies[i])
			continue;
		end = i < LAST ? json_real(distances_end_ns(i) / 1e9) : json_null();
		json_array_append_new(buckets, json_pack("{s:o, s:I}", "up_to_s", end, "copies",
							 (json_int_t)d->counts.copies[i]));
	}
	return json_pack("{s:I, s:f, s:o}", "sampled", (json_int_t)d->copies, "sum_s",
			 d->counts.sum_ns / 1e9, "buckets", buckets);
}

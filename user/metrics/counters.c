/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/counters.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The struct is words, all of them counts. */
static void add(struct xdd_counters *to, const struct xdd_counters *from)
{
	for (size_t i = 0; i < sizeof(*to) / sizeof(u64); i++)
		((u64 *)to)[i] += ((const u64 *)from)[i];
}

static int read_slots(int map_fd, struct counters *counters, struct xdd_counters *cpu,
		      struct xdd_counters *values)
{
	for (u32 slot = 0; slot < XDD_SLOTS; slot++) {
		if (bpf_map_lookup_elem(map_fd, &slot, values))
			return -errno;
		for (int i = 0; i < counters->cpus; i++) {
			add(&cpu[i], &values[i]);
			add(&counters->slot[slot], &values[i]);
		}
		add(&counters->total, &counters->slot[slot]);
	}
	return 0;
}

int counters_read(int map_fd, struct counters *counters)
{
	struct xdd_counters *cpu, *values;
	int err = -ENOMEM;

	memset(counters, 0, sizeof(*counters));
	counters->cpus = libbpf_num_possible_cpus();
	if (counters->cpus < 0)
		return counters->cpus;
	cpu = calloc(counters->cpus, sizeof(*cpu));
	values = calloc(counters->cpus, sizeof(*values));
	counters->distinct = calloc(counters->cpus, sizeof(u64));
	if (cpu && values && counters->distinct)
		err = read_slots(map_fd, counters, cpu, values);
	for (int i = 0; !err && i < counters->cpus; i++) {
		counters->distinct[i] = cpu[i].distinct.packets;
		counters->cpus_busy += cpu[i].received.packets != 0;
	}
	free(cpu);
	free(values);
	if (err)
		counters_free(counters);
	return err;
}

void counters_free(struct counters *counters)
{
	free(counters->distinct);
	counters->distinct = NULL;
}

#define ADD_BYPASS(name, help)                 \
	sum.packets += counters->name.packets; \
	sum.bytes += counters->name.bytes;

struct xdd_count counters_bypassed(const struct xdd_counters *counters)
{
	struct xdd_count sum = { 0 };

	XDD_BYPASSES(ADD_BYPASS)
	return sum;
}

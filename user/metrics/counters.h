/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the XDP program counted: map `counters`, added up over the CPUs. */
#ifndef USER_METRICS_COUNTERS_H
#define USER_METRICS_COUNTERS_H

#include <xdd/config.h>
#include <xdd/counters.h>

struct counters {
	struct xdd_counters slot[XDD_SLOTS];
	struct xdd_counters total;
	int cpus;      /* possible ones */
	u64 *distinct; /* on each CPU, in all slots */
	int cpus_busy; /* CPUs that received something */
};

/* Read @map_fd. Returns 0, and then counters_free() is due, or a negative errno. */
int counters_read(int map_fd, struct counters *counters);
void counters_free(struct counters *counters);

/* All reasons of XDD_BYPASSES together. */
struct xdd_count counters_bypassed(const struct xdd_counters *counters);

#endif

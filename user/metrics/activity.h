/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an instance did in the last minute, as somebody knows who looks at it again and again. Counts
 * since load only grow: what went wrong once would be wrong for ever.
 */
#ifndef USER_METRICS_ACTIVITY_H
#define USER_METRICS_ACTIVITY_H

#include <xdd/audit.h>

#include "user/metrics/counters.h"

struct status;

/* Counts at one look, or what was added to them. */
struct activity_counts {
	struct xdd_counters total;
	struct xdd_audit_counts audit;
	u64 dropped[XDD_DEV_MAX]; /* by the targets */
};

struct activity_mark {
	u64 at_ns; /* CLOCK_MONOTONIC */
	struct activity_counts counts;
};

/* All zero before the first look. */
#define ACTIVITY_MARKS 7
struct activity {
	u64 loaded_s;
	u32 marks;
	struct activity_mark mark[ACTIVITY_MARKS]; /* the oldest first */
	u64 received[XDD_SLOTS];
	u64 grew_ns[XDD_SLOTS]; /* the look at which that was last seen to have grown */
};

/* What a look says beside the sums. */
struct recent {
	double seconds; /* that `added` is of; 0: not known, `added` is since load */
	struct activity_counts added;
	double silent_s[XDD_SLOTS]; /* that nothing came, as far as was seen */
};

/* Note a look at @now_ns at what is in @status, and fill its `recent`. @activity NULL: there is no other
 * look. Where it was loaded anew all begins anew.
 */
void activity_note(struct activity *activity, struct status *status, u64 now_ns);

#endif

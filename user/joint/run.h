/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Joint detection with all monitors and the coordinator in one process: files and simulation. */
#ifndef USER_JOINT_RUN_H
#define USER_JOINT_RUN_H

#include "user/joint/coordinator.h"
#include "user/joint/monitor.h"

/* What it came to. Bytes are those of the messages as they are encoded, on the coordinator's link: what it sends to
 * all is counted for each of them, but of smallest-first, which is a multicast, once.
 */
struct joint_result {
	u64 up, down;
	u64 up_of[JOINT_MONITORS_MAX], down_of[JOINT_MONITORS_MAX];
	double shared_down_bits;   /* if one common filter had gone to all, coded by its gaps */
	struct joint_bits formula; /* what the paper counts, or NAN */
	u64 hashes, lookups;
	u32 exchanges;
	double seconds, coordinator_seconds;
};

/*
 * Run @monitors, plan->monitors of them, which are open, to the end. Returns 0; or -ENOMEM, or -EBADMSG
 * where the filters would repeat into more than JOINT_ONES_MAX.
 */
int joint_run(const struct joint_plan *plan, struct joint_monitor *monitors,
	      struct joint_result *result);

#endif

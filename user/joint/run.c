/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/run.h"

#include <math.h>

#include "user/clock.h"

#define NS 1e-9

struct run {
	const struct joint_plan *plan;
	struct joint_monitor *monitors;
	struct joint_result *result;
	struct joint_coordinator coordinator;
	struct bytes up[JOINT_MONITORS_MAX], down[JOINT_MONITORS_MAX];
};

/* What the paper's formula says of the filters that were sent. */
static void add_formula(struct run *r)
{
	bool counts = r->plan->algorithm == JOINT_bfs;
	u64 keys[JOINT_MONITORS_MAX];
	struct joint_bits bits;

	if (counts && !r->coordinator.step)
		return;
	for (u32 i = 0; i < r->plan->monitors; i++)
		keys[i] = r->monitors[i].n;
	bits = joint_formula(r->plan, r->coordinator.step - counts, keys);
	r->result->formula.up += bits.up;
	r->result->formula.down += bits.down;
}

static int speak(struct run *r)
{
	int rc = 0;

	for (u32 i = 0; !rc && i < r->plan->monitors; i++) {
		const struct bytes *said = &r->down[r->coordinator.multicast ? 0 : i];

		rc = joint_monitor_round(&r->monitors[i], r->coordinator.step ? said : NULL,
					 &r->up[i]);
		r->result->up += r->up[i].n;
		r->result->up_of[i] += r->up[i].n;
	}
	return rc;
}

static int answer(struct run *r)
{
	struct joint_result *result = r->result;
	u64 start = now_ns();
	u32 whose;
	int rc = joint_coordinator_round(&r->coordinator, r->up, r->down, &whose);

	result->coordinator_seconds += (now_ns() - start) * NS;
	result->exchanges++;
	result->shared_down_bits += (double)r->coordinator.shared_bits * r->plan->monitors;
	for (u32 i = 0; !rc && i < r->plan->monitors; i++) {
		u64 n = r->down[r->coordinator.multicast ? 0 : i].n;

		result->down_of[i] += n;
		if (!i || r->plan->algorithm != JOINT_smallest_first)
			result->down += n;
	}
	return rc;
}

int joint_run(const struct joint_plan *plan, struct joint_monitor *monitors,
	      struct joint_result *result)
{
	struct run r = { .plan = plan, .monitors = monitors, .result = result };
	u64 start = now_ns();
	int rc;

	*result = (struct joint_result){ 0 };
	joint_coordinator_open(&r.coordinator, plan);
	do {
		rc = speak(&r);
		add_formula(&r);
		rc = rc ?: answer(&r);
	} while (!rc && !r.coordinator.done);
	rc = rc ?: speak(&r);
	for (u32 i = 0; i < plan->monitors; i++) {
		result->hashes += monitors[i].hashes;
		result->lookups += monitors[i].lookups;
		bytes_free(&r.up[i]);
		bytes_free(&r.down[i]);
	}
	result->seconds = (now_ns() - start) * NS;
	return rc;
}

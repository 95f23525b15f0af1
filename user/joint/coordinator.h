/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The coordinator of joint detection: it sees messages only, never a key. With raw and smallest-first it sees
 * 64 bits of hash of each.
 */
#ifndef USER_JOINT_COORDINATOR_H
#define USER_JOINT_COORDINATOR_H

#include "user/joint/plan.h"
#include "user/joint/set.h"

struct joint_coordinator {
	const struct joint_plan *plan;
	u32 step;
	bool done;		       /* after this round nothing is to come */
	bool multicast;		       /* what it said last is the same for all: out[0] */
	u32 order[JOINT_MONITORS_MAX]; /* smallest-first: whose turn it is, one after the other */
	u64 shared_bits; /* of the last round: what one common filter for all, coded by its gaps, would take */
};

void joint_coordinator_open(struct joint_coordinator *c, const struct joint_plan *plan);

/*
 * What each monitor said, plan->monitors of @in, turned into what each is to know, as many of @out: only
 * out[0] if c->multicast. Returns 0; -EBADMSG if one of them, *@whose, is not what is due, and then nothing
 * has changed; -ENOMEM.
 */
int joint_coordinator_round(struct joint_coordinator *c, const struct bytes *in, struct bytes *out,
			    u32 *whose);

#endif

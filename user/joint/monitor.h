/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A monitor of joint detection: it has keys, of which fewer and fewer may be common. */
#ifndef USER_JOINT_MONITOR_H
#define USER_JOINT_MONITOR_H

#include "user/joint/plan.h"
#include "user/joint/set.h"

struct joint_monitor {
	const struct joint_plan *plan;
	u32 id;	   /* from 0 */
	u64 *keys; /* digests of those that may be common */
	u32 *from; /* which of those that were given they are */
	u64 n;
	u32 step;      /* messages that it has answered */
	bool begun;    /* it has said something: before that nothing is due */
	bool done;     /* what is left is the result */
	double passed; /* of keys it does not have, by its filters so far */
	u64 length;    /* bfs: of the filter */
	struct joint_set sent;
	u64 hashes, lookups; /* computed for filters, and to look up in them */
};

/*
 * Monitor @id of @plan has the @n keys whose digests @digests are; two keys with the same digest stay both,
 * or go both. Returns 0, -E2BIG (n above JOINT_KEYS_MAX) or -ENOMEM; joint_monitor_close() in either case.
 */
int joint_monitor_open(struct joint_monitor *m, const struct joint_plan *plan, u32 id,
		       const u64 *digests, u64 n);
void joint_monitor_close(struct joint_monitor *m);

/*
 * Take what the coordinator said, @in (NULL: begin), and write what it is to know into @out: empty where
 * that is nothing, and when m->done. Returns 0; -EBADMSG if @in is not what is due, and then nothing has
 * changed; -ENOMEM.
 */
int joint_monitor_round(struct joint_monitor *m, const struct bytes *in, struct bytes *out);

#endif

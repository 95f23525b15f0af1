/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A producer at a leaf of a tree. */
#include <errno.h>

#include "user/clock.h"
#include "user/cluster/branch_work.h"
#include "user/message.h"
#include "user/records/interrupt.h"

int branch_find(struct branch *b, char *err, size_t err_size)
{
	u64 until = now_ns() + b->plan.o->silence, due;
	char why[MESSAGE_MAX];
	int rc = branch_turn(b, &due, err, err_size);

	while (!rc && !b->node && !interrupt_came() && now_ns() < until) {
		calls_wait(b->calls, earliest(due, until));
		rc = branch_turn(b, &due, err, err_size);
	}
	if (rc || b->node)
		return rc;
	if (interrupt_came())
		return refuse(err, err_size, -EINTR, "ended before the leaf was found");
	branch_trouble_text(b, why, sizeof(why));
	return refuse(err, err_size, -EHOSTUNREACH, "%s", why);
}

int branch_ask(struct branch *b, const struct xdd_digest *digests, const u64 *ticks, u32 n,
	       bool *seen)
{
	char err[MESSAGE_MAX];
	u64 due;
	int rc = branch_turn(b, &due, err, sizeof(err)); /* a leaf that failed may be back */

	rc = rc ?: node_start(b->node, digests, ticks, n);
	while (!rc && !node_done(b->node)) {
		rc = branch_turn(b, &due, err, sizeof(err));
		if (!rc && !node_done(b->node))
			calls_wait(b->calls, due);
	}
	for (u32 i = 0; !rc && i < n; i++)
		seen[i] = node_seen(b->node, i);
	return rc;
}

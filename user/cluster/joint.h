/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The coordinator of live monitors (joint/council.h) on NATS. */
#ifndef USER_CLUSTER_JOINT_H
#define USER_CLUSTER_JOINT_H

#include "user/joint/council.h"

struct options;

/* What is done with each period's result; c->phase is COUNCIL_DONE. */
typedef void joint_period(const struct council *c, void *context);

/*
 * Ask the monitors that @o names, for @o->count periods or until a signal. Keys that are shown go to stdout, a
 * line each. Returns 0; -EINVAL for options that cannot be, or another negative errno, with one line in @err.
 */
int joint_hosts(const struct options *o, joint_period *each, void *context, char *err,
		size_t err_size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of joint that asks live hosts. */
#ifndef USER_CMD_JOINT_HOSTS_H
#define USER_CMD_JOINT_HOSTS_H

struct options;

/* joint --monitors. Returns the exit code. */
int joint_with_hosts(struct options *o);

#endif

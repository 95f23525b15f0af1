/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What would spoil the result on an interface, and what mends it: `check` shows it, `load` and
 * `run` ask first.
 */
#ifndef USER_NIC_CHECK_H
#define USER_NIC_CHECK_H

#include <net/if.h>

#include "user/options.h"

enum check_severity { CHECK_OK, CHECK_NOTE, CHECK_PROBLEM };

struct check_finding {
	enum check_severity severity;
	const char *about; /* a word: driver, mtu, vlan, ... */
	int code;	   /* negative errno of a problem, else 0 */
	char text[224];
	char cure[160]; /* a command line, or empty */
};

#define CHECK_MAX_FINDINGS 20

struct check_report {
	char ifname[IF_NAMESIZE];
	int ifindex;		/* 0: no such interface */
	unsigned int rx_queues; /* receive queues in use, at least 1 */
	bool has_frags;		/* the driver says that it takes packets in fragments */
	int n;
	struct check_finding finding[CHECK_MAX_FINDINGS];
};

/*
 * Inspect @ifname in the calling thread's network namespace and fill @report; nothing is changed.
 * @o: mode, frags and force, as given to check, load or run.
 *
 * Returns 0 if the program can be loaded there (notes allowed), or the code of the first problem:
 * -ENODEV no such interface, -EOPNOTSUPP the device or driver cannot do it, -EBUSY another XDP
 * program is there, -EINVAL MTU or offloads, or what netlink returned.
 */
int check_interface(const char *ifname, const struct options *o, struct check_report *report);

/* The first problem of @report, or NULL. */
const struct check_finding *check_problem(const struct check_report *report);

#endif

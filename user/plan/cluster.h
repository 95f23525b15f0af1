/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xdp-dedup plan cluster: what hosts that tell each other what they have seen need of memory, CPUs, networks and servers.
 * Each packet is taken for new, and hosts for alike; when they speak is asked of the rule itself (update.h), and what
 * they say is encoded and measured (delta.h).
 */
#ifndef USER_PLAN_CLUSTER_H
#define USER_PLAN_CLUSTER_H

#include "user/cluster/update.h"
#include "user/options.h"

/*
 * What was measured: X(name, value, what). By tests/bench/bus.sh on a virtual machine of two CPUs, which server,
 * sender and receivers shared: other machines do more, and none of this is in a datapath.
 */
#define CLUSTER_LIMITS(X)                                                                       \
	X(server_in, 110e3, "messages a second that a server takes, of 120 bytes, for 8 hosts") \
	X(server_out, 880e3, "messages a second that it hands on")                              \
	X(server_bytes, 110e6, "bytes a second that it hands on")                               \
	X(make_ns, 0.45, "ns for each bit of a filter that is compared and encoded")            \
	X(apply_ns, 0.4, "ns for each bit of a peer's filter that changes are applied to")      \
	X(host_cpu, 0.5, "of a CPU that a host may spend on it")

#define CLUSTER_LIMIT(name, value, what) double name;
struct cluster_limits {
	CLUSTER_LIMITS(CLUSTER_LIMIT)
};
extern const struct cluster_limits cluster_limits;

struct cluster_demand {
	double hosts;
	double rate;	     /* packets a second, of all hosts */
	double packet_bytes; /* 0: not known */
	u64 window_ns;
	u32 fan_out; /* of a tree of sites */
	struct update_policy policy;
};

struct cluster_plan {
	double group_hosts, groups; /* hosts that hold each other's replicas */
	/* Of each host. */
	double host_rate, keys;
	u32 shift, hashes;     /* of a replica: 2^shift bits */
	double fpr;	       /* of all replicas that a look-up asks */
	double replica_bytes;  /* memory of them */
	u64 check_ns, push_ns; /* it looks, and speaks, so often */
	bool by_rule; /* since the false rate says so; else since a quarter of the window is over */
	bool floor;   /* even a fresh replica is above the target */
	double delta_bytes, parts; /* what it says, in so many messages */
	double full_bytes;	   /* what a late host fetches of it */
	double stale_mean_s, stale_most_s;
	double missed_mean,
		missed_most; /* of the keys of a peer, just before it speaks and on average */
	double out_bytes_s, in_bytes_s;
	double cpu;
	/* Of the server of a group. */
	double server_in_s, server_out_s, server_bytes_s;
	double servers; /* of all groups, by the limits */
	/* Of all hosts as leaves of a tree of sites, for whom 65 are too few. */
	double depth, root_rate, lookup_bits, root_bytes_s, root_servers;
	bool fits; /* a host and a server of a group can do it */
};

/*
 * Plan for @demand. Returns 0; -ENOMEM; -ENOSPC: the largest replicas there are would take most of what is new for a
 * copy; -ETIME: the window is over before a host looks what it has to tell. @plan then has its keys and replicas.
 */
int cluster_plan(const struct cluster_demand *demand, struct cluster_plan *plan);

/* The shortest --window that is not -ETIME, and the longest one up to that of @demand that is not -ENOSPC. */
u64 cluster_window_least(void);
u64 cluster_window_most(const struct cluster_demand *demand);

/*
 * What would help where @demand does not fit, each tried with the plan itself, in words to @text: "--window 4s; or
 * --rate 7.3Gbit, ..."; "": nothing. Returns 0 or -ENOMEM.
 */
#define CLUSTER_ADVICE_MAX 512
int cluster_advice(const struct cluster_demand *demand, char text[CLUSTER_ADVICE_MAX]);

/* That a packet which no other host has seen is taken for a copy by one of a group's replicas of 2^@shift bits, with
 * the best @hashes.
 */
double cluster_replicas_fpr(const struct cluster_plan *plan, u32 shift, u32 *hashes);

/* The command. Returns an exit code. */
int plan_cluster(const struct options *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance of this host as a member of a group: what it has seen is sent, what others have seen goes
 * into its replicas. The bus is the group's: see group.h for the subjects.
 */
#ifndef USER_CLUSTER_MEMBER_H
#define USER_CLUSTER_MEMBER_H

#include "user/cluster/bus.h"
#include "user/cluster/receiver.h"
#include "user/cluster/sender.h"
#include "user/loader/instance.h"

struct options;

/* What the members of a group share; outlives them. */
struct member_setup {
	const struct options *o; /* --push and so on */
	struct bus *bus;
	const char *group, *host;
	const char *who; /* "agent", "run": in front of messages */
};

/* What it says of itself, for metrics. */
struct member_report {
	const struct sender_stats *sent;
	const struct receiver_stats *received;
	struct bus_counts bus;
	u64 check_ns;	    /* what it takes to look at the filter once ... */
	u64 check_every_ns; /* ... so often, now */
	double fpr, fnr;    /* of a look-up here, by what the peers predict (eq. 14 and 15) */
	u64 skipped;	    /* checks that the bus was too busy for */
	u64 store_fetches;  /* of what JetStream kept */
};

/* How often it looks at its filter, unless that takes long or --check-every says so; and after how much of a window it
 * tells what has changed, whatever the false rate.
 */
u64 member_check_every(u64 window_ns);
u64 member_untold_ns(u64 window_ns);

struct member;

/*
 * Join with @in, which stays open and was loaded with --peers; the caller holds its lock
 * (instance_lock_ageing()). Returns NULL with one line in @err.
 */
struct member *member_open(const struct member_setup *setup, const struct instance *in, char *err,
			   size_t err_size);

/* @bye: tell the others that it leaves. NULL is ignored. */
void member_close(struct member *m, bool bye);

const char *member_name(const struct member *m); /* HOST.INSTANCE */
const struct instance *member_instance(const struct member *m);

/* Was the window changed since it was opened? Then open it anew. */
bool member_is_stale(const struct member *m);

/* The bus has a connection again, or no longer. */
void member_up(struct member *m);
void member_down(struct member *m);

/* JetStream had @n messages of @peer's state. */
void member_fetched(struct member *m, const char *peer, u64 n);

/* What @peer, HOST.INSTANCE, published: state, be it @stored, or live; that it wants a FULL; a question; an
 * answer to this member's.
 */
void member_take(struct member *m, const char *peer, const struct bus_event *event, bool stored);
void member_wanted(struct member *m, const char *peer, const struct bus_event *event);
void member_asked(struct member *m, const char *peer, const struct bus_event *event);
void member_answered(struct member *m, const char *peer, const struct bus_event *event);

/* Do what is due. Returns when the next thing is, on CLOCK_MONOTONIC. */
u64 member_step(struct member *m);

void member_report(const struct member *m, struct member_report *report);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The coordinator of live monitors: one period, from START to what becomes of the common keys. It knows no
 * network and no clock: see cluster/council_bus.h.
 *
 * A period is counted from when the last monitor has said that it collects, and no monitor is told to end before it is
 * over: so a key that all of them have seen within it is not lost, whatever their clocks say.
 */
#ifndef USER_JOINT_COUNCIL_H
#define USER_JOINT_COUNCIL_H

#include "user/joint/coordinator.h"
#include "user/joint/orders.h"
#include "user/joint/parts.h"

enum council_phase {
	COUNCIL_STARTING,
	COUNCIL_COLLECTING,
	COUNCIL_ENDING,
	COUNCIL_JOINING,
	COUNCIL_CHECKING, /* whether all watch sets have room */
	COUNCIL_LOADING,
	COUNCIL_SHOWING,
	COUNCIL_DONE,
	COUNCIL_FAILED, /* why: council.err */
};

#define COUNCIL_TROUBLE 160

/* What is known of a monitor. */
struct council_member {
	const char *name;
	u64 print, room;    /* of the keys' hash; keys that find room in a period */
	u64 keys, overflow; /* of this one */
	u64 left;	    /* that may be common */
	u64 hashes, lookups;
	u64 up, down; /* bytes of the algorithm's messages */
	u64 added;    /* to its watch set */
	u64 epoch;    /* of the agent that answers; 0: none has */
	bool asked, answered;
	char trouble[COUNCIL_TROUBLE]; /* why it could not load the keys, as far as is known */
	bool refused;		       /* it said so: it has none of them */
	u64 heard_ns, again_ns;
	struct inbox in;
	struct outbox out;
};

struct council {
	struct joint_plan plan;
	u64 session, period_ns, silence_ns;
	const char *watch; /* instance, or NULL: print */
	enum council_phase phase;
	u32 step, exchanges;
	u64 end_ns;  /* of the period */
	u64 beat_ns; /* when all are told again that it is there */
	struct joint_coordinator joint;
	struct council_member member[JOINT_MONITORS_MAX];
	part_emit *emit;
	/* A common key that is shown: once each. */
	void (*show)(void *to, const char *text);
	void *to;
	u64 common;
	struct joint_set shown; /* digests so far */
	bool loading;		/* watch sets may have been changed */
	bool failing;		/* err says why: the keys are shown, and that is the end */
	char err[ORDER_TEXT_MAX];
};

/*
 * Begin @session (ns since 1970) of @plan with monitors @names, for which c->emit, c->show and c->to are
 * set. council_close() is due. @watch: the instance whose watch set is to have the common keys, or NULL.
 */
void council_open(struct council *c, const struct joint_plan *plan, const char *const *names,
		  u64 session, u64 period_ns, u64 silence_ns, const char *watch, u64 now_ns);
void council_close(struct council *c);

/* A part of an answer by member @i, whose agent began at @epoch: of another one it would be of other keys. */
void council_take(struct council *c, u32 i, const struct part *part, u64 epoch, u64 now_ns);

/* Do what is due. Returns when the next thing is; c->phase may be COUNCIL_DONE or COUNCIL_FAILED then. */
u64 council_step(struct council *c, u64 now_ns);

/* When it failed after watch sets may have been changed: what has become of that of member @i, as words behind its
 * name. Else NULL.
 */
const char *council_loaded(const struct council *c, u32 i, char text[ORDER_TEXT_MAX]);

/* Tell all that it is over. */
void council_stop(struct council *c);

#endif

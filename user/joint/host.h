/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live monitor of joint detection: one session at a time, in which it answers the coordinator's questions in
 * their order. It knows no network, no clock and no kernel: see cluster/tap.h.
 */
#ifndef USER_JOINT_HOST_H
#define USER_JOINT_HOST_H

#include "user/joint/monitor.h"
#include "user/joint/orders.h"
#include "user/joint/parts.h"

#define HOST_NAME_MAX_BYTES 64

/* How far clocks of hosts may differ: who begins a session earlier or later is refused. */
#define HOST_CLOCKS_NS 30000000000ull

/* A coordinator that says nothing for so long is gone. */
#define HOST_SILENCE_NS 15000000000ull

/* Each that returns an int: 0, or a negative errno with a line in @err, which is what the coordinator is told. */
struct host_ops {
	/* Collect keys from now on; @print: of what they are hashed with. @room: how many find room. */
	int (*start)(void *to, u64 session, const char *watch, u64 *print, u64 *room, char *err,
		     size_t err_size);
	/* Enough. The keys' digests are the caller's to free; what describe() needs is kept until stop(). */
	int (*end)(void *to, u64 **digests, u64 *n, u64 *overflow, char *err, size_t err_size);
	/* Put @n keys into the watch set of @watch; unless @truly, only see whether it can be done. */
	int (*load)(void *to, const char *watch, const u64 *keys, u64 n, bool truly, u64 *added,
		    char *err, size_t err_size);
	/* What the key numbered @which of end() is of, a line; */
	void (*describe)(void *to, u32 which, u64 digest, char *text, size_t size);
	/* The session is over: collect no more, keep nothing. */
	void (*stop)(void *to);
	part_emit *emit;
};

struct host {
	const struct host_ops *ops;
	void *to;
	char coordinator[HOST_NAME_MAX_BYTES]; /* empty: there is no session */
	u64 session;			       /* the last one */
	struct order_start start;
	struct joint_monitor monitor;
	bool opened;  /* monitor is */
	u64 overflow; /* of the period */
	u32 step;     /* that was answered last, when @answered */
	bool answered;
	u64 gone_ns; /* when it is, unless it is heard */
	struct inbox in;
	struct outbox out;
};

void host_open(struct host *h, const struct host_ops *ops, void *to);
void host_close(struct host *h);

/* A part of a question by @from, at @now_ns of a steady clock and @wall_ns since 1970. Returns 0, or -EBADMSG for what
 * cannot be, which changes nothing.
 */
int host_take(struct host *h, const char *from, const struct part *part, u64 now_ns, u64 wall_ns);

/* Send what is to be sent, and end a session whose coordinator is gone. Returns when the next thing is due. */
u64 host_step(struct host *h, u64 now_ns);

/* Who is being answered, for emit(). */
static inline const char *host_coordinator(const struct host *h)
{
	return h->coordinator;
}

#endif

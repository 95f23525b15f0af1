/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The audit across hosts: what replicas said of the keys in the audit's sample (ring buffer `peer_audit`) is
 * compared with what the peers themselves say when they are asked: their audit knows when each key's window
 * began.
 */
#ifndef USER_CLUSTER_QUESTIONS_H
#define USER_CLUSTER_QUESTIONS_H

#include <stddef.h>

#include "user/cluster/wire.h"
#include "user/loader/instance.h"

/* What replicas were worth, of a peer; xdd_peer has the same. */
struct question_counts {
	u64 asked;   /* look-ups of which the peer knows better: */
	u64 yes;     /* the replica said so */
	u64 fp, fn;  /* it said yes and the peer no, and the reverse */
	u64 unknown; /* others, of which the peer does not know */
};

struct questions;

/* @in must stay open. Returns NULL and an errno: ENOENT: loaded without an audit, ENOMEM, or others. */
struct questions *questions_open(const struct instance *in);
void questions_close(struct questions *q);

/*
 * Write what is to be asked now to @message, which has WIRE_MAX bytes: once a second at most. @self and @now
 * are of this host. Returns the message's bytes, 0: nothing.
 */
size_t questions_ask(struct questions *q, struct wire_self *self, struct wire_time now,
		     u8 *message);

/* Peer @slot has answered with @payload, @size bytes of it. Returns 0, or -EBADMSG. */
int questions_answered(struct questions *q, u32 slot, const u8 *payload, size_t size,
		       struct wire_time now);

/* Counts of the peer in @slot; forget them when there is another one. */
const struct question_counts *questions_counts(const struct questions *q, u32 slot);
void questions_forget(struct questions *q, u32 slot);

/*
 * Answer the question @asked with @payload from the audit of @in, whose window is @window_ns now, to
 * @message of WIRE_MAX bytes. Where a time is within 5 ms and a tick of where the answer turns, it is `unknown`.
 * Returns the message's bytes, 0 if it was no question.
 */
size_t questions_answer(const struct instance *in, u64 window_ns, const struct wire_head *asked,
			const u8 *payload, struct wire_self *self, struct wire_time now,
			u8 *message);

#endif

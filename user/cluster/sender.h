/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A host's side of its replicas on other hosts: what they have, how far it is from what is at home, and
 * when to tell them (zhu-jiang-2006 section 5).
 */
#ifndef USER_CLUSTER_SENDER_H
#define USER_CLUSTER_SENDER_H

#include "user/cluster/update.h"
#include "user/cluster/wire.h"

/* Where messages go. Returns 0, or a negative errno: the next one is then a FULL. */
typedef int sender_emit(void *to, enum wire_type type, const u8 *message, size_t size);

struct sender_setup {
	struct wire_self *self; /* outlives the sender; shared by all that the host sends */
	sender_emit *emit;
	void *to;
	struct update_policy policy; /* every in ns */
	u32 hashes;		     /* of the filter */
	u32 shift;		     /* bits of the filter at first: 2^shift */
	bool resize;		     /* choose another shift when the target needs it ... */
	u32 shift_least, shift_most; /* ... in this range. A larger one is taken at once, ... */
	u64 resize_ns;		     /* ... a smaller one must have been enough for so long */
	u64 window_ns;		     /* of the filter, for the others to know */
	u64 heartbeat_ns;	     /* say something at least so often */
	u64 interval_ns;	     /* between two pushes, at least */
	u64 bytes_per_s; /* 0: no limit. A push may be larger, the next one then waits */
	u64 want_ns;	 /* answer who wants a FULL at most so often */
	u64 untold_ns;	 /* 0, or: a change is told after this time, whatever the rule says */
	/* 0, or: FULL instead of DELTA once those since the last one are so many times as long, for
	 * hosts that come late. Where changes are small, 1 doubles what is sent.
	 */
	double full_after;
};

/* What is at home now. */
struct sender_home {
	const u64 *bits; /* 2^sender_shift() */
	u64 keys;
	u64 unpublished; /* of these, not in sender_sent() */
};

/* What came of it: counters, and what was predicted at the last check. */
struct sender_stats {
	struct staleness stale;
	double fpr;	    /* f+: a replica says yes to a key that nobody has (theorem 4) */
	double fnr;	    /* f-: the filter at home says yes and a replica no (theorem 3) */
	double member;	    /* a replica says no to a key that is at home */
	double own;	    /* a fresh replica, and the filter of 2^shift bits itself, says yes to a
				* key that nobody has
				*/
	double rate, floor; /* what the rule compares with its target; what nothing sent can mend */
	u64 fulls, deltas, heartbeats, wants;
	u64 bytes, full_bytes, delta_bytes;
	u64 suppressed; /* checks at which an update was due, and the limits held it back */
	u64 failed;	/* messages that could not be handed over */
	u64 resizes;
	u64 push_ns;	/* CLOCK_MONOTONIC of the last FULL or DELTA; 0: none */
	u64 changed_ns; /* ... since when the others have not had what is at home; 0: they have */
};

struct sender;

/* Returns NULL and an errno: ENOMEM, EINVAL if @setup is out of range. */
struct sender *sender_open(const struct sender_setup *setup);
void sender_close(struct sender *s);

/* The filter that the next sender_check() takes has 2^this bits. */
u32 sender_shift(const struct sender *s);

/* What was last sent, or NULL if nothing was, or not of this size: all keys are then unpublished. */
const u64 *sender_sent(const struct sender *s);

/* SENDER_AGAIN: sender_shift() has changed: read the filter again, and check once more. */
enum sender_result { SENDER_NOTHING, SENDER_PUSHED, SENDER_BEAT, SENDER_AGAIN };

/*
 * Look at @home and send what is due: nothing, HEARTBEAT, DELTA, or FULL: the first time, after a
 * resize or a failure, for who wants it, where it is not longer, and as full_after says. Returns an
 * enum sender_result, -ENOMEM if there is no memory for another shift, or what emit returned.
 */
int sender_check(struct sender *s, const struct sender_home *home, struct wire_time now);

/*
 * Say that this host lives, if that is due: on its own clock, for a look at the filter may take long, and be seldom.
 * What is said of rates is of the last look. Returns SENDER_BEAT, SENDER_NOTHING, or what emit returned.
 */
int sender_beat(struct sender *s, struct wire_time now);

/* When the next one is due, CLOCK_MONOTONIC; UINT64_MAX: nothing was told yet, or ever is. */
u64 sender_beat_at(const struct sender *s);

/* Whether a push can be sent now, as far as limits go: if not, and no heartbeat is due, the filter
 * need not be read.
 */
bool sender_ready(const struct sender *s, struct wire_time now);

/* @name asks for a FULL with the @size bytes at @message. @group: the group's key. Returns 0, or as
 * wire_open() does; -EINVAL if it is another message.
 */
int sender_wanted(struct sender *s, const struct wire_key *group, const char *name,
		  const u8 *message, size_t size);

/* Tell the others that this host leaves. */
int sender_bye(struct sender *s, struct wire_time now);

/* What was sent may be lost: the next push is a FULL, and due. */
void sender_lost(struct sender *s);

/* Another rule, from the next check on. */
void sender_policy(struct sender *s, const struct update_policy *policy);

const struct sender_stats *sender_stats(const struct sender *s);

#endif

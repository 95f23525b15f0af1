/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The replicas that a host holds of others: what they said, put together, and whether it is believed.
 *
 * A FULL makes a replica; a DELTA of the next version of the same epoch and size changes it. After
 * anything else the peer is `recovering`: not believed until the FULL that it is asked for. What
 * came before, by epoch and order, is ignored, and so is what is older than the clocks may differ.
 * A peer whose filter is larger than there is room for, or whose window is longer, is `mismatched`, as one loaded
 * otherwise is.
 * Of two hosts with one name the first one is believed: see epochs.h.
 */
#ifndef USER_CLUSTER_RECEIVER_H
#define USER_CLUSTER_RECEIVER_H

#include <xdd/replica.h>

#include "user/cluster/wire.h"

#define RECEIVER_SLOTS 64

struct receiver_peer {
	char name[WIRE_NAME];
	enum xdd_peer_state state;
	u32 shift, hashes;				/* of the replica */
	u64 epoch, seq;					/* of what is held */
	u64 fingerprint, keys, window_ns, heartbeat_ns; /* as the peer says */
	double density;					/* share of ones */
	double fpr, fnr, member;			/* what the peer predicted of us, last */
	u64 heard_ns;	     /* CLOCK_MONOTONIC of the last message that was not ignored */
	u64 updated_ns;	     /* ... of the last FULL or DELTA that was applied; 0: none */
	u64 changed_ns;	     /* ... since when it is in this state */
	u64 sent_wall_ns;    /* when the peer sent what was last applied, by its clock */
	u64 messages, bytes; /* of this name, whatever they were */
	u64 refused;	     /* of these: damaged, forged, of another version or time, senseless,
			      * or of another host with this name
			      */
	u64 twin_ns;	     /* when two were last heard in this name; 0: never */
	u64 old;	     /* ... said before, or out of order and too late: ignored */
	u64 fulls, deltas, heartbeats; /* whole ones that were taken */
	u64 wants;		       /* FULLs asked for */
	u64 gaps;		       /* versions that were missing */
};

/* What the replicas are told. Peers are slots, 0 to setup.slots - 1. */
struct receiver_ops {
	void (*set)(void *to, u32 peer, const u64 *bits, u32 shift);
	void (*flip)(void *to, u32 peer, const u64 *changed, u32 shift);
	void (*clear)(void *to, u32 peer);
	/* Peers of @mask, and no others, are believed until this CLOCK_MONOTONIC time. */
	void (*believe)(void *to, u64 mask, u64 until_ns);
	/* Hand this message to the peer. */
	void (*want)(void *to, const char *name, const u8 *message, size_t size);
	/* The peer's state was @before. For who is told of it; may be NULL. */
	void (*state)(void *to, u32 peer, const struct receiver_peer *now,
		      enum xdd_peer_state before);
};

struct receiver_setup {
	struct wire_self *self; /* outlives the receiver; shared by all that the host sends */
	struct wire_key group;	/* the group's key */
	const char *name;	/* of this host: what comes back is ignored */
	struct receiver_ops ops;
	void *to;
	u32 slots;     /* 1 to RECEIVER_SLOTS */
	u64 window_ns; /* of the own filter: peers with a longer one are mismatched; 0: any is taken */
	u32 shift;     /* replicas have at most 2^shift bits; 10 to 32 */
	double max_density; /* denser ones are distrusted; 0 to 1 */
	u64 silence_ns;	    /* a peer that says nothing for so long has failed */
	u64 forget_ns;	    /* ... and its slot is free after so long */
	u64 believe_ns;	    /* for how long replicas are believed if nobody calls again */
	u64 want_least_ns;  /* a FULL is asked for again after so long, then twice that, ... */
	u64 want_most_ns;   /* ... up to this */
	u64 skew_ns;	    /* 0, or: live messages older or newer than this, by CLOCK_REALTIME, are
			     * ignored
			     */
};

struct receiver_stats {
	u64 taken;    /* messages that were neither ignored nor refused */
	u64 bad;      /* damaged, cut or forged: no peer is known to have sent them */
	u64 versions; /* of another major version */
	u64 types;    /* of unknown types */
	u64 full;     /* more peers than slots */
	u64 skewed;   /* clocks too far apart, or said again much later */
	u64 twins;    /* of another host in the name of one that is believed, or of this one */
	u64 twin_ns;  /* when another was last heard in this host's name; 0: never */
};

struct receiver;

/* Returns NULL and an errno: ENOMEM, EINVAL if @setup is out of range. */
struct receiver *receiver_open(const struct receiver_setup *setup);
void receiver_close(struct receiver *r);

/*
 * Take the @size bytes at @message, which may be anything, from the host @name. @stored: it was kept
 * by the server, and is not live: a FULL is then believed only when the peer itself says that it is
 * its last word. Audit messages and WANT are not for it and ignored. Returns 0, also if it is ignored;
 * as wire_open() does; -EINVAL for a name that is empty or too long; -ENOSPC: more peers than slots;
 * -ESTALE: clocks too far apart; -EEXIST: another host speaks in the name of a peer, or in one's own; -ENOMEM.
 */
int receiver_take(struct receiver *r, const char *name, const u8 *message, size_t size, bool stored,
		  struct wire_time now);

/* To be called several times in silence_ns and believe_ns: who is silent, what to ask for again,
 * and for how long replicas are believed.
 */
void receiver_tick(struct receiver *r, struct wire_time now);

/* Another --max-density or --silence, from now on. */
void receiver_limits(struct receiver *r, double max_density, u64 silence_ns);

/* The peer in slot @i, below setup.slots; of state none if nobody has it. */
const struct receiver_peer *receiver_peer(const struct receiver *r, u32 i);
u64 receiver_believed(const struct receiver *r); /* a bit for each live peer */
const struct receiver_stats *receiver_stats(const struct receiver *r);

/* The replica of slot @i, 2^shift bits, or NULL. */
const u64 *receiver_replica(const struct receiver *r, u32 i);

/* A look-up by this host, whose own filter errs at @own_fpr, and all live peers as they predict
 * (eq. 14 to 16 of zhu-jiang-2006, with a rate for each replica).
 */
struct receiver_rates {
	double fpr, fnr, rate;
};
struct receiver_rates receiver_rates(const struct receiver *r, double own_fpr, bool member);

#endif

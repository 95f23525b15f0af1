/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replicas: what other hosts have seen lately, held here to be asked (zhu-jiang-2006).
 *
 * A host publishes a Bloom filter of 2^s bits of the entries that are live in its own filter, k bits for
 * each, which is what the receiving engine can ask: hosts of a group are loaded alike, the hash's
 * secret included, so that they compute the same digest of the same packet.
 *
 * tagged         an entry is its line and its tag; k places are drawn from both
 * exact          the digest
 * timer, bloom   the k cells of the filter itself, in as many bits: one for each cell where there is
 *                room, else one for a run of them
 *
 * A place is the upper bits of 64, so a filter of 2^s bits is that of 2^(s+d) with each run of 2^d
 * bits made one, and who holds the larger one makes each bit a run again.
 *
 * The replicas lie side by side: at each place a bit of every peer, so that k reads answer for all of
 * them. Who is believed is in `peer_gate`, and until when: if nobody keeps the replicas up to date
 * they end by themselves, and what only they knew passes.
 */
#ifndef XDD_REPLICA_H
#define XDD_REPLICA_H

#include "audit.h"
#include "slices.h"

#define XDD_PEER_NAME 64

/* Map `peer_gate`, the only entry. Written by whoever keeps the replicas, read for each packet. */
struct xdd_peer_gate {
	u64 believed; /* bits by peer */
	u64 until_ns; /* the filter's clock: none is believed from then on */
};

/* What is thought of a peer: X(name, help). */
#define XDD_PEER_STATES(X)                                                           \
	X(none, "the place is free")                                                 \
	X(joining, "heard of, and its filter has not come yet")                      \
	X(live, "its replica is up to date and believed")                            \
	X(recovering, "an update was lost: its whole filter is awaited")             \
	X(distrusted, "its filter is denser than --max-density")                     \
	X(mismatched, "it is loaded otherwise: other keys, sizes, engine or secret") \
	X(failed, "silent for longer than --silence: not believed")                  \
	X(left, "it said that it ends")

#define XDD_PEER_STATE_ENUM(name, help) XDD_PEER_##name,
enum xdd_peer_state { XDD_PEER_STATES(XDD_PEER_STATE_ENUM) XDD_PEER_STATE_MAX };

/* Rates are in units of this: 10^12 is always. */
#define XDD_RATE_ONE 1000000000000ULL

/*
 * Map `peers`, an entry for each place: what is known of the peer there, for status, metrics, top and
 * events. The XDP program does not read it. Times are CLOCK_MONOTONIC, counts since the agent began.
 */
struct xdd_peer {
	char name[XDD_PEER_NAME]; /* HOST.INSTANCE, ends with 0 */
	u32 state;		  /* enum xdd_peer_state */
	u8 shift;		  /* it sends 2^this bits */
	u8 hashes;
	u8 pad[2];
	u64 fingerprint;   /* of how it is loaded */
	u64 epoch;	   /* of its agent's start */
	u64 sequence;	   /* of the last update that came */
	u64 keys;	   /* live at the peer, as it says */
	u64 window_ns;	   /* its own */
	u64 heard_ns;	   /* when any message came; 0: never */
	u64 updated_ns;	   /* when its replica was last made up to date; 0: never */
	u64 messages;	   /* that came, those refused included ... */
	u64 bytes;	   /* ... and their bytes */
	u64 fulls;	   /* whole filters that were taken ... */
	u64 deltas;	   /* ... changes ... */
	u64 gaps;	   /* ... and updates that were missing in between */
	u64 refused;	   /* messages that were damaged, forged, replayed or of another version */
	u64 density;	   /* share of ones in the replica, in XDD_RATE_ONE */
	u64 predicted_fpr; /* of the replica, by the model as the peer reckons, in XDD_RATE_ONE ... */
	u64 predicted_fnr;
	u64 audit_asked;   /* measured across hosts: keys of which the peer itself was asked ... */
	u64 audit_yes;	   /* ... of which the replica said yes ... */
	u64 audit_fp;	   /* ... though the peer had not seen them */
	u64 audit_fn;	   /* ... or no, though it had */
	u64 audit_unknown; /* ... or nobody knows: the peer no longer had the truth */
};

/* Map `peer_hits`, an entry for each place: packets that the peer had seen, counted for the first of those
 * that have the key.
 */
struct xdd_peer_hits {
	u64 packets;
	u64 bytes;
};

/* What the own filter said of a key that peers were asked of. */
enum xdd_peer_own { XDD_PEER_OWN_UNASKED, XDD_PEER_OWN_DISTINCT, XDD_PEER_OWN_DUPLICATE };

/* A record of the ring buffer `peer_audit`: a packet of a key in the audit's sample. */
struct xdd_peer_audit {
	u64 print;    /* xdd_audit_print() */
	u64 time_ns;  /* the filter's clock */
	u64 said;     /* peers whose replica said yes, bits ... */
	u64 believed; /* ... of these */
	u32 own;      /* enum xdd_peer_own */
	u32 pad;
};

XDD_ASSERT(sizeof(struct xdd_peer) == XDD_PEER_NAME + 176, "xdd_peer has no holes");
XDD_ASSERT(sizeof(struct xdd_peer_audit) == 40, "xdd_peer_audit has no holes");

#endif

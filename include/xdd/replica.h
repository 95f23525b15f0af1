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
#include "engine_tagged.h"
#include "slices.h"

#define XDD_PEER_NAME 64

/* Map `peer_gate`, the only entry. Written by whoever keeps the replicas, read for each packet. */
struct xdd_peer_gate {
	u64 believed; /* bits by peer */
	u64 until_ns; /* the filter's clock: none is believed from then on */
	u64 refused; /* messages of whoever: damaged, or not by who they say, since the agent began */
	u64 twin_ns; /* when another host last spoke in this host's name, CLOCK_MONOTONIC; 0: never */
};

/* What is thought of a peer: X(name, help). */
#define XDD_PEER_STATES(X)                                                                   \
	X(none, "the place is free")                                                         \
	X(joining, "heard of, and its filter has not come yet")                              \
	X(live, "its replica is up to date and believed")                                    \
	X(recovering, "an update was lost: its whole filter is awaited")                     \
	X(distrusted, "its filter is denser than --max-density")                             \
	X(mismatched,                                                                        \
	  "it is loaded otherwise: other keys, sizes, engine or secret, or a longer window") \
	X(failed, "silent for longer than --silence: not believed")                          \
	X(left, "it said that it ends")

#define XDD_PEER_STATE_ENUM(name, help) XDD_PEER_##name,
enum xdd_peer_state { XDD_PEER_STATES(XDD_PEER_STATE_ENUM) XDD_PEER_STATE_MAX };

/*
 * A replica of a peer with a longer window says yes to what is new by one's own: it is not believed. Rounding up to
 * whole ticks makes no difference: a window has 16 of them or more.
 */
static inline bool xdd_peer_window_is_longer(u64 theirs_ns, u64 own_ns)
{
	return own_ns && theirs_ns > own_ns + own_ns / 16;
}

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
	u8 twins; /* 1: two hosts speak in its name, and the first one is believed */
	u8 pad;
	u64 fingerprint; /* of how it is loaded */
	u64 epoch;	 /* of its agent's start */
	u64 sequence;	 /* of the last update that came */
	u64 keys;	 /* live at the peer, as it says */
	u64 window_ns;	 /* its own */
	u64 heard_ns;	 /* when any message came; 0: never */
	u64 updated_ns;	 /* when its replica was last made up to date; 0: never */
	u64 messages;	 /* that came, those refused included ... */
	u64 bytes;	 /* ... and their bytes */
	u64 fulls;	 /* whole filters that were taken ... */
	u64 deltas;	 /* ... changes ... */
	u64 gaps;	 /* ... and updates that were missing in between */
	u64 refused; /* messages that were damaged, forged, replayed, of another version or host */
	u64 density; /* share of ones in the replica, in XDD_RATE_ONE */
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

/* 64-bit words of map `replicas`; 0: the program holds none. */
XDD_INLINE u64 xdd_replica_words(XDD_FIXED struct xdd_fixed *fixed)
{
	return ((u64)fixed->peers << fixed->replica_shift) / 64;
}

/* Accessors: word @number of the replicas, the gate, and the live configuration, or NULL. */
extern const u64 *xdd_replica_word(struct xdd_store *store, u32 number);
extern const struct xdd_peer_gate *xdd_peer_gate_at(struct xdd_store *store);
extern const struct xdd_live *xdd_live_at(struct xdd_store *store);

/* Where the bits of an entry lie: the @i-th at @first + @i * @step, as a fraction of 2^64. */
struct xdd_entry {
	u64 first, step;
};

/* Of an entry by 64 bits that are another entry's only by chance, and by 64 more, or 0 (two functions
 * are as good as k: Kirsch and Mitzenmacher 2006).
 */
XDD_INLINE struct xdd_entry xdd_entry(u64 lo, u64 hi)
{
	struct xdd_entry entry = { xdd_mix64(lo), xdd_mix64(lo ^ XDD_GOLDEN ^ hi) };

	return entry;
}

/* Of engine tagged: what stands in @cell of line @line. */
XDD_INLINE struct xdd_entry xdd_entry_tagged(u32 line, u32 cell)
{
	return xdd_entry((u64)line << 24 | cell >> 8, 0);
}

/* Where cell @cell of line @line lies, engines timer and bloom: in their order. */
XDD_INLINE u64 xdd_replica_cell(XDD_FIXED struct xdd_fixed *fixed, u32 line, u32 cell)
{
	return ((u64)line * xdd_line_cells(fixed) + cell) * fixed->replica_step;
}

/* xdd_fixed.replica_step of @fixed: 2^64 / cells. */
XDD_INLINE u64 xdd_replica_step(XDD_FIXED struct xdd_fixed *fixed)
{
	u64 cells = (u64)xdd_lines(fixed) * xdd_line_cells(fixed);

	return xdd_engine_is_sliced(fixed->engine) ? -cells / cells + 1 : 0;
}

/* The line that the key picks where all of it lies in one, counted through the blocks. */
XDD_INLINE u32 xdd_replica_line(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest)
{
	u32 rest, block = xdd_range(digest->lo >> 32, fixed->blocks, &rest);

	return block * fixed->lines_per_block + xdd_range(rest, fixed->lines_per_block, &rest);
}

/* The entry that the key of @digest would be, engines tagged and exact. */
XDD_INLINE struct xdd_entry xdd_entry_of(XDD_FIXED struct xdd_fixed *fixed,
					 const struct xdd_digest *digest)
{
	if (fixed->engine == XDD_ENGINE_exact)
		return xdd_entry(digest->lo, digest->hi);
	return xdd_entry_tagged(xdd_replica_line(fixed, digest), xdd_tagged_want(digest));
}

/* The place of what lies @at in a filter of 2^@shift bits. */
XDD_INLINE u64 xdd_replica_place(u64 at, u32 shift)
{
	return at >> (64 - shift);
}

/* The peers whose bit at @place is set, of those in the bits @of. */
XDD_INLINE u64 xdd_replica_bits(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				u64 place, u64 of)
{
	u64 bit = place * fixed->peers;
	const u64 *word = xdd_replica_word(store, bit / 64);

	return word ? *(const volatile u64 *)word >> bit % 64 & of : 0;
}

/* Where the key's bits lie, one after the other. */
struct xdd_sought {
	struct xdd_entry entry;	  /* engines tagged and exact */
	struct xdd_places places; /* timer and bloom ... */
	u32 line, draw, next;	  /* ... or timer with all cells in one line: engine_timer.h */
};

XDD_INLINE bool xdd_replica_one_line(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_timer && xdd_slices_one_line(fixed);
}

XDD_INLINE struct xdd_sought xdd_sought(XDD_FIXED struct xdd_fixed *fixed,
					const struct xdd_digest *digest)
{
	struct xdd_sought sought = {};
	u64 draws = xdd_mix64(digest->lo);

	if (xdd_replica_one_line(fixed)) {
		sought.line = xdd_replica_line(fixed, digest);
		sought.draw = draws;
		sought.next = draws >> 32;
	} else if (xdd_engine_is_sliced(fixed->engine)) {
		sought.places = xdd_places(fixed, digest);
	} else {
		sought.entry = xdd_entry_of(fixed, digest);
	}
	return sought;
}

/* Where the @i-th lies, as a fraction of 2^64; called for each i in turn. */
XDD_INLINE u64 xdd_sought_next(XDD_FIXED struct xdd_fixed *fixed, struct xdd_sought *sought, u32 i)
{
	u32 cell, rest;
	u64 at;

	if (xdd_replica_one_line(fixed)) {
		cell = xdd_range(sought->draw, xdd_line_cells(fixed), &rest);
		sought->draw = sought->next;
		sought->next = rest;
		return xdd_replica_cell(fixed, sought->line, cell);
	}
	if (xdd_engine_is_sliced(fixed->engine)) {
		at = xdd_place(fixed, &sought->places, i, &cell);
		return xdd_replica_cell(fixed, at, cell);
	}
	at = sought->entry.first;
	sought->entry.first += sought->entry.step;
	return at;
}

/* Those of the peers @of whose replica has the key of @digest. Most keys nobody has: one look tells. */
XDD_INLINE u64 xdd_replica_said(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_digest *digest, u64 of)
{
	struct xdd_sought sought = xdd_sought(fixed, digest);

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		u64 at;

		if (i >= fixed->replica_hashes || !of)
			break;
		at = xdd_sought_next(fixed, &sought, i);
		of = xdd_replica_bits(fixed, store, xdd_replica_place(at, fixed->replica_shift),
				      of);
	}
	return of;
}

/* The number of the lowest bit that is set in @bits, of which one is. Without a branch. */
XDD_INLINE u32 xdd_lowest(u64 bits)
{
	u64 one = bits & -bits;
	u32 number = 0;

	number |= !(one & 0x5555555555555555ULL);
	number |= !(one & 0x3333333333333333ULL) << 1;
	number |= !(one & 0x0f0f0f0f0f0f0f0fULL) << 2;
	number |= !(one & 0x00ff00ff00ff00ffULL) << 3;
	number |= !(one & 0x0000ffff0000ffffULL) << 4;
	number |= !(one & 0x00000000ffffffffULL) << 5;
	return number;
}

/* Who is believed at @now_ns. */
XDD_INLINE u64 xdd_peers_believed(struct xdd_store *store, u64 now_ns)
{
	const struct xdd_peer_gate *gate = xdd_peer_gate_at(store);

	if (!gate || now_ns >= *(const volatile u64 *)&gate->until_ns)
		return 0;
	return *(const volatile u64 *)&gate->believed;
}

/*
 * Whether a peer has the key, as enum xdd_found bits: with XDD_UNASKED it is a duplicate, and must not
 * enter the own filter. Its window would begin anew there, and hosts that answer for each other
 * would keep it alive for ever.
 */
XDD_INLINE u32 xdd_ask_peers(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, u64 now_ns)
{
	u64 said = xdd_peers_believed(store, now_ns);
	const struct xdd_live *live = xdd_live_at(store);
	u32 found;

	said = said ? xdd_replica_said(fixed, store, digest, said) : 0;
	if (!said || !live)
		return 0;
	found = XDD_ELSEWHERE | xdd_lowest(said) << XDD_PEER_SHIFT;
	return live->replica_action == XDD_REPLICA_count ? found : found | XDD_UNASKED | XDD_SEEN;
}

/* The peer in what was @found, with XDD_ELSEWHERE. */
XDD_INLINE u32 xdd_found_peer(u32 found)
{
	return found >> XDD_PEER_SHIFT & (XDD_MAX_PEERS - 1);
}

/* What is done with a duplicate of which @found is known. */
XDD_INLINE u32 xdd_dup_action(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			      u32 found)
{
	if (!fixed->peers || !(found & XDD_UNASKED))
		return live->action;
	if (live->replica_action == XDD_REPLICA_mark)
		return XDD_ACTION_mark;
	return live->action == XDD_ACTION_redirect ? XDD_ACTION_redirect : XDD_ACTION_drop;
}

/* What is recorded of a packet in the audit's sample. Returns false where no peer was believed. */
XDD_INLINE bool xdd_peer_audit(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			       const struct xdd_identity *identity, u64 now_ns, u32 found,
			       struct xdd_peer_audit *record)
{
	record->believed = xdd_peers_believed(store, now_ns);
	if (!record->believed)
		return false;
	record->print = xdd_audit_print(fixed, identity);
	record->time_ns = now_ns;
	record->said = xdd_replica_said(fixed, store, &identity->digest, record->believed);
	record->own = found & XDD_UNASKED ? XDD_PEER_OWN_UNASKED
		      : found & XDD_SEEN  ? XDD_PEER_OWN_DUPLICATE
					  : XDD_PEER_OWN_DISTINCT;
	record->pad = 0;
	return true;
}

#endif

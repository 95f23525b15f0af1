/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which packets of a feed come more than once, how far apart, and in what they differ: counted over
 * a sample, in memory of a fixed size. What a filter would drop is not estimated: every packet
 * remembers when each of several windows began for it.
 */
#ifndef USER_LEARN_SAMPLE_H
#define USER_LEARN_SAMPLE_H

#include "user/explain/fields.h"
#include "user/identity.h"

/* The windows that are tried, in nanoseconds. */
#define LEARN_WINDOWS 12
extern const u64 learn_window_ns[LEARN_WINDOWS];

/* Equal packets up to so far apart are taken for copies; beyond, for something sent again. Over 60
 * real captures 50 ms finds 2566 of 2567 copies, and windows of seconds take hellos for copies.
 */
#define LEARN_COPIES 7
#define LEARN_TICKS 16 /* the default of --ticks: copies in the last one may pass */
#define LEARN_COPY_NS 100000000ull

/* Distances are counted in steps of 1, 2, 5 from 1 us to 10 s, and beyond. */
#define LEARN_STEPS 23
extern const u64 learn_step_ns[LEARN_STEPS - 1];

#define LEARN_TIMES 8
#define LEARN_DIFFERENCES 64
#define LEARN_SNAP 160		  /* bytes of a frame that are kept to be compared: its headers */
#define LEARN_MISSED 200	  /* one in so many copies may be beyond what is advised */
#define LEARN_TAPS_NS 10000000ull /* taps of one packet are hardly further apart */
#define LEARN_VLANS 16

/*
 * Unsure: nobody can tell a copy from a packet that was sent twice where it has no usable
 * identification (IPv4 with 0 or ignored, IPv6 without fragment header, no IP) and came with the same
 * TTL by the same tunnel. Nor where it came in another VLAN than its first and has not been routed, if
 * both have one or are more than LEARN_TAPS_NS apart: networks with the same addresses look like that.
 */
struct learn_count {
	u64 all, unsure;
};

struct learn_window {
	struct learn_count dropped; /* what an exact filter with this window would drop */
	struct learn_count early;   /* of these, what does not lie in the last tick of 16 */
	u64 farthest_ns;	    /* from its first, the latest of them */
	u64 forgotten; /* packets that memory was too small to keep to the window's end */
};

struct learn_difference {
	const struct field_kind *kind;
	u32 nth;
	u64 copies;
};

/* Copies whose innermost VLAN (0: none) is not that of their first. */
struct learn_vlans {
	u16 first, copy;
	u64 copies, routed; /* of which so many have another TTL */
};

struct learn_entry;

struct learn {
	const struct xdd_fixed *fixed;
	struct xdd_secret secret;
	struct learn_entry *entries; /* the oldest is replaced */
	u32 *chains;
	u32 n_entries, n_chains; /* n_chains: a power of two */
	u32 used, next;

	u64 frames, bytes, compared;
	u64 bypassed[XDD_BYPASS_MAX];
	u64 first_ns, last_ns;
	struct learn_count steps[LEARN_STEPS];
	struct learn_window windows[LEARN_WINDOWS];
	u64 times[LEARN_TIMES + 1]; /* packets that came once, twice, ...; LEARN_TIMES: or more */
	u64 most_times;
	u64 identical;	     /* copies that are the same frame, byte by byte */
	u64 other_interface; /* copies that came by another interface than their first */
	u64 other_vlan;
	u32 n_vlans; /* pairs, in the order in which they appeared */
	struct learn_vlans vlans[LEARN_VLANS];
	u32 n_differences; /* in the order in which they appeared */
	struct learn_difference differences[LEARN_DIFFERENCES];
};

/*
 * Start to count packets as @fixed keys them, in about @memory_bytes. Returns 0 or -ENOMEM;
 * learn_close() frees.
 */
int learn_open(struct learn *l, const struct xdd_fixed *fixed, u64 memory_bytes);

/* A frame, seen at @time_ns on interface @iface. */
void learn_take(struct learn *l, const struct xdd_packet *packet, u64 time_ns, u32 iface);

/* A frame that --filter or --direction leaves out. */
void learn_skip(struct learn *l, const struct xdd_packet *packet, u64 time_ns);

void learn_close(struct learn *l);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The configuration that the core reads. struct xdd_fixed is structure: chosen at
 * load, constant to the verifier and the JIT afterwards. struct xdd_live is what can
 * change while traffic flows: one map entry, read once per packet.
 */
#ifndef XDD_CONFIG_H
#define XDD_CONFIG_H

#include "types.h"

/* Changes whenever a pinned layout changes: a loader refuses pins of another one. */
#define XDD_ABI 10

#define XDD_MAX_IFACES 16
/* Beside the slots of interfaces there are two that count: packets of an interface without a slot, and what removed
 * interfaces had counted whose slots others have got.
 */
#define XDD_SLOT_ELSEWHERE XDD_MAX_IFACES
#define XDD_SLOT_FORMER (XDD_MAX_IFACES + 1)
#define XDD_SLOTS (XDD_MAX_IFACES + 2)
#define XDD_MAX_HASHES 8
#define XDD_MAX_PARTS 512 /* of a filter, whose slices may fail: faults.h */
#define XDD_LINE_BYTES 64

/* Of replicas (replica.h): other hosts, and bits of the filter that each of them sends, as powers of two. */
#define XDD_MAX_PEERS 64
#define XDD_REPLICA_SHIFT_MIN 10
#define XDD_REPLICA_SHIFT_MAX 32

/* Of a filter that grows (growth.h): filters of a chain, and chains. */
#define XDD_MAX_FILTERS 8
#define XDD_MAX_CHAINS 512

/* Stored expiries wrap modulo 255 ticks; half of that can be told from the past. A CPU may write
 * an entry a few ticks ahead of another's clock: the window leaves them room.
 */
#define XDD_HORIZON_TICKS 127
#define XDD_SKEW_TICKS 8
#define XDD_MAX_WINDOW_TICKS (XDD_HORIZON_TICKS - XDD_SKEW_TICKS)

/*
 * Engines: X(name, memory, help). The header is include/xdd/engine_<name>.h. Memory:
 * timers  lines of line.h, which forget by themselves what is older than the window
 * table   entries with a time, compared with the window
 * bits    lines of bits (bits.h): no window, forgetting is by chance
 * streams a line for each stream of numbered frames
 */
#define XDD_ENGINES(X)                                                                 \
	X(tagged, timers, "cache lines of 15 cells: a 24-bit tag and a timer each")    \
	X(timer, timers, "Bloom filter of k timers per key, sliced")                   \
	X(exact, table, "hash of 128-bit digests, or of whole flow keys")              \
	X(bloom, bits, "Bloom filter: k bits per key, never cleared")                  \
	X(sbf, bits, "stable Bloom filter: each event counts P cells down")            \
	X(rsbf, bits, "reservoir sampling: an insertion resets a bit in each of k")    \
	X(bsbf, bits, "biased sampling: each new key resets a bit in each of k")       \
	X(bsbfsd, bits, "biased sampling, single deletion: a bit in one of k filters") \
	X(rlbsbf, bits, "biased sampling balanced by load: fewest copies missed")      \
	X(recovery, streams, "IEEE 802.1CB sequence recovery, for --key redundancy")

/* Engine rsbf. */
#define XDD_VARIANTS(X)                                                     \
	X(published, "as the printed tables: what is inserted also resets") \
	X(algorithm1, "as Algorithm 1: new keys only, then --p-star")

/* Keys: X(name, help). `offset` takes :LEN@POS. */
#define XDD_KEYS(X)                                                              \
	X(packet, "the IP packet without the fields that change on the way")     \
	X(frame, "link type, wire length and every captured byte")               \
	X(flow, "addresses, protocol and ports: one packet per flow and window") \
	X(biflow, "flow, with both directions the same")                         \
	X(src, "source address")                                                 \
	X(dst, "destination address")                                            \
	X(srcdst, "source and destination address")                              \
	X(offset, "LEN bytes at POS of the frame")                               \
	X(redundancy, "stream and sequence number of PRP, HSR or FRER")

#define XDD_HASHES(X)                                                          \
	X(keyed, "NH as in UMAC over a secret drawn per load: 2^-31 per pair") \
	X(siphash, "SipHash-2-4 under a secret key: slower, for the cautious") \
	X(xxh64, "XXH64 of the key's bytes: reproducible, not attack-resistant")

#define XDD_SLICINGS(X)                                                                 \
	X(none, "one filter")                                                           \
	X(horizontal, "a key's cells all lie in one of --slices, which its hash picks") \
	X(vertical, "ranges of one filter: verdicts as with none of the same size")     \
	X(hv, "horizontal, each slice cut vertically into --subslices")                 \
	X(vh, "vertical, each slice cut horizontally into --subslices")                 \
	X(K1xK2, "such as 2x2: K1 of --slices, K2 cells in each, k = K1 K2")

/* What happens to duplicates. */
#define XDD_DUP_ACTIONS(X)                                              \
	X(drop, "drop them")                                            \
	X(count, "count them only, pass them on")                       \
	X(mark, "rewrite their DSCP (mark:dscp=N), or write mark:meta") \
	X(redirect, "send them to another interface (redirect:IFACE)")

/* What is answered where a slice has failed. */
#define XDD_FAULT_POLICIES(X)                                                  \
	X(off, "slices do not fail: the program has no code for it")           \
	X(duplicate, "what is unknown is taken as set: never a copy more")     \
	X(distinct, "what is unknown is taken as not set: no loss by a fault") \
	X(vote, "vote:X: a copy if at least X of the k cells are there and set")

#define XDD_PLACEMENTS(X)                                                   \
	X(shared, "one filter that all CPUs ask, atomic per key")           \
	X(percpu, "one filter per CPU: copies must arrive on the same CPU") \
	X(tree, "filters per CPU below a shared one: copies on any CPU are found")

/* Placement tree: what a duplicate that was found above a leaf leaves below. */
#define XDD_TREES(X)                                               \
	X(sparse, "nothing: a key lies where its first copy came") \
	X(dense, "the key: the next copy on the same CPU is found at once")

/* When one more filter is opened: X(name, help). See growth.h. */
#define XDD_GROWTHS(X)                                                     \
	X(off, "the filter keeps its size")                                \
	X(density, "when the newest filter's share of live cells is such") \
	X(cardinality, "when so many keys were inserted into it")

/* Which packets the filter is asked about, by whether the watch set has their key: watch.h. */
#define XDD_WATCHES(X)                                                      \
	X(only, "only those of the set are de-duplicated, the others pass") \
	X(skip, "those of the set pass, the others are de-duplicated")      \
	X(drop, "those of the set are dropped, the others de-duplicated")   \
	X(select, "those of the set are de-duplicated, the others dropped")

/* What happens to packets that only another host has seen: replica.h. */
#define XDD_REPLICA_ACTIONS(X)                                                    \
	X(drop, "a copy: dropped, or redirected where --action redirects copies") \
	X(mark, "a copy: marked as --action mark does, and passed on")            \
	X(count, "counted only: the own filter decides, as if there were no other host")

#define XDD_CLOCKS(X)                          \
	X(exact, "nanoseconds at each packet") \
	X(coarse, "the jiffy clock: cheap, steps of 1/HZ")

#define XDD_PORTS(...)      \
	{                   \
		__VA_ARGS__ \
	}

/* Tunnels over UDP: X(name, ports, help). The ports are what IANA or the kernel gave them. */
#define XDD_TUNNELS(X)                                                           \
	X(vxlan, XDD_PORTS(4789, 8472, 4790), "VXLAN and its generic extension") \
	X(geneve, XDD_PORTS(6081), "Geneve")                                     \
	X(gtpu, XDD_PORTS(2152), "GTP-U")                                        \
	X(mpls, XDD_PORTS(6635), "MPLS")

#define XDD_TUNNEL_PORTS 8 /* of all tunnels together */
#define XDD_MAX_INNER 4	   /* IP packets inside the outermost one */
#define XDD_MAX_HEADERS 40 /* of tunnels, links and packets on the way to the innermost */

/* Fields of the packet key: X(name, 1 if it is compared by default, help). */
#define XDD_FIELDS(X)                                                    \
	X(ipid, 1, "IPv4 identification")                                \
	X(ttl, 0, "TTL, hop limit")                                      \
	X(dscp, 0, "the upper six bits of TOS and traffic class")        \
	X(ecn, 0, "the lower two")                                       \
	X(flowlabel, 0, "IPv6 flow label")                               \
	X(macs, 0, "both addresses of the nearest Ethernet header")      \
	X(l4csum, 1, "checksum of TCP, UDP, UDP-Lite, ICMP, DCCP, SCTP") \
	X(tcp_seq, 1, "TCP sequence number")                             \
	X(tcp_ack, 1, "TCP acknowledgement number")                      \
	X(tcp_opts, 1, "TCP options")

/* Packets that content cannot tell from their copies, for they carry no identification: X(name,
 * word of --ambiguous, help). See repeat.h.
 */
#define XDD_CLASSES(X)                                                                \
	X(ack_rst, "ack", "TCP without data, SYN or FIN: pure ACK or RST")            \
	X(tcp_data, "tcp", "TCP with data, SYN or FIN: a repeat is a retransmission") \
	X(udp, "udp", "UDP and UDP-Lite")                                             \
	X(other, "other", "everything else, such as ICMP, and frames without IP")

#define XDD_MAX_VLAN_MAPS 8

/* Sequence numbers that a stream remembers at most: 32 of the 64 bytes of its line. */
#define XDD_MAX_HISTORY 256

#define XDD_ENUM_ENGINE(name, memory, help) XDD_ENGINE_##name,
#define XDD_ENUM_KEY(name, help) XDD_KEY_##name,
#define XDD_ENUM_HASH(name, help) XDD_HASH_##name,
#define XDD_ENUM_SLICING(name, help) XDD_SLICING_##name,
#define XDD_ENUM_ACTION(name, help) XDD_ACTION_##name,
#define XDD_ENUM_PLACEMENT(name, help) XDD_PLACEMENT_##name,
#define XDD_ENUM_FAULTS(name, help) XDD_FAULTS_##name,
#define XDD_ENUM_TREE(name, help) XDD_TREE_##name,
#define XDD_ENUM_GROWTH(name, help) XDD_GROWTH_##name,
#define XDD_ENUM_WATCH(name, help) XDD_WATCH_##name,
#define XDD_ENUM_REPLICA(name, help) XDD_REPLICA_##name,
#define XDD_ENUM_CLOCK(name, help) XDD_CLOCK_##name,
#define XDD_ENUM_VARIANT(name, help) XDD_VARIANT_##name,
#define XDD_ENUM_FIELD(name, by_default, help) XDD_FIELD_##name,
#define XDD_DEFAULT_FIELD(name, by_default, help) | (by_default) << XDD_FIELD_##name
#define XDD_ENUM_TUNNEL(name, ports, help) XDD_TUNNEL_##name,
#define XDD_ENUM_CLASS(name, word, help) XDD_CLASS_##name,
enum xdd_engine { XDD_ENGINES(XDD_ENUM_ENGINE) XDD_ENGINE_MAX };
enum xdd_key_kind { XDD_KEYS(XDD_ENUM_KEY) XDD_KEY_MAX };
enum xdd_hash_kind { XDD_HASHES(XDD_ENUM_HASH) XDD_HASH_MAX };
enum xdd_slicing { XDD_SLICINGS(XDD_ENUM_SLICING) XDD_SLICING_MAX };
enum xdd_dup_action { XDD_DUP_ACTIONS(XDD_ENUM_ACTION) XDD_ACTION_MAX };
enum xdd_placement { XDD_PLACEMENTS(XDD_ENUM_PLACEMENT) XDD_PLACEMENT_MAX };
enum xdd_fault_policy { XDD_FAULT_POLICIES(XDD_ENUM_FAULTS) XDD_FAULTS_MAX };
enum xdd_tree { XDD_TREES(XDD_ENUM_TREE) XDD_TREE_MAX };
enum xdd_growth { XDD_GROWTHS(XDD_ENUM_GROWTH) XDD_GROWTH_MAX };
enum xdd_watch_action { XDD_WATCHES(XDD_ENUM_WATCH) XDD_WATCH_MAX };
enum xdd_replica_action { XDD_REPLICA_ACTIONS(XDD_ENUM_REPLICA) XDD_REPLICA_MAX };
enum xdd_clock { XDD_CLOCKS(XDD_ENUM_CLOCK) XDD_CLOCK_MAX };
enum xdd_variant { XDD_VARIANTS(XDD_ENUM_VARIANT) XDD_VARIANT_MAX };
enum xdd_field { XDD_FIELDS(XDD_ENUM_FIELD) XDD_FIELD_MAX };
enum { XDD_DEFAULT_FIELDS = 0 XDD_FIELDS(XDD_DEFAULT_FIELD) };
enum xdd_tunnel { XDD_TUNNELS(XDD_ENUM_TUNNEL) XDD_TUNNEL_MAX };
enum xdd_class { XDD_CLASS_identified, XDD_CLASSES(XDD_ENUM_CLASS) XDD_CLASS_MAX };

/* The engines of one kind of memory, as bits by enum xdd_engine. */
enum xdd_memory { XDD_MEMORY_timers, XDD_MEMORY_table, XDD_MEMORY_bits, XDD_MEMORY_streams };
#define XDD_MEMORY_BIT(name, memory, help) \
	(XDD_MEMORY_##memory == XDD_MEMORY_OF) << XDD_ENGINE_##name |
#define XDD_MEMORY_OF XDD_MEMORY_timers
enum { XDD_TIMER_ENGINES = XDD_ENGINES(XDD_MEMORY_BIT) 0 };
#undef XDD_MEMORY_OF
#define XDD_MEMORY_OF XDD_MEMORY_bits
enum { XDD_BIT_ENGINES = XDD_ENGINES(XDD_MEMORY_BIT) 0 };
#undef XDD_MEMORY_OF

/* The engines whose cells --slicing lays out (slices.h). */
enum { XDD_SLICED_ENGINES = 1 << XDD_ENGINE_timer | 1 << XDD_ENGINE_bloom };

XDD_INLINE bool xdd_engine_is_sliced(u32 engine)
{
	return XDD_SLICED_ENGINES >> engine & 1;
}

/* The engines whose k filters may lie side by side in every line (bits.h): --slicing horizontal. */
enum { XDD_LINED_ENGINES = 1 << XDD_ENGINE_bsbf | 1 << XDD_ENGINE_bsbfsd | 1 << XDD_ENGINE_rlbsbf };

XDD_INLINE bool xdd_engine_is_lined(u32 engine)
{
	return XDD_LINED_ENGINES >> engine & 1;
}

/* The engines whose slices may fail (faults.h). */
enum { XDD_FAULT_ENGINES = XDD_SLICED_ENGINES | 1 << XDD_ENGINE_tagged };

XDD_INLINE bool xdd_engine_may_fail(u32 engine)
{
	return XDD_FAULT_ENGINES >> engine & 1;
}

/* The engines whose filters may stand in a tree (tree.h). */
enum { XDD_TREE_ENGINES = 1 << XDD_ENGINE_tagged | 1 << XDD_ENGINE_timer | 1 << XDD_ENGINE_bloom };

/* Whether the engine's memory is timers, so that a window of ticks, ageing and sweeping apply. */
XDD_INLINE bool xdd_engine_has_timers(u32 engine)
{
	return XDD_TIMER_ENGINES >> engine & 1;
}

/* Whether it is bits: no window, no time, and random numbers. */
XDD_INLINE bool xdd_engine_has_bits(u32 engine)
{
	return XDD_BIT_ENGINES >> engine & 1;
}

/* Link types by their pcap numbers (tcpdump.org/linktypes.html). */
enum xdd_link {
	XDD_LINK_NULL = 0,
	XDD_LINK_ETHERNET = 1,
	XDD_LINK_RAW_BSD = 12,
	XDD_LINK_RAW = 101,
	XDD_LINK_LOOP = 108,
	XDD_LINK_SLL = 113,
	XDD_LINK_IPV4 = 228,
	XDD_LINK_IPV6 = 229,
	XDD_LINK_SLL2 = 276,
};

/* Structure, fixed at load. In BPF read-only data named `xdd_fixed`. */
struct xdd_fixed {
	u32 engine;	      /* enum xdd_engine */
	u32 key;	      /* enum xdd_key_kind */
	u32 hash;	      /* enum xdd_hash_kind */
	u32 slicing;	      /* enum xdd_slicing */
	u32 placement;	      /* enum xdd_placement */
	u32 clock;	      /* enum xdd_clock */
	u32 hashes;	      /* k of the Bloom engines, 1..XDD_MAX_HASHES */
	u32 slices;	      /* S, 1..lines; 1 when slicing is none */
	u32 subslices;	      /* S2 of hv and vh; else 0 */
	u32 slice_hashes;     /* K1 of K1xK2, which divides hashes; else 0 */
	u32 line_cells;	      /* cells of a line that are used (files); 0: all */
	u32 blocks;	      /* filter blocks (map entries; per CPU if percpu) */
	u32 lines_per_block;  /* 64-byte lines in a block, of one filter */
	u32 stripes;	      /* locks of shared placement, a power of two */
	u32 offset_len;	      /* key offset: bytes, 1..65535 */
	u32 offset_pos;	      /* key offset: first byte, 0..65535 */
	u32 link;	      /* enum xdd_link of the packets (BPF; files say it per frame) */
	u8 refresh;	      /* a duplicate restarts the window */
	u8 verify_checksum;   /* IPv4 header: wrong passes as bad_checksum */
	u8 zero_checksum_ok;  /* ... but 0 counts as not computed (files) */
	u8 zero_length_ok;    /* IP length 0: up to the captured end (files) */
	u8 short_capture_ok;  /* cut by the snap length: key on what there is (files) */
	u8 non_ip_frame;      /* frames without IP: key on the frame, else bypass */
	u8 sbf_max;	      /* sbf: MAX, 1..2^sbf_bits - 1 */
	u8 sbf_bits;	      /* sbf: bits of a cell, 1, 2, 4 or 8 */
	u32 history;	      /* recovery: numbers remembered, 2..XDD_MAX_HISTORY; 0: the last */
	u64 tick_ns;	      /* length of a tick, at least 1 */
	u64 seed;	      /* XXH64 */
	u32 variant;	      /* rsbf: enum xdd_variant */
	u32 reset_bits;	      /* sbf: cells that each event counts down, 1..64/sbf_bits */
	u64 reservoir_events; /* rsbf: events until s/i is p*, at most 2^42 */
	u16 tunnel_port[XDD_TUNNEL_PORTS]; /* UDP, destination; 0: a free entry */
	u8 tunnel_kind[XDD_TUNNEL_PORTS];  /* enum xdd_tunnel */
	u32 changed_fields;		   /* bits by enum xdd_field: not as by default */
	u32 payload_bytes;		   /* of the packet behind its IP header; 0: all */
	u8 vlan_key;			   /* VLAN identifiers tell packets apart ... */
	u8 vlan_maps;			   /* ... of which the first so many in: */
	u8 scope_iface;			   /* packets of different interfaces are different */
	u8 inner;			   /* key on the innermost packet of tunnels ... */
	u8 vni_key;			   /* ... and on the identifier of the tunnel around it */
	u8 equal;	 /* timer: of a copy's timers so many agree, 1..k; 0: no rule */
	u8 fault_policy; /* enum xdd_fault_policy */
	u8 vote;	 /* policy vote: 1..k; else 0 */
	u16 vlan_from[XDD_MAX_VLAN_MAPS];
	u16 vlan_to[XDD_MAX_VLAN_MAPS]; /* 0: as without the tag */
	u32 audit_threshold; /* in the sample: a hash of 32 bits below this; 0: no audit */
	u32 audit_buckets;   /* of its shadow: a power of two */
	u32 audit_race_ns;   /* how far verdicts are believed to be in another order; 0: never */
	u32 grow_density;    /* a filter is full: so many of 2^32 of its cells */
	u8 grow;	     /* enum xdd_growth */
	u8 filters;	     /* lines side by side at each place, 2..XDD_MAX_FILTERS; 0: one */
	u8 pad4[2];
	u32 tree_leaves;   /* tree: nodes of the last level (possible CPUs) ... */
	u32 tree_fan_out;  /* ... and children of each node above but the last but one (NUMA) */
	u8 tree;	   /* enum xdd_tree */
	u8 levels;	   /* of the tree, 2..XDD_TREE_MAX_LEVELS; the root is level 0 */
	u8 top_down;	   /* a match above this level is looked for below it; 0: off */
	u8 peers;	   /* whose replicas are held: 8, 16, 32 or 64; 0: none, and no code */
	u8 replica_shift;  /* each of 2^this bits, XDD_REPLICA_SHIFT_MIN.._MAX */
	u8 replica_hashes; /* bits of a key in them, 1..XDD_MAX_HASHES */
	u8 watch_hashes;   /* of the watch set: positions of a key, 1..XDD_WATCH_MAX_HASHES ... */
	u8 pad5;
	u32 watch_bits;	  /* ... and bits of its level 1; 0: no set */
	u64 replica_step; /* engines timer and bloom: 2^64 / cells; else 0 */
	u32 collect_keys; /* distinct keys of a period, at most (collect.h); 0: none, and no code */
	u32 pad6;
};

/* Lines of the filter, or of each in a chain; per CPU under that placement. */
XDD_INLINE u32 xdd_lines(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->blocks * fixed->lines_per_block;
}

/* Innermost slices: runs of lines of equal length, the first from line 0 on. A line that does not
 * fill a run is not used.
 */
XDD_INLINE u32 xdd_subslices(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->subslices ? fixed->subslices : 1;
}

XDD_INLINE u32 xdd_slices_count(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->slices * xdd_subslices(fixed);
}

/* Of one slice without a division: in BPF it would be one for each packet. */
XDD_INLINE u32 xdd_slice_lines(XDD_FIXED struct xdd_fixed *fixed)
{
	u32 count = xdd_slices_count(fixed);

	return count == 1 ? xdd_lines(fixed) : xdd_lines(fixed) / count;
}

/* Whether the key picks one part of the filter, in which all its cells lie. */
XDD_INLINE bool xdd_slices_pick_one(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->slicing == XDD_SLICING_horizontal || fixed->slicing == XDD_SLICING_hv;
}

/* Whether all cells of a key lie in one line. */
XDD_INLINE bool xdd_slices_one_line(XDD_FIXED struct xdd_fixed *fixed)
{
	return xdd_slices_pick_one(fixed) && fixed->slices == xdd_lines(fixed);
}

/* Filters side by side at each place. */
XDD_INLINE u32 xdd_filters(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->filters ? fixed->filters : 1;
}

/* Whether the packet key has @field. */
XDD_INLINE bool xdd_field_in(XDD_FIXED struct xdd_fixed *fixed, u32 field)
{
	return (XDD_DEFAULT_FIELDS ^ fixed->changed_fields) >> field & 1;
}

/* An attached interface; ifindex 0 is a free slot. */
struct xdd_iface {
	u32 ifindex;
	u32 pad;
};

/* Live configuration: the only entry of map `config`. */
struct xdd_live {
	u32 abi;	   /* XDD_ABI, else everything passes as stale */
	u32 window_ticks;  /* 1..XDD_MAX_WINDOW_TICKS */
	u64 window_ns;	   /* exact engine: inclusive */
	u32 action;	   /* enum xdd_dup_action */
	u8 mark_dscp;	   /* 0..63 */
	u8 mark_meta;	   /* 1: write 4 bytes of XDP metadata instead */
	u8 forward;	   /* 1: what is kept goes to devmap entry XDD_DEV_FORWARD */
	u8 ambiguous_pass; /* bits 1.. by enum xdd_class: duplicates that are kept */
	u32 max_suppress;  /* of a key's duplicates one passes after so many; 0: none does */
	u8 top;		   /* 1: keep the keys most often suppressed in map `top` */
	u8 watch_action;   /* enum xdd_watch_action */
	u8 replica_action; /* enum xdd_replica_action */
	u8 pad;
	u32 event_rate;	 /* verdicts that are shown: at most so many a second ... */
	u16 event_kinds; /* ... of these, bits by enum xdd_event_kind; 0: none ... */
	u16 event_bytes; /* ... with so many bytes of the frame, 1..XDD_EVENT_BYTES */
	struct xdd_iface ifaces[XDD_MAX_IFACES];
};

/* Entries of map `targets`. */
enum xdd_dev { XDD_DEV_DUPLICATES, XDD_DEV_FORWARD, XDD_DEV_MAX };

XDD_ASSERT(sizeof(struct xdd_fixed) == 240, "xdd_fixed has no holes");
XDD_ASSERT(sizeof(struct xdd_live) == 40 + 8 * XDD_MAX_IFACES, "xdd_live has no holes");

#endif

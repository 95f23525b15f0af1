/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is counted. Each list is written once; the struct in the map, the help text,
 * JSON, and the check of the documentation are all generated from it.
 *
 * received = distinct + duplicate + all of XDD_BYPASSES = all of XDD_ACTIONS,
 * in packets and in bytes, for each interface and in total.
 */
#ifndef XDD_COUNTERS_H
#define XDD_COUNTERS_H

#include "config.h"

/* X(name, help) */
#define XDD_VERDICTS(X)             \
	X(distinct, "first copies") \
	X(duplicate, "copies of a packet seen within the window")

/* Reasons for which a packet is passed without asking the filter. */
#define XDD_BYPASSES(X)                                                           \
	X(not_ip, "frames that carry no IP packet the parser can reach")          \
	X(truncated, "frames that end before the headers or the IP length do")    \
	X(malformed, "IP headers with a wrong version or length")                 \
	X(bad_checksum, "IPv4 packets whose header checksum is wrong")            \
	X(unsupported, "link types, MACsec, or deeper tags or headers than read") \
	X(filtered, "frames that --filter or --direction leaves out")             \
	X(untagged, "--key redundancy: frames without a sequence number")         \
	X(watch, "packets that --watch-action keeps from the filter")             \
	X(stale, "filter state that could not be trusted at that moment")         \
	X(faulted, "answers that lay in a slice that has failed")                 \
	X(internal, "faults of ours: a map entry that was missing")

#define XDD_ACTIONS(X)                                        \
	X(passed, "packets handed up the stack")              \
	X(dropped, "duplicates, and --watch-action, dropped") \
	X(redirected, "packets sent to another interface")    \
	X(redirect_errors, "redirections that failed at once, then passed")

/* Why --inner went no deeper: the packet is known by the last layer that was valid. */
#define XDD_INNERS(X)                                                                   \
	X(inner_truncated, "tunnels whose packet ends before its headers or length do") \
	X(inner_malformed, "tunnels whose packet has a wrong header or checksum")       \
	X(inner_unsupported, "tunnels nested deeper than is read, or MACsec in them")

/* Events beside the sums: plain numbers, no bytes. */
#define XDD_NOTES(X)                                                               \
	X(time_back, "look-ups that arrived with an earlier tick than the line's") \
	X(evictions, "live entries replaced in a full line (copies may pass)")     \
	X(mark_failed, "duplicates that could not be marked, and passed unmarked") \
	X(let_through, "duplicates kept by --max-suppress, one after so many")     \
	X(elsewhere, "packets that a peer had seen (see --replica-action)")        \
	X(rogue, "numbers outside their stream's history, passed")                 \
	X(events_sent, "verdicts shown to whoever reads events")                   \
	X(events_limited, "verdicts not shown: enough for that second")            \
	X(events_lost, "verdicts not shown: nobody read the others in time")       \
	XDD_INNERS(X)

struct xdd_count {
	u64 packets;
	u64 bytes;
};

#define XDD_COUNT_FIELD(name, help) struct xdd_count name;
#define XDD_NOTE_FIELD(name, help) u64 name;
#define XDD_CLASS_FIELD(name, word, help) struct xdd_count ambiguous_##name;

/* One per interface slot and CPU: map `counters`. */
struct xdd_counters {
	struct xdd_count received;
	XDD_VERDICTS(XDD_COUNT_FIELD)
	XDD_BYPASSES(XDD_COUNT_FIELD)
	XDD_ACTIONS(XDD_COUNT_FIELD)
	XDD_CLASSES(XDD_CLASS_FIELD) /* duplicates that may be real repeats, by class */
	XDD_NOTES(XDD_NOTE_FIELD)
};

#define XDD_REASON_ENUM(name, help) XDD_BYPASS_##name,
enum xdd_bypass { XDD_BYPASSES(XDD_REASON_ENUM) XDD_BYPASS_MAX };

#define XDD_INNER_ENUM(name, help) XDD_##name,
enum xdd_inner { XDD_inner_fine, XDD_INNERS(XDD_INNER_ENUM) XDD_INNER_MAX };

XDD_ASSERT(sizeof(struct xdd_counters) % 8 == 0, "counters are 64-bit words");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What Prometheus scrapes: its text format 0.0.4, or OpenMetrics 1.0.
 *
 * METRICS is the list: what is exported, its help, and the table in README.md, which a test compares,
 * come from it and from the lists of counters.h and audit.h.
 */
#ifndef USER_EXPORT_PAGE_H
#define USER_EXPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/types.h>

struct status;
struct member_report;

/*
 * X(name, type, labels, help), in the order of the page. On the page a name has xdp_dedup_ in front,
 * and a counter's _total behind; a histogram's samples have _bucket, _sum and _count. The first label is always `name`, the instance's.
 */
#define METRICS(X)                                                                                \
	X(up, gauge, "",                                                                          \
	  "1 if the pins of the instance could be read, else 0: also if a killed command left "   \
	  "half of it")                                                                           \
	X(read_timestamp_seconds, gauge, "",                                                      \
	  "when these numbers were read, since 1970: old in a file that was left behind")         \
	X(packets, counter, "interface, verdict",                                                 \
	  "packets received, by verdict: distinct, duplicate, or bypassed")                       \
	X(bytes, counter, "interface, verdict", "bytes received, by verdict")                     \
	X(bypassed, counter, "interface, reason", "packets passed without asking the filter")     \
	X(ambiguous, counter, "interface, class",                                                 \
	  "duplicates without identification, which may be real repeats")                         \
	X(actions, counter, "interface, action", "packets by what was done with them")            \
	X(action_bytes, counter, "interface, action", "bytes by what was done with them")         \
	X(notes, counter, "interface, note", "events beside these sums")                          \
	X(evictions, counter, "", "live entries replaced in full lines: their copies may pass")   \
	X(attached, gauge, "interface, mode, state", "1 if the interface is attached, else 0")    \
	X(carrier, gauge, "interface, operstate",                                                 \
	  "1 if the interface is up and has a carrier, else 0")                                   \
	X(reattached, counter, "interface", "Times that it was gone, came back and was attached") \
	X(loaded_timestamp_seconds, gauge, "", "when the filter was loaded, since 1970")          \
	X(window_seconds, gauge, "", "how long a packet is remembered; 0: no fixed time")         \
	X(memory_bytes, gauge, "", "size of the filter, on all CPUs")                             \
	X(capacity_keys, gauge, "", "live keys that the filter is meant for")                     \
	X(capacity_used_ratio, gauge, "",                                                         \
	  "live keys over that number; not of exact, whose keys only a walk over all can count")  \
	X(density_ratio, gauge, "", "share of the filter's cells that is live")                   \
	X(slice_density, gauge, "slice", "share of the slice's cells that is live")               \
	X(slices_by_state, gauge, "state", "slices that may fail, by state")                      \
	X(slice_state, gauge, "slice, state",                                                     \
	  "1: it has failed or recovers; the first 256 that do")                                  \
	X(slice_unanswered, counter, "slice", "look-ups that the slice could not answer")         \
	X(filters_live, gauge, "", "--grow: filters that are asked, the mean over the slices")    \
	X(filters_most, gauge, "", "--grow: the most that a slice has")                           \
	X(filters_full, gauge, "", "--grow: slices that are full, with no filter left to open")   \
	X(filters_opened, counter, "", "--grow: filters opened since load")                       \
	X(filters_retired, counter, "", "--grow: filters retired since load")                     \
	X(watch_keys, gauge, "", "--watch-action: keys in the watch set")                         \
	X(watch_capacity_keys, gauge, "", "--watch-action: keys that it has room for")            \
	X(watch_fpr, gauge, "", "share of packets of other keys that are taken for its own")      \
	X(watch_share_sequence, gauge, "owner",                                                   \
	  "--share-watch: changes of the set in its owner's time that were told, or are here")    \
	X(watch_share_behind_seconds, gauge, "owner",                                             \
	  "since when the set may not be its owner's; 0: it is")                                  \
	X(watch_share_refused, counter, "owner",                                                  \
	  "messages about the set that were damaged, forged or of a set unlike this one")         \
	X(watch_share_old, counter, "owner", "messages about the set that had been said before")  \
	X(watch_share_missing, counter, "owner",                                                  \
	  "changes that did not come, so that all of the set was asked for")                      \
	X(collect_room_keys, gauge, "", "--collect: keys of a period that have room")             \
	X(collect_keys, gauge, "", "different keys of the last period that was asked for")        \
	X(collect_overflow_packets, gauge, "",                                                    \
	  "packets of this period, or the last one, whose keys found no room")                    \
	X(collect_periods, counter, "", "periods whose keys were read")                           \
	X(collect_refused, counter, "",                                                           \
	  "questions that were damaged, or of someone without the secret")                        \
	X(peers_believed, gauge, "", "--peers: hosts whose replicas are believed now")            \
	X(peer_hits, counter, "peer", "packets that the peer had seen")                           \
	X(peer_hit_bytes, counter, "peer", "bytes of these")                                      \
	X(peer_state, gauge, "peer, state", "1: the state that the peer is in")                   \
	X(peer_keys, gauge, "peer", "live keys at the peer, as it says")                          \
	X(peer_density_ratio, gauge, "peer", "share of ones in its replica")                      \
	X(peer_age_seconds, gauge, "peer", "since its replica was last made up to date")          \
	X(peer_received_bytes, counter, "peer", "bytes of messages from the peer")                \
	X(peer_updates, counter, "peer, kind", "whole filters and changes that were taken")       \
	X(peer_gaps, counter, "peer", "updates that were missing in between")                     \
	X(peer_refused, counter, "peer",                                                          \
	  "messages damaged, forged, replayed, not understood, or of another host of its name")   \
	X(peer_fpr_predicted, gauge, "peer", "of its replica, by the model")                      \
	X(peer_fnr_predicted, gauge, "peer", "of its replica, by the model")                      \
	X(peer_fpr_measured, gauge, "peer", "of its replica, by asking the peer")                 \
	X(peer_fnr_measured, gauge, "peer", "of its replica, by asking the peer")                 \
	X(fpr_modelled, gauge, "", "share of distinct packets lost now, by the model")            \
	X(fpr_at_capacity, gauge, "", "the same with all the keys live that it is meant for")     \
	X(fnr_modelled, gauge, "", "share of copies missed now, by the model")                    \
	X(fpr_measured, gauge, "", "share of distinct packets lost, as the audit measured it")    \
	X(fpr_measured_low, gauge, "", "lower end of its 95 % interval")                          \
	X(fpr_measured_high, gauge, "", "upper end of its 95 % interval")                         \
	X(fnr_measured, gauge, "", "share of copies that passed, as the audit measured it")       \
	X(fnr_measured_low, gauge, "", "lower end of its 95 % interval")                          \
	X(fnr_measured_high, gauge, "", "upper end of its 95 % interval")                         \
	X(audit_sampled, counter, "", "packets whose verdict the audit compared with the truth")  \
	X(copy_distance_seconds, histogram, "le",                                                 \
	  "how long after the first packet copies came, of the audit's sample")                   \
	X(false_positives_expected, counter, "",                                                  \
	  "distinct packets lost since this exporter started, by the model at each scrape")       \
	X(ager_last_sweep_timestamp_seconds, gauge, "", "when the oldest walk ended, since 1970") \
	X(ager_missed, counter, "", "walks over the filter that did not begin in time")           \
	X(warnings, gauge, "", "number of things that are wrong now, as top has them in words")   \
	X(bus_connected, gauge, "", "with --nats: 1 if there is a connection, else 0")            \
	X(bus_connects, counter, "", "connections to NATS that were made")                        \
	X(bus_messages, counter, "fate",                                                          \
	  "messages: sent, unsent (no connection, or no room), received, overrun (no room), or "  \
	  "refused by the server")                                                                \
	X(bus_bytes, counter, "way", "bytes of messages, sent and received")                      \
	X(replica_messages, counter, "kind",                                                      \
	  "sent to replicas of this host: full, delta, heartbeat")                                \
	X(replica_wanted, counter, "", "times that others asked for the whole filter")            \
	X(replica_bytes, counter, "kind", "bytes of these")                                       \
	X(replica_held_back, counter, "by",                                                       \
	  "updates that were due (push_rate); looks that were left out (bus: busy)")              \
	X(replica_refused, counter, "why",                                                        \
	  "messages of others: damaged or forged, of another version or type, of a peer for "     \
	  "which there is no place, or of a host whose name another has (same_name)")             \
	X(replica_stale_seconds, gauge, "",                                                       \
	  "how long the others have not had all that is here; 0: they have")                      \
	X(replica_rate_predicted, gauge, "rate",                                                  \
	  "what replicas of this host err by the model: fpr, fnr_model, fnr_member, and what "    \
	  "pushes go by")                                                                         \
	X(replica_look_up_rate, gauge, "rate",                                                    \
	  "fpr, fnr of a look-up here in all replicas that are believed, by the model")           \
	X(replica_check_seconds, gauge, "what", "what looking at the filter takes: one, every")

/* What the page says of an instance. */
struct subject {
	const char *name;
	const struct status *status;	   /* NULL: it cannot be read */
	u64 read_ns;			   /* CLOCK_REALTIME, when it was read */
	double lost;			   /* expected since the exporter started */
	const struct member_report *group; /* NULL: nothing is shared with other hosts */
};

/* Make the page of @n instances into *@text, which the caller free()s. Returns 0 or -ENOMEM. */
int page_make(const struct subject *all, size_t n, bool openmetrics, char **text, size_t *length);

#endif

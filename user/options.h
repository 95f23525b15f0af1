/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command line. OPTIONS is the only table of options: getopt's array, the parsing, the
 * help and the question "was it given?" come from it. To add one: a row here, a field in
 * struct options, and, if no parser in options.c fits, a parser there.
 */
#ifndef USER_OPTIONS_H
#define USER_OPTIONS_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>

#include <xdd/config.h>
#include <xdd/event.h>

#include "user/cluster/update.h"

/* Which commands take an option. */
enum {
	ON_CHECK = 1 << 0,
	ON_RUN = 1 << 1,
	ON_LOAD = 1 << 2,
	ON_UNLOAD = 1 << 3,
	ON_STATUS = 1 << 4,
	ON_SET = 1 << 5,
	ON_AGENT = 1 << 6,
	ON_PCAP = 1 << 7,
	ON_BENCH = 1 << 8,
	ON_SIMULATE = 1 << 9,
	ON_STREAM = 1 << 10,
	ON_EXPLAIN = 1 << 11,
	ON_LEARN = 1 << 12,
	ON_PLAN = 1 << 13,
	ON_VERDICTS = 1 << 14, /* command events; ON_EVENTS is another thing */
	ON_FAULT = 1 << 15,
	ON_TOP = 1 << 16,
	ON_REPORT = 1 << 17,
	ON_JOINT = 1 << 18,
	ON_WATCH = 1 << 19,
	ON_SITE = 1 << 20,
	ON_NIC = ON_LOAD | ON_RUN,
	ON_FILTER = ON_NIC | ON_PCAP,		  /* filters of packets */
	ON_KEY = ON_FILTER | ON_EXPLAIN,	  /* what the key of a packet depends on */
	ON_POLICY = ON_KEY | ON_LEARN | ON_JOINT, /* and the default key */
	ON_EVENTS = ON_STREAM | ON_SIMULATE,
	ON_GROUP = ON_RUN | ON_AGENT, /* several hosts */
	ON_SLICES = ON_FILTER | ON_EVENTS | ON_SITE,
	ON_NATS = ON_GROUP | ON_JOINT | ON_SITE | ON_STREAM,
	ON_ALL = (1 << 21) - 1,
	EVERYDAY = 1 << 21, /* shown by --help */
};

/* X(field, parser, letter, ARGUMENT, commands, help, example)
 * The long name is the field with '-' for '_'. The example completes error messages.
 */
#define OPTIONS(X)                                                                                 \
	X(engine, engine, 0, "NAME", ON_SLICES | ON_PLAN | EVERYDAY,                               \
	  "tagged, timer, exact, ...: see help engines (default: tagged on a NIC, exact for "      \
	  "files)",                                                                                \
	  "tagged")                                                                                \
	X(memory, size, 0, "SIZE", ON_SLICES | ON_LEARN | ON_PLAN | EVERYDAY,                      \
	  "filter size in all (default 32MiB; --engine exact on files: as needed)", "64MiB")       \
	X(capacity, count, 0, "KEYS", ON_SLICES | ON_PLAN,                                         \
	  "size for this many live keys instead of --memory", "4M")                                \
	X(fpr_target, ratio, 0, "P", ON_SLICES | ON_PLAN,                                          \
	  "false-positive rate that --capacity is to reach (timer, bloom: 0.001); --engine sbf: "  \
	  "that sets P (0.1), rsbf: K",                                                            \
	  "0.001")                                                                                 \
	X(window, time, 0, "TIME", ON_KEY | ON_EVENTS | ON_SITE | ON_SET | ON_PLAN | EVERYDAY,     \
	  "how long a packet is remembered (default 20ms; stream: for ever)", "20ms")              \
	X(ticks, ticks, 0, "N", ON_SLICES | ON_PLAN,                                               \
	  "resolution: ticks in a window, 1 to 119 (default 16)", "16")                            \
	X(clock, clock, 0, "NAME", ON_NIC,                                                         \
	  "exact, coarse, or auto: coarse where a tick is at least its step", "auto")              \
	X(refresh, flag, 0, NULL, ON_FILTER | ON_STREAM | EVERYDAY,                                \
	  "a duplicate restarts the window", NULL)                                                 \
	X(hashes, hashes, 0, "K", ON_SLICES | ON_PLAN,                                             \
	  "timers or bits per key, 1 to 8 (default: 4 of timer and bloom, 2 of the other bit "     \
	  "engines, rsbf by --fpr-target)",                                                        \
	  "4")                                                                                     \
	X(equal, hashes, 0, "K2", ON_FILTER | ON_EVENTS | ON_PLAN,                                 \
	  "of --engine timer: a copy is one only if at least so many of its K timers are equal",   \
	  "2")                                                                                     \
	X(fault_policy, fault_policy, 0, "POLICY", ON_FILTER | ON_EVENTS,                          \
	  "what a failed slice is taken to answer: distinct, duplicate, or vote:X, X of a key's "  \
	  "k cells deciding; without it slices do not fail (see xdp-dedup fault)",                 \
	  "distinct")                                                                              \
	X(variant, variant, 0, "NAME", ON_FILTER | ON_EVENTS,                                      \
	  "of --engine rsbf: published (default) or algorithm1", "algorithm1")                     \
	X(p_star, ratio, 0, "P", ON_FILTER | ON_EVENTS,                                            \
	  "of --engine rsbf: the least chance of being inserted (default 0.03)", "0.03")           \
	X(sbf_p, sbf_p, 0, "P", ON_FILTER | ON_EVENTS,                                             \
	  "of --engine sbf: cells that each event counts down, 1 to 64 (default: from "            \
	  "--fpr-target)",                                                                         \
	  "4")                                                                                     \
	X(sbf_max, sbf_max, 0, "MAX", ON_FILTER | ON_EVENTS,                                       \
	  "of --engine sbf: what a key's cells are set to, 1 to 255 (default 1)", "3")             \
	X(trace, input, 0, "FILE", ON_SIMULATE,                                                    \
	  "a real stream instead of a made one: an event a line, or columns; - is stdin",          \
	  "events.csv.gz")                                                                         \
	X(trace_columns, text, 0, "NAMES", ON_SIMULATE,                                            \
	  "what the columns of a --trace without a header are", "producer,event,time")             \
	X(records, count, 0, "N", ON_SIMULATE,                                                     \
	  "length of the stream (default 1M; of a --trace: all)", "69.5M")                         \
	X(distribution, distribution, 0, "NAME", ON_SIMULATE,                                      \
	  "of the identifiers: uniform (default) or zipf:ALPHA", "zipf:1.1")                       \
	X(domain, count, 0, "N", ON_SIMULATE, "number of identifiers", "10M")                      \
	X(distinct, ratio, 0, "X", ON_SIMULATE,                                                    \
	  "instead: as many identifiers as make this share of a uniform stream distinct "          \
	  "(default 0.15)",                                                                        \
	  "0.15")                                                                                  \
	X(window_records, count, 0, "N", ON_PCAP | ON_EVENTS,                                      \
	  "compare with the last N records, or frames, this one included, instead of a time",      \
	  "100k")                                                                                  \
	X(rate, rate, 0, "N", ON_SIMULATE | ON_PLAN | ON_VERDICTS,                                 \
	  "records a second; plan: packets, or bits, such as 10Gbit; events: at most so many "     \
	  "(10)",                                                                                  \
	  "100k")                                                                                  \
	X(from, input, 0, "FILE", ON_PLAN, "measure rate, keys, copies and sizes in this capture", \
	  "in.pcap")                                                                               \
	X(packets_size, bytes, 0, "BYTES", ON_PLAN,                                                \
	  "mean size of a packet, for bandwidths and a --rate in bits", "500")                     \
	X(fnr_target, ratio, 0, "P", ON_PLAN,                                                      \
	  "false-negative rate to keep, with --faults and without (default 0.01)", "0.01")         \
	X(faults, slices, 0, "F", ON_PLAN | ON_SIMULATE,                                           \
	  "slices that may have failed at once; simulate: that have, drawn by the seed", "4")      \
	X(fault_fpr, ratio, 0, "P", ON_PLAN,                                                       \
	  "false-positive rate to keep with --faults (default: twice --fpr-target)", "0.15")       \
	X(cost_ratio, cost, 0, "C", ON_PLAN,                                                       \
	  "cost of a false positive over that of a false negative (default 1): decides k, and x "  \
	  "of the vote",                                                                           \
	  "10")                                                                                    \
	X(compare, flag, 0, NULL, ON_PLAN, "all engines in the same memory", NULL)                 \
	X(verdict, verdict, 0, "LIST", ON_VERDICTS,                                                \
	  "show only these: distinct, duplicate, bypassed, or reasons for bypassing, such as "     \
	  "not_ip",                                                                                \
	  "duplicate,not_ip")                                                                      \
	X(count, count, 0, "N", ON_VERDICTS | ON_JOINT,                                            \
	  "end when N were shown; joint --monitors: so many periods (default 1)", "100")           \
	X(snaplen, snaplen, 0, "BYTES", ON_VERDICTS,                                               \
	  "bytes of a frame that are looked at, 14 to 2048 (default 256)", "2048")                 \
	X(truth, truth, 0, "WHAT", ON_SIMULATE,                                                    \
	  "what makes a record a copy: another one in the stream (default), or one that the "      \
	  "filter delivered",                                                                      \
	  "delivered")                                                                             \
	X(every, count, 0, "N", ON_SIMULATE, "also the state after each N records", "1M")          \
	X(hosts, hosts, 0, "N", ON_SIMULATE | ON_PLAN,                                             \
	  "replicas: so many hosts, 2 (default) to 64; sites: so many have the slices (default: "  \
	  "one each); tree: those of the root; plan cluster: up to 100000",                        \
	  "5")                                                                                     \
	X(cells, count, 0, "M", ON_SIMULATE, "replicas: bits of a host's filter (default 1200)",   \
	  "1200")                                                                                  \
	X(initial, key_range, 0, "N[-N]", ON_SIMULATE,                                             \
	  "replicas: keys of each host at the start, or of the first and of the last host "        \
	  "(default 150)",                                                                         \
	  "50-250")                                                                                \
	X(adds, keys, 0, "N", ON_SIMULATE,                                                         \
	  "replicas: keys that come to each host in a unit of time (default 5)", "5")              \
	X(deletes, deletes, 0, "[old:]N", ON_SIMULATE,                                             \
	  "replicas: keys that then go, or, of those that were there before, old:N (default 2)",   \
	  "2")                                                                                     \
	X(units, count, 0, "N", ON_SIMULATE, "replicas: units of time (default 100)", "100")       \
	X(queries, count, 0, "N", ON_SIMULATE,                                                     \
	  "replicas: look-ups of keys that nobody has, by each host in each unit (default 10k)",   \
	  "10k")                                                                                   \
	X(push, push, 0, "RULE", ON_SIMULATE | ON_GROUP,                                           \
	  "when a host tells the others what has changed: false-rate (default), printed (the "     \
	  "paper's rule as it stands), every:T, dirty:P or never",                                 \
	  "dirty:10%")                                                                             \
	X(false_rate_target, ratio, 0, "P", ON_SIMULATE | ON_PLAN | ON_GROUP,                      \
	  "false rate of replicas that --push is to keep (default 0.1)", "0.01")                   \
	X(bound, bound, 0, "WHAT", ON_SIMULATE | ON_PLAN | ON_GROUP,                               \
	  "which misses of replicas are false negatives: model, of any key (the paper's), or "     \
	  "member, of keys that the host has (default)",                                           \
	  "member")                                                                                \
	X(weights, weights, 0, "FP:FN", ON_SIMULATE | ON_PLAN | ON_GROUP,                          \
	  "what false positives and false negatives weigh in that rate (default 1:1)", "1:10")     \
	X(resize, flag, 0, NULL, ON_SIMULATE | ON_GROUP,                                           \
	  "change the number of bits with the number of keys; agent, run: as the target needs",    \
	  NULL)                                                                                    \
	X(nats, nats, 0, "URL[,URL]", ON_NATS,                                                     \
	  "share with other hosts what was seen, over these NATS servers (also from "              \
	  "XDP_DEDUP_NATS; see help cluster)",                                                     \
	  "nats://192.0.2.1:4222")                                                                 \
	X(group, name, 0, "NAME", ON_NATS, "with --nats: hosts of this group (default: default)",  \
	  "tap")                                                                                   \
	X(host, host, 0, "NAME", ON_GROUP | ON_JOINT | ON_SITE,                                    \
	  "with --nats: what this host is called there (default: the machine's name)", "sensor-a") \
	X(share_watch, owner, 0, "HOST[.INSTANCE]", ON_GROUP,                                      \
	  "with --nats: watch sets are those of this host (see help watch)", "sensor-a")           \
	X(nats_ca, input, 0, "FILE", ON_NATS,                                                      \
	  "certificates that the NATS server's is checked with; with it, or tls://, the "          \
	  "connection is encrypted",                                                               \
	  "/etc/xdp-dedup/ca.pem")                                                                 \
	X(nats_cert, input, 0, "FILE", ON_NATS, "certificate of this host, with --nats-key",       \
	  "/etc/xdp-dedup/cert.pem")                                                               \
	X(nats_key, input, 0, "FILE", ON_NATS, "its key", "/etc/xdp-dedup/key.pem")                \
	X(nats_creds, input, 0, "FILE", ON_NATS, "credentials as nsc writes them",                 \
	  "/etc/xdp-dedup/sensor.creds")                                                           \
	X(max_density, ratio, 0, "P", ON_GROUP,                                                    \
	  "a replica with a larger share of ones is not believed (default 0.6)", "0.6")            \
	X(silence, silence, 0, "TIME", ON_GROUP | ON_JOINT | ON_STREAM | ON_SITE,                  \
	  "a host that says nothing for so long is not believed, 300ms to 10min (default 3s)",     \
	  "3s")                                                                                    \
	X(push_rate, size, 0, "SIZE", ON_GROUP,                                                    \
	  "bytes a second that updates may take on average (default: no limit)", "1MiB")           \
	X(check_every, check, 0, "TIME", ON_GROUP,                                                 \
	  "how often to look at what has changed, 1ms to 1min (default: a 16th of the window, "    \
	  "10ms to 1s; less often where looking takes longer than a tenth of that)",               \
	  "20ms")                                                                                  \
	X(runs, runs, 0, "N", ON_SIMULATE, "repeat with other seeds: mean and deviation", "10")    \
	X(slicing, slicing, 0, "NAME", ON_SLICES | ON_PLAN,                                        \
	  "none, horizontal, vertical, hv, vh or K1xK2, such as 2x2 (engines timer and bloom; "    \
	  "default: horizontal, of bloom none)",                                                   \
	  "horizontal")                                                                            \
	X(slices, slices_of, 0, "S", ON_SLICES | ON_PLAN,                                          \
	  "number of slices (default: one cache line each); site: A-B/S, those that it serves: A " \
	  "to B, of S numbered from 0; S for a tree",                                              \
	  "1024")                                                                                  \
	X(subslices, slices, 0, "S2", ON_SLICES | ON_PLAN,                                         \
	  "of --slicing hv and vh: parts that each slice is cut into", "4")                        \
	X(grow, growth, 0, "BY", ON_FILTER | ON_EVENTS | ON_PLAN,                                  \
	  "of --engine timer: open one more filter when the newest is full by density or by "      \
	  "cardinality, or off (default; see help growth)",                                        \
	  "density")                                                                               \
	X(max_filters, filters, 0, "G", ON_FILTER | ON_EVENTS | ON_PLAN,                           \
	  "of --grow: at most so many filters at once, 2 to 8 (default 4; plan: as take the "      \
	  "least "                                                                                 \
	  "memory)",                                                                               \
	  "4")                                                                                     \
	X(burst, burst, 0, "Bx", ON_SIMULATE | ON_PLAN,                                            \
	  "so many times the rate of records in the middle third of the stream; plan --grow: the " \
	  "most that comes (default 2x)",                                                          \
	  "5x")                                                                                    \
	X(audit, audit, 0, "RATE", ON_FILTER | ON_EVENTS,                                          \
	  "measure FPR and FNR on this share of the keys (default 1/1024 on a NIC, else off)",     \
	  "1/256")                                                                                 \
	X(placement, placement, 0, "NAME", ON_NIC | ON_SIMULATE | EVERYDAY,                        \
	  "shared, percpu, tree, or auto: shared unless one interface has one receive queue; "     \
	  "simulate: tree",                                                                        \
	  "shared")                                                                                \
	X(tree, tree, 0, "KIND", ON_NIC | ON_SIMULATE | ON_SITE | ON_STREAM,                       \
	  "of --placement tree, and trees of sites: dense (default) or sparse (see help engines, " \
	  "trees)",                                                                                \
	  "dense")                                                                                 \
	X(top_down, top_down, 0, "D", ON_NIC | ON_SIMULATE | ON_SITE | ON_STREAM,                  \
	  "of trees: look below for a match above level D; the root is level 0", "2")              \
	X(levels, levels, 0, "N", ON_NIC,                                                          \
	  "of --placement tree: 2, CPUs and a root, or 3, with NUMA nodes between (default: by "   \
	  "the host)",                                                                             \
	  "2")                                                                                     \
	X(fan_out, fan_out, 0, "F", ON_SIMULATE | ON_PLAN,                                         \
	  "of --placement tree: children of each node (default 2; plan cluster: 16)", "4")         \
	X(depth, depth, 0, "N", ON_SIMULATE,                                                       \
	  "of --placement tree: levels, the root included, 2 to 12 (default 5)", "5")              \
	X(locality, ratio, 0, "P", ON_SIMULATE,                                                    \
	  "of --placement tree: chance that an event comes from the home of its identifier, "      \
	  "not from any producer",                                                                 \
	  "0.2")                                                                                   \
	X(key, key, 0, "KIND", ON_KEY | ON_PLAN | ON_JOINT | EVERYDAY,                             \
	  "what makes two packets the same: packet (default), frame, flow, biflow, src, dst, "     \
	  "srcdst, offset:LEN@POS, redundancy",                                                    \
	  "packet")                                                                                \
	X(non_ip, non_ip, 0, "POLICY", ON_POLICY,                                                  \
	  "frames without IP: pass them (default), or frame: compare them without addresses and "  \
	  "tags",                                                                                  \
	  "pass")                                                                                  \
	X(ignore, fields, 0, "FIELDS", ON_POLICY,                                                  \
	  "fields that do not tell packets apart, of those that do (see help policy)",             \
	  "ipid,tcp-opts")                                                                         \
	X(include, fields, 0, "FIELDS", ON_POLICY,                                                 \
	  "fields that tell packets apart, of those that do not by default", "ttl,macs")           \
	X(payload, payload, 0, "BYTES", ON_POLICY,                                                 \
	  "compare only so many bytes behind the IP header, or all (default)", "128")              \
	X(vlan, vlan, 0, "POLICY", ON_POLICY,                                                      \
	  "VLANs: ignore (default), key: they tell packets apart, or map:A=B,...: the same, A "    \
	  "counting as B",                                                                         \
	  "map:300=50")                                                                            \
	X(ambiguous, ambiguous, 0, "POLICY", ON_FILTER | ON_SET,                                   \
	  "duplicates that may be sent twice: drop (default), pass, or by class: "                 \
	  "ack|tcp|udp|other=drop|pass,... (see help repeats)",                                    \
	  "ack=pass,udp=drop")                                                                     \
	X(max_suppress, max_suppress, 0, "N", ON_FILTER | ON_SET,                                  \
	  "after N suppressed duplicates of a key keep one, or off (default)", "1000")             \
	X(top_suppressed, on_off, 0, "on|off", ON_FILTER | ON_SET,                                 \
	  "list the keys most often suppressed (default on)", "on")                                \
	X(scope, scope, 0, "SCOPE", ON_POLICY,                                                     \
	  "find copies across all interfaces (default), or on the same interface only",            \
	  "interface")                                                                             \
	X(recovery, recovery, 0, "ALGORITHM", ON_FILTER,                                           \
	  "of --key redundancy: vector:N, the last N sequence numbers, 2 to 256 (default), or "    \
	  "match: the last one",                                                                   \
	  "vector:64")                                                                             \
	X(inner, flag, 0, NULL, ON_POLICY,                                                         \
	  "look into tunnels: compare the innermost packet (see help tunnels)", NULL)              \
	X(vni, vni, 0, "POLICY", ON_POLICY,                                                        \
	  "tunnel identifiers (VNI, GRE key, TEID): ignore (default), or key: they tell packets "  \
	  "apart",                                                                                 \
	  "key")                                                                                   \
	X(tunnel_port, tunnel_port, 0, "LIST", ON_POLICY,                                          \
	  "TUNNEL=PORT,...: UDP ports instead of the usual ones, of vxlan, geneve, gtpu, mpls",    \
	  "vxlan=4789,vxlan=14789,geneve=16081")                                                   \
	X(hash, hash, 0, "NAME", ON_FILTER | ON_STREAM, "keyed (default), siphash or xxh64",       \
	  "keyed")                                                                                 \
	X(seed, seed, 0, "N", ON_FILTER | ON_EVENTS | ON_JOINT,                                    \
	  "seed of the hash, or random (default: random on a NIC, 0 for files)", "42")             \
	X(verify_checksum, flag, 0, NULL, ON_PCAP | ON_EXPLAIN | ON_LEARN | ON_JOINT,              \
	  "pass IPv4 packets with a wrong header checksum, uncompared", NULL)                      \
	X(action, action, 0, "ACTION", ON_NIC | ON_SET | EVERYDAY,                                 \
	  "what happens to duplicates: drop (default), count, mark[:dscp=N|:meta], "               \
	  "redirect:IFACE",                                                                        \
	  "mark:dscp=63")                                                                          \
	X(forward, forward, 0, "IFACE", ON_NIC | ON_SET | EVERYDAY,                                \
	  "send what is kept to this interface instead of up the stack; none: up the stack",       \
	  "tool0")                                                                                 \
	X(watch_action, watch_action, 0, "WHAT", ON_NIC | ON_SET,                                  \
	  "with a watch set (see help watch): only its packets are de-duplicated; skip: all but "  \
	  "them; drop: they are dropped; select: all but them are",                                \
	  "only")                                                                                  \
	X(watch_keys, count, 0, "N", ON_NIC,                                                       \
	  "of --watch-action: keys that the set has room for (default 100k)", "1M")                \
	X(collect, count, 0, "KEYS", ON_NIC,                                                       \
	  "be a monitor of joint --monitors: room for so many different keys of a period (see "    \
	  "help detection)",                                                                       \
	  "1M")                                                                                    \
	X(peers, peers, 0, "N", ON_NIC,                                                            \
	  "hold the replicas of up to N other hosts, 1 to 64, and ask them before the own filter " \
	  "(see help cluster)",                                                                    \
	  "8")                                                                                     \
	X(replica_bits, count, 0, "BITS", ON_NIC,                                                  \
	  "of --peers: bits of each replica, a power of two (default: 10 or more for each key of " \
	  "--capacity)",                                                                           \
	  "64Mi")                                                                                  \
	X(replica_action, replica_action, 0, "ACTION", ON_NIC | ON_SET,                            \
	  "of --peers: what happens to packets that another host has seen: drop, mark or count "   \
	  "(default: as --action, redirect and drop being drop)",                                  \
	  "count")                                                                                 \
	X(secret_file, path, 0, "FILE", ON_NIC | ON_JOINT | ON_SITE | ON_STREAM,                   \
	  "draw the hash's secret from this file instead of at random, so that hosts with the "    \
	  "same file have the same: at least 32 bytes that only its owner may read",               \
	  "/etc/xdp-dedup/secret")                                                                 \
	X(add, ifaces, 0, "IFACE[,IFACE]", ON_SET, "attach to these, too: they share the filter",  \
	  "eth2")                                                                                  \
	X(remove, ifaces, 0, "IFACE[,IFACE]", ON_SET,                                              \
	  "detach from these; what they counted stays", "eth1")                                    \
	X(mode, mode, 0, "MODE", ON_NIC | ON_SET | ON_CHECK | EVERYDAY,                            \
	  "native (default), generic, or auto: native if the driver can", "native")                \
	X(frags, when, 0, "WHEN", ON_NIC, "jumbo packets in fragments: on, off or auto (default)", \
	  "auto")                                                                                  \
	X(promisc, on_off, 0, "on|off", ON_NIC | ON_SET,                                           \
	  "promiscuous mode while attached (default on; restored afterwards)", "on")               \
	X(name, name, 0, "NAME", ON_NIC | ON_SITE | EVERYDAY,                                      \
	  "name of the instance (default: the first IFACE), or of the site (by its slices)",       \
	  "tap")                                                                                   \
	X(netns, netns, 0, "NAME", ON_NIC | ON_CHECK | ON_LEARN,                                   \
	  "the interfaces are in this network namespace", "blue")                                  \
	X(config, input, 0, "FILE", ON_NIC | ON_AGENT,                                             \
	  "read options and interfaces from this file: lines `name = value` (see help config)",    \
	  "/etc/xdp-dedup/tap.conf")                                                               \
	X(force, flag, 0, NULL, ON_NIC | ON_SET,                                                   \
	  "go on although check found trouble, and replace another XDP program", NULL)             \
	X(keep, flag, 0, NULL, ON_RUN, "leave the program attached when run ends", NULL)           \
	X(metrics, address, 0, "ADDRESS:PORT", ON_RUN | ON_AGENT,                                  \
	  "serve metrics for Prometheus there, at /metrics", "127.0.0.1:9435")                     \
	X(textfile, path, 0, "FILE", ON_RUN | ON_AGENT,                                            \
	  "write them to this file every 15 seconds, for node_exporter",                           \
	  "/var/lib/prometheus/node-exporter/xdp-dedup.prom")                                      \
	X(all, flag, 0, NULL, ON_UNLOAD, "every instance", NULL)                                   \
	X(slice, slice_list, 0, "I[,J...]", ON_FAULT,                                              \
	  "slices by their numbers in fault NAME and status, or all", "0,3")                       \
	X(fail, flag, 0, NULL, ON_FAULT, "let --slice fail: neither read nor written", NULL)       \
	X(recover, flag, 0, NULL, ON_FAULT,                                                        \
	  "let --slice come back, empty: believed again a window later", NULL)                     \
	X(cpu, cpu, 0, "N", ON_FAULT,                                                              \
	  "with --placement percpu: slices of this CPU's filter (default: of each CPU's)", "0")    \
	X(restart, flag, 0, NULL, ON_SET, "allow changes that empty the filter", NULL)             \
	X(write, output, 'w', "FILE", ON_PCAP | EVERYDAY,                                          \
	  "write what is kept to this file; - is stdout (.gz: compressed)", "clean.pcap")          \
	X(output, output, 'o', "FILE", ON_REPORT,                                                  \
	  "write to this file: .html is a page, .svg its pictures alone", "report.html")           \
	X(dups, output, 0, "FILE", ON_PCAP | EVERYDAY, "write the dropped copies to this file",    \
	  "copies.pcap")                                                                           \
	X(pairs, output, 0, "FILE", ON_PCAP,                                                       \
	  "list each copy, its first and the time between them in this CSV file", "pairs.csv")     \
	X(filter, filter, 0, "EXPR|FILE", ON_PCAP | ON_LEARN | ON_VERDICTS | ON_STREAM | ON_JOINT, \
	  "compare, or show, only what this expression of tcpdump matches; the rest passes; "      \
	  "stream: the file of --save-filter",                                                     \
	  "'udp or arp'")                                                                          \
	X(direction, direction, 0, "WAY", ON_PCAP | ON_LEARN | ON_JOINT,                           \
	  "compare only frames that came in or went out, where the file says so: in, out or any "  \
	  "(default)",                                                                             \
	  "in")                                                                                    \
	X(packets, count, 0, "N", ON_LEARN, "end the sample after N packets", "100k")              \
	X(seconds, seconds, 0, "T", ON_LEARN | ON_RUN | ON_VERDICTS,                               \
	  "end after T seconds (learn on an interface: default 10)", "30")                         \
	X(once, flag, 0, NULL, ON_TOP,                                                             \
	  "print what the screen shows as text, and end; so it is without a terminal", NULL)       \
	X(interval, interval, 0, "TIME", ON_TOP,                                                   \
	  "time between two looks, over which rates are taken, 100ms to 1h (default 1s)", "5s")    \
	X(sample_dropped, sample, 0, "N:FILE", ON_RUN,                                             \
	  "keep the first N duplicates of each second in a pcapng file, with the reason as "       \
	  "comment",                                                                               \
	  "10:dropped.pcapng")                                                                     \
	X(format, format, 0, "NAME", ON_PCAP | EVERYDAY,                                           \
	  "pcap or pcapng (default: the input's format)", "pcapng")                                \
	X(field, field, 0, "N", ON_STREAM | ON_JOINT,                                              \
	  "the key is field N, from 1 (default: the whole record)", "2")                           \
	X(delimiter, delimiter, 0, "C", ON_STREAM | ON_JOINT,                                      \
	  "what separates fields (default: a tab)", ",")                                           \
	X(time_field, field, 0, "N", ON_STREAM, "field N is the time of the record, for --window", \
	  "1")                                                                                     \
	X(time_unit, time_unit, 0, "UNIT", ON_STREAM,                                              \
	  "unit of that time, which may have decimals: s (default), ms, us, ns", "ms")             \
	X(null, flag, '0', NULL, ON_STREAM | ON_JOINT,                                             \
	  "records end with a byte of 0, not with a newline", NULL)                                \
	X(unbuffered, flag, 0, NULL, ON_STREAM, "write each record on its own", NULL)              \
	X(summary, path, 0, "FILE", ON_STREAM, "write what --json prints to this file",            \
	  "summary.json")                                                                          \
	X(save, path, 0, "FILE", ON_STREAM, "save the filter to this file at the end",             \
	  "filter.xdd")                                                                            \
	X(restore, path, 0, "FILE", ON_STREAM,                                                     \
	  "start with the filter that --save left; its options apply", "filter.xdd")               \
	X(join, input, 0, "FILE[,FILE...]", ON_STREAM,                                             \
	  "keep only records whose key is in these files (see help join)", "customers.tsv")        \
	X(join_field, field, 0, "N", ON_STREAM,                                                    \
	  "the key of records of --join is field N (default: as --field)", "1")                    \
	X(save_filter, path, 0, "FILE", ON_STREAM,                                                 \
	  "save the set of --join to this file, for --filter, and read no records",                \
	  "customers.xdw")                                                                         \
	X(l1, l1, 0, "SIZE", ON_NIC | ON_STREAM | ON_SIMULATE,                                     \
	  "of --watch-action, --join and simulate acbf: bits of level 1, 1m, 2m or 3m, or "        \
	  "optimal (default): all "                                                                \
	  "that the keys leave",                                                                   \
	  "2m")                                                                                    \
	X(counters, counters, 0, "N", ON_NIC | ON_STREAM | ON_SIMULATE,                            \
	  "of these: memory, as counters of 4 bits for each key (default 10)", "16")               \
	X(positions, positions, 0, "K", ON_NIC | ON_STREAM | ON_SIMULATE,                          \
	  "of these: bits of a key in level 1, 1 to 32 (default 3)", "7")                          \
	X(algorithm, algorithm, 0, "NAME", ON_JOINT | ON_SIMULATE,                                 \
	  "of joint: raw, bfs, cfs, cfsp, smallest-first or best (default): see help detection",   \
	  "cfsp")                                                                                  \
	X(epsilon, ratio, 0, "E", ON_JOINT | ON_SIMULATE,                                          \
	  "of joint: share of the other keys that may be taken for common (default 0.001)",        \
	  "0.0001")                                                                                \
	X(rounds, rounds, 0, "R", ON_JOINT | ON_SIMULATE,                                          \
	  "of cfsp and best: rounds of filters (default 2)", "3")                                  \
	X(at_least, monitors, 0, "T", ON_JOINT | ON_SIMULATE,                                      \
	  "keys that T of the monitors have (default: all of them); raw and best only", "3")       \
	X(monitors, monitors_of, 0, "NAME,...|N", ON_SIMULATE | ON_JOINT,                          \
	  "these live hosts, HOST.INSTANCE each, loaded with --collect; simulate joint: so many "  \
	  "(default 10)",                                                                          \
	  "a.tap,b.tap,c.tap")                                                                     \
	X(period, time, 0, "TIME", ON_JOINT,                                                       \
	  "of --monitors: how long keys are collected, at least (default 10s)", "1min")            \
	X(then, then, 0, "WHAT", ON_JOINT,                                                         \
	  "of --monitors: print the common keys (default), or watch:NAME: put them into the "      \
	  "watch set of instance NAME at each",                                                    \
	  "watch:tap")                                                                             \
	X(sizes, sizes, 0, "N[-N]", ON_SIMULATE,                                                   \
	  "joint: keys of each, or drawn between the two (default 100k-1M)", "100k-1M")            \
	X(intersection, share, 0, "R", ON_SIMULATE,                                                \
	  "joint: common keys, as a share of the smallest list, 0 to 1 (default 0.5)", "0.2")      \
	X(sites, flag, 0, NULL, ON_STREAM | ON_SITE,                                               \
	  "ask the sites of --group, which have the slices of the filter, over --nats (see help "  \
	  "sites); site --tree: they have that of this root",                                      \
	  NULL)                                                                                    \
	X(protocol, protocol, 0, "NAME", ON_SIMULATE | ON_STREAM,                                  \
	  "of sites: how slices are asked: parallel (default), pipeline or one-pass; see help "    \
	  "sites",                                                                                 \
	  "one-pass")                                                                              \
	X(primitive, primitive, 0, "NAME", ON_SIMULATE | ON_STREAM,                                \
	  "of sites: first-test (default): the cells of a distinct key are set when that is "      \
	  "known; "                                                                                \
	  "or test-and-set",                                                                       \
	  "test-and-set")                                                                          \
	X(batch, batch, 0, "N", ON_SIMULATE | ON_STREAM,                                           \
	  "of sites and trees: keys that are asked about at once, at most (default 256)", "1024")  \
	X(parent, host, 0, "SITE", ON_SITE,                                                        \
	  "of a tree of sites: the --name of the site above; without it this one is the root",     \
	  "root")                                                                                  \
	X(leaf, host, 0, "SITE", ON_STREAM,                                                        \
	  "ask this site, a leaf of a tree of --group, over --nats (see help trees)", "leaf-a")    \
	X(site_timeout, site_timeout, 0, "TIME", ON_SITE | ON_STREAM,                              \
	  "a site that does not answer for so long has failed, 10ms to 30s (default 1s)", "1s")    \
	X(progress, when, 0, "WHEN", ON_PCAP, "progress bar: on, off, or auto: on a terminal",     \
	  "auto")                                                                                  \
	X(json, flag, 0, NULL, ON_ALL | EVERYDAY, "print the result as JSON", NULL)                \
	X(quiet, flag, 0, NULL, ON_ALL, "print nothing but errors and what was asked for", NULL)   \
	X(help, flag, 'h', NULL, ON_ALL | EVERYDAY, "show help and exit", NULL)

/* OPT_window, ...: index of an option; see option_given(). */
#define OPTION_ENUM(field, ...) OPT_##field,
enum option_id { OPTIONS(OPTION_ENUM) OPT_MAX };

/* X(field): those that `set` changes in an instance that was loaded with them. */
#define LIVE_OPTIONS(X) \
	X(window)       \
	X(action)       \
	X(forward) X(ambiguous) X(max_suppress) X(top_suppressed) X(replica_action) X(watch_action)

/* Value of an enumerated option that was left, or set, to `auto`. */
#define OPTION_AUTO (-1)

enum xdp_mode { MODE_NATIVE, MODE_GENERIC, MODE_AUTO };
enum option_frags { FRAGS_OFF, FRAGS_ON };	    /* or OPTION_AUTO */
enum option_progress { PROGRESS_OFF, PROGRESS_ON }; /* or OPTION_AUTO */
enum option_unit { UNIT_S, UNIT_MS, UNIT_US, UNIT_NS };
enum option_format { FORMAT_PCAP, FORMAT_PCAPNG }; /* or OPTION_AUTO: as the input */

enum option_policy { POLICY_IGNORE, POLICY_KEY };

enum option_truth { TRUTH_STREAM, TRUTH_DELIVERED };

enum option_scope { SCOPE_ALL, SCOPE_INTERFACE };

/* --vlan */
struct option_vlan {
	bool key;
	u32 maps;
	u16 from[XDD_MAX_VLAN_MAPS];
	u16 to[XDD_MAX_VLAN_MAPS];
};

/* --ambiguous: bits by enum xdd_class. */
struct option_ambiguous {
	u8 named; /* the others stay as they are */
	u8 pass;
};

/* --add, --remove */
struct option_ifaces {
	u32 used;
	char name[XDD_MAX_IFACES][IF_NAMESIZE];
};

/* --metrics */
union option_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* --tunnel-port, as given. */
struct option_ports {
	u32 used;
	u16 port[XDD_TUNNEL_PORTS];
	u8 tunnel[XDD_TUNNEL_PORTS]; /* enum xdd_tunnel */
};

/* Everything the command line said. Strings point into argv. Numbers are 0 and enumerations
 * OPTION_AUTO where nothing was given, unless a default is named: derive_config() in derive.h
 * completes them for a NIC or a file.
 */
struct options {
	const char *command; /* its name */
	char **args;	     /* what is not an option: interfaces, files, names */
	int n_args;
	bool given[OPT_MAX];	   /* see option_given() */
	const char *text[OPT_MAX]; /* of those given, the value as it was written */

	int engine;	   /* enum xdd_engine */
	u64 memory;	   /* bytes */
	u64 capacity;	   /* keys */
	double fpr_target; /* above 0, below 1 */
	u64 window;	   /* ns */
	u32 ticks;
	int clock; /* enum xdd_clock */
	bool refresh;
	u32 hashes, equal;
	int fault_policy;	       /* enum xdd_fault_policy; default off */
	u32 vote;		       /* of vote:X, else 0 */
	u64 slice[XDD_MAX_PARTS / 64]; /* fault: bits by number */
	u32 slice_last;		       /* the highest of them */
	bool slice_all, fail, recover;
	u32 cpu;
	int slicing; /* enum xdd_slicing */
	u32 slices, subslices;
	u32 slice_hashes, slice_cells; /* K1 and K2 of --slicing K1xK2, else 0 */
	int grow;		       /* enum xdd_growth; default off */
	u32 max_filters;	       /* 2..XDD_MAX_FILTERS */
	double burst;		       /* at least 1; 0: none */
	int variant;		       /* enum xdd_variant; default published */
	double p_star;		       /* above 0, below 1 */
	u32 sbf_p, sbf_max;
	int placement; /* enum xdd_placement */
	int tree;      /* enum xdd_tree; default dense */
	u32 top_down, levels, fan_out, depth;
	double locality; /* 0: none */
	double audit;	 /* 0 to 1; 0: off */

	int key; /* enum xdd_key_kind; default packet */
	u32 offset_len, offset_pos;
	bool non_ip;	     /* true: frame */
	u32 ignore, include; /* bits by enum xdd_field */
	u32 payload;	     /* bytes; 0: all */
	struct option_ambiguous ambiguous;
	u32 max_suppress;    /* 0: off */
	bool top_suppressed; /* default true */
	struct option_vlan vlan;
	int scope;    /* enum option_scope; default all */
	u32 recovery; /* numbers remembered; 0: match; default XDD_MAX_HISTORY */
	bool inner;
	int vni; /* enum option_policy; default ignore */
	struct option_ports tunnel_port;
	int hash; /* enum xdd_hash_kind */
	u64 seed;
	bool seed_random; /* --seed random */
	bool verify_checksum;

	int action;	      /* enum xdd_dup_action; default drop */
	u8 mark_dscp;	      /* 0..63; default DEFAULT_MARK_DSCP */
	bool mark_meta;	      /* mark:meta */
	const char *redirect; /* interface of redirect:IFACE, else NULL */
	const char *forward;  /* interface or NULL */
	int watch_action;     /* enum xdd_watch_action, or OPTION_AUTO: no watch set */
	u64 watch_keys;	      /* default DEFAULT_WATCH_KEYS */
	u64 collect;	      /* keys; 0: none are collected */
	u32 peers;	      /* 0: none */
	u64 replica_bits;     /* 0: by the capacity */
	int replica_action;   /* enum xdd_replica_action, or OPTION_AUTO: as the action */
	const char *secret_file;
	struct option_ifaces add, remove;
	int mode;     /* enum xdp_mode; default MODE_NATIVE */
	int frags;    /* enum option_frags */
	bool promisc; /* default true */
	const char *name;
	const char *netns;
	const char *config; /* read before everything else: conf.h */
	char **argv;	    /* the command line as it was given, to read that file again */
	int argc;
	bool force, keep, all, restart;
	union option_address metrics; /* where option_given() */
	const char *textfile;	      /* or NULL */

	const char *write; /* output or NULL; "-" is stdout */
	const char *dups;
	const char *output; /* of report, or NULL */
	const char *pairs;
	const char *filter; /* in the syntax of tcpdump, or NULL */
	int direction;	    /* enum capture_direction; default any */
	int format;	    /* enum option_format */
	int progress;	    /* enum option_progress */

	u32 field, time_field; /* from 1 */
	u8 delimiter;	       /* default a tab */
	int time_unit;	       /* enum option_unit */
	bool null, unbuffered;
	const char *summary, *save, *restore; /* files or NULL */

	const char *join, *save_filter; /* FILE[,FILE...]; a file; or NULL */
	u32 join_field;
	int l1; /* enum acbf_first; default optimal */
	u32 counters, positions;

	int algorithm;	      /* enum joint_algorithm; default best */
	double epsilon;	      /* above 0, below 1 */
	u32 rounds, at_least; /* 0: as many as usual; all */
	u32 monitors;
	const char *monitor_names; /* NAME,... of live ones, or NULL */
	u64 period;		   /* ns; 0: the usual */
	const char *then;	   /* the instance of watch:NAME, or NULL: print */
	u64 sizes, sizes_last;	   /* least and most keys of a monitor */
	double intersection;	   /* 0 to 1 */

	bool sites;
	u32 batch;		    /* keys at once */
	const char *parent, *leaf;  /* sites of a tree, or NULL */
	u64 site_timeout;	    /* ns; default DEFAULT_SITE_TIMEOUT_NS */
	u32 slice_first, slice_end; /* of site: those that it serves, up to before the latter */
	int protocol;		    /* enum sites_protocol */
	int primitive;		    /* enum sites_primitive */

	const char *trace, *trace_columns;
	bool once;
	u64 interval; /* nanoseconds; default DEFAULT_INTERVAL_NS */

	u64 packets; /* 0: no end */
	u32 seconds; /* 0: no end */

	u32 sample_rate;	    /* of --sample-dropped */
	const char *sample_dropped; /* file or NULL */
	u32 verdict;		    /* bits by enum xdd_event_kind; default all */
	u64 count;		    /* 0: no end */
	u32 snaplen;		    /* default DEFAULT_SNAPLEN */

	u32 hosts;
	u64 cells, units, queries;
	u64 initial, initial_last; /* keys of the first and of the last host */
	u64 adds, deletes;
	bool deletes_old;
	struct update_policy push; /* rule, every and dirty of --push */
	double false_rate_target;
	int bound;	   /* enum update_bound; default member */
	double weights[2]; /* of a false positive, a false negative; default 1 */
	bool resize;

	const char *nats;	  /* URLs or NULL */
	const char *group, *host; /* host: NULL: the machine's name */
	const char *share_watch;  /* HOST[.INSTANCE] or NULL */
	const char *nats_ca, *nats_cert, *nats_key, *nats_creds; /* files or NULL */
	double max_density;
	u64 silence;	 /* ns */
	u64 push_rate;	 /* bytes a second; 0: no limit */
	u64 check_every; /* ns; 0: by the window */

	u64 records, domain, window_records, rate, every;
	bool rate_bits;	     /* --rate is in bits a second */
	double distribution; /* 0: uniform, else ALPHA of zipf */
	double distinct;     /* above 0, below 1 */
	u32 runs;
	int truth; /* enum option_truth; default stream */

	const char *from;
	u32 packets_size, faults;
	double fnr_target, fault_fpr; /* above 0, below 1 */
	double cost_ratio;
	bool compare;

	bool json, quiet, help;
};

static inline bool option_given(const struct options *o, enum option_id id)
{
	return o->given[id];
}

#define DEFAULT_MARK_DSCP 63
/* The variable that stands for --nats: a password in it is not in the list of processes. */
#define GROUP_ENVIRONMENT "XDP_DEDUP_NATS"

#define DEFAULT_SNAPLEN 256
#define DEFAULT_WATCH_KEYS 100000
#define DEFAULT_INTERVAL_NS 1000000000ull
#define DEFAULT_SILENCE_NS 3000000000ull
#define DEFAULT_SITE_TIMEOUT_NS 1000000000ull

/* Options as if nothing had been given to @command. */
void options_init(struct options *o, const char *command);

/* Parse @argv, whose first element is the command's name and @on its ON_ bit; reorders @argv.
 * Returns 0; or -EINVAL with one line in @err that names the option, the value and what to
 * write instead. With --help nothing else is required of the line.
 */
int options_parse(struct options *o, int argc, char **argv, unsigned int on, char *err,
		  size_t err_size);

/* Do @a and @b say something else for option @id? */
bool options_differ(const struct options *a, const struct options *b, enum option_id id);

#define OPTION_LABEL_MAX 24

/* The option as messages name it, such as "--fpr-target"; returns @label. */
const char *option_label(enum option_id id, char label[OPTION_LABEL_MAX]);

/* Call @each with the name and the value of every option given: "" where it takes none, "as saved"
 * where it was not on the command line but came with --restore.
 */
void options_given(const struct options *o,
		   void (*each)(const char *name, const char *text, void *context), void *context);

/* Whether an option was given that is in neither list of long names, which end with NULL; @more may be NULL. Its name,
 * of several the last one's, goes to @name.
 */
bool option_beyond(const struct options *o, const char *const *taken, const char *const *more,
		   char name[OPTION_LABEL_MAX]);

/* Is @text a valid instance name: 1 to 32 of [A-Za-z0-9_-]? */
bool option_name_valid(const char *text);

/* What an option takes: a value; nothing; or `on` and `off`. OPTION_NONE: there is none called @name. */
enum option_form { OPTION_NONE, OPTION_VALUE, OPTION_FLAG, OPTION_SWITCH };
enum option_form option_form(const char *name);

/* An option, for who lists them. */
struct option_about {
	const char *name; /* without the dashes */
	int letter;	  /* or 0 */
	const char *argument;
	unsigned int commands; /* ON_ bits */
	const char *help;
	const char *const *choices; /* of an enumeration, else NULL */
	bool automatic;		    /* ... of which `auto` is one, too */
};

/* Call @each with each option that a command in @on takes. */
void options_each(unsigned int on, void (*each)(const struct option_about *, void *context),
		  void *context);

/* Write the help of the options that a command in @on takes to @to; only the everyday ones if
 * @everyday.
 */
void options_help(FILE *to, unsigned int on, bool everyday);

#endif

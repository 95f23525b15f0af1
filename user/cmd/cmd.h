/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands: one row each. cmd_<name>() lives in user/cmd/<name>.c.
 */
#ifndef USER_CMD_H
#define USER_CMD_H

#include "../options.h"

/* Exit codes; what a command returns. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define ANY_NUMBER 1000000

/* X(name, ON_ bit, everyday, fewest and most arguments, ARGUMENTS, summary) */
#define COMMANDS(X)                                                                                \
	X(check, ON_CHECK, true, 1, ANY_NUMBER, "IFACE...",                                        \
	  "what would spoil the result on an interface, and what mends it")                        \
	X(run, ON_RUN, true, 1, ANY_NUMBER, "IFACE...",                                            \
	  "load, age, show counters; SIGINT and SIGTERM detach (--keep leaves it)")                \
	X(load, ON_LOAD, true, 1, ANY_NUMBER, "IFACE...",                                          \
	  "attach to interfaces, pin, and return (they share one filter)")                         \
	X(unload, ON_UNLOAD, true, 0, ANY_NUMBER, "NAME|--all",                                    \
	  "detach, and remove every pin (a NAME or an IFACE)")                                     \
	X(set, ON_SET, true, 1, 1, "NAME",                                                         \
	  "change window, action, forwarding while it runs, without losing entries")               \
	X(status, ON_STATUS, true, 0, 1, "[NAME]",                                                 \
	  "configuration, counters, losses and warnings of what is loaded")                        \
	X(top, ON_TOP, false, 0, 1, "[NAME]",                                                      \
	  "live screen: rates, copies, losses, warnings; --once prints it")                        \
	X(fault, ON_FAULT, false, 1, 1, "NAME",                                                    \
	  "let slices of a running filter fail or recover; show their health")                     \
	X(watch, ON_WATCH, false, 2, ANY_NUMBER, "NAME add|del|load|unload|save|clear|stats ...",  \
	  "keys of packets that alone, or never, are de-duplicated; see help watch")               \
	X(events, ON_VERDICTS, false, 0, 1, "[NAME]",                                              \
	  "single verdicts as they fall: a sample of so many a second")                            \
	X(agent, ON_AGENT, true, 0, 0, "", "age the timers of everything that is loaded")          \
	X(pcap, ON_PCAP, true, 1, ANY_NUMBER, "IN... [-w OUT]",                                    \
	  "de-duplicate captures (pcap, pcapng, .gz; several are merged by time)")                 \
	X(explain, ON_EXPLAIN, false, 3, 3, "FILE A B",                                            \
	  "why two frames of a capture are the same packet, or not")                               \
	X(learn, ON_LEARN, true, 1, 1, "FILE|IFACE",                                               \
	  "are there copies, how far apart, how they differ, what to set")                         \
	X(stream, ON_STREAM, true, 0, ANY_NUMBER, "[FILE...]",                                     \
	  "de-duplicate lines: distinct ones of stdin, or of files, to stdout")                    \
	X(site, ON_SITE, false, 0, 0, "",                                                          \
	  "serve slices of a filter to stream --sites, over NATS; see help sites")                 \
	X(joint, ON_JOINT, false, 0, ANY_NUMBER, "FILE FILE...|--monitors NAME,...",               \
	  "the keys that all lists or captures have, by filters alone")                            \
	X(simulate, ON_SIMULATE, false, 0, 1, "[acbf|joint|replicas|sites|tree]",                  \
	  "a made stream through any engine: its errors against the truth")                        \
	X(plan, ON_PLAN, false, 0, 1, "[cluster]",                                                 \
	  "filter for a rate, a window, errors and faults; cluster: several hosts")                \
	X(bench, ON_BENCH, false, 0, 0, "", "time every engine, and a plain LRU hash, in one run") \
	X(report, ON_REPORT, false, 1, ANY_NUMBER, "FILE...",                                      \
	  "a page with plots of what pcap, simulate or bench said with --json")

struct command {
	const char *name;
	unsigned int on;
	bool everyday;
	int min_args, max_args;
	const char *arguments;
	const char *summary;
	int (*run)(struct options *o);
};

extern const struct command commands[]; /* in the order of COMMANDS; the last one has no name */

#define COMMAND_PROTOTYPE(name, ...) int cmd_##name(struct options *o);
COMMANDS(COMMAND_PROTOTYPE)

#endif

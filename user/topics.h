/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `help TOPIC` prints beside the commands.
 */
#ifndef USER_TOPICS_H
#define USER_TOPICS_H

#include <stdbool.h>
#include <stdio.h>

/* X(name, summary); topic_<name>() in topics.c prints it. */
#define TOPICS(X)                                                                            \
	X(engines, "engines, keys, hashes, slicing, placement, clocks, actions")             \
	X(tunnels, "--inner: what is looked into, and how far")                              \
	X(policy, "what tells packets apart on your site: fields, VLANs, interfaces")        \
	X(copies, "what counts as a copy, and how to find out: learn, explain")              \
	X(audit, "what --audit measures, and how far it can be trusted")                     \
	X(faults, "slices that fail: what is answered meanwhile, and how they come back")    \
	X(repeats, "duplicates that may be sent twice; floods; what is suppressed most")     \
	X(metrics, "--metrics, --textfile: what they export, for Prometheus")                \
	X(config, "--config: options and interfaces in a file")                              \
	X(cluster, "replicas of other hosts: what they say, and who is believed")            \
	X(watch, "--watch-action: keys that alone, or never, are de-duplicated")             \
	X(growth, "--grow: filters that are opened and retired with the rate")               \
	X(plan, "what plan computes, by which formulas, and what it assumes")                \
	X(papers, "where the filters come from")                                             \
	X(records, "what stream takes for a record, its time and its window; saved filters") \
	X(join, "the filter before a join: stream --join, --save-filter, --filter")          \
	X(detection, "joint: which keys all monitors have; algorithms, bytes, errors")       \
	X(sites, "simulate sites: slices of a filter on several machines")                   \
	X(trees, "site --tree, stream --leaf, simulate tree: filters near producers")        \
	X(streams, "what simulate runs, the truth it compares with, what --trace reads")

/* What `xdp-dedup help` prints beside the topics: for make install. */
#define GENERATED(X)        \
	X(man, manual_page) \
	X(completion, manual_completion)

/* Print the topic called @name to @to; false if there is none. */
bool topic_print(FILE *to, const char *name);

/* A line per topic, for the overview. */
void topics_list(FILE *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of those who speak in one name is believed: an epoch is one run of an agent. As a rule the later one has
 * replaced the one before. But two hosts may have been given one name: both go on to speak, and the one that was
 * believed first stays so, until it leaves or falls silent.
 */
#ifndef USER_CLUSTER_EPOCHS_H
#define USER_CLUSTER_EPOCHS_H

#include <stdbool.h>

#include "user/cluster/wire.h"

struct epochs {
	u64 now, order;		/* who is believed (0: nobody yet), and its last message */
	u64 other, other_order; /* who was, or would be */
	bool replaced;		/* `other` was believed until `now` came */
	bool twins;
	u64 twin_ns; /* twins: when that was last seen, CLOCK_MONOTONIC */
};

enum epochs_verdict {
	EPOCHS_SAME,  /* of the one that is believed */
	EPOCHS_BEGIN, /* ... that is from now on: what is known of its name was another's */
	EPOCHS_OLD,   /* of one that has gone */
	EPOCHS_TWIN,  /* of one that speaks as well */
};

/*
 * Judge a message with @head, which may be @stored, at CLOCK_MONOTONIC @now_ns. @alive: who is believed has
 * neither left nor fallen silent. What is older than @memory_ns is not held against a later epoch.
 */
enum epochs_verdict epochs_judge(struct epochs *e, const struct wire_head *head, bool stored,
				 bool alive, u64 now_ns, u64 memory_ns);

/* The same for a message in one's own name, @self: EPOCHS_SAME, EPOCHS_OLD, or EPOCHS_TWIN. */
enum epochs_verdict epochs_judge_own(struct epochs *e, u64 self, const struct wire_head *head,
				     bool stored, u64 now_ns);

/* Whether two were heard in one name within @memory_ns. */
bool epochs_twins(const struct epochs *e, u64 now_ns, u64 memory_ns);

#endif

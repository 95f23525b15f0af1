/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose messages are refused: each sender is told of once, and all together not so often that a log is flooded. */
#ifndef USER_CLUSTER_STRANGERS_H
#define USER_CLUSTER_STRANGERS_H

#include <stdbool.h>

#include <xdd/types.h>

#define STRANGERS 64	    /* the last ones that were told of */
#define STRANGERS_AT_ONCE 8 /* lines in a minute */

/* All zeroes: none yet. */
struct strangers {
	u64 id[STRANGERS]; /* of senders */
	u32 n;		   /* told of so far */
	u32 lines;	   /* in the minute that began at @since_ns */
	u64 since_ns;
};

/* Whether sender @id, whose message is refused at @now_ns, is to be told of now. */
bool strangers_tell(struct strangers *s, u64 id, u64 now_ns);

/* An id of a sender that has a name only. */
u64 strangers_id(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages about a watch set that hosts share. Their header and tag are those of wire.h, under keys of their own. The
 * payload begins with struct watch_told, then:
 *
 *   WATCH_FULL    a part of the state file, deflated (zlib): part 0.. of parts, WATCH_PART bytes each but the last
 *   WATCH_DELTA   records of journal.h that lead from `before` to `after`
 *   WATCH_BEAT    nothing: this is the state now
 *   WATCH_WANT    nothing: send a FULL; seq and `epoch` are those of what is held
 *
 * epoch and seq of the header are the version that the others have once they know the message.
 */
#ifndef USER_CLUSTER_WATCH_WIRE_H
#define USER_CLUSTER_WATCH_WIRE_H

#include "user/cluster/wire.h"
#include "user/watch/journal.h"
#include "user/watch/version.h"

#define WATCH_LABEL "xdp-dedup watch" /* of their keys */

/* What must be alike for one set to stand for another. */
struct watch_shape {
	u64 counters, bits;
	u64 kind; /* of keys, and their secret: seed of watch_set_about() */
	u64 hashes;
};

struct watch_told {
	struct watch_shape shape;
	struct watch_print before, after; /* before: of DELTA only */
	u64 bytes, deflated;		  /* FULL: of the file, and of all parts */
	u64 epoch;			  /* WANT: of what is held */
};
XDD_ASSERT(sizeof(struct watch_told) == 88, "as it is sent");

#define WATCH_PART (WIRE_PAYLOAD_MAX - sizeof(struct watch_told))

XDD_ASSERT(JOURNAL_MAX <= WATCH_PART, "a journal fits into a message");

/* A message as it was read. */
struct watch_heard {
	struct wire_head head;
	struct watch_told told;
	const u8 *at; /* what is behind struct watch_told, */
	size_t n;     /* and its bytes */
};

/*
 * Make a message of @message, which has @n bytes behind a header and a struct watch_told, and WIRE_TAG bytes of room
 * behind them. Of @head the caller fills what wire_seal() does not, but for the payload's size. Returns the bytes.
 */
size_t watch_seal(struct wire_self *self, struct wire_head *head, const struct watch_told *told,
		  size_t n, u8 *message);

/*
 * Read the @size bytes at @message, which may be anything and would be of @from. Returns 0, or as wire_open() does;
 * after 0 it is a WATCH_*, a part is as long as it must be, and a DELTA leads where it says.
 */
int watch_unseal(const struct wire_key *group, const char *from, const u8 *message, size_t size,
		 struct watch_heard *heard);

/* What differs, in words that follow "loaded with other"; or NULL: nothing does. */
const char *watch_shape_differs(const struct watch_shape *a, const struct watch_shape *b);

#endif

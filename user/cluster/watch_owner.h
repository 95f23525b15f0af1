/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A watch set as its owner tells it to others. Each state that is told is a version: an epoch, which grows with each
 * start, and a number in it. A change is told as a DELTA where the journal has it, else as a FULL; a FULL is told as
 * well when somebody wants it, after each connection, and when the DELTAs since the last one have become long. FULLs go
 * to two places in turn, so that one of them has a whole one, and what followed it, whenever the owner ends.
 */
#ifndef USER_CLUSTER_WATCH_OWNER_H
#define USER_CLUSTER_WATCH_OWNER_H

#include "user/cluster/watch_wire.h"

/* What the set is now. */
struct owner_set {
	struct watch_print print;
	u8 *full; /* the state file, from malloc(); NULL: not read */
	size_t full_bytes;
	int log_bytes; /* of owner_ops.read()'s @log that lead from @last to @print; 0: they do not */
};

struct owner_ops {
	/* Whether the set may be another one than read() read last: cheap. */
	bool (*changed)(void *to);
	/* Read it: the file as well, if @full or where the journal does not lead from @last. @log has room for
	 * JOURNAL_MAX. Returns 0, -EBUSY or another negative errno: try later.
	 */
	int (*read)(void *to, bool full, const struct watch_print *last, u8 *log,
		    struct owner_set *set);
	/* @place: 0 or 1, or -1: it is not to be kept. @instead: of all that is kept there. */
	int (*publish)(void *to, int place, bool instead, const u8 *message, size_t size);
	size_t (*pending)(void *to); /* bytes that were published and are not gone */
	void (*version)(void *to, const struct watch_version *version); /* is told from now on */
};

struct owner_setup {
	struct wire_self *self; /* its epoch is that of the first version; outlives the owner */
	struct wire_key group;
	struct watch_shape shape;
	struct owner_ops ops;
	void *to;
	u64 beat_ns;	   /* it says so often what the state is */
	u64 full_least_ns; /* between two FULLs, and ... */
	u64 look_ns;	   /* between two looks at the set; longer if reading takes long */
};

struct owner_stats {
	u64 fulls, deltas, beats, wanted; /* wanted: FULLs that others asked for */
	u64 refused; /* questions that are damaged, forged or senseless, and what another host says in its name */
	u64 twin_ns; /* CLOCK_MONOTONIC when another host last spoke in its name; 0: never */
	bool yields; /* ... which began earlier, and goes on: this one says nothing as long as that is so */
	u64 unsent; /* messages that the bus did not take */
	int failed; /* the set cannot be read, since: negative errno */
};

struct owner;

/* Returns NULL and an errno. */
struct owner *owner_open(const struct owner_setup *setup);
void owner_close(struct owner *o);

/* There is a connection again, or no longer. */
void owner_up(struct owner *o);
void owner_down(struct owner *o);

/* What comes live in the owner's own name: its messages, or those of another host. Returns 0, or -EEXIST for these. */
int owner_heard(struct owner *o, const char *name, const u8 *message, size_t size,
		struct wire_time now);

/* Whether all that the set is was handed to the bus, which is connected. */
bool owner_has_told(const struct owner *o);

/* @from says that it wants a FULL. Returns 0, or as watch_unseal() does. */
int owner_wanted(struct owner *o, const char *from, const u8 *message, size_t size);

/* Do what is due. Returns when the next thing is, on CLOCK_MONOTONIC. */
u64 owner_step(struct owner *o, struct wire_time now);

const struct watch_version *owner_version(const struct owner *o);
const struct owner_stats *owner_stats(const struct owner *o);

#endif

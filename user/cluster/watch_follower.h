/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A watch set that follows its owner's at another host. What comes is put together, and applied as a whole: a FULL that
 * is newer than what is held takes its place, a DELTA changes it that leads from it. What is as old as that, or older,
 * is ignored, whoever says it again, and after a start as well: the version that is held is kept on disk. After anything
 * else a FULL is wanted: first of what JetStream kept, then of the owner. Of two owners with one name the first is
 * believed.
 */
#ifndef USER_CLUSTER_WATCH_FOLLOWER_H
#define USER_CLUSTER_WATCH_FOLLOWER_H

#include "user/cluster/watch_wire.h"

#define FOLLOWER_PLACES 2 /* where FULLs are kept in turn */

/* What is to be done to the set: all that @full has takes its place, if that is not NULL; then what @log says. */
struct follower_change {
	const u8 *full; /* a state file of follower_setup.shape, whose CRCs were not checked */
	size_t full_bytes;
	const u8 *log; /* records of journal.h */
	size_t log_bytes;
	struct watch_print from; /* what the set must be now, without @full */
	struct watch_version to; /* what it must be then */
};

struct follower_ops {
	/*
	 * Do @change, whole. Returns 0; -EBUSY: try again soon; or another negative errno with a line in @err, and
	 * nothing has changed: -ESTALE: the set is not what it must be now.
	 */
	int (*apply)(void *to, const struct follower_change *change, char *err, size_t err_size);
	/* What is held is this version from now on, without a change of the set. Epoch 0: none. */
	void (*version)(void *to, const struct watch_version *version);
	/* Fetch what is kept in both places. Returns whether it is on its way. */
	bool (*fetch)(void *to);
	void (*want)(void *to, const u8 *message, size_t size); /* hand this to the owner */
};

struct follower_setup {
	struct wire_self *self; /* outlives the follower */
	struct wire_key group;
	const char *owner; /* HOST.INSTANCE */
	struct watch_shape shape;
	struct watch_version held; /* epoch 0: none; print: what the set is */
	bool same;		   /* ... and that is what @held was; else only a FULL mends it */
	struct follower_ops ops;
	void *to;
	u64 silence_ns; /* an owner that says nothing for so long may have told what did not come */
	u64 want_least_ns, want_most_ns; /* asked again after so long, then twice that, ... */
};

struct follower_stats {
	u64 bad; /* messages that are damaged, cut or forged */
	u64 refused; /* of the owner: of another shape or version, senseless, or that could not be applied */
	u64 old; /* said before, or out of order and too late: ignored */
	u64 twin_ns; /* CLOCK_MONOTONIC when another owner than the one that is believed last spoke; 0: never */
	u64 gaps;		  /* versions that were missing */
	u64 fulls, deltas, beats; /* taken */
	u64 fetches, wants;	  /* FULLs asked for */
	const char *differs;	  /* watch_shape_differs() of the owner's, or NULL */
	u64 heard_ns;		  /* CLOCK_MONOTONIC of its last fresh message; 0: none */
	u64 equal_ns;		  /* ... when the set was last known to be the owner's; 0: never */
};

struct follower;

/* Returns NULL and an errno. */
struct follower *follower_open(const struct follower_setup *setup);
void follower_close(struct follower *f);

/* The set is this one, whoever made it so: if it is not what is held, a FULL is to mend it. */
void follower_found(struct follower *f, const struct watch_print *print);

void follower_up(struct follower *f);
void follower_down(struct follower *f);

/*
 * Take what came of the owner: @place it is kept in, or -1; @stored: it was. It is applied by the next step. Returns 0,
 * also if it is ignored; as watch_unseal() does; -EINVAL: of another shape, or senseless; -EEXIST: two owners have that
 * name, and it is of the one that is not believed (epochs.h); -ENOMEM.
 */
int follower_take(struct follower *f, int place, bool stored, const u8 *message, size_t size,
		  struct wire_time now);

/* Do what is due; a line in @err, or "": what could not be applied. Returns when the next thing is, on CLOCK_MONOTONIC. */
u64 follower_step(struct follower *f, struct wire_time now, char *err, size_t err_size);

/* What is held, and since when, on CLOCK_MONOTONIC, it may not be the owner's; 0: it is. */
const struct watch_version *follower_held(const struct follower *f);
u64 follower_behind_since(const struct follower *f, u64 now_ns);

const struct follower_stats *follower_stats(const struct follower *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an agent that shares a watch set with other hosts keeps of that in file WATCH_FOLDER/NAME.share: to go on from
 * when it starts again, and for `watch` and status. It has the file locked while it runs: as long as it follows
 * another host's set, nobody else changes this one. What it has written stays when it ends.
 */
#ifndef USER_WATCH_SHARED_H
#define USER_WATCH_SHARED_H

#include <stdbool.h>
#include <stddef.h>

#include "user/watch/version.h"

#define SHARED_NAME 64 /* bytes of HOST.INSTANCE, its end included */

enum shared_role { SHARED_owner, SHARED_follower };

struct shared {
	u8 magic[8];
	u32 format, role; /* enum shared_role */
	u64 id;		  /* of the instance's set: watch_set_id() */
	char owner[SHARED_NAME];
	struct watch_version version; /* of an owner: told last; of a follower: held */
	u64 behind_ns; /* CLOCK_MONOTONIC since when it may not be what the owner has; 0: it is */
	u64 refused; /* messages that were: damaged, forged, senseless, or of a set that is none like this */
	u64 old;	   /* ... that had been said before */
	u64 missing;	   /* versions that did not come: all of the set was asked for */
	u64 fulls, deltas; /* taken or, by an owner, told */
	u64 twin_ns; /* CLOCK_MONOTONIC when another host last spoke in the owner's name; 0: never */
	u64 heard_ns; /* ... when a follower last heard its owner; 0: never */
	u64 beat_ns;  /* an owner says something so often, at least */
	u32 up;	      /* 1: there is a connection to NATS */
	u32 told; /* 1: an owner has handed all of `version` to it; 0 as well while it yields to another owner */
};

/*
 * Lock the file of instance @name, which is made where it is missing, and read it; what was no such file is all 0 but
 * for what a new one has. Returns its descriptor, or a negative errno: -EBUSY: another agent has it.
 */
int shared_lock(const char *name, struct shared *shared);

/* What @fd of shared_lock() holds from now on. Returns 0 or a negative errno. */
int shared_write(int fd, const struct shared *shared);

/* Read the file of instance @name. Returns 0, or a negative errno where there is none. *@now: an agent has it. */
int shared_read(const char *name, struct shared *shared, bool *now);

void shared_forget(const char *name);

/* Whether the set of @name may be changed here: 0; or -EPERM with a line in @err that says where. */
int shared_check(const char *name, char *err, size_t err_size);

#endif

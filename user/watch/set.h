/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The watch set of a loaded instance: level 1 in map `watch`, which the program asks, and all of the
 * accurate counting Bloom filter in the state file WATCH_FOLDER/NAME.xdw. The file says what is in
 * the set. Whoever changes both holds the lock of pins_lock(): what is new enters the map before the
 * file is replaced, and what is gone leaves it after that. So the map never lacks a key of the
 * file, whenever the writer is killed, and what it has beside them the next writer takes out.
 */
#ifndef USER_WATCH_SET_H
#define USER_WATCH_SET_H

#include "user/loader/instance.h"
#include "user/watch/acbf.h"
#include "user/watch/file.h"
#include "user/watch/view.h"

/* What was done since the set was opened, for its journal: keys of one kind of change. */
struct watch_done {
	u32 what, n, room; /* what: enum journal_what */
	u64 *key;
	bool other; /* something else was done as well, or too much */
};

struct watch_set {
	const struct instance *in;
	struct acbf acbf;
	u64 *map; /* level 1, as the program has it */
	size_t map_bytes;
	char path[PATH_MAX]; /* of the state file */
	struct watch_about about;
	struct watch_print print; /* of the state file */
	struct watch_done done;
};

/* A key: half of a packet's digest under the instance's secret (xdd_watch_key()). */
struct watch_key {
	u64 key;
	u64 origin; /* for messages: number of the argument, line or frame, from 1 */
};

/*
 * Open the set of @in, which was loaded with one, and put the map right; the lock is held. Returns 0,
 * and then watch_set_close() is due, or with a line in @err: -ENODATA: its state is lost, as nothing
 * but watch_set_replace() mends; or what reading and mapping returned.
 */
int watch_set_open(struct watch_set *set, const struct instance *in, char *err, size_t err_size);
void watch_set_close(struct watch_set *set);

/*
 * Add, or delete, @n keys, or all of a set that was saved: in memory only, until watch_set_commit().
 * Returns 0; or -ENOSPC: full; -ENOENT: not in the set; -EOVERFLOW: a counter is full; -EINVAL: a set
 * of another size; -ENOMEM. Then some of it is done: close the set without a commit. *@at is the key.
 */
int watch_set_merge(struct watch_set *set, struct acbf *from);
int watch_set_add(struct watch_set *set, const struct watch_key *keys, size_t n, size_t *at);
int watch_set_delete(struct watch_set *set, const struct watch_key *keys, size_t n, size_t *at);

/* Make the change true, and add it to the journal. Returns 0; or a negative errno with a line in @err, and nothing has
 * changed: -EILSEQ: @must is not NULL, and the state would have another print.
 */
int watch_set_commit(struct watch_set *set, const struct watch_print *must, char *err,
		     size_t err_size);

/*
 * In place of all that the set of @in has, whatever its state, put what @with has, of the same size, which becomes the
 * set's; or, if it is NULL, nothing. The lock is held. Returns as watch_set_commit() does, -ENOMEM, or -EINVAL where the
 * sizes differ; @with is closed in any case.
 */
int watch_set_replace(const struct instance *in, struct acbf *with, const struct watch_print *must,
		      char *err, size_t err_size);

/* What tells the set of @in from those of instances that had its name before: its state file's seed. */
u64 watch_set_id(const struct instance *in);

/* The state file of the instance that is called @name. */
void watch_set_path(char path[PATH_MAX], const char *name);

/* Remove the state of the instance that was called @name. */
void watch_set_forget(const char *name);

/* How keys of @in are hashed, for sets that are saved: equal if, and only if, they are hashed alike. */
int watch_set_about(const struct instance *in, struct watch_about *about);

#endif

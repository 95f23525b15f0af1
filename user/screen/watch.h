/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The instances that are watched, each as it was at the last look and at the one before. */
#ifndef USER_SCREEN_WATCH_H
#define USER_SCREEN_WATCH_H

#include <stdbool.h>

#include "user/message.h"
#include "user/screen/figures.h"

/* An instance as it was found. */
struct snapshot {
	u64 at_ns;		  /* CLOCK_MONOTONIC */
	struct instance instance; /* closed: only what was read of it */
	struct status status;
};

struct watched {
	char name[INSTANCE_NAME_MAX];
	struct snapshot *before, *now; /* NULL: there is none */
	struct figures figures;	       /* where there is a `now` */
	struct activity activity;
	char why[MESSAGE_MAX]; /* else: why there is none */
};

struct watch {
	const char *name;    /* the only instance, or interface, that is looked at; NULL: all */
	struct watched *all; /* by name */
	u32 n;
	u64 walked_ns; /* when the filters were walked over that nobody ages */
};

/*
 * Look at what is loaded; @watch is all zero but for `name` before. Where nobody ages a filter, it is walked over
 * once in a while. Returns 0, or a negative errno with one line in @err: what is loaded cannot be listed. One that
 * cannot be read is no error, but has a `why`.
 */
int watch_look(struct watch *watch, char *err, size_t err_size);
void watch_free(struct watch *watch);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What status and metrics say of a watch set; see set.h. */
#ifndef USER_WATCH_VIEW_H
#define USER_WATCH_VIEW_H

#include <jansson.h>

#include "user/loader/instance.h"
#include "user/watch/shared.h"

#define WATCH_FOLDER "/run/xdp-dedup" /* of state files */

/* What is shown of a set, without a lock. */
struct watch_view {
	bool there;   /* the instance has one */
	bool lost;    /* keys are watched, but what deletions need is gone, */
	bool doubted; /* or others than root can have changed it */
	u64 keys, capacity;
	double fpr;	  /* chance that a packet of another key is taken for one of them */
	u64 memory_bytes; /* of the map */
	/* As an agent shares it with other hosts now, or did last: */
	bool shared, sharing; /* shared: it did */
	struct shared share;
};
void watch_view_read(const struct instance *in, struct watch_view *view);

/* For how long, in s, it may not have been what its owner has; 0: it is that, or nobody shares it. */
double watch_view_behind(const struct watch_view *view);

/* Whether two hosts share their sets in the owner's name. */
bool watch_view_twins(const struct watch_view *view);

#define WATCH_SHARE_TEXT 256

/* What view->share says, in words; view->shared. Returns @text. */
const char *watch_view_share_text(const struct watch_view *view, char text[WATCH_SHARE_TEXT]);

/* The same as an object; null: nobody ever shared it. */
json_t *watch_view_share_json(const struct watch_view *view);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What status and metrics say of a watch set; see set.h. */
#ifndef USER_WATCH_VIEW_H
#define USER_WATCH_VIEW_H

#include "user/loader/instance.h"

#define WATCH_FOLDER "/run/xdp-dedup" /* of state files */

/* What is shown of a set, without a lock. */
struct watch_view {
	bool there; /* the instance has one */
	bool lost;  /* keys are watched, but what deletions need is gone */
	u64 keys, capacity;
	double fpr;	  /* chance that a packet of another key is taken for one of them */
	u64 memory_bytes; /* of the map */
};
void watch_view_read(const struct instance *in, struct watch_view *view);

#endif

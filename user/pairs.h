/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which frame a copy is a copy of. No filter knows: this keeps, beside it, the digest and the
 * number of every frame that may still be copied, and lists the pairs as CSV.
 */
#ifndef USER_PAIRS_H
#define USER_PAIRS_H

#include "capture/set.h"
#include "capture/sink.h"
#include "identity.h"
#include "store.h"

struct pairs_frame;

struct pairs {
	const char *path; /* "-": stdout */
	char **inputs;	  /* their names, by capture_item.input */
	struct xdd_fixed fixed;
	struct xdd_secret secret;
	u64 window;		    /* in the units of time; 0: without an end */
	struct pairs_frame *frames; /* open addressing, at most half full */
	size_t size, used;	    /* size: a power of two */
	u64 latest;
	bool keep_all; /* time stepped back: nothing can be forgotten any more */
	bool open;
	struct sink sink;
};

/*
 * List pairs in @path, a file or "-" (stdout), for frames of the inputs called @inputs that @store
 * judges; nothing is found further than @window apart (0: no end).
 *
 * Returns 0 or a negative errno: of sink_open(), or -ENOMEM. pairs_close() is due in any case.
 */
int pairs_open(struct pairs *p, const char *path, char **inputs, const struct xdd_store *store,
	       u64 window);

/*
 * Take note of the frame @item, which is @packet, judged at @time (nanoseconds, or the number of
 * the record) to be @seen before, or not. A copy of which no first is known, a false positive of
 * the filter, is listed without one.
 *
 * Returns 0, or a negative errno: -ENOMEM, or what sink_write() returned.
 */
int pairs_take(struct pairs *p, const struct capture_item *item, const struct xdd_packet *packet,
	       u64 time, bool seen);

/* Complete the file; then give it its name. As sink_finish() and sink_publish(). */
int pairs_finish(struct pairs *p);
int pairs_publish(struct pairs *p);

void pairs_close(struct pairs *p);

#endif

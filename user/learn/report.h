/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a sample says: in words, or as JSON. */
#ifndef USER_LEARN_REPORT_H
#define USER_LEARN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "lens.h"

/* Where the sample came from. */
struct learn_source {
	const char *name;  /* of a file or an interface */
	const char *netns; /* of the interface, or NULL */
	bool is_file;
	double seconds; /* of an interface: how long it was watched */
	u64 missed;	/* of an interface: frames that the capture lost */
	bool complete;	/* of a file: it could be read to its end, or as far as was asked */
};

enum learn_verdict {
	LEARN_NOTHING, /* no packet that could have been compared */
	LEARN_NO_COPIES,
	LEARN_UNSURE, /* equal packets, all without identification */
	LEARN_COPIES_SURE,
};

struct learn_advice {
	enum learn_verdict verdict;
	u32 window; /* index of learn_window_ns; of the last two verdicts */
	struct learn_count would_drop;
};

/* What to set: the shortest window from 1 ms to 100 ms that surely finds all but one in 200 copies,
 * also where ticks cut it.
 */
struct learn_advice learn_advise(const struct learn *l);

/* What --vlan might be where copies are in another VLAN: "map:300=50" of the pairs that were routed, or
 * "key" where none was. Returns @text, or NULL where no copy is.
 */
#define LEARN_VLAN_MAX 128
const char *learn_vlan(const struct learn *l, char text[LEARN_VLAN_MAX]);

void learn_print(const struct lenses *lenses, const struct learn_source *source, FILE *to);
json_t *learn_json(const struct lenses *lenses, const struct learn_source *source);

#endif

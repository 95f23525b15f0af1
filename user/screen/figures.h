/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens now: rates between two looks at an instance. */
#ifndef USER_SCREEN_FIGURES_H
#define USER_SCREEN_FIGURES_H

#include <jansson.h>

#include "user/metrics/status.h"

/* A second; NAN: not known. */
struct rates {
	double received, distinct, duplicate, bypassed; /* packets */
	double bits;					/* received */
	double copies; /* duplicates' share of what was compared; NAN: nothing was */
};

enum figures_state {
	FIGURES_OK,
	FIGURES_NO_PACKETS, /* none came between the two looks */
	FIGURES_WARNINGS,   /* status has some */
};

struct figures {
	const struct status *now;
	enum figures_state state;
	double seconds; /* between the looks; NAN: there was one only */
	struct rates slot[XDD_SLOTS], total;
	double copies_since_load; /* share, as in struct rates */
	double evictions;	  /* a second */
	double key[TOP_KEYS];	  /* suppressed a second, of each key in now->top */
};

extern const char *const figures_state_names[]; /* "ok", ... by enum figures_state */

/*
 * Fill @figures from @now and from @before, the status of the same instance @seconds earlier; NULL: there is
 * none. Where it was loaded anew between them no rate is known. @now must stay while @figures is used.
 */
void figures_make(struct figures *figures, const struct status *before, const struct status *now,
		  double seconds);

/* The object of status --json, with `state`, `interval_s` and `rates`, and in each entry of `top_suppressed`
 * `per_second`. NULL: no memory.
 */
json_t *figures_json(const struct figures *figures);

#endif

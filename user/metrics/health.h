/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The health of an instance's slices, for those who show it. */
#ifndef USER_METRICS_HEALTH_H
#define USER_METRICS_HEALTH_H

#include <jansson.h>

#include "user/health.h"

struct fullness;
struct instance;

/* A slice, or the range of slices that share a state, over all sites. */
struct health_part {
	enum health_state state; /* the worst */
	u64 asked;		 /* look-ups that it could not answer */
	double density; /* share of its cells in use, the mean over the sites; NAN: not known */
};

struct health_view {
	u32 n; /* parts; 0: loaded without --fault-policy */
	u32 failed, recovering;
	u64 asked;
	struct health_part *part;
};

/* Read it of @in, whose densities are in @fullness. Returns 0, and then health_view_free() is due, or
 * a negative errno.
 */
int health_view_read(const struct instance *in, const struct fullness *fullness,
		     struct health_view *view);
void health_view_free(struct health_view *view);

/* `slices` of status --json: an entry per part. */
json_t *health_view_json(const struct health_view *view);

/* "2 of 40 slices failed, 1 recovering", in @text. */
#define HEALTH_TEXT_MAX 96
const char *health_view_text(const struct health_view *view, char text[HEALTH_TEXT_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which site has which slices of a filter, by what the sites say of themselves (call.h). */
#ifndef USER_SITES_ROSTER_H
#define USER_SITES_ROSTER_H

#include "user/sites/producer.h"

struct roster_site {
	struct call_here here;
	u64 id;	   /* its number in calls */
	bool lost; /* it did not answer, and was not heard since */
	bool back; /* it is to recover: it came, or came back, after the start */
};

struct roster {
	u64 fingerprint;
	u32 of; /* slices, as sites count them: each is of @each slices of the filter */
	u32 each;
	u32 n;
	bool started;			    /* who comes now comes back */
	bool changed;			    /* since roster_deal() */
	struct roster_site site[SITES_MAX]; /* in the order of their slices, none twice */
};

/* CAME: also in place of one that had some of its slices. OTHER: of another filter. FULL: SITES_MAX are known. */
enum roster_news { ROSTER_KNOWN, ROSTER_CAME, ROSTER_BACK, ROSTER_OTHER, ROSTER_FULL };

/* Of the filter @fixed, with what sites_fingerprint() says of it. */
void roster_open(struct roster *r, const struct xdd_fixed *fixed, u64 fingerprint);

/* Process @id says @here. */
enum roster_news roster_take(struct roster *r, const struct call_here *here, u64 id);

/* The site with the number @id, or NULL; and forget it. */
struct roster_site *roster_find(struct roster *r, u64 id);
void roster_forget(struct roster *r, u64 id);

/* Slices that no site has, such as "3, 10-19", to @text, cut to fit. Returns how many. */
u32 roster_missing(const struct roster *r, char *text, size_t size);

/* The sites for producer_deal(), where none is between those that are: at most ROSTER_DEALT. Returns how many. */
#define ROSTER_DEALT (2 * SITES_MAX + 1)
u32 roster_deal(struct roster *r, struct producer_site sites[ROSTER_DEALT]);

#endif

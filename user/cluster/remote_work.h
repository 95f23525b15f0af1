/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What remote*.c share. */
#ifndef USER_CLUSTER_REMOTE_WORK_H
#define USER_CLUSTER_REMOTE_WORK_H

#include "user/clock.h"
#include "user/cluster/calls.h"
#include "user/cluster/remote.h"
#include "user/cluster/strangers.h"
#include "user/options.h"
#include "user/sites/roster.h"

/* A site of the producer's, by its number there. */
struct remote_link {
	u64 id; /* 0: no site has these slices */
	struct calls_question question;
};

struct remote {
	struct remote_setup setup;
	struct producer_plan plan;
	struct producer *p;
	struct calls *calls;
	struct roster roster;
	u32 n;
	struct remote_link *links;
	char about[CALL_TEXT];
	u64 tick;      /* of the last key */
	u64 hello_ns;  /* when to ask again who is there */
	u64 announced; /* who said last that it is there, and has not answered; 0: nobody */
	u32 heard;     /* answers since it was last asked who is there */
	u64 listen_ns; /* when these may be waited for again, before keys are asked */
	u64 retry_ns;  /* when to ask again for what others had claimed; 0: nothing was */
	u64 retries;   /* in a row */
	u64 repeats;   /* of links that are no more */
	u64 refused;   /* messages that were not by a site, or damaged */
	struct strangers others; /* filters that sites have instead, by fingerprint */
};

#define REMOTE_HELLO_NS (250 * MILLISECOND_NS) /* how often it is asked who is there, at most */

/* remote.c: ask who is there, if somebody is missing; wait until something came or
 * @until_ns, and take it; tell the producer who has which slices.
 */
void remote_search(struct remote *r, u64 now);
void remote_wait(struct remote *r, u64 until_ns);
int remote_deal(struct remote *r);
void remote_links_close(struct remote *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The chains of filters of an instance that grows, as they are now. */
#ifndef USER_METRICS_CHAINS_H
#define USER_METRICS_CHAINS_H

#include <jansson.h>

#include "xdd/growth.h"

struct instance;

struct chains {
	struct xdd_chain *chain; /* a copy: of site 0, 1, ...; NULL: the filter does not grow */
	u32 number;		 /* of them */
	double live;		 /* filters that are asked, the mean over the chains */
	u32 most;		 /* ... and the most that a chain has */
	u32 full;		 /* chains that are full and have no filter left to open */
	u64 opened, retired, refused;
};

/* Returns 0, and then chains_free() is due, or a negative errno. */
int chains_read(struct chains *chains, const struct instance *in);
void chains_free(struct chains *chains);

/* chain_fpr(), the mean over the chains of @site. */
double chains_fpr(const struct chains *chains, const struct xdd_fixed *fixed, u32 site);

/* `growth` of status --json; null where the filter does not grow. */
json_t *chains_json(const struct chains *chains, const struct xdd_fixed *fixed);

struct xdd_store;

/* The same of a filter in heap memory, where filters_most is over all the time. */
json_t *chains_of_store(const struct xdd_store *store);

#endif

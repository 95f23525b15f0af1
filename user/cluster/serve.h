/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A site (sites/site.h) on NATS. Before it serves it asks who else is there: no slice is served twice, and all sites
 * of a group have one filter. Of two that contradict each other the one that serves stays, or that began earlier.
 */
#ifndef USER_CLUSTER_SERVE_H
#define USER_CLUSTER_SERVE_H

#include "user/cluster/calls.h"
#include "user/derive.h"

#define SITES_SERVICE "sites" /* see calls.h */

/* What all sites and producers of a filter must have alike, in words. */
void serve_about(const struct derived *d, char about[CALL_TEXT]);

/*
 * Serve the slices that @o names of the filter @d until a signal. Counts go to stdout at the end, and on SIGUSR1.
 * Returns 0; or with a line in @err -EINVAL for what @o lacks, -EEXIST: another site contradicts this one, or
 * another negative errno.
 */
int serve(const struct options *o, const struct derived *d, char *err, size_t err_size);

#endif

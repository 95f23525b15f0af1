/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How full the filters of a bit engine are. */
#ifndef USER_METRICS_LOADS_H
#define USER_METRICS_LOADS_H

#include <xdd/config.h>

struct instance;

/* A site is what has a filter of its own: each CPU under per-CPU placement, else there is one. */
struct loads {
	u32 sites, filters;
	double *share; /* of filter i's cells, at site s, those that are not 0: [s * filters + i] */
	double *lost;  /* at each site: the chance that a new key has all its cells set by others */
	double *slice; /* bloom: of innermost slice i's cells at site s, those set: [s * slices + i] */
	u32 slices;
};

/*
 * Read them: as rlbsbf keeps them, of each of its k filters; or count the cells of the filter itself,
 * which are one array (bloom, sbf), or k. In a CPU's own blocks user space does not see where lines
 * begin, so there the k of rsbf, bsbf and bsbfsd are taken as one.
 *
 * What is lost is the product of the shares; of filters in line it is the mean over the lines. Of a
 * sliced one it is left to who knows which slices are believed.
 *
 * Returns 0, and then loads_free() is due, or a negative errno.
 */
int loads_read(const struct instance *in, struct loads *loads);
void loads_free(struct loads *loads);

/* Mean over the sites of filter @i's share, or of slice @i's. */
double loads_mean(const struct loads *loads, u32 i);
double loads_slice_mean(const struct loads *loads, u32 i);

/* Bit engines: the share of set cells of each of the @sites sites (xdd_sites()). Returns 0 or a
 * negative errno.
 */
int loads_of_sites(const struct instance *in, double *share, u32 sites);

#endif

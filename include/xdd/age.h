/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the ager measures while it walks a filter. A site is what holds a whole filter: a CPU
 * under per-CPU placement, else site 0 is all there is.
 */
#ifndef XDD_AGE_H
#define XDD_AGE_H

#include "faults.h"

/* How full the lines were that a walk has come to: map `tally`, one entry, starts at zero with
 * each walk over a site.
 */
struct xdd_fill {
	u64 lines;
	u64 live;			    /* live cells in them */
	u64 histogram[XDD_LINE_TIMERS + 1]; /* lines by their number of live cells */
};

/* The last whole walk over a site: map `ager`, an entry per site. Times are CLOCK_MONOTONIC. */
struct xdd_ager {
	u64 last_sweep_ns; /* its end; 0: there was none yet */
	u64 sweep_ns;	   /* how long it took */
	u64 period_ns;	   /* from the start of one walk to the next */
	u64 sweeps;	   /* walks since load */
	u64 missed;	   /* periods without one between the first and the last */
	struct xdd_fill fill;
};

/* A slice of several lines, or a part of a filter whose slices are lines and may fail: map `slices`, entry
 * site * xdd_counted() + slice.
 */
struct xdd_slice {
	u64 live;     /* cells, at the last whole walk */
	u64 counting; /* by the walk under way */
};

/* Context of the program xdp_ager: sweep, or @empty, @n lines of @site from line @first on. */
struct xdd_age_run {
	u32 site;
	u32 first;
	u32 n;
	u32 empty;  /* 1: zero them, of a part that has failed */
	u64 now_ns; /* the filter's clock; 0: read it at each line */
};

XDD_ASSERT(sizeof(struct xdd_age_run) == 24, "xdd_age_run has no holes");

/* Whether the slices are runs of several lines, which are counted one by one: otherwise the
 * histogram says all there is to know, or map `chains` does. By products: the verifier does not divide.
 */
XDD_INLINE bool xdd_slices_counted(XDD_FIXED struct xdd_fixed *fixed)
{
	u32 count = xdd_slices_count(fixed);

	return fixed->engine == XDD_ENGINE_timer && !fixed->filters && count > 1 &&
	       2ULL * count <= xdd_lines(fixed);
}

/* Whether the parts are, since the slices are not, and may fail. */
XDD_INLINE bool xdd_parts_counted(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->fault_policy && xdd_engine_has_timers(fixed->engine) &&
	       !xdd_slices_counted(fixed);
}

/* Entries of map `slices` for one site, or 0. */
XDD_INLINE u32 xdd_counted(XDD_FIXED struct xdd_fixed *fixed)
{
	if (xdd_slices_counted(fixed))
		return xdd_slices_count(fixed);
	return xdd_parts_counted(fixed) ? xdd_parts(fixed) : 0;
}

#endif

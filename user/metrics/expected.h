/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a filter errs by the model, from how full it is at this moment. */
#ifndef USER_METRICS_EXPECTED_H
#define USER_METRICS_EXPECTED_H

#include <jansson.h>

#include <xdd/age.h>
#include <xdd/faults.h>

struct xdd_store;

/* NAN: nothing is known. */
struct expected {
	double fpr; /* a key that is new now is called a duplicate */
	double fnr; /* a copy that comes evenly somewhere in the window behind its first is called distinct */
};

/* What is in a filter of timers. */
struct contents {
	const struct xdd_fill *fill; /* a walk over its lines */
	const double *slices; /* live share of each innermost slice; NULL: they were not counted */
	const struct xdd_health *health; /* xdd_healths() entries at @now_ns; NULL: nothing fails */
	u64 now_ns;
	double copies; /* of each distinct packet, on average */
};

/*
 * Engines with timers. A key meets one line or one slice, so the rate is the mean over what it may meet,
 * not that of the mean (koloniari-2011 sections 3 and 7). Slices that are not believed are answered for as the
 * policy says; where none is counted, failed lines are taken as empty, which they are after a window.
 * Under the rule of equal timers it follows from the number of keys that so many live cells tell of.
 */
struct expected expected_of_timers(const struct xdd_fixed *fixed, const struct xdd_live *live,
				   const struct contents *in);

/* Engine bloom, sliced: the same. */
struct expected expected_of_bloom(const struct xdd_fixed *fixed, const double *slices,
				  const struct xdd_health *health, u64 now_ns);

/* Of a filter that grows, whose chains err at the rate @fpr (chain_fpr()). */
struct expected expected_of_chains(const struct xdd_fixed *fixed, double fpr, double copies);

/* Of a bit engine whose rate @fpr its loads have told: only bloom never forgets. */
struct expected expected_of_bits(const struct xdd_fixed *fixed, double fpr);

/* A rate beyond which the filter is plainly too small. */
#define EXPECTED_FPR_HIGH 0.01

/*
 * What @store errs at @now_ns, after it called @distinct and @duplicate events so. exact: wide digests
 * collide with at most 2^-62, and each of @distinct keys met, on average, half of the others.
 */
struct expected store_expected(const struct xdd_store *store, u64 distinct, u64 duplicate,
			       u64 now_ns);

/* null where it is not known. */
json_t *expected_rate_json(double rate);

#endif

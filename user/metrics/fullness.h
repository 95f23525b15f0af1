/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How full the filter is, as the ager found it, and the false-positive rate that follows. */
#ifndef USER_METRICS_FULLNESS_H
#define USER_METRICS_FULLNESS_H

#include <xdd/age.h>

#include "user/metrics/chains.h"
#include "user/metrics/counters.h"
#include "user/metrics/loads.h"

struct instance;

struct fullness {
	bool known;	    /* the ager walked all of it at least once */
	u64 since_sweep_ns; /* since the oldest of the sites' last walks */
	u64 sweep_ns;	    /* what the walk over all sites took */
	u64 period_ns, sweeps, missed;
	double density; /* share of all cells that are live */
	double *slices; /* density of each slice; NULL: there is one, or one for each line */
	u32 slices_used;
	double fairness; /* Jain's, of the live cells over these slices; NAN: none is counted */
	struct chains chains; /* of a filter that grows; else it has none */
	struct loads loads;   /* bit engines; of the others share is NULL */
	double fpr;	      /* a new key is called a duplicate with this probability, now */
	double fnr;	      /* ... a copy distinct, see struct expected; NAN: not known */
	double fpr_full;      /* ... with as many keys live as the filter is meant for */
};

/*
 * Read what the ager left in the maps of @in. Sites weigh as much as the distinct packets of
 * their CPUs in @counters. For the exact engine, which nobody sweeps, known is false, and fpr a
 * bound: every entry's digest may agree with probability 2^-128; none for whole flow keys.
 *
 * Bit engines, which nobody sweeps either, are measured now: known is false, loads is there. What
 * fpr_full is depends on the stream, and is 0, except for bloom.
 *
 * Returns 0, and then fullness_free() is due, or a negative errno.
 */
int fullness_read(const struct instance *in, const struct counters *counters,
		  struct fullness *fullness);
void fullness_free(struct fullness *fullness);

/* Whether it is known how full the filter is. */
bool fullness_is_measured(const struct fullness *fullness);

/* model_fairness() of @n loads. */
double fullness_fairness(const double *loads, u32 n);

/* The FPR with @keys live in a filter of @sites sites, by how keys spread over the lines. */
double fullness_rate_of(const struct xdd_fixed *fixed, double keys, u32 sites);

#endif

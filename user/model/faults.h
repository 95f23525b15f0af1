/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slices that have failed (koloniari-2011 section 3.2). What is not known of a key is taken as set (the
 * key is a duplicate unless another cell is empty), as not set (it is distinct), or put to the vote: a key
 * is a duplicate if at least @vote of its @hashes cells are there and set. As not set is the vote of all.
 *
 * Below, @failed of @slices slices have, @share is their part, 0 to 1; @rate is the FPR and @fill the share
 * of cells that are set in the slices that work.
 */
#ifndef USER_MODEL_FAULTS_H
#define USER_MODEL_FAULTS_H

#include <xdd/config.h>

/* Horizontal, taken as set: Eq. 5, q + (1 - q) P. */
double model_failed_horizontal(double rate, double share);

/* Vertical, taken as set: Eq. 6, (q + (1 - q) r)^k. */
double model_failed_vertical(double fill, double share, u32 hashes);

/*
 * Diced, taken as set: what Eq. 7 is a lower bound of, with f / (S S') in both places. A key's cells lie in
 * @width of all @slices innermost ones (hv: S'; vh: S), of which F have failed, F being hypergeometric:
 * E[(F/w + (1 - F/w) r)^k].
 */
double model_failed_diced(double fill, u32 slices, u32 failed, u32 width, u32 hashes);

/* The vote, vertical: FPR sum_{i=x..k} C(k,i) p^i (1-p)^(k-i) with p = (1 - q) r, and
 * FNR sum_{i=k-x+1..k} C(k,i) q^i (1-q)^(k-i). Horizontal, a key loses all or none: FPR (1 - q) P, FNR q.
 */
double model_vote_fpr(double fill, double share, u32 hashes, u32 vote);
double model_vote_fnr(double share, u32 hashes, u32 vote);

/* The vote, 1 to @hashes, with the least @cost FPR + FNR: the @cost of a false positive is in false
 * negatives, above 0. Of equal ones the largest.
 */
u32 model_vote_best(double fill, double share, u32 hashes, double cost);

/*
 * S_f, Definition 3: the fewest slices with which the FPR is at most @most (above 0, below 1) while @failed
 * have failed and are taken as set; INFINITY where it is @most with no fault. Horizontal by Eq. 5, vertical
 * by Eq. 6; at least as many as have failed.
 */
double model_slices_fp_horizontal(double failed, double rate, double most);
double model_slices_fp_vertical(double failed, double fill, double most, u32 hashes);

/* The same for the FNR where they are taken as not set: a key loses one or more of the @picks slices that it
 * lies in: horizontal 1, vertical k. S >= f / (1 - (1 - P)^(1/picks)).
 */
double model_slices_fn(double failed, double most, u32 picks);

/* How failed slices are taken: as set, or @vote cells (1 to k; 0: all, that is, as not set) decide. */
struct model_policy {
	bool set;
	u32 vote;
};

/*
 * FPR, and FNR for keys that are live, of a filter that is sliced as @fixed says, by the @density of each of
 * its innermost slices (share of the cells in use, xdd_slices_count() of them) and whether each has
 * @failed (NULL: none). Engines timer and bloom; tagged takes @density as shares of 15 cells a line.
 */
double model_fpr_of_slices(const struct xdd_fixed *fixed, const double *density, const bool *failed,
			   struct model_policy policy);
double model_fnr_of_slices(const struct xdd_fixed *fixed, const bool *failed,
			   struct model_policy policy);

#endif

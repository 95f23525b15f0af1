/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What slicing does to rate, load and messages (koloniari-2011 sections 3 and 7). */
#ifndef USER_MODEL_SLICES_H
#define USER_MODEL_SLICES_H

#include <xdd/config.h>

/*
 * The mean of @value(n, @context) over the keys n of a slice: @keys spread over @slices slices. Their
 * number is binomial, taken as Poisson; where there is one slice, or so many keys in each that their
 * spread does not show, it is @keys / @slices.
 */
double model_mean_over_slices(double keys, double slices,
			      double (*value)(double keys, const void *context),
			      const void *context);

/* Engine timer and bloom, horizontal: @keys spread over @slices slices of @cells cells, @hashes cells
 * each: the mean of Eq. 1 over the slices, which Eq. 4 takes as equally full. Not above 1.
 */
double model_timer(double keys, double slices, double cells, u32 hashes);

/*
 * Engines timer and bloom: @keys in a filter that is sliced as @fixed says, into @slices slices (not
 * fixed->slices), of @cells cells in all. Horizontal slices are as above, and cutting them (hv)
 * changes nothing; vertical ones are one filter. So is vh, as long as a key's cells seldom share an
 * outer slice: with 200 innermost slices of 28 keys, k=4, this is 16 % short of the measured rate at
 * S=1, 6 % at 2 and 2 % at 4. With K1xK2 each slice is a filter for K1/S of the keys, K2 cells each,
 * and a new key meets K1 of them (koloniari-2011 section 3.3). Not above 1.
 */
double model_sliced(const struct xdd_fixed *fixed, double keys, double slices, double cells);

/* Jain's fairness of @n loads whose sum is @sum, and that of their squares @squares, (sum)^2 / (n
 * squares): 1 where all are equal and 1/n where one has all (koloniari-2011 section 5); NAN where
 * there is no load.
 */
double model_fairness(double sum, double squares, u32 n);

/* What counts come to, such as visits of slices: their @sum; the greatest share of it that one has, 1/n at best; and their
 * fairness. Of nothing: 0, 0 and 1.
 */
struct model_spread {
	double sum, max_share, fairness;
};
struct model_spread model_spread(const u64 *counts, u32 n);

/* The fairness to expect of @slices slices for events whose shares of the stream have squares that
 * add up to @squares (1/D if D events are equally frequent): 1 / (1 + (S - 1) sum(p^2) / picks). @picks:
 * slices that an event picks: 1 horizontal, k vertical.
 */
double model_fairness_expected(double slices, double squares, u32 picks);

/* Messages a look-up: different ones among @picks picks of @slices slices, S (1 - (1 - 1/S)^picks):
 * 1 horizontal, with k picks vertical.
 */
double model_messages(double slices, u32 picks);

/*
 * Slices that the look-up of a new key visits one after the other, each asked for one of @hashes cells,
 * until a cell is empty; @fill of them are not (0 to 1). That is pipelining, sections 3.2 and 7. A slice
 * that was visited is not visited again. A copy visits model_messages() of them.
 */
double model_pipelined(double slices, u32 hashes, double fill);

/* Bits of a look-up's message: the places of @hashes of @cells cells, in slices where the slice is
 * told by the address (sections 2 and 3.1): k log2(m/S) horizontal, and k log2(m) with 1 for @slices.
 */
double model_lookup_bits(double cells, double slices, u32 hashes);

#endif

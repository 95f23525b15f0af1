/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * False-positive rates as the structure of a filter predicts them: the share of new keys that
 * are called duplicate while @keys others are live.
 */
#ifndef USER_MODEL_H
#define USER_MODEL_H

#include <xdd/config.h>

/* Engine timer: @keys spread over @slices slices of @cells cells, @hashes cells each. The number
 * of keys in a slice is binomial, taken as Poisson; one slice has all of them (koloniari-2011
 * sections 2 and 3). Not above 1.
 */
double model_timer(double keys, double slices, double cells, u32 hashes);

/* Engine tagged: @keys spread over @lines lines. A new key is compared with the cells that are
 * live in its line, at most 15, and each agrees in its 24-bit tag with probability 2^-24.
 */
double model_tagged(double keys, double lines);

/* The lowest rate that the tagged engine is sure to reach, with every cell live. */
double model_tagged_full(void);

/* Cells of an unsliced Bloom filter for @keys keys at rate @fpr (koloniari-2011 section 2):
 * -k n / ln(1 - P^(1/k)).
 */
double model_bloom_cells(double keys, double fpr, u32 hashes);

/*
 * Engine sbf: the rate at which a stream of distinct keys settles, whatever its length (Deng and
 * Rafiei 2006, its stable point), and its inverse, the cells P that each event is to count down for
 * the rate @fpr: @cells in all, of which a key sets @hashes to @max. With Max and K, FPR =
 * (1 - (1 + 1 / (P (1/K - 1/m)))^-Max)^K.
 */
double model_sbf(double cells, u32 hashes, u32 max, double p);
double model_sbf_p(double cells, u32 hashes, u32 max, double fpr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Size and rate of one Bloom filter, of bits or of timers (koloniari-2011 section 2). */
#ifndef USER_MODEL_SIZE_H
#define USER_MODEL_SIZE_H

#include <xdd/config.h>

/* Rate of a filter of @cells cells (at least 1) that holds @keys keys of @hashes cells each: Eq. 1,
 * (1 - (1 - 1/m)^(k n))^k.
 */
double model_bloom_rate(double keys, double cells, u32 hashes);

/* Cells for @keys keys at the rate @fpr (above 0, below 1): Eq. 2 solved for m, -k n / ln(1 - P^(1/k)). */
double model_bloom_cells(double keys, double fpr, u32 hashes);

/* The rate over a stream that fills an empty filter with @keys different keys: the mean of Eq. 1 over
 * 0 to @keys, which is what section 7 measures; it is well below the rate at the end.
 */
double model_bloom_stream(double keys, double cells, u32 hashes);

#endif

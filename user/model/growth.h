/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Filters that grow: when the next one is opened, and what a chain errs (koloniari-2011 section 5). */
#ifndef USER_MODEL_GROWTH_H
#define USER_MODEL_GROWTH_H

#include <xdd/config.h>

/* By cardinality: the keys that a filter of @cells cells holds at the rate @fpr,
 * n = -m/k ln(1 - P^(1/k)).
 */
double model_growth_keys(double cells, double fpr, u32 hashes);

/* By density: the share of its cells that is then set, z/m = P^(1/k). */
double model_growth_density(double fpr, u32 hashes);

/* A new key is a duplicate if any of @filters filters says so: at most 1 - (1 - P)^F, if none of them
 * is above @fpr.
 */
double model_chain_fpr(double fpr, u32 filters);

/* The most filters that are alive if @keys different ones come in a window and a filter is closed at
 * @threshold keys: by cardinality one stays for a window after it was closed, so those closed within
 * it, and the one that is open.
 */
double model_chain_filters(double keys, double threshold);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counting ones in arrays of words. */
#ifndef USER_WORDS_H
#define USER_WORDS_H

#include <xdd/types.h>

/* Of a function that counts ones: the instruction is not in every processor that the program runs on.
 * (clang 14 gives such a function another name than its callers call.)
 */
#if defined(__x86_64__) && !defined(__clang__)
#define COUNTS_ONES __attribute__((target_clones("popcnt", "default")))
#else
#define COUNTS_ONES
#endif

/* Ones of @n words. */
u64 words_ones(const u64 *words, u64 n);

/* Ones that @n words have in common with as many others; and those that the others lack. */
u64 words_ones_in(const u64 *words, const u64 *others, u64 n);
u64 words_ones_beyond(const u64 *words, const u64 *others, u64 n);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/words.h"

COUNTS_ONES u64 words_ones(const u64 *words, u64 n)
{
	u64 ones = 0;

	for (u64 i = 0; i < n; i++)
		ones += __builtin_popcountll(words[i]);
	return ones;
}

COUNTS_ONES u64 words_ones_in(const u64 *words, const u64 *others, u64 n)
{
	u64 ones = 0;

	for (u64 i = 0; i < n; i++)
		ones += __builtin_popcountll(words[i] & others[i]);
	return ones;
}

COUNTS_ONES u64 words_ones_beyond(const u64 *words, const u64 *others, u64 n)
{
	u64 ones = 0;

	for (u64 i = 0; i < n; i++)
		ones += __builtin_popcountll(words[i] & ~others[i]);
	return ones;
}

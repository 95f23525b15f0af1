/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_MODEL_BINOMIAL_H
#define USER_MODEL_BINOMIAL_H

#include <math.h>

#include <xdd/types.h>

/* The chance of @hits in @n independent tries of chance @p (0 to 1). @n is small. */
static inline double binomial(u32 n, u32 hits, double p)
{
	double ways = 1;

	for (u32 i = 0; i < hits; i++)
		ways *= (double)(n - i) / (i + 1);
	return ways * pow(p, hits) * pow(1 - p, n - hits);
}

/* ... of at least @least. */
static inline double binomial_tail(u32 n, u32 least, double p)
{
	double sum = 0;

	for (u32 i = least; i <= n; i++)
		sum += binomial(n, i, p);
	return sum;
}

#endif

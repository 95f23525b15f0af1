/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/size.h"

#include <math.h>

#define STEPS 200 /* of Simpson's rule: an even number */

double model_bloom_rate(double keys, double cells, u32 hashes)
{
	double filled = -expm1(keys * hashes * log1p(-1 / cells));

	return pow(filled, hashes);
}

double model_bloom_cells(double keys, double fpr, u32 hashes)
{
	return -(double)hashes * keys / log1p(-pow(fpr, 1.0 / hashes));
}

double model_bloom_stream(double keys, double cells, u32 hashes)
{
	double sum = model_bloom_rate(0, cells, hashes) + model_bloom_rate(keys, cells, hashes);

	for (u32 i = 1; i < STEPS; i++)
		sum += (i % 2 ? 4 : 2) * model_bloom_rate(keys * i / STEPS, cells, hashes);
	return sum / (3 * STEPS);
}

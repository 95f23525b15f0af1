/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/growth.h"

#include <math.h>

double model_growth_keys(double cells, double fpr, u32 hashes)
{
	return -cells / hashes * log1p(-pow(fpr, 1.0 / hashes));
}

double model_growth_density(double fpr, u32 hashes)
{
	return pow(fpr, 1.0 / hashes);
}

double model_chain_fpr(double fpr, u32 filters)
{
	return -expm1(filters * log1p(-fpr));
}

double model_chain_filters(double keys, double threshold)
{
	return floor(keys / threshold) + 2;
}

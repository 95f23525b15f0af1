/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/replica.h"

#include <math.h>

double model_fill(double keys, double cells, u32 k)
{
	return -expm1(-keys * k / cells);
}

double model_fill_keys(double fill, double cells, u32 k)
{
	return -cells / k * log1p(-fill);
}

double model_replica_fill(double fill, double delta1, double delta0)
{
	return fill + delta0 - delta1;
}

double model_replica_fnr(double fill, double delta1, u32 k)
{
	return pow(fill, k) - pow(fill - delta1, k);
}

double model_replica_fpr(double fill, double delta1, double delta0, u32 k)
{
	return pow(model_replica_fill(fill, delta1, delta0), k);
}

double model_replica_member_fnr(double unpublished, double keys, double replica_fill, u32 k)
{
	if (!keys)
		return 0;
	return unpublished / keys * (1 - pow(replica_fill, k));
}

double model_host_fpr(double own_fpr, double fpr, u32 replicas)
{
	return 1 - (1 - own_fpr) * pow(1 - fpr, replicas);
}

double model_host_fnr(double fnr, u32 replicas)
{
	return 1 - pow(1 - fnr, replicas);
}

double model_host_rate(double host_fpr, double host_fnr)
{
	return host_fpr + host_fnr - host_fpr * host_fnr;
}

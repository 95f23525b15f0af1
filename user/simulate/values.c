/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/simulate/values.h"

#include <math.h>
#include <stdio.h>

void values_json(json_t *to, const struct value_about *about, u32 n, const double *sum, u32 runs)
{
	for (u32 i = 0; i < n; i++)
		json_object_set_new(to, about[i].json,
				    isfinite(sum[i]) ? json_real(sum[i] / runs) : json_null());
}

void values_print(const struct value_about *about, u32 n, const double *sum, u32 runs)
{
	for (u32 i = 0; i < n; i++)
		if (isfinite(sum[i]))
			printf("%14.*f  %s\n", about[i].digits, sum[i] / runs, about[i].words);
}

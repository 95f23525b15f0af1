/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which plots show what was measured. */
#ifndef USER_REPORT_CHARTS_H
#define USER_REPORT_CHARTS_H

#include "user/report/chart.h"
#include "user/report/inputs.h"

#define CHART_TITLE_MAX 128

struct charts {
	struct chart *all;
	char (*titles)[CHART_TITLE_MAX]; /* that those of them point to which are made */
	size_t n;
};

/* Make the plots of @inputs. Returns 0 or -ENOMEM; charts_free() is due in any case. */
int charts_make(struct charts *charts, const struct inputs *inputs);
void charts_free(struct charts *charts);

#endif

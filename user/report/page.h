/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report as one file that needs no other. */
#ifndef USER_REPORT_PAGE_H
#define USER_REPORT_PAGE_H

#include <stdio.h>

#include "user/report/charts.h"

/* Write plots, what made them and the numbers as HTML, or the plots with what made them as SVG. Errors are those of @to. */
void report_html(FILE *to, const struct inputs *inputs, const struct charts *charts);
void report_svg(FILE *to, const struct inputs *inputs, const struct charts *charts);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the runs of a simulation came to: a list of numbers, each with its name in JSON and in words. */
#ifndef USER_SIMULATE_VALUES_H
#define USER_SIMULATE_VALUES_H

#include <jansson.h>

#include <xdd/types.h>

struct value_about {
	const char *json, *words;
	int digits; /* of text, behind the point */
};

/* The means over @runs of the @n sums @sum: one that is no number is null in JSON, and left out of text. */
void values_json(json_t *to, const struct value_about *about, u32 n, const double *sum, u32 runs);
void values_print(const struct value_about *about, u32 n, const double *sum, u32 runs);

#endif

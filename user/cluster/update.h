/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a host tells the others how its filter has changed since it last did (zhu-jiang-2006 section
 * 5). Decided from what the host has at home: its filter, what it last sent, and how many keys came
 * and went.
 */
#ifndef USER_CLUSTER_UPDATE_H
#define USER_CLUSTER_UPDATE_H

#include <stdbool.h>

#include <xdd/types.h>

/*
 * X(name, how --push names it)
 * never       not at all
 * every       when so many units of time have passed
 * dirty       when this share of the bits differs
 * false_rate  when the predicted false rate passes the target
 * printed     the same as the paper has it: once even a fresh replica is above the target, at every
 *             check, and nothing that is sent can mend that
 */
#define UPDATE_RULES(X)             \
	X(never, "never")           \
	X(every, "every")           \
	X(dirty, "dirty")           \
	X(false_rate, "false-rate") \
	X(printed, "printed")

#define UPDATE_RULE(name, word) UPDATE_##name,
enum update_rule { UPDATE_RULES(UPDATE_RULE) UPDATE_RULE_MAX };

extern const char *const update_names[]; /* ends with NULL */

/* Which misses count as false negatives: of any key that home's filter says yes to (theorem 3), or of
 * the keys that home has.
 */
enum update_bound { BOUND_model, BOUND_member };

extern const char *const bound_names[]; /* ends with NULL */

struct update_policy {
	enum update_rule rule;
	u64 every;     /* units of time, or nanoseconds */
	double dirty;  /* share of the bits */
	double target; /* of the false rate */
	enum update_bound bound;
	double fp_weight, fn_weight;
};

/* A filter at home against what was last sent of it. */
struct staleness {
	double cells; /* bits */
	u32 hashes;
	double fill;	       /* share of ones at home */
	double delta1, delta0; /* shares of the bits: one at home and zero there, and the reverse */
	double keys;	       /* at home */
	double unpublished;    /* of these, came after the last update */
	u64 since;	       /* the last update, in units of policy->every */
	double growth;	       /* of the rate until one looks again, as far as is known */
};

/* The false rate of a replica as it is now, and of one that is fresh: what no update can mend. */
double update_rate(const struct update_policy *policy, const struct staleness *s);
double update_floor(const struct update_policy *policy, const struct staleness *s);

/* Whether it is time to send. */
bool update_due(const struct update_policy *policy, const struct staleness *s);

/* Compare the @n bits of @home with @sent: fill, delta1 and delta0 of @s; cells is @n. */
void update_compare(struct staleness *s, const u64 *home, const u64 *sent, u64 n);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joint detection (cai-2014): which keys all of n monitors have, or at least T of them, while only filters
 * travel. What all of them and the coordinator have to agree on beforehand.
 */
#ifndef USER_JOINT_PLAN_H
#define USER_JOINT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/hash.h>

#define JOINT_MONITORS_MAX 255
#define JOINT_DIGEST_BITS 64 /* of a key that is sent as it is */

/* With JOINT_KEYS_MAX keys, filters stay below JOINT_LENGTH_MAX, and wrong keys come of filters rather than of
 * digests that are alike.
 */
#define JOINT_EPSILON_MIN 1e-9

/* X(name, word, help) */
#define JOINT_ALGORITHMS(X)                                                              \
	X(raw, "raw", "64 bits of each key up, of the common ones down: exact")          \
	X(bfs, "bfs", "Bloom filters of one length, that of the greatest list")          \
	X(cfs, "cfs", "Bloom filters of a length for each list, which combine")          \
	X(cfsp, "cfsp", "the same in --rounds, first with one hash each")                \
	X(smallest_first, "smallest-first",                                              \
	  "64 bits of each key left, one monitor after the other, to all others: exact") \
	X(best, "best", "as cfsp with one hash in each round, coded by entropy (default)")

#define JOINT_ENUM(name, word, help) JOINT_##name,
enum joint_algorithm { JOINT_ALGORITHMS(JOINT_ENUM) JOINT_ALGORITHM_MAX };

extern const char *const joint_names[], *const joint_help[]; /* both end with NULL */

struct options;

struct joint_plan {
	u32 algorithm;	/* enum joint_algorithm */
	u32 monitors;	/* 2 to JOINT_MONITORS_MAX */
	u32 at_least;	/* of them have a common key: 2 to monitors */
	u32 rounds;	/* of filters; 1 but for cfsp and best */
	double epsilon; /* share of the other keys that may be taken for common: above 0, below 1 */
	u64 seed;	/* of the hashes */
};

/* Whether keys are sent as they are, so that only their digests err. */
bool joint_is_exact(const struct joint_plan *plan);

/* Rounds where none are given: as many as the paper's simulations have. */
u32 joint_default_rounds(u32 algorithm);

/* What options ask for, of so many @monitors. */
struct joint_plan joint_plan_of(const struct options *o, u32 monitors);

/* Returns 0, or -EINVAL with a line in @err where @plan cannot be done. */
int joint_plan_check(const struct joint_plan *plan, char *err, size_t err_size);

/* Exchanges of messages: rounds of filters, and before them, of bfs and smallest-first, one of counts. */
u32 joint_steps(const struct joint_plan *plan);

/* Hashes of a key in filter round @round, from 0. */
u32 joint_hashes(const struct joint_plan *plan, u32 round);

/*
 * The share of keys it does not have that may pass a monitor's filter in @round (section IV-B to D): eps,
 * or 1/2 in each round but the last, and in that what of @epsilon is left after @passed of those before,
 * a product of shares, has been used.
 */
double joint_target(const struct joint_plan *plan, u32 round, double passed);

/* What of the keys that too few monitors have passes all filters together, if @fill passes each: a
 * filter for each monitor that lacks it may be wrong.
 */
double joint_passes(const struct joint_plan *plan, double fill);

/* Least length, in bits, of a filter with @hashes of each of @keys that @target of others pass:
 * -k m / ln(1 - target^(1/k)), eq. 1 where that is 2^-k. And the power of two that is not below it.
 */
u64 joint_length(u64 keys, u32 hashes, double target);
u64 joint_length_power(u64 keys, u32 hashes, double target);

/* Bit @i of key @digest in a filter of @length (0: 2^64) in @round. */
static inline u64 joint_position(const struct joint_plan *plan, u32 round, u32 i, u64 digest,
				 u64 length)
{
	u64 hash = xdd_mix64(digest ^ xdd_mix64(plan->seed + (round * 64ull + i + 1) * XDD_GOLDEN));

	return length & (length - 1) ? hash % length : hash & (length - 1);
}

/*
 * What the paper counts for a round of filters, in bits up and down, of monitors that have @keys[i] keys each:
 * bfs, cfs, cfsp, with real K = -log2 epsilon in lengths. NAN for others.
 */
struct joint_bits {
	double up, down;
};
struct joint_bits joint_formula(const struct joint_plan *plan, u32 round, const u64 *keys);

#endif

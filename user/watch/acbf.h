/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The accurate counting Bloom filter of li-2013: a set that forgets what is deleted, in the memory
 * of a counting filter of m counters of 4 bits. Level 1 has a bit for each position and is all that
 * a question reads; the counters are chains of bits through the levels above. Level j + 1 has a bit
 * for each 1 of level j, in that order (section 3.1), so that all levels above the first have as
 * many bits together as the counters have counts.
 *
 * The levels are kept as the paper has them, bit for bit, but not where: the positions of level 1
 * are cut into groups, and of each group the levels above are one string of their own. What is
 * before a group in one level is so in all. Within a group the bit that a 1 leads to is at
 * (ones of its level 1) + (ones before it in the string), whatever the level.
 */
#ifndef USER_WATCH_ACBF_H
#define USER_WATCH_ACBF_H

#include "user/watch/string.h"
#include "xdd/watch.h"

#define ACBF_MAX_HASHES XDD_WATCH_MAX_HASHES
#define ACBF_MAX_FIRST ((1ull << 32) - 1) /* bits of level 1 */
#define ACBF_MAX_COUNT 4096		  /* what a counter reaches: a chain is walked */
#define ACBF_INVERSE_SHIFT 42		  /* twice the bits of the largest number of a block */

/* Sizes of level 1: X(name in --l1, counters m that it takes the bits of; 0: 4m - kn) */
#define ACBF_FIRSTS(X) \
	X(1m, 1)       \
	X(2m, 2)       \
	X(3m, 3)       \
	X(optimal, 0)

#define ACBF_FIRST_ENUM(name, counters) ACBF_FIRST_##name,
enum acbf_first { ACBF_FIRSTS(ACBF_FIRST_ENUM) };

/* What a group has of a level: bits of its string. */
struct acbf_part {
	u64 at, bits;
};

struct acbf_group {
	struct string upper;   /* levels 2, 3, ... */
	u64 ones;	       /* of its part of level 1 */
	struct acbf_part part; /* of the level where a walk is */
};

struct acbf {
	u64 counters, bits, room; /* m; of level 1; of all other levels: 4m - bits */
	u32 hashes;
	u64 keys, used;		 /* used: bits of the other levels, the sum of all counters */
	u64 *first;		 /* level 1: the positions' bits */
	u16 *ones;		 /* of each block of it */
	u32 blocks, block_shift; /* of 2^block_shift bits */
	u32 groups, group_blocks;
	u64 group_inverse; /* 2^ACBF_INVERSE_SHIFT / group_blocks, rounded up */
	struct acbf_group *group;
	struct page_pool pool;
	u64 steps; /* levels that were walked by updates: statistics */
};

/* What is said about a filter; see acbf_stats(). */
struct acbf_stats {
	u64 bits, room, used, idle, keys;
	u64 capacity;	/* keys that fit in all: what is beyond is refused */
	u64 levels;	/* with level 1, and the last, which is all 0 */
	u64 first_ones; /* of level 1 */
	double fpr;	/* chance that a new key is found now */
	u64 memory_bytes, paper_bytes;
};

/* Bits of level 1 for @first (enum acbf_first): section 3.2, Eq. 4 and 6. 0: nothing is left. */
u64 acbf_first_bits(u32 first, u64 counters, u64 keys, u32 hashes);

/* False-positive rate of @keys with a level 1 of @bits: Eq. 3. */
double acbf_model_fpr(double keys, double bits, u32 hashes);

/*
 * An empty filter of the memory of @counters counters of 4 bits, @hashes (1..ACBF_MAX_HASHES)
 * positions for each key, and a level 1 of @bits, below 4 * @counters. Returns 0, -EINVAL where
 * these are out of range or no key fits, or -ENOMEM. acbf_close() frees.
 */
int acbf_open(struct acbf *a, u64 counters, u32 hashes, u64 bits);
void acbf_close(struct acbf *a);

/* The a->hashes positions of the key of @digest (both halves), below a->bits. */
void acbf_positions(const struct acbf *a, const struct xdd_digest *digest, u64 *positions);

/* Whether the key may be in the set: Algorithm 1. Never false for one that is. */
bool acbf_contains(const struct acbf *a, const u64 *positions);

/*
 * Count the key once more: Algorithm 2; positions that are equal count each. Returns 0; or, with
 * nothing changed, -ENOSPC where the set is full (deletions make room), -EOVERFLOW where a counter
 * is, or -ENOMEM.
 */
int acbf_add(struct acbf *a, const u64 *positions);

/* Take one count of the key back: Algorithm 3. Returns 0; -ENOENT, with nothing changed, for a key
 * that is surely not in the set.
 */
int acbf_delete(struct acbf *a, const u64 *positions);

/* Gives the positions of the next key. */
typedef void acbf_next(void *to, const struct acbf *a, u64 *positions);

/*
 * Add or delete @n keys one after the other, with what they read fetched before. Returns how many were done: @n and
 * *@rc = 0; or less, and *@rc is what acbf_add() or acbf_delete() say of the one behind them; @next may have been
 * asked for more.
 */
u64 acbf_update(struct acbf *a, bool add, u64 n, acbf_next *next, void *to, int *rc);

/*
 * Add all that @from counts, which has as many hashes and as large a level 1. Returns 0; or, with some
 * of it added, -EINVAL where they differ, -ENOSPC, -EOVERFLOW or -ENOMEM.
 */
int acbf_merge(struct acbf *a, struct acbf *from);

/* The counter at @position. */
u32 acbf_count(struct acbf *a, u64 position);

/* Walk the levels: each group's part of level 2, and of the next one. Return the bits of the level in
 * all; 0: there is no such level.
 */
u64 acbf_walk_start(struct acbf *a);
u64 acbf_walk_next(struct acbf *a);

/*
 * Bits of level @level, from 1, of the whole filter; 0: there is no such level. With @bits they are
 * written there, a byte for each.
 */
u64 acbf_level(struct acbf *a, u32 level, u8 *bits);

void acbf_stats(struct acbf *a, struct acbf_stats *stats);

/* Level 1 of an empty filter was filled by its caller: count its ones. Returns 0 or, for ones behind
 * its end, -EBADMSG.
 */
int acbf_loaded_first(struct acbf *a);

#endif

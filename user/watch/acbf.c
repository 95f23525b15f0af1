// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/acbf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/accessors.h"
#include "user/model.h"

/* Ones of level 1 are counted for each block. A group is made of so many blocks that in a full filter
 * its string has about GROUP_PAGES pages: an update moves a bit in half of them, and the last one is half
 * empty. Where there are few groups that may be much of all memory by chance, and cost little: twice as many.
 * Blocks are a quarter as long where the other levels leave so much room that their counts do not matter.
 */
#define BLOCK_SHIFT 13
#define SMALL_SHIFT 11
#define GROUP_PAGES 24
#define FEW_PAGES 512

u64 acbf_first_bits(u32 first, u64 counters, u64 keys, u32 hashes)
{
#define FIRST_COUNTERS(name, counters) counters,
	static const u8 of_counters[] = { ACBF_FIRSTS(FIRST_COUNTERS) };

	if (of_counters[first])
		return of_counters[first] * counters;
	return keys > (4 * counters - 1) / hashes ? 0 : 4 * counters - hashes * keys;
}

double acbf_model_fpr(double keys, double bits, u32 hashes)
{
	return model_bloom_rate(keys, bits, hashes);
}

static u64 divide_up(u64 n, u64 by)
{
	return (n + by - 1) / by;
}

static u32 words_of_block(const struct acbf *a)
{
	return 1u << a->block_shift >> 6;
}

static u64 first_bytes(const struct acbf *a)
{
	return (u64)a->blocks << a->block_shift >> 3;
}

static u32 group_pages(u64 room)
{
	return room < FEW_PAGES * PAGE_BITS ? 2 * GROUP_PAGES : GROUP_PAGES;
}

int acbf_open(struct acbf *a, u64 counters, u32 hashes, u64 bits)
{
	u64 room = 4 * counters - bits;

	*a = (struct acbf){ .counters = counters, .bits = bits, .room = room, .hashes = hashes };
	if (!bits || bits > ACBF_MAX_FIRST || counters > ACBF_MAX_FIRST || bits >= 4 * counters ||
	    !hashes || hashes > ACBF_MAX_HASHES || room < hashes)
		return -EINVAL;
	a->block_shift = bits <= 3 * counters ? SMALL_SHIFT : BLOCK_SHIFT;
	a->blocks = divide_up(bits, 1u << a->block_shift);
	a->group_blocks = divide_up(a->blocks, divide_up(room, group_pages(room) * PAGE_BITS));
	a->groups = divide_up(a->blocks, a->group_blocks);
	a->group_inverse = divide_up(1ull << ACBF_INVERSE_SHIFT, a->group_blocks);
	a->first = memory_map(first_bytes(a));
	a->ones = calloc(a->blocks, sizeof(*a->ones));
	a->group = calloc(a->groups, sizeof(*a->group));
	/* The last page of each string is not full. */
	if (!a->first || !a->ones || !a->group ||
	    pool_open(&a->pool, divide_up(room, PAGE_BITS) + a->groups)) {
		acbf_close(a);
		return -ENOMEM;
	}
	return 0;
}

void acbf_close(struct acbf *a)
{
	for (u32 i = 0; a->group && i < a->groups; i++)
		free(a->group[i].upper.slot);
	free(a->group);
	free(a->ones);
	memory_unmap(a->first, first_bytes(a));
	pool_close(&a->pool);
	*a = (struct acbf){};
}

void acbf_positions(const struct acbf *a, const struct xdd_digest *digest, u64 *positions)
{
	for (u32 i = 0; i < a->hashes; i++)
		positions[i] = xdd_watch_position(digest, i, a->bits);
}

static bool first_get(const struct acbf *a, u64 position)
{
	return a->first[position / 64] >> position % 64 & 1;
}

static void first_put(struct acbf *a, struct acbf_group *group, u64 position, bool bit)
{
	u64 *word = &a->first[position / 64], mask = 1ull << position % 64;

	*word = bit ? *word | mask : *word & ~mask;
	a->ones[position >> a->block_shift] += bit ? 1 : -1;
	group->ones += bit ? 1 : -1;
}

/* A division would take as long as all else that is done to find it, and each update needs it a dozen times. */
static u32 group_number(const struct acbf *a, u32 block)
{
	return block * a->group_inverse >> ACBF_INVERSE_SHIFT;
}

static struct acbf_group *group_of(const struct acbf *a, u64 position)
{
	return &a->group[group_number(a, position >> a->block_shift)];
}

/* The first block of the group of @block. */
static u32 group_start(const struct acbf *a, u32 block)
{
	return group_number(a, block) * a->group_blocks;
}

/* Ones before @position in its block: of the words before it or, if those are fewer, behind it. */
static u32 block_rank(struct acbf *a, u64 position)
{
	u32 block = position >> a->block_shift, n = words_of_block(a), in = position / 64 % n;
	const u64 *words = &a->first[(u64)block * n];
	u64 before = words[in] & ((1ull << position % 64) - 1), behind = words[in] & ~before;

	if (in < n / 2) {
		a->pool.ranked += in + 1;
		return words_ones(words, in) + words_ones(&before, 1);
	}
	a->pool.ranked += n - in;
	return a->ones[block] - words_ones(&words[in + 1], n - 1 - in) - words_ones(&behind, 1);
}

/* Ones of the blocks from @start on and before @end: four at a time, in two sums. */
static u64 ones_of_blocks(const struct acbf *a, u32 start, u32 end)
{
	const u64 halves = 0x0000ffff0000ffff;
	u64 sums = 0, four, ones;

	for (; end - start >= 4; start += 4) {
		memcpy(&four, &a->ones[start], sizeof(four));
		sums += (four & halves) + (four >> 16 & halves);
	}
	for (ones = (u32)sums + (sums >> 32); start < end; start++)
		ones += a->ones[start];
	return ones;
}

/* Ones of level 1 before @position in its group: where its bit of level 2 is, or will be. */
static u64 first_rank(struct acbf *a, u64 position)
{
	u32 block = position >> a->block_shift;
	u32 start = group_start(a, block);

	a->steps++;
	a->pool.ranked += (block - start) / 4 + 1;
	return ones_of_blocks(a, start, block) + block_rank(a, position);
}

/* Fetch what an update reads first: level 1 around the position, as far as it is counted; and of its group. */
static void fetch_first(const struct acbf *a, u64 position)
{
	u32 block = position >> a->block_shift, n = words_of_block(a), in = position / 64 % n;
	u32 from = in < n / 2 ? 0 : in, end = in < n / 2 ? in + 1 : n;
	const u64 *words = &a->first[(u64)block * n];

	for (u32 i = from; i < end; i += 8)
		__builtin_prefetch(&words[i]);
	__builtin_prefetch(&words[in], 1);
	__builtin_prefetch(&a->ones[group_start(a, block)]);
	__builtin_prefetch(&a->ones[block], 1);
	__builtin_prefetch(group_of(a, position), 1);
}

/* Then the slots of the string. */
static void fetch_slots(const struct acbf *a, u64 position)
{
	const struct string *upper = &group_of(a, position)->upper;

	for (u64 i = 0; i <= upper->bits / PAGE_BITS; i += 64 / sizeof(*upper->slot))
		__builtin_prefetch(&upper->slot[i], 1);
}

/* And then of its pages what it moves: about where the bit of level 2 is, if ones are even in their block. */
static void fetch_pages(const struct acbf *a, u64 position)
{
	const struct string *upper = &group_of(a, position)->upper;
	u32 block = position >> a->block_shift;
	u64 at = (u64)a->ones[block] * (position & ((1u << a->block_shift) - 1)) >> a->block_shift;

	at += ones_of_blocks(a, group_start(a, block), block);
	string_fetch(&a->pool, upper, at);
}

/* What the 1 at @at of the string leads to. */
static u64 next_of(struct acbf *a, const struct acbf_group *group, u64 at)
{
	a->steps++;
	return group->ones + string_rank(&a->pool, &group->upper, at);
}

bool acbf_contains(const struct acbf *a, const u64 *positions)
{
	for (u32 i = 0; i < a->hashes; i++)
		if (!first_get(a, positions[i]))
			return false;
	return true;
}

/* The counter at @position, or @most if it is more. */
static u32 count_to(struct acbf *a, u64 position, u32 most)
{
	const struct acbf_group *group = group_of(a, position);
	u32 count = 1;
	u64 at;

	if (!first_get(a, position))
		return 0;
	if (most <= 1)
		return most;
	at = first_rank(a, position);
	for (; count < most && string_get(&a->pool, &group->upper, at); count++)
		at = next_of(a, group, at);
	return count;
}

u32 acbf_count(struct acbf *a, u64 position)
{
	return count_to(a, position, ACBF_MAX_COUNT);
}

static u32 times(const u64 *positions, u32 n, u64 position)
{
	u32 equal = 0;

	for (u32 i = 0; i < n; i++)
		equal += positions[i] == position;
	return equal;
}

/* Where the chain of a counter ends: at a 0 of the string, or, for an empty counter, where it would begin. */
struct chain {
	u64 at;
	u32 count;
};

static struct chain find_end(struct acbf *a, u64 position)
{
	const struct acbf_group *group = group_of(a, position);
	struct chain chain = { first_rank(a, position), first_get(a, position) };

	for (; chain.count && chain.count < ACBF_MAX_COUNT &&
	       string_get(&a->pool, &group->upper, chain.at);
	     chain.count++)
		chain.at = next_of(a, group, chain.at);
	return chain;
}

/* Whether all counters can take the key, and all strings; and where their chains end. */
static int check_room(struct acbf *a, const u64 *positions, struct chain *chains)
{
	int rc = 0;

	if (a->used + a->hashes > a->room)
		return -ENOSPC;
	for (u32 i = 0; i < a->hashes && !rc; i++) {
		u32 more = times(positions, a->hashes, positions[i]);

		chains[i] = find_end(a, positions[i]);
		if (chains[i].count + more > ACBF_MAX_COUNT)
			rc = -EOVERFLOW;
		else
			/* so many at most, if all are in one group */
			rc = string_reserve(&group_of(a, positions[i])->upper, a->hashes);
	}
	return rc;
}

static void count_up(struct acbf *a, u64 position, struct chain chain)
{
	struct acbf_group *group = group_of(a, position);

	if (!chain.count) {
		first_put(a, group, position, true);
	} else {
		string_put(&a->pool, &group->upper, chain.at, true);
		chain.at = next_of(a, group, chain.at);
	}
	string_insert(&a->pool, &group->upper, chain.at);
}

/* Whether an earlier position of the key has moved what is in the group of @positions[@i]. */
static bool has_moved(const struct acbf *a, const u64 *positions, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (group_of(a, positions[k]) == group_of(a, positions[i]))
			return true;
	return false;
}

int acbf_add(struct acbf *a, const u64 *positions)
{
	struct chain chains[ACBF_MAX_HASHES];
	int rc;

	for (u32 i = 0; i < a->hashes; i++)
		fetch_first(a, positions[i]);
	rc = check_room(a, positions, chains);
	if (rc)
		return rc;
	for (u32 i = 0; i < a->hashes; i++)
		count_up(a, positions[i],
			 has_moved(a, positions, i) ? find_end(a, positions[i]) : chains[i]);
	a->used += a->hashes;
	a->keys++;
	return 0;
}

static int count_up_by(struct acbf *a, u64 position, u32 count)
{
	int rc = acbf_count(a, position) + count > ACBF_MAX_COUNT ? -EOVERFLOW : 0;

	rc = rc ?: string_reserve(&group_of(a, position)->upper, count);
	for (u32 i = 0; i < count && !rc; i++)
		count_up(a, position, find_end(a, position));
	return rc;
}

int acbf_merge(struct acbf *a, struct acbf *from)
{
	int rc = 0;

	if (a->bits != from->bits || a->hashes != from->hashes)
		return -EINVAL;
	if (a->used + from->used > a->room)
		return -ENOSPC;
	for (u64 word = 0; word < (from->bits + 63) / 64 && !rc; word++)
		for (u64 left = from->first[word]; left && !rc; left &= left - 1) {
			u64 position = word * 64 + __builtin_ctzll(left);

			rc = count_up_by(a, position, acbf_count(from, position));
		}
	a->used += from->used;
	a->keys += from->keys;
	return rc;
}

/* The paper's text removes the 1 that led to the end of the chain: it becomes 0 and stays. */
static void count_down(struct acbf *a, u64 position)
{
	struct acbf_group *group = group_of(a, position);
	u64 at = first_rank(a, position), before = 0;
	bool higher = false;

	for (; string_get(&a->pool, &group->upper, at); higher = true) {
		before = at;
		at = next_of(a, group, at);
	}
	string_remove(&a->pool, &group->upper, at);
	if (higher)
		string_put(&a->pool, &group->upper, before, false);
	else
		first_put(a, group, position, false);
}

int acbf_delete(struct acbf *a, const u64 *positions)
{
	for (u32 i = 0; i < a->hashes; i++)
		fetch_first(a, positions[i]);
	for (u32 i = 0; i < a->hashes; i++) {
		u32 least = times(positions, a->hashes, positions[i]);

		if (count_to(a, positions[i], least) < least)
			return -ENOENT;
	}
	for (u32 i = 0; i < a->hashes; i++)
		count_down(a, positions[i]);
	a->used -= a->hashes;
	a->keys--;
	return 0;
}

/* Of the key that is so many updates ahead, what the next stage reads is fetched: updates go to random places, and
 * one that waits for each of them takes longer.
 */
#define AHEAD 12
#define AHEAD_SLOTS 8
#define AHEAD_PAGES 4
#define RING 16 /* positions of keys that are under way */

static void fetch_key(const struct acbf *a, const u64 *positions,
		      void (*fetch)(const struct acbf *a, u64 position))
{
	for (u32 i = 0; i < a->hashes; i++)
		fetch(a, positions[i]);
}

/* The stages of the keys behind key @i. */
static void fetch_ahead(const struct acbf *a, u64 (*ring)[ACBF_MAX_HASHES], u64 i, u64 n)
{
	const u64 slots = i - (AHEAD - AHEAD_SLOTS), pages = i - (AHEAD - AHEAD_PAGES);

	if (i < n)
		fetch_key(a, ring[i % RING], fetch_first);
	if (slots < n)
		fetch_key(a, ring[slots % RING], fetch_slots);
	if (pages < n)
		fetch_key(a, ring[pages % RING], fetch_pages);
}

u64 acbf_update(struct acbf *a, bool add, u64 n, acbf_next *next, void *to, int *rc)
{
	u64 ring[RING][ACBF_MAX_HASHES];

	*rc = 0;
	for (u64 i = 0; i < n + AHEAD; i++) {
		u64 now = i - AHEAD;

		if (i < n)
			next(to, a, ring[i % RING]);
		fetch_ahead(a, ring, i, n);
		if (i < AHEAD)
			continue;
		*rc = add ? acbf_add(a, ring[now % RING]) : acbf_delete(a, ring[now % RING]);
		if (*rc)
			return now;
	}
	return n;
}

u64 acbf_walk_start(struct acbf *a)
{
	u64 n = 0;

	for (u32 g = 0; g < a->groups; g++) {
		a->group[g].part = (struct acbf_part){ 0, a->group[g].ones };
		n += a->group[g].ones;
	}
	return n;
}

u64 acbf_walk_next(struct acbf *a)
{
	u64 n = 0;

	for (u32 g = 0; g < a->groups; g++) {
		const struct string *upper = &a->group[g].upper;
		struct acbf_part *p = &a->group[g].part;
		u64 end = p->at + p->bits;
		u64 ones = string_rank(&a->pool, upper, end) - string_rank(&a->pool, upper, p->at);

		*p = (struct acbf_part){ end, ones };
		n += ones;
	}
	return n;
}

u64 acbf_level(struct acbf *a, u32 level, u8 *bits)
{
	u64 n;

	for (u64 i = 0; level == 1 && bits && i < a->bits; i++)
		bits[i] = first_get(a, i);
	if (level == 1)
		return a->bits;
	n = acbf_walk_start(a);
	for (u32 i = 2; i < level && n; i++)
		n = acbf_walk_next(a);
	for (u32 g = 0; g < a->groups && bits; g++) {
		const struct acbf_part *p = &a->group[g].part;

		for (u64 i = 0; i < p->bits; i++)
			*bits++ = string_get(&a->pool, &a->group[g].upper, p->at + i);
	}
	return n;
}

/* Pages that were never taken are not there: the system gives memory when it is written. */
static u64 memory_of_filter(const struct acbf *a)
{
	u64 bytes = sizeof(*a) + first_bytes(a) + (u64)a->blocks * sizeof(*a->ones) +
		    (u64)a->groups * sizeof(*a->group) + (u64)a->pool.used * sizeof(struct page);

	for (u32 i = 0; i < a->groups; i++)
		bytes += a->group[i].upper.room * sizeof(struct string_slot);
	return bytes;
}

void acbf_stats(struct acbf *a, struct acbf_stats *stats)
{
	*stats = (struct acbf_stats){
		.bits = a->bits,
		.room = a->room,
		.used = a->used,
		.idle = a->room - a->used,
		.keys = a->keys,
		.capacity = a->room / a->hashes,
		.memory_bytes = memory_of_filter(a),
		.paper_bytes = divide_up(a->counters, 2),
		.fpr = acbf_model_fpr(a->keys, a->bits, a->hashes),
	};
	stats->first_ones = acbf_walk_start(a);
	stats->levels = 1;
	for (u64 n = stats->first_ones; n; n = acbf_walk_next(a))
		stats->levels++;
}

int acbf_loaded_first(struct acbf *a)
{
	u32 most = a->bits % 64;

	if (most && a->first[a->bits / 64] >> most)
		return -EBADMSG;
	for (u32 i = 0; i < a->blocks; i++) {
		a->ones[i] = words_ones(&a->first[(u64)i * words_of_block(a)], words_of_block(a));
		a->group[i / a->group_blocks].ones += a->ones[i];
	}
	return 0;
}

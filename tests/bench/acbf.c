// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * acbf KEYS [RUNS [L1]]: what an update of the accurate counting Bloom filter takes at KEYS keys, m/n =
 * 10, k = 3, for each size of level 1, or L1: a fifth of the keys (at most a million) is deleted and others are
 * added, as in section 3.3 of li-2013. Beside it a counting filter of 4-bit counters with as many positions, and the
 * words that are read and written against Eq. 2: k (E(phi) (E(lambda) + 1) + 2), where lambda is the
 * words that a count from the level's beginning reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/accessors.h"
#include "user/watch/acbf.h"

#define HASHES 3
#define SHARE 5
#define MANY 256
#define MOST 1000000
#define NAME(name, counters) #name,

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static void positions_of(const struct acbf *a, u64 key, u64 *positions)
{
	struct xdd_digest digest = { xdd_mix64(key), xdd_mix64(~key) };

	acbf_positions(a, &digest, positions);
}

static void next_of(void *to, const struct acbf *a, u64 *positions)
{
	positions_of(a, (*(u64 *)to)++, positions);
}

/* Delete keys @from... and add @from + @apart..., @many at a time; returns nanoseconds per update. */
static double turn_over(struct acbf *a, u64 from, u64 apart, u64 n, u64 many)
{
	double start = cpu_ns();
	int failed = 0, rc;

	for (u64 i = from; i < from + n; i += many) {
		u64 some = from + n - i < many ? from + n - i : many, next = i;

		acbf_update(a, false, some, next_of, &next, &rc);
		failed |= rc;
		next = i + apart;
		acbf_update(a, true, some, next_of, &next, &rc);
		failed |= rc;
	}
	if (failed)
		abort();
	return (cpu_ns() - start) / (2 * n);
}

static double turn_over_plain(const struct acbf *a, u8 *counter, u64 from, u64 apart, u64 n)
{
	double start = cpu_ns();
	u64 positions[HASHES];

	for (u64 i = from; i < from + n; i++) {
		positions_of(a, i, positions);
		for (u32 j = 0; j < HASHES; j++)
			counter[positions[j] / 2] -= 1 << positions[j] % 2 * 4;
		positions_of(a, i + apart, positions);
		for (u32 j = 0; j < HASHES; j++)
			counter[positions[j] / 2] += 1 << positions[j] % 2 * 4;
	}
	return (cpu_ns() - start) / (2 * n);
}

/*
 * Words that Eq. 2 comes to where each count begins at its level's beginning, of @steps counts per
 * update, HASHES of them in level 1.
 */
static double words_by_equation(struct acbf *a, double steps)
{
	double first = a->bits / 128. + 1, above = acbf_level(a, 2, NULL) / 128. + 1;

	return HASHES * first + (steps - HASHES) * above + 2 * HASHES;
}

static void report(struct acbf *a, const char *name, double one_ns, double ns, double plain_ns,
		   double updates)
{
	double steps = a->steps / updates;
	double words = (a->pool.ranked + a->pool.moved) / updates;
	struct acbf_stats stats;

	acbf_stats(a, &stats);
	printf("  l1=%-8s %7.0f ns an update, %.0f ns if it is one of many, %4.1f times a counting "
	       "filter's %.0f ns; "
	       "%5.1f words, by Eq. 2 %.0f; memory %+.2f %%\n",
	       name, one_ns, ns, ns / plain_ns, plain_ns, words, words_by_equation(a, steps),
	       100. * stats.memory_bytes / stats.paper_bytes - 100);
}

/* A counting filter does the same whatever it counts: it is not filled, but there. */
static u8 *open_plain(u64 bytes)
{
	u8 *counter = memory_map(bytes);

	for (u64 i = 0; counter && i < bytes; i += 4096)
		counter[i] = 1;
	return counter;
}

/* Fill it, and let a share of the keys change @runs times: the least counts. */
static int measure(const char *name, u32 first, u64 keys, u32 runs)
{
	u64 counters = 10 * keys, bits = acbf_first_bits(first, counters, keys, HASHES), next = 0;
	u64 share = keys / SHARE < MOST ? keys / SHARE : MOST;
	double ns = 1e99, one_ns = 1e99, plain_ns = 1e99, taken;
	u8 *counter = open_plain(bits / 2 + 1);
	struct acbf a;
	int rc;

	if (!counter || acbf_open(&a, counters, HASHES, bits))
		return -1;
	if (acbf_update(&a, true, keys, next_of, &next, &rc) != keys)
		abort();
	a.steps = a.pool.ranked = a.pool.moved = 0;
	for (u32 i = 0; i < runs; i++) {
		taken = turn_over(&a, 2 * i * share, keys, share, MANY);
		ns = taken < ns ? taken : ns;
		taken = turn_over(&a, (2 * i + 1) * share, keys, share, 1);
		one_ns = taken < one_ns ? taken : one_ns;
		taken = turn_over_plain(&a, counter, i * share, keys, share);
		plain_ns = taken < plain_ns ? taken : plain_ns;
	}
	report(&a, name, one_ns, ns, plain_ns, 4. * runs * share);
	acbf_close(&a);
	memory_unmap(counter, bits / 2 + 1);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { ACBF_FIRSTS(NAME) };
	u64 keys = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	u32 runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;

	const char *only = argc > 3 ? argv[3] : NULL;

	if (keys < SHARE || keys > 115000000 || !runs) {
		fprintf(stderr, "usage: acbf KEYS [RUNS [L1]]\n");
		return 2;
	}
	printf("acbf, %llu keys, m/n=10, k=%d:\n", (unsigned long long)keys, HASHES);
	for (u32 first = 0; first < XDD_ARRAY_SIZE(names); first++)
		if ((!only || !strcmp(only, names[first])) &&
		    measure(names[first], first, keys, runs)) {
			fprintf(stderr, "acbf: not enough memory\n");
			return 1;
		}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/simulate/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/accessors.h"
#include "user/clock.h"
#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/provenance.h"
#include "user/watch/acbf.h"

#define DEFAULT_KEYS 100000
#define QUERIES 10 /* for each key, by default */
#define SHARE 5	   /* of the keys, that an update period exchanges */
#define MAX_KEYS 400000000

/* Sums over all runs, but of the last one's filter. */
struct trial {
	u64 keys, queries, updates; /* of a run */
	double fpr, squares;
	double query_ns, update_ns, plain_query_ns, plain_update_ns;
	double words, words_equation, counts; /* of an update; counts: E(phi), levels counted */
	struct acbf_stats stats;
};

static u64 cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* A counting filter of 4 bits each; its counters stop at 15, where a deletion may lose a key. */
struct plain {
	u64 counters;
	u8 *pair;
};

static void plain_count(struct plain *p, u64 position, bool up)
{
	u8 *pair = &p->pair[position / 2], shift = position % 2 * 4, count = *pair >> shift & 15;

	if (up ? count < 15 : count > 0)
		*pair += up ? 1 << shift : -(1 << shift);
}

static bool plain_contains(const struct plain *p, const u64 *positions, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (!(p->pair[positions[i] / 2] >> positions[i] % 2 * 4 & 15))
			return false;
	return true;
}

/* Positions of key number @key of run @run, in @a or in a filter of as many bits as @a has. */
static void locate(const struct acbf *a, u64 seed, u64 key, u64 *positions)
{
	struct xdd_digest digest = { xdd_mix64(key ^ seed), xdd_mix64(~key ^ seed) };

	acbf_positions(a, &digest, positions);
}

struct keys {
	u64 seed, next;
};

static void locate_next(void *to, const struct acbf *a, u64 *positions)
{
	struct keys *keys = to;

	locate(a, keys->seed, keys->next++, positions);
}

static int change(struct acbf *a, bool add, u64 seed, u64 from, u64 n)
{
	struct keys keys = { seed, from };
	int rc;

	acbf_update(a, add, n, locate_next, &keys, &rc);
	return rc;
}

/* Questions about keys that are not in the set. */
static void query(struct acbf *a, u64 seed, u64 from, struct trial *t)
{
	u64 positions[ACBF_MAX_HASHES], found = 0, start = cpu_ns();

	for (u64 i = from; i < from + t->queries; i++) {
		locate(a, seed, i, positions);
		found += acbf_contains(a, positions);
	}
	t->query_ns += (double)(cpu_ns() - start) / t->queries;
	t->fpr += (double)found / t->queries;
	t->squares += pow((double)found / t->queries, 2);
}

/* Words that Eq. 2 comes to, where a count begins at its level's beginning. */
static double words_by_equation(struct acbf *a, double counts)
{
	double first = a->bits / 128. + 1, above = acbf_level(a, 2, NULL) / 128. + 1;

	return a->hashes * (first + 2) + (counts - a->hashes) * above;
}

/* An update period: a share of the keys leaves, and as many enter. */
static int update(struct acbf *a, u64 seed, struct trial *t)
{
	u64 n = t->updates / 2, start = cpu_ns();
	u64 words = a->pool.ranked + a->pool.moved, steps = a->steps;
	int rc = change(a, false, seed, 0, n) ?: change(a, true, seed, t->keys, n);

	t->update_ns += (double)(cpu_ns() - start) / t->updates;
	t->words += (double)(a->pool.ranked + a->pool.moved - words) / t->updates;
	t->counts += (double)(a->steps - steps) / t->updates;
	t->words_equation += words_by_equation(a, (double)(a->steps - steps) / t->updates);
	return rc;
}

static void run_plain(struct acbf *place, struct plain *p, u64 seed, struct trial *t)
{
	u64 positions[ACBF_MAX_HASHES], n = t->updates / 2, start, found = 0;

	for (u64 i = 0; i < t->keys; i++) {
		locate(place, seed, i, positions);
		for (u32 j = 0; j < place->hashes; j++)
			plain_count(p, positions[j], true);
	}
	start = cpu_ns();
	for (u64 i = t->keys + n; i < t->keys + n + t->queries; i++) {
		locate(place, seed, i, positions);
		found += plain_contains(p, positions, place->hashes);
	}
	xdd_opaque(found);
	t->plain_query_ns += (double)(cpu_ns() - start) / t->queries;
	start = cpu_ns();
	for (u64 i = 0; i < 2 * n; i++) {
		locate(place, seed, i < n ? i : t->keys + i - n, positions);
		for (u32 j = 0; j < place->hashes; j++)
			plain_count(p, positions[j], i >= n);
	}
	t->plain_update_ns += (double)(cpu_ns() - start) / t->updates;
}

/* One run of both. Returns 0 or a negative errno. */
static int run(const struct options *o, u64 seed, struct trial *t)
{
	u64 counters = t->keys * o->counters;
	u64 bits = acbf_first_bits(o->l1, counters, t->keys, o->positions);
	struct plain plain = { counters, calloc(counters / 2 + 1, 1) };
	struct acbf a = {}, place = { .bits = counters, .hashes = o->positions };
	int rc = plain.pair ? acbf_open(&a, counters, o->positions, bits) : -ENOMEM;

	rc = rc ?: change(&a, true, seed, 0, t->keys);
	if (!rc) {
		query(&a, seed, t->keys + t->updates / 2, t);
		acbf_stats(&a, &t->stats);
		rc = update(&a, seed, t);
		run_plain(&place, &plain, seed, t);
	}
	acbf_close(&a);
	free(plain.pair);
	return rc;
}

static int check(const struct options *o)
{
	if (o->seed_random)
		complain("simulate: --seed random: give a number, so that the run can be repeated");
	else if (o->domain > MAX_KEYS)
		complain("simulate: --domain %" PRIu64 ": at most %u keys", (uint64_t)o->domain,
			 MAX_KEYS);
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

#define FIRST_NAME(name, counters) #name,
static const char *const first_names[] = { ACBF_FIRSTS(FIRST_NAME) };

/* Of the sums over @runs. */
static void average(struct trial *t, u32 runs)
{
	t->fpr /= runs;
	t->squares = runs > 1 ? fmax(t->squares - runs * t->fpr * t->fpr, 0) / (runs - 1) : 0;
	t->query_ns /= runs;
	t->update_ns /= runs;
	t->plain_query_ns /= runs;
	t->plain_update_ns /= runs;
	t->words /= runs;
	t->words_equation /= runs;
	t->counts /= runs;
}

static void print_json(const struct options *o, const struct trial *t, u32 runs)
{
	const struct acbf_stats *s = &t->stats;
	json_t *all = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f}",
				"algorithm", "acbf", "l1", first_names[o->l1], "level1_bits",
				s->bits, "hashes", (json_int_t)o->positions, "counters",
				t->keys * o->counters, "keys", t->keys, "records", t->queries,
				"runs", (json_int_t)runs, "levels", s->levels, "fpr", t->fpr,
				"fpr_sd", sqrt(t->squares), "fpr_model", s->fpr);
	json_t *costs =
		json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "query_ns",
			  t->query_ns, "update_ns", t->update_ns, "plain_query_ns",
			  t->plain_query_ns, "plain_update_ns", t->plain_update_ns, "update_words",
			  t->words, "update_words_equation", t->words_equation, "update_counts",
			  t->counts, "memory_bytes", s->memory_bytes, "paper_bytes", s->paper_bytes,
			  "seed", (json_int_t)o->seed);

	json_object_update(all, costs);
	json_decref(costs);
	provenance_json(all, o);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_text(const struct options *o, const struct trial *t, u32 runs)
{
	const struct acbf_stats *s = &t->stats;

	printf("acbf: %" PRIu64
	       " keys, %u counters of 4 bits and %u positions each, level 1 %s: %" PRIu64
	       " bits, %" PRIu64 " level%s; mean of %u run%s\n",
	       (uint64_t)t->keys, o->counters, o->positions, first_names[o->l1], (uint64_t)s->bits,
	       (uint64_t)s->levels, s->levels == 1 ? "" : "s", runs, runs == 1 ? "" : "s");
	printf("false positives  %.3g of %" PRIu64 " questions about keys that are not there "
	       "(deviation %.2g); by the model %.3g\n",
	       t->fpr, (uint64_t)t->queries, sqrt(t->squares), s->fpr);
	printf("a question       %.0f ns, of a plain counting filter %.0f ns\n", t->query_ns,
	       t->plain_query_ns);
	printf("an update        %.0f ns, of a plain counting filter %.0f ns; %.0f words read and "
	       "written, by Eq. 2 %.0f\n",
	       t->update_ns, t->plain_update_ns, t->words, t->words_equation);
	printf("memory           %" PRIu64 " bytes; the paper's levels and idle space are %" PRIu64
	       "\n",
	       (uint64_t)s->memory_bytes, (uint64_t)s->paper_bytes);
}

int simulate_acbf(struct options *o)
{
	u64 keys = o->domain ?: DEFAULT_KEYS;
	u32 runs = o->runs ?: 1;
	struct trial t = { .keys = keys,
			   .queries = o->records ?: keys * QUERIES,
			   .updates = 2 * (keys / SHARE + !(keys / SHARE)) };
	int rc = check(o);

	if (rc)
		return rc;
	for (u32 i = 0; i < runs && !rc; i++)
		rc = run(o, xdd_mix64(o->seed + i), &t);
	if (rc == -EINVAL || rc == -ENOSPC) {
		complain("simulate: %u bits for each key do not fit beside --l1 %s of --counters "
			 "%u: "
			 "give more counters, or less --positions",
			 o->positions, first_names[o->l1], o->counters);
		return EXIT_USAGE;
	}
	if (rc) {
		complain("simulate: acbf of %" PRIu64 " keys: %s", (uint64_t)keys, strerror(-rc));
		return EXIT_FAILED;
	}
	average(&t, runs);
	if (o->json)
		print_json(o, &t, runs);
	else
		print_text(o, &t, runs);
	return EXIT_OK;
}

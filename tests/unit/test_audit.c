/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The audit against an unbounded memory of every key: whatever a shadow does not leave out, it
 * judges alike, however small it is. And the intervals against known values.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/ask.h"
#include "user/metrics/audit.h"
#include "user/metrics/distances.h"

#define KEYS 512
#define EVENTS 60000
#define NEVER (~0ULL)

/* Shadows of different sizes: the smallest cannot hold the keys. */
#define LARGE 1024
#define SMALL 16

static struct xdd_fixed audited(u32 engine, u32 buckets)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);

	fixed.audit_threshold = ~0u;
	fixed.audit_buckets = buckets;
	return fixed;
}

static struct xdd_identity key_number(u64 n)
{
	struct xdd_identity identity = { .digest = { xdd_mix64(n), n } };

	return identity;
}

static void judge(struct xdd_store *store, const struct xdd_identity *identity, u64 now_ns,
		  bool seen)
{
	xdd_audit(&store->fixed, store, identity, now_ns, store->live.window_ticks,
		  store->live.window_ns, seen ? XDD_SEEN : 0);
}

/* What is remembered of a key, without end. */
struct memory {
	u64 start[KEYS]; /* NEVER: no window began */
	u64 passed[KEYS], lost[KEYS], missed[KEYS];
};

enum kind { TP, FP, TN, FN, EDGE, EXCLUDED, KINDS };

static void counts_by_kind(const struct xdd_audit_counts *c, u64 n[KINDS])
{
	n[TP] = c->tp;
	n[FP] = c->fp;
	n[TN] = c->tn;
	n[FN] = c->fn;
	n[EDGE] = c->edge;
	n[EXCLUDED] = c->excluded;
}

/* In words: no window; a distance in nanoseconds; or ticks of 1 ms, 16 of them. */
static enum kind remember(struct memory *m, u32 engine, bool refresh, u32 key, u64 now, bool seen)
{
	bool none = m->start[key] == NEVER, copy, edge = false;
	s64 apart = llabs((s64)(now - m->start[key]));

	if (xdd_engine_has_bits(engine))
		copy = !none;
	else if (engine == XDD_ENGINE_exact)
		copy = !none && apart <= 16000000;
	else
		copy = !none && llabs((s64)(now / 1000000) - (s64)(m->start[key] / 1000000)) < 16;
	if (xdd_engine_has_timers(engine) && !none && !copy)
		edge = apart <= 16000000;
	if ((edge && !seen) || (!edge && !copy) || (copy && refresh))
		m->start[key] = now;
	if (edge)
		return EDGE;
	m->passed[key] += !seen;
	m->lost[key] += seen && !copy;
	m->missed[key] += !seen && copy;
	return copy ? (seen ? TP : FN) : (seen ? FP : TN);
}

/* Mostly forwards, so that windows end, and at times back. */
static u64 step(u64 now, u64 *seed)
{
	u32 pick = random_below(seed, 1000);

	if (pick < 20)
		return now - random_below(seed, 3000000);
	if (pick < 22)
		return now + 16000000;
	return now + random_below(seed, 120000);
}

struct comparison {
	u64 kinds[KINDS];
};

/* Feed events to a shadow of @buckets and to the memory. */
static void compare(const struct xdd_fixed *fixed, struct xdd_store *store, struct memory *m,
		    struct comparison *c)
{
	u64 seed = 11 + fixed->engine, now = 1ULL << 40, before[KINDS], after[KINDS];

	memset(m, 0, sizeof(*m));
	memset(m->start, 0xff, sizeof(m->start));
	ask_open(store, fixed);
	for (u32 i = 0; i < EVENTS; i++) {
		u32 key = random_below(&seed, random_below(&seed, KEYS) + 1);
		bool seen = random_below(&seed, 2);
		struct xdd_identity identity = key_number(key);
		enum kind kind;

		now = step(now, &seed);
		counts_by_kind(&store->audit_counts, before);
		judge(store, &identity, now, seen);
		counts_by_kind(&store->audit_counts, after);
		kind = remember(m, fixed->engine, fixed->refresh, key, now, seen);
		if (after[EXCLUDED] == before[EXCLUDED] && after[kind] != before[kind] + 1)
			fail_msg("engine %u, event %u is judged otherwise than as %u",
				 fixed->engine, i, kind);
		for (u32 k = 0; k < KINDS; k++)
			c->kinds[k] += after[k] - before[k];
	}
	assert_int_equal(store->audit_counts.sampled, EVENTS);
}

static const u32 engines[] = { XDD_ENGINE_exact, XDD_ENGINE_tagged, XDD_ENGINE_timer,
			       XDD_ENGINE_rlbsbf };

/* Every event is in one count; nothing that was lost is guessed; what is left is a good part. */
static void small_shadow(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed fixed = audited(engines[i / 2], SMALL);
		struct memory *m = malloc(sizeof(*m));
		struct comparison c = {};
		struct xdd_store store;
		u64 sum = 0;

		fixed.refresh = i & 1;
		compare(&fixed, &store, m, &c);
		for (u32 k = 0; k < KINDS; k++)
			sum += c.kinds[k];
		print_message("# engine %u: %lu of %u excluded\n", fixed.engine,
			      (unsigned long)c.kinds[EXCLUDED], EVENTS);
		assert_int_equal(sum, EVENTS);
		assert_in_range(c.kinds[EXCLUDED], EVENTS / 100, EVENTS * 9 / 10);
		store_close(&store);
		free(m);
	}
}

/* With room for all, nothing is left out, and the sums are those over the keys. */
static void large_shadow(void **state)
{
	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed fixed = audited(engines[i], LARGE);
		struct memory *m = malloc(sizeof(*m));
		struct xdd_audit_counts sums = {}, *found;
		struct comparison c = {};
		struct xdd_store store;

		compare(&fixed, &store, m, &c);
		found = &store.audit_counts;
		assert_int_equal(c.kinds[EXCLUDED], 0);
		assert_int_equal(c.kinds[EDGE] > 0, xdd_engine_has_timers(fixed.engine));
		for (u32 key = 0; key < KEYS; key++) {
			u64 p = m->passed[key], l = m->lost[key], n = m->missed[key];

			sums.keys += p || l;
			sums.sum_pp += p * p;
			sums.sum_ll += l * l;
			sums.sum_mm += n * n;
			sums.sum_lp += l * p;
			sums.sum_mp += n * p;
			sums.sum_lm += l * n;
		}
		assert_int_equal(found->keys, sums.keys);
		assert_memory_equal(&found->sum_pp, &sums.sum_pp, 6 * sizeof(u64));
		store_close(&store);
		free(m);
	}
}

/* A bit engine's shadow that is full keeps the same keys for ever, and knows all about them. */
static void full_of_ranks(void **state)
{
	struct xdd_fixed fixed = audited(XDD_ENGINE_rlbsbf, 1);
	struct xdd_store store;

	(void)state;
	ask_open(&store, &fixed);
	for (u32 round = 0; round < 3; round++) {
		for (u32 n = 0; n < 1000; n++) {
			struct xdd_identity identity = key_number(n);

			judge(&store, &identity, n, round);
		}
	}
	/* As many of the first round as ever had a place, which harmonic numbers tell. */
	assert_in_range(store.audit_counts.tn, XDD_AUDIT_WAYS, 6 * XDD_AUDIT_WAYS);
	assert_int_equal(store.audit_counts.tp, 2 * XDD_AUDIT_WAYS);
	assert_int_equal(store.audit_counts.fp + store.audit_counts.fn, 0);
	store_close(&store);
}

/* Two copies on two CPUs: the engine saw the one first, the shadow the other. */
static void races(void **state)
{
	struct xdd_fixed fixed = audited(XDD_ENGINE_tagged, LARGE);
	struct xdd_identity identity = key_number(1), other = key_number(2);
	const struct xdd_audit_counts *c;
	struct xdd_store store;
	u64 now = 1ULL << 40;

	(void)state;
	fixed.audit_race_ns = 1000;
	ask_open(&store, &fixed);
	c = &store.audit_counts;
	judge(&store, &identity, now, true);
	assert_int_equal(c->fp, 1);
	judge(&store, &identity, now + 5, true);
	judge(&store, &identity, now - 300, false);
	assert_true(c->races == 1 && c->fp == 0 && c->fn == 0 && c->tn == 1 && c->tp == 2);
	assert_true(c->sum_ll == 0 && c->sum_lp == 0 && c->sum_mm == 0 && c->sum_pp == 1);
	/* Once only. */
	judge(&store, &identity, now + 900, false);
	assert_true(c->races == 1 && c->fn == 1);
	/* What comes later is two errors. */
	judge(&store, &other, now, true);
	judge(&store, &other, now + 1001, false);
	assert_true(c->races == 1 && c->fp == 1 && c->fn == 2);
	store_close(&store);
}

/* A bound belongs to the bucket that it ends. */
static void distance_buckets(void **state)
{
	(void)state;
	assert_int_equal(xdd_distance_bucket(0), 0);
	assert_int_equal(xdd_distance_bucket(1), 0);
	for (u32 i = 0; i + 1 < XDD_DISTANCE_BUCKETS; i++) {
		assert_int_equal(xdd_distance_bucket(distances_end_ns(i)), i);
		assert_int_equal(xdd_distance_bucket(distances_end_ns(i) + 1), i + 1);
	}
	assert_int_equal(xdd_distance_bucket((1ULL << 63) - 1), XDD_DISTANCE_BUCKETS - 1);
}

static u64 copies_in(const struct xdd_store *store)
{
	struct distances d = { .known = true, .counts = store->distances };

	distances_sum(&d);
	return d.copies;
}

/* Copies are counted by how far they are from the packet that began the window, whatever the engine said of
 * them; what is no copy is not.
 */
static void copy_distances(void **state)
{
	struct xdd_fixed fixed = audited(XDD_ENGINE_exact, LARGE);
	struct xdd_identity one = key_number(1), two = key_number(2);
	u64 now = 1ULL << 40, *copies;
	struct xdd_store store;

	(void)state;
	ask_open(&store, &fixed);
	copies = store.distances.copies;
	judge(&store, &one, now, false);
	judge(&store, &two, now + 500, false);
	assert_int_equal(copies_in(&store), 0);
	judge(&store, &one, now + 900, true);
	judge(&store, &one, now + 3000, false);
	judge(&store, &two, now, true);
	assert_true(copies[0] == 2 && copies[2] == 1 && copies_in(&store) == 3);
	assert_int_equal(store.distances.sum_ns, 900 + 3000 + 500);
	judge(&store, &one, now + store.live.window_ns + 1, false);
	assert_int_equal(copies_in(&store), 3);
	judge(&store, &one, now + store.live.window_ns + 2, true);
	assert_true(copies[0] == 3 && copies_in(&store) == 4);
	store_close(&store);
}

/* So much of the copies came within so much time. */
static void distance_quantiles(void **state)
{
	struct distances d = { .known = true };
	char text[UNITS_TEXT_MAX];

	(void)state;
	d.counts.copies[3] = 50;
	d.counts.copies[11] = 49;
	d.counts.copies[XDD_DISTANCE_BUCKETS - 1] = 1;
	distances_sum(&d);
	assert_int_equal(distances_quantile(&d, 0.01), 3);
	assert_int_equal(distances_quantile(&d, 0.5), 3);
	assert_int_equal(distances_quantile(&d, 0.51), 11);
	assert_int_equal(distances_quantile(&d, 0.99), 11);
	assert_int_equal(distances_quantile(&d, 1), XDD_DISTANCE_BUCKETS - 1);
	assert_string_equal(distances_end_text(3, 3, 20000000, text), "8 us");
	assert_string_equal(distances_end_text(11, 11, 20000000, text), "2.048 ms");
	assert_string_equal(distances_end_text(15, 15, 20000000, text), "20 ms");
	assert_string_equal(distances_end_text(12, 15, 20000000, text), "20 ms");
	assert_string_equal(distances_end_text(15, 15, 10000000, text), "32.768 ms");
}

/* Keys whose digests collide are told apart by their heads. */
static void heads(void **state)
{
	struct xdd_fixed fixed = audited(XDD_ENGINE_tagged, LARGE);
	struct xdd_identity one = key_number(1), two = one;
	struct xdd_store store;

	(void)state;
	two.key.head.v6[5] = 1;
	ask_open(&store, &fixed);
	judge(&store, &one, 1ULL << 40, false);
	judge(&store, &two, 1ULL << 40, true);
	assert_true(store.audit_counts.tn == 1 && store.audit_counts.fp == 1);
	store_close(&store);
}

/* A threshold takes its share, and all packets of a key or none. */
static void share(void **state)
{
	struct xdd_fixed fixed = audited(XDD_ENGINE_tagged, LARGE);
	u32 taken = 0;

	(void)state;
	fixed.audit_threshold = 1u << 28;
	for (u32 n = 0; n < 100000; n++) {
		struct xdd_identity identity = key_number(n);

		taken += xdd_audit_samples(&fixed, &identity.digest);
	}
	assert_in_range(taken, 6250 - 320, 6250 + 320);
}

static void assert_near(double found, double expected, double relative)
{
	if (fabs(found - expected) > relative * expected)
		fail_msg("%.12g instead of %.12g", found, expected);
}

/* Values of mpmath's betainc() with 30 digits. */
static void beta(void **state)
{
	(void)state;
	assert_near(audit_beta(2, 3, 0.4), 0.5248, 1e-9);
	assert_near(audit_beta(30, 1000000, 3.5e-5), 0.823002445288, 1e-9);
	assert_near(audit_beta(3, 998, 0.005), 0.875980382768, 1e-9);
	assert_near(audit_beta(5000, 5000, 0.5005), 0.5398268548316, 1e-9);
	assert_near(audit_beta(120, 80, 0.55), 0.07561485992805, 1e-9);
	assert_near(audit_beta(0.5, 1000, 0.001), 0.8427527257333, 1e-9);
	assert_near(audit_beta_quantile(50, 151, 0.025), 0.19160717, 1e-5);
	assert_near(audit_beta_quantile(51, 150, 0.975), 0.315962833, 1e-5);
	assert_true(audit_beta(2, 3, 0) == 0 && audit_beta(2, 3, 1) == 1);
	for (double a = 0.5; a < 1e6; a *= 9)
		assert_near(audit_beta(a, a, 0.5), 0.5, 1e-9);
}

/* @n keys of one distinct packet each, @hits of them lost. */
static struct xdd_audit_counts single(u64 n, u64 hits)
{
	return (struct xdd_audit_counts){
		.tn = n - hits, .fp = hits, .keys = n, .sum_pp = n - hits, .sum_ll = hits
	};
}

/* Without clusters the interval is Clopper and Pearson's (mpmath), and the bound 3 / n. */
static void independent(void **state)
{
	struct xdd_audit_counts counts = single(1000, 3), none = single(1000000, 0);
	struct audit_rate rate = audit_fpr(&counts);

	(void)state;
	assert_near(rate.rate, 0.003, 1e-12);
	assert_near(rate.effective, 999, 0.002);
	assert_near(rate.low, 0.0006191, 0.005);
	assert_near(rate.high, 0.00874202, 0.005);
	rate = audit_fpr(&none);
	assert_true(rate.rate == 0 && rate.low == 0);
	assert_near(rate.high, 3e-6, 0.002);
	counts = (struct xdd_audit_counts){};
	rate = audit_fpr(&counts);
	assert_true(isnan(rate.rate) && isnan(rate.high));
	rate = audit_fnr(&counts, 0, 0);
	assert_true(isnan(rate.rate) && isnan(rate.high));
}

/* If all packets of a key share its fate, keys count and not packets. */
static void clustered(void **state)
{
	/* 1000 keys of 10 distinct packets; of 30 of them all are lost */
	struct xdd_audit_counts counts = {
		.tn = 9700, .fp = 300, .keys = 1000, .sum_pp = 970 * 100, .sum_ll = 30 * 100
	};
	struct audit_rate rate = audit_fpr(&counts);

	(void)state;
	assert_near(rate.rate, 0.03, 1e-12);
	assert_near(rate.effective, 1000, 0.01);
	counts = (struct xdd_audit_counts){ .tn = 10000, .keys = 1000, .sum_pp = 1000 * 100 };
	assert_near(audit_fpr(&counts).high, 3e-3, 0.01);
}

/* One key in ten has all of the copies of a stream, and 20 % of those others have are missed: the
 * sample may have it, or not, and says the same.
 */
static void calibrated(void **state)
{
	/* 100 keys: a distinct packet, four copies found, one missed */
	struct xdd_audit_counts without = { .tn = 100,
					    .fn = 100,
					    .tp = 400,
					    .keys = 100,
					    .sum_pp = 400,
					    .sum_mm = 100,
					    .sum_mp = 200 };
	struct xdd_audit_counts with = without;
	struct audit_rate a, b;

	(void)state;
	with.keys++;
	with.tn++;
	with.sum_pp++;
	with.tp += 1000000;
	/* all keys: 1000 such, and that one */
	a = audit_fnr(&without, 2001, 1004000);
	b = audit_fnr(&with, 2001, 1004000);
	assert_near(a.rate, 1000 / 1005000., 0.01);
	assert_near(b.rate, 1000 / 1005000., 0.02);
	assert_true(a.low < 1000 / 1005000. && a.high > 1000 / 1005000.);
	assert_true(b.low < 1000 / 1005000. && b.high > 1000 / 1005000.);
}

static void words(void **state)
{
	struct xdd_audit_counts none = single(1200000, 0), few = single(1000, 3), zero = {};
	struct audit_rate rate = audit_fpr(&none);
	char text[AUDIT_TEXT_MAX];

	(void)state;
	assert_string_equal(audit_rate_text(&rate, text),
			    "below 2.5e-06 (0 of 1.2M sampled, 95 %)");
	rate = audit_fpr(&few);
	assert_string_equal(audit_rate_text(&rate, text),
			    "0.003 (3 of 1.0k sampled; 0.00062 to 0.0087, 95 %)");
	rate = audit_fpr(&zero);
	assert_string_equal(audit_rate_text(&rate, text), "not known (0 sampled)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_shadow),	  cmocka_unit_test(large_shadow),
		cmocka_unit_test(full_of_ranks),  cmocka_unit_test(races),
		cmocka_unit_test(heads),	  cmocka_unit_test(share),
		cmocka_unit_test(beta),		  cmocka_unit_test(independent),
		cmocka_unit_test(clustered),	  cmocka_unit_test(calibrated),
		cmocka_unit_test(words),	  cmocka_unit_test(distance_buckets),
		cmocka_unit_test(copy_distances), cmocka_unit_test(distance_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where keys lie in sliced filters, by definition and by count: vertical like none and hv like
 * horizontal; vh and K1xK2 by an oracle; propositions and closed forms of koloniari-2011 section 3.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/ask.h"
#include "user/stream.h"
#include "xdd/slices.h"

#define LINES 240
#define EVENTS 1000000

static struct xdd_fixed sliced(u32 engine, u32 slicing, u32 slices, u32 subslices)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);

	fixed.slicing = slicing;
	fixed.slices = slices;
	fixed.subslices = subslices;
	fixed.slice_hashes = slicing == XDD_SLICING_K1xK2 ? 2 : 0;
	fixed.blocks = LINES;
	return fixed;
}

/* A million events through both: not one verdict differs, and in the end not one byte. */
static void check_same(const struct xdd_fixed *a, const struct xdd_fixed *b)
{
	bool timer = a->engine == XDD_ENGINE_timer;
	struct xdd_store first, second;
	u64 seed = 7, tick = 1000, keys = timer ? 3000 : 40000;
	u32 seen = 0, differ = 0;

	ask_open(&first, a);
	ask_open(&second, b);
	for (u32 i = 0; i < EVENTS; i++) {
		u64 key = xdd_mix64(random_below(&seed, keys));
		u32 found = ask_at(&first, key, tick);

		differ += ask_at(&second, key, tick) != found;
		seen += found & XDD_SEEN;
		tick += timer && !random_below(&seed, 100);
	}
	assert_int_equal(differ, 0);
	assert_in_range(seen, EVENTS / 20, EVENTS - 1000);
	assert_memory_equal(first.lines, second.lines, LINES * sizeof(*first.lines));
	store_close(&first);
	store_close(&second);
}

static void test_same(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_timer, XDD_ENGINE_bloom };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed none = sliced(engines[i], XDD_SLICING_none, 1, 0);
		struct xdd_fixed vertical = sliced(engines[i], XDD_SLICING_vertical, 40, 0);
		struct xdd_fixed horizontal = sliced(engines[i], XDD_SLICING_horizontal, 8, 0);
		struct xdd_fixed hv = sliced(engines[i], XDD_SLICING_hv, 8, 5);

		check_same(&none, &vertical);
		check_same(&horizontal, &hv);
		none.line_cells = vertical.line_cells = 37;
		horizontal.line_cells = hv.line_cells = 37;
		check_same(&none, &vertical);
		check_same(&horizontal, &hv);
	}
}

/* @part of @parts that a number below 2^32 falls into; where in it, again below 2^32. */
static u32 part(double number, u32 parts, double *rest)
{
	double at = number * parts / 4294967296.0;

	*rest = (at - floor(at)) * 4294967296.0;
	return at;
}

static double high(u64 x)
{
	return x >> 32;
}

static u64 draw(u64 seed, u32 i)
{
	return xdd_mix64(seed + (i + 1) * 0x9E3779B97F4A7C15ULL);
}

/* Cell @i of @key in a filter that is an array of cells. */
static u32 oracle_cell(const struct xdd_fixed *f, u64 key, u32 i)
{
	u32 cells = f->line_cells, lines = LINES / f->slices / (f->subslices ?: 1), slice, line;
	u64 one = draw(key, i);
	double number = high(one), unused;

	if (f->slicing == XDD_SLICING_K1xK2) {
		slice = part(high(draw(~key, i % f->slice_hashes)), f->slices, &unused);
	} else {
		slice = part(number, f->slices, &number);
		slice = slice * f->subslices + part(high(draw(~key, slice)), f->subslices, &unused);
	}
	line = part(number, lines, &unused);
	return (slice * lines + line) * cells + part((u32)one, cells, &unused);
}

/* Engine bloom is an array of bits; engine timer without a step of time is the same. */
static void check_oracle(const struct xdd_fixed *fixed)
{
	bool *set = calloc(LINES, fixed->line_cells);
	u64 seed = 11;
	u32 seen = 0;
	struct xdd_store store;

	ask_open(&store, fixed);
	for (u32 i = 0; i < 20000; i++) {
		u64 key = xdd_mix64(random_below(&seed, 5000));
		u32 want = XDD_SEEN;

		for (u32 j = 0; j < fixed->hashes; j++) {
			bool *cell = &set[oracle_cell(fixed, key, j)];

			want = *cell ? want : 0;
			*cell = true;
		}
		assert_int_equal(ask_at(&store, key, 1000) & XDD_SEEN, want);
		seen += want;
	}
	assert_in_range(seen, 1000, 19990);
	store_close(&store);
	free(set);
}

static void test_oracle(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_timer, XDD_ENGINE_bloom };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed vh = sliced(engines[i], XDD_SLICING_vh, 6, 5);
		struct xdd_fixed products = sliced(engines[i], XDD_SLICING_K1xK2, 10, 0);

		for (vh.hashes = 1; vh.hashes <= XDD_MAX_HASHES; vh.hashes++) {
			vh.line_cells = i ? 500 : 60;
			check_oracle(&vh);
			products.hashes = vh.hashes;
			products.line_cells = i ? 99 : 33;
			for (u32 k1 = 1; k1 <= products.hashes; k1++) {
				products.slice_hashes = k1;
				if (products.hashes % k1 == 0)
					check_oracle(&products);
			}
		}
	}
}

#define FILLS 40 /* filters whose rates are averaged */

struct mean {
	double mean, error; /* standard error */
};

static struct mean mean_of(const double *x, u32 n)
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < n; i++)
		sum += x[i];
	for (u32 i = 0; i < n; i++)
		squares += (x[i] - sum / n) * (x[i] - sum / n);
	return (struct mean){ sum / n, sqrt(squares / (n - 1) / n) };
}

/* Share of new keys that a filter with @keys keys takes for copies. */
static double rate_of(const struct xdd_fixed *fixed, u32 keys, u64 seed)
{
	u32 hits = 0, probes = 10000;
	struct xdd_store store;

	ask_open(&store, fixed);
	for (u32 i = 0; i < keys; i++)
		ask_at(&store, random64(&seed), 1000);
	for (u32 i = 0; i < probes; i++) {
		struct xdd_digest digest = { random64(&seed), 0 };
		struct xdd_bits own;

		assert_true(xdd_slices_locate(fixed, &store, &digest, &own));
		hits += xdd_bits_all_set(fixed, &own);
	}
	store_close(&store);
	return (double)hits / probes;
}

static struct mean mean_rate(const struct xdd_fixed *fixed)
{
	double rate[FILLS];

	for (u32 i = 0; i < FILLS; i++)
		rate[i] = rate_of(fixed, 42000 / fixed->hashes, 100 + i);
	return mean_of(rate, FILLS);
}

/* Proposition 2: no K1 and K2 are better than one filter; and none is worse, where slices are so
 * large that their numbers of keys are alike: here by less than 1 %.
 */
static void test_proposition_2(void **state)
{
	static const u32 k[] = { 4, 6, 8 };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(k); i++) {
		struct xdd_fixed fixed = sliced(XDD_ENGINE_bloom, XDD_SLICING_none, 1, 0);
		struct mean one, many;

		fixed.line_cells = 256;
		fixed.hashes = k[i];
		one = mean_rate(&fixed);
		fixed.slicing = XDD_SLICING_K1xK2;
		fixed.slices = 4;
		for (u32 k1 = 1; k1 <= k[i]; k1++) {
			fixed.slice_hashes = k1;
			if (k[i] % k1)
				continue;
			many = mean_rate(&fixed);
			print_message("# k=%u %ux%u: %.6f (+- %.6f), unsliced %.6f (+- %.6f)\n",
				      k[i], k1, k[i] / k1, many.mean, many.error, one.mean,
				      one.error);
			assert_true(fabs(many.mean - one.mean) <
				    4 * hypot(many.error, one.error) + 0.01 * one.mean);
		}
	}
}

/* False positives among 5706 new keys into 48400 bits, a number of streams: the rate grows with S since
 * keys spread unevenly (PAPERS.md: mean of at least 100 streams).
 */
static struct mean mean_stream(u32 slices, u32 slice_lines)
{
	struct xdd_fixed fixed = sliced(XDD_ENGINE_bloom, XDD_SLICING_horizontal, slices, 0);
	u32 keys = 5706, streams = 400;
	double rate[400];
	u64 seed = slices;

	fixed.blocks = slices * slice_lines;
	fixed.line_cells = 48400 / fixed.blocks;
	assert_int_equal(xdd_cells(&fixed), 48400);
	for (u32 i = 0; i < streams; i++) {
		struct xdd_store store;
		u32 seen = 0;

		ask_open(&store, &fixed);
		for (u32 j = 0; j < keys; j++)
			seen += ask_at(&store, random64(&seed), 1000) & XDD_SEEN;
		rate[i] = (double)seen / keys;
		store_close(&store);
	}
	return mean_of(rate, streams);
}

static void test_uneven(void **state)
{
	static const struct {
		u32 slices, slice_lines;
		double rate;
	} rows[] = {
		{ 1, 100, 0.00465 }, { 40, 5, 0.00481 }, { 80, 5, 0.00501 }, { 200, 1, 0.00549 }
	};

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		struct mean m = mean_stream(rows[i].slices, rows[i].slice_lines);

		print_message("# S=%u: %.5f (+- %.5f), paper's facts %.5f\n", rows[i].slices,
			      m.mean, m.error, rows[i].rate);
		assert_true(fabs(m.mean - rows[i].rate) < 0.03 * rows[i].rate);
	}
}

#define DOMAIN 6000
#define DRAWS 50000
#define STREAMS 100

/* Jain's fairness of the loads of the slices, and messages per look-up, under a Zipf stream. */
static double fairness_of(const struct xdd_fixed *fixed, u64 seed, double *messages)
{
	u32 slice[XDD_MAX_HASHES], load[LINES] = {}, n;
	double sum = 0, squares = 0;
	struct stream stream;

	stream_open(&stream, DOMAIN, 1, seed);
	for (u32 i = 0; i < DRAWS; i++) {
		struct xdd_digest digest = { xdd_mix64(stream_next(&stream) + (seed << 20)), 0 };

		n = xdd_slices_of(fixed, &digest, slice);
		for (u32 j = 0; j < n; j++)
			load[slice[j]]++;
	}
	n = xdd_slices_count(fixed);
	for (u32 i = 0; i < n; i++) {
		sum += load[i];
		squares += (double)load[i] * load[i];
	}
	*messages = sum / DRAWS;
	return sum * sum / (n * squares);
}

static double zipf_squares(void)
{
	double sum = 0, squares = 0;

	for (u32 i = 1; i <= DOMAIN; i++) {
		sum += 1.0 / i;
		squares += 1.0 / i / i;
	}
	return squares / sum / sum;
}

static void check_fairness(const struct xdd_fixed *fixed, double want, double want_messages)
{
	double fairness[STREAMS], messages[STREAMS];
	struct mean f, m;

	for (u32 i = 0; i < STREAMS; i++)
		fairness[i] = fairness_of(fixed, 1 + i, &messages[i]);
	f = mean_of(fairness, STREAMS);
	m = mean_of(messages, STREAMS);
	print_message("# engine %u slicing %u: fairness %.4f (+- %.4f), closed form %.4f; messages "
		      "%.4f (+- %.4f), %.4f\n",
		      fixed->engine, fixed->slicing, f.mean, f.error, want, m.mean, m.error,
		      want_messages);
	assert_true(fabs(f.mean / want - 1) < 0.05);
	assert_true(fabs(m.mean / want_messages - 1) < 0.01);
}

static void test_fairness(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_timer, XDD_ENGINE_bloom };
	double squares = zipf_squares(), s = 40;

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed fixed = sliced(engines[i], XDD_SLICING_horizontal, s, 0);

		check_fairness(&fixed, 1 / (1 + (s - 1) * squares), 1);
		fixed.slicing = XDD_SLICING_vertical;
		check_fairness(&fixed, 1 / (1 + (s - 1) * squares / fixed.hashes),
			       s * (1 - pow(1 - 1 / s, fixed.hashes)));
	}
}

/* The chance that @k independent draws out of @s hit just @n, by k. */
static double chance_of_slices(u32 s, u32 k, u32 n)
{
	double chance[XDD_MAX_HASHES + 1] = { 1 };

	for (u32 draws = 0; draws < k; draws++)
		for (u32 hit = draws + 1; hit > 0; hit--) {
			chance[hit] = chance[hit] * hit / s + chance[hit - 1] * (s - hit + 1) / s;
			chance[hit - 1] = hit == 1 ? 0 : chance[hit - 1];
		}
	return chance[n];
}

#define KEYS 200000

/*
 * The k cells of a key are drawn one by one: how many slices they share, and which pairs of them do,
 * is within 5 standard errors of what independent draws give. Equal steps keep to it for pairs alone.
 */
static void check_shared(const struct xdd_fixed *fixed)
{
	u32 width = fixed->slicing == XDD_SLICING_hv ? fixed->subslices : xdd_slices_count(fixed);
	u32 slices[XDD_MAX_HASHES], k = fixed->hashes, met[XDD_MAX_HASHES + 1] = {}, pairs = 0;
	double one = 1.0 / width;
	u64 seed = 17;

	for (u32 i = 0; i < KEYS; i++) {
		struct xdd_digest digest = { random64(&seed), 0 };
		struct xdd_places places = xdd_places(fixed, &digest);
		u32 first = xdd_place(fixed, &places, 0, &slices[0]) / places.slice_lines;
		u32 last = xdd_place(fixed, &places, k - 1, &slices[0]) / places.slice_lines;

		pairs += first == last;
		met[xdd_slices_of(fixed, &digest, slices)]++;
	}
	assert_true(fabs(pairs - KEYS * one) < 5 * sqrt(KEYS * one * (1 - one)));
	for (u32 n = 1; n <= k; n++) {
		double p = chance_of_slices(width, k, n);

		print_message("# %u of %u slices hold k=%u cells: %.6f, by chance %.6f\n", n, width,
			      k, (double)met[n] / KEYS, p);
		assert_true(fabs(met[n] - KEYS * p) <= 5 * sqrt(KEYS * p * (1 - p)) + 1);
	}
}

static void test_shared(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_timer, XDD_ENGINE_bloom };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed vertical = sliced(engines[i], XDD_SLICING_vertical, 8, 0);
		struct xdd_fixed hv = sliced(engines[i], XDD_SLICING_hv, 6, 5);

		for (u32 k = 2; k <= XDD_MAX_HASHES; k += 2) {
			vertical.hashes = hv.hashes = k;
			check_shared(&vertical);
			check_shared(&hv);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	      cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_proposition_2), cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_fairness),      cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

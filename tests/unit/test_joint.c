/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Joint detection: no common key is lost, others are few, and no message harms who reads it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/joint/gaps.h"
#include "user/joint/run.h"
#include "user/stream.h"

#define N 6
#define MOST_KEYS 40000

/* Lists for @plan: key number i of @keys is in those monitors whose bit @held[i] has. */
struct lists {
	u64 n[JOINT_MONITORS_MAX];
	u64 *digests[JOINT_MONITORS_MAX];
	u32 *number[JOINT_MONITORS_MAX]; /* which key it is */
};

static u64 key_of(u32 i)
{
	return xdd_mix64(i + 77);
}

static void make_lists(struct lists *l, const u32 *held, u32 keys)
{
	for (u32 m = 0; m < N; m++) {
		l->n[m] = 0;
		l->digests[m] = malloc((keys + 1) * sizeof(u64));
		l->number[m] = malloc((keys + 1) * sizeof(u32));
		for (u32 i = 0; i < keys; i++) {
			if (!(held[i] >> m & 1))
				continue;
			l->number[m][l->n[m]] = i;
			l->digests[m][l->n[m]++] = key_of(i);
		}
	}
}

static void free_lists(struct lists *l)
{
	for (u32 m = 0; m < N; m++) {
		free(l->digests[m]);
		free(l->number[m]);
	}
}

struct judged {
	u64 wrong, others;
};

/* Run @plan over them: all that is common must be there. */
static struct judged run(const struct joint_plan *plan, const u32 *held, u32 keys)
{
	struct joint_monitor monitors[N];
	struct judged judged = { 0, 0 };
	struct joint_result result;
	struct lists l;

	make_lists(&l, held, keys);
	for (u32 m = 0; m < N; m++)
		assert_int_equal(joint_monitor_open(&monitors[m], plan, m, l.digests[m], l.n[m]),
				 0);
	assert_int_equal(joint_run(plan, monitors, &result), 0);
	for (u32 m = 0; m < N; m++) {
		u64 at = 0;

		for (u64 i = 0; i < l.n[m]; i++) {
			bool common =
				(u32)__builtin_popcount(held[l.number[m][i]]) >= plan->at_least;
			bool kept = at < monitors[m].n && monitors[m].from[at] == i;

			at += kept;
			assert_true(kept || !common);
			judged.wrong += kept && !common;
			judged.others += !common;
		}
		assert_int_equal(at, monitors[m].n);
		assert_true(monitors[m].done);
		joint_monitor_close(&monitors[m]);
	}
	free_lists(&l);
	return judged;
}

static struct joint_plan plan_of(u32 algorithm, double epsilon, u64 seed)
{
	struct joint_plan plan = { .algorithm = algorithm,
				   .monitors = N,
				   .at_least = N,
				   .rounds = joint_default_rounds(algorithm),
				   .epsilon = epsilon,
				   .seed = seed };
	char err[512];

	assert_int_equal(joint_plan_check(&plan, err, sizeof(err)), 0);
	return plan;
}

/* Any sets, also empty and full ones. */
static void test_complete(void **state)
{
	u32 *held = calloc(MOST_KEYS, sizeof(*held));
	struct stream random;

	(void)state;
	stream_open(&random, MOST_KEYS, 0, 5);
	for (u32 trial = 0; trial < 40; trial++) {
		u32 keys = stream_next(&random) >> trial % 16,
		    full = stream_draw(&random) % (1 << N);

		for (u32 i = 0; i < keys; i++) {
			held[i] = stream_draw(&random) % (1 << N);
			held[i] |= stream_draw(&random) % 3 ? full : (1 << N) - 1;
			held[i] &= trial % 5 ? ~0u : ~(1u << trial % N);
		}
		for (u32 algorithm = 0; algorithm < JOINT_ALGORITHM_MAX; algorithm++) {
			struct joint_plan plan = plan_of(algorithm, .03, trial);

			run(&plan, held, keys);
			if (algorithm != JOINT_cfsp && algorithm != JOINT_best)
				continue;
			for (plan.rounds = 1; plan.rounds < 6; plan.rounds++)
				run(&plan, held, keys);
		}
	}
	free(held);
}

/* What is held by all but one is the hardest: only that one's filters tell. @expected: how near. */
static void check_accuracy(struct joint_plan plan, u32 each)
{
	u32 *held = calloc(MOST_KEYS, sizeof(*held));
	struct judged sum = { 0, 0 };

	for (u32 i = 0; i < MOST_KEYS; i++) {
		held[i] = i % 10 ? 0 : (1 << N) - 1;
		for (u32 m = 0; i % 10 && m < each; m++)
			held[i] |= 1u << (i + m) % N;
	}
	for (u32 trial = 0; trial < 4; trial++) {
		struct judged judged;

		plan.seed = trial;
		judged = run(&plan, held, MOST_KEYS);
		sum.wrong += judged.wrong;
		sum.others += judged.others;
	}
	/* Each wrong key is so at all that hold it: five deviations of so many less. */
	assert_true(sum.wrong <= plan.epsilon * sum.others +
					 5 * each * sqrt(plan.epsilon * sum.others / each) + 1e-9);
	free(held);
}

static void test_accurate(void **state)
{
	(void)state;
	for (u32 algorithm = 0; algorithm < JOINT_ALGORITHM_MAX; algorithm++) {
		struct joint_plan plan = plan_of(algorithm, .01, 0);

		check_accuracy(plan, N - 1);
		check_accuracy(plan, 1);
		if (algorithm == JOINT_best || algorithm == JOINT_cfsp) {
			plan.rounds = 4;
			check_accuracy(plan, N - 1);
		}
		if (algorithm == JOINT_best || algorithm == JOINT_raw) {
			plan.at_least = 4;
			check_accuracy(plan, 3);
			plan.rounds = 1;
			check_accuracy(plan, 3);
		}
	}
}

/* 64 bits of a CRC, fed with 16 bytes: the key, and a number (ECMA-182). */
static u64 crc64(u64 key, u64 number)
{
	u64 words[2] = { key, number }, crc = 0;

	for (u32 bit = 0; bit < 128; bit++) {
		u64 in = words[bit / 64] >> (63 - bit % 64) & 1;

		crc = crc << 1 ^ ((crc >> 63 ^ in) ? 0x42F0E1EBA9EA3693ull : 0);
	}
	return crc;
}

static u64 mixed(u64 key, u64 number)
{
	return xdd_mix64(key ^ xdd_mix64(number * XDD_GOLDEN));
}

/* Share of other keys that a filter of eps = .001 takes for its own. */
static double wrong_with(u64 (*hash)(u64 key, u64 number))
{
	const u32 keys = 20000, hashes = 10;
	u64 length = joint_length_power(keys, hashes, .001), wrong = 0;
	u8 *bits = calloc(length, 1);

	for (u64 key = 0; key < keys; key++)
		for (u32 i = 1; i <= hashes; i++)
			bits[hash(key_of(key), i) & (length - 1)] = 1;
	for (u64 key = keys; key < 11 * keys; key++) {
		bool all = true;

		for (u32 i = 1; all && i <= hashes; i++)
			all = bits[hash(key_of(key), i) & (length - 1)];
		wrong += all;
	}
	free(bits);
	return (double)wrong / (10 * keys);
}

/* The paper's hash is affine: keys that collide in one bit collide in all of them. */
static void test_crc_fails(void **state)
{
	(void)state;
	assert_true(wrong_with(mixed) < .001);
	assert_true(wrong_with(crc64) > .02);
}

/* Numbers of any density, there and back, in about their entropy. */
static void test_gaps(void **state)
{
	static const double densities[] = { 0, 1e-6, .001, .02, .3, .5, .8, .999, 1 };
	u64 range = 300000;
	struct stream random;

	(void)state;
	stream_open(&random, 1, 0, 9);
	for (u32 d = 0; d < XDD_ARRAY_SIZE(densities); d++) {
		double p = densities[d], entropy = 0;
		u64 *at = malloc(range * sizeof(*at)), n = 0, found;
		struct bytes b = { 0 };
		struct gaps g;

		for (u64 i = 0; i < range; i++)
			if ((stream_draw(&random) >> 11) * 0x1p-53 < p)
				at[n++] = i;
		gaps_write(&g, range, n, &b);
		for (u64 i = 0; i < n; i++)
			gaps_put(&g, at[i]);
		gaps_end(&g);
		gaps_read(&g, range, n, (struct bytes_in){ b.at, b.n });
		for (u64 i = 0; i < n; i++) {
			assert_int_equal(gaps_get(&g, &found), 0);
			assert_int_equal(found, at[i]);
		}
		if (n && n < range)
			entropy = -(n * log2((double)n / range) +
				    (range - n) * log2(1 - (double)n / range));
		assert_true(8 * b.n < 1.02 * entropy + 100);
		bytes_free(&b);
		free(at);
	}
}

/* All messages of a run, kept. */
struct talk {
	u32 n;
	struct bytes up[32][N], down[32][N];
	bool multicast[32];
};

static void copy(struct bytes *to, const struct bytes *from)
{
	*to = (struct bytes){ malloc(from->n + 1), from->n, from->n + 1, false };
	if (from->n)
		memcpy(to->at, from->at, from->n);
}

/* Give what @reader reads in a damaged form; @crc: with a right CRC, so that it is looked at. */
static struct bytes damaged(const struct bytes *message, struct stream *random, bool crc)
{
	struct bytes bad;

	copy(&bad, message);
	if (stream_draw(random) % 3 == 0)
		bad.n = stream_draw(random) % bad.n;
	else
		bad.at[stream_draw(random) % bad.n] ^= 1 << stream_draw(random) % 8;
	if (crc && bad.n > 6) {
		bad.n -= 4;
		bytes_end(&bad);
	}
	return bad;
}

/* Damage what monitor @m is told, and what one tells the coordinator, and go on as if nothing had been. */
static void harm(struct joint_monitor *m, const struct bytes *told, struct joint_coordinator *c,
		 struct bytes *said, struct stream *random)
{
	for (u32 i = 0; i < 60; i++) {
		struct bytes out[N] = { { 0 } }, whole = said[0], bad;
		struct joint_coordinator other = *c;
		u32 whose;

		if (told && told->n) {
			bad = damaged(told, random, false);
			assert_int_equal(joint_monitor_round(m, &bad, &out[0]), -EBADMSG);
			bytes_free(&bad);
		}
		for (u32 crc = 0; said[0].n && crc < 2; crc++) {
			int rc;

			bad = damaged(&whole, random, crc);
			said[0] = bad;
			rc = joint_coordinator_round(&other, said, out, &whose);
			assert_true(rc == -EBADMSG || (crc && !rc));
			assert_true(!rc || whose == 0 || crc);
			other = *c;
			said[0] = whole;
			bytes_free(&bad);
		}
		for (u32 k = 0; k < N; k++)
			bytes_free(&out[k]);
	}
}

/* A message with a right CRC but another content: anything but a crash. */
static void harm_copy(const struct joint_plan *plan, const struct lists *l, const struct talk *talk,
		      u32 step, struct stream *random)
{
	for (u32 i = 0; i < 30; i++) {
		struct bytes out = { 0 }, bad;
		struct joint_monitor m;

		assert_int_equal(joint_monitor_open(&m, plan, 0, l->digests[0], l->n[0]), 0);
		assert_int_equal(joint_monitor_round(&m, NULL, &out), 0);
		for (u32 before = 0; before < step; before++)
			assert_int_equal(joint_monitor_round(&m, &talk->down[before][0], &out), 0);
		bad = damaged(&talk->down[step][0], random, true);
		joint_monitor_round(&m, &bad, &out);
		joint_monitor_close(&m);
		bytes_free(&bad);
		bytes_free(&out);
	}
}

static void talk_through(const struct joint_plan *plan, const struct lists *l, struct talk *talk,
			 struct stream *random)
{
	struct joint_monitor monitors[N];
	struct joint_coordinator c;
	struct bytes up[N] = { { 0 } }, down[N] = { { 0 } };
	u32 whose;

	joint_coordinator_open(&c, plan);
	for (u32 m = 0; m < N; m++)
		assert_int_equal(joint_monitor_open(&monitors[m], plan, m, l->digests[m], l->n[m]),
				 0);
	for (talk->n = 0; !c.done; talk->n++) {
		for (u32 m = 0; m < N; m++)
			assert_int_equal(joint_monitor_round(&monitors[m],
							     talk->n ? &down[c.multicast ? 0 : m]
								     : NULL,
							     &up[m]),
					 0);
		harm(&monitors[0], NULL, &c, up, random);
		assert_int_equal(joint_coordinator_round(&c, up, down, &whose), 0);
		harm(&monitors[0], &down[0], &c, (struct bytes[N]){ { 0 } }, random);
		copy(&talk->down[talk->n][0], &down[0]);
	}
	for (u32 m = 0; m < N; m++) {
		joint_monitor_close(&monitors[m]);
		bytes_free(&up[m]);
		bytes_free(&down[m]);
	}
}

static void test_damage(void **state)
{
	u32 held[500];
	struct stream random;
	struct lists l;

	(void)state;
	stream_open(&random, 1, 0, 3);
	for (u32 i = 0; i < 500; i++)
		held[i] = i % 3 ? 1u << i % N : (1 << N) - 1;
	make_lists(&l, held, 500);
	for (u32 algorithm = 0; algorithm < JOINT_ALGORITHM_MAX; algorithm++) {
		struct joint_plan plan = plan_of(algorithm, .01, 1);
		struct talk *talk = calloc(1, sizeof(*talk));

		talk_through(&plan, &l, talk, &random);
		for (u32 step = 0; step < talk->n; step++)
			harm_copy(&plan, &l, talk, step, &random);
		for (u32 step = 0; step < talk->n; step++)
			bytes_free(&talk->down[step][0]);
		free(talk);
	}
	free_lists(&l);
}

/* Lengths are the least that keep the target, and formulas those of the paper. */
static void test_formulas(void **state)
{
	struct joint_plan plan = plan_of(JOINT_bfs, .001, 0);
	u64 keys[N] = { 100, 1000000, 5, 7, 8, 9 };
	struct joint_bits bits = joint_formula(&plan, 0, keys);

	(void)state;
	assert_int_equal(joint_hashes(&plan, 0), 10);
	assert_true(fabs(bits.up / (N * 9.9658 * 1e6 / M_LN2) - 1) < 1e-4);
	assert_true(bits.up == bits.down);
	assert_int_equal(joint_length_power(1000000, 10, .001), 1 << 24);
	assert_int_equal(joint_length(1000000, 1, .5), 1442696);
	plan = plan_of(JOINT_cfsp, .001, 0);
	bits = joint_formula(&plan, 0, keys);
	assert_true(bits.up == 256 + (1 << 21) + 8 + 16 + 16 + 16 && bits.down == N * 8);
	assert_int_equal(joint_hashes(&plan, 0), 1);
	assert_int_equal(joint_hashes(&plan, 1), 9);
}

static void test_refusals(void **state)
{
	struct joint_plan plan = plan_of(JOINT_cfs, .001, 0);
	char err[512];

	(void)state;
	plan.at_least = 3;
	assert_int_equal(joint_plan_check(&plan, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "raw and best can"));
	plan = plan_of(JOINT_best, .001, 0);
	plan.rounds = 11;
	assert_int_equal(joint_plan_check(&plan, err, sizeof(err)), -EINVAL);
	plan.rounds = 10;
	assert_int_equal(joint_plan_check(&plan, err, sizeof(err)), 0);
	plan.at_least = 1;
	assert_int_equal(joint_plan_check(&plan, err, sizeof(err)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),  cmocka_unit_test(test_accurate),
		cmocka_unit_test(test_crc_fails), cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_damage),	  cmocka_unit_test(test_formulas),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

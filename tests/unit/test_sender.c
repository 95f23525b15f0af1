/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a host tells the others what it has, and in which messages. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/common/test.h"
#include "user/cluster/delta.h"
#include "user/cluster/sender.h"
#include "user/model/replica.h"

#define SHIFT 12
#define BITS (1u << SHIFT)
#define MOST 25 /* the largest shift of any test */
#define S 1000000000ULL

static const struct wire_key group = { { 1, 2 } };

/* All that a test has: a sender, what is at home, and what one that hears all of it has. */
static struct {
	struct wire_self self;
	struct sender_setup setup;
	struct sender *sender;
	struct sender_home home;
	struct wire_time now;
	u64 bits[(1u << MOST) / 64], theirs[(1u << MOST) / 64], changed[(1u << MOST) / 64];
	struct wire_head last;
	u32 count[WIRE_TYPE_MAX];
	size_t longest;
	u64 covered; /* bits of the last FULL or DELTA */
	int emit_error;
} t;

static int hear(void *to, enum wire_type type, const u8 *message, size_t size)
{
	struct wire_key key = wire_key_of(&group, "a");
	u64 order = t.last.order;
	const u8 *payload;

	assert_null(to);
	assert_int_equal(wire_open(&key, message, size, &t.last, &payload), 0);
	assert_int_equal(t.last.type, type);
	assert_true(t.last.order == order + 1);
	t.count[type] += !t.last.part;
	t.longest = size > t.longest ? size : t.longest;
	if (t.emit_error || !t.last.bits)
		return t.emit_error;
	t.covered = t.last.part ? t.covered + t.last.bits : t.last.bits;
	assert_int_equal(delta_decode(payload, t.last.payload_bytes, t.changed, t.last.bits), 0);
	for (u64 i = 0; i < t.last.bits / 64; i++) {
		u64 *word = &t.theirs[t.last.first / 64 + i];

		*word = (type == WIRE_FULL ? 0 : *word) ^ t.changed[i];
	}
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.self = (struct wire_self){ .key = wire_key_of(&group, "a"), .epoch = 3 };
	t.now = (struct wire_time){ 1000 * S, 5000 * S };
	t.home.bits = t.bits;
	t.setup = (struct sender_setup){ .self = &t.self,
					 .emit = hear,
					 .hashes = 4,
					 .shift = SHIFT,
					 .heartbeat_ns = S,
					 .policy = { .rule = UPDATE_dirty,
						     .dirty = 0.1,
						     .target = 0.01,
						     .bound = BOUND_member,
						     .fp_weight = 1,
						     .fn_weight = 1 } };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sender_close(t.sender);
	return 0;
}

static void open_sender(void)
{
	t.sender = sender_open(&t.setup);
	assert_non_null(t.sender);
}

/* Check after @ns, and look at what others have whenever something was sent. */
static int after(u64 ns)
{
	int result;

	t.now.mono_ns += ns;
	t.now.wall_ns += ns;
	result = sender_check(t.sender, &t.home, t.now);
	if (result != SENDER_PUSHED)
		return result;
	assert_true(t.covered == 1ULL << sender_shift(t.sender));
	assert_memory_equal(t.theirs, t.bits, t.covered / 8);
	assert_memory_equal(sender_sent(t.sender), t.bits, t.covered / 8);
	return result;
}

/* Flip the bits of @n of the places from @from on. */
static void flip(u32 from, u32 n)
{
	for (u32 i = from; i < from + n; i++)
		t.bits[i / 64] ^= 1ULL << i % 64;
}

static void fill_randomly(u64 *random, u32 shift, u32 of_64k)
{
	for (u32 i = 0; i < 1u << shift; i++)
		if (random_below(random, 65536) < of_64k)
			t.bits[i / 64] ^= 1ULL << i % 64;
}

/* First all of it, then nothing but signs of life, then what has changed once it is a tenth. */
static void test_dirty(void **state)
{
	(void)state;
	open_sender();
	assert_null(sender_sent(t.sender));
	flip(0, 100);
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_FULL], 1);
	assert_int_equal(after(S / 2), SENDER_NOTHING);
	assert_int_equal(after(S / 2), SENDER_BEAT);
	assert_int_equal(t.last.seq, 1);
	assert_int_equal(after(S - 1), SENDER_NOTHING);
	flip(200, BITS / 10);
	assert_int_equal(after(0), SENDER_NOTHING);
	flip(200 + BITS / 10, 1);
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_DELTA], 1);
	assert_int_equal(t.last.seq, 2);
	flip(0, BITS / 10 + 1); /* some of them gone, some come */
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_DELTA], 2);
	assert_int_equal(sender_stats(t.sender)->deltas, 2);
	assert_int_equal(sender_stats(t.sender)->heartbeats, 1);
}

/* A host whose looks are far apart says that it lives as often as any other. */
static void test_beats_between_looks(void **state)
{
	(void)state;
	open_sender();
	assert_true(sender_beat_at(t.sender) == UINT64_MAX);
	assert_int_equal(sender_beat(t.sender, t.now), SENDER_NOTHING);
	assert_int_equal(after(0), SENDER_PUSHED);
	for (u32 i = 1; i <= 10; i++) {
		assert_true(sender_beat_at(t.sender) == t.now.mono_ns + S);
		t.now.mono_ns += S - 1;
		assert_int_equal(sender_beat(t.sender, t.now), SENDER_NOTHING);
		t.now.mono_ns++;
		assert_int_equal(sender_beat(t.sender, t.now), SENDER_BEAT);
		assert_int_equal(sender_beat(t.sender, t.now), SENDER_NOTHING);
		assert_int_equal(t.count[WIRE_HEARTBEAT], i);
		assert_int_equal(t.last.seq, 1);
	}
	assert_int_equal(after(S / 2), SENDER_NOTHING);
}

/* Every second; but not if nothing has changed. */
static void test_every(void **state)
{
	u64 random = 1;

	(void)state;
	fill_randomly(&random, SHIFT, 10000);
	t.setup.policy.rule = UPDATE_every;
	t.setup.policy.every = S;
	t.setup.heartbeat_ns = 100 * S;
	open_sender();
	assert_int_equal(after(0), SENDER_PUSHED);
	flip(0, 1);
	assert_int_equal(after(S - 1), SENDER_NOTHING);
	assert_int_equal(after(1), SENDER_PUSHED);
	assert_int_equal(after(5 * S), SENDER_NOTHING);
	flip(0, 1);
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_DELTA], 2);
}

/* What is predicted is the model's, and decides: members that are missed, or theorem 3. */
static void test_false_rate(void **state)
{
	const struct sender_stats *stats;

	(void)state;
	t.setup.policy.rule = UPDATE_false_rate;
	open_sender();
	flip(0, 1000);
	t.home.keys = 260;
	assert_int_equal(after(0), SENDER_PUSHED);
	flip(0, 100);
	flip(2000, 12);
	t.home.unpublished = 1;
	assert_int_equal(after(0), SENDER_NOTHING);
	stats = sender_stats(t.sender);
	assert_true(fabs(stats->fpr - pow(1000. / BITS, 4)) < 1e-12);
	assert_true(fabs(stats->own - pow(912. / BITS, 4)) < 1e-12);
	assert_true(fabs(stats->fnr - pow(912. / BITS, 4) + pow(900. / BITS, 4)) < 1e-12);
	assert_true(fabs(stats->member - 1. / 260 * (1 - pow(1000. / BITS, 4))) < 1e-12);
	assert_true(fabs(stats->rate - stats->fpr - stats->member) < 1e-12);
	assert_true(fabs(stats->floor - stats->own) < 1e-12);
	t.home.unpublished = 2;
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.last.member_ppb, 1e9 * 2 / 260 * (1 - pow(1000. / BITS, 4)));
	t.home.unpublished = 26;
	flip(2000, 1);
	t.setup.policy.bound = BOUND_model;
	sender_policy(t.sender, &t.setup.policy);
	assert_int_equal(after(0), SENDER_NOTHING);
}

/* It is sent before the target is passed, if it will be by the next look: what grows as fast as it did. */
static void test_growth(void **state)
{
	static const u32 unpublished[] = { 40, 60, 60, 85 };

	(void)state;
	t.setup.policy.rule = UPDATE_false_rate;
	t.setup.policy.target = 0.1;
	t.setup.heartbeat_ns = 100 * S;
	open_sender();
	t.home.keys = 1000;
	assert_int_equal(after(0), SENDER_PUSHED);
	for (u32 i = 0; i < 4; i++) {
		flip(i, 1);
		t.home.unpublished = unpublished[i];
		assert_int_equal(after(S), i < 3 ? SENDER_NOTHING : SENDER_PUSHED);
		assert_true(sender_stats(t.sender)->rate < 0.1);
	}
	t.home.unpublished = 0;
	flip(9, 1);
	assert_int_equal(after(S), SENDER_NOTHING);
}

/* A filter that is too full for the target is not sent at every check: that would mend nothing. */
static void test_floor(void **state)
{
	(void)state;
	t.setup.policy.rule = UPDATE_false_rate;
	t.setup.heartbeat_ns = 100 * S;
	open_sender();
	flip(0, BITS / 2);
	t.home.keys = 7000;
	assert_int_equal(after(0), SENDER_PUSHED);
	t.home.unpublished = 1;
	for (u32 i = 0; i < 10; i++) {
		flip(3000 + i, 1);
		assert_int_equal(after(S), SENDER_NOTHING);
	}
	assert_true(sender_stats(t.sender)->rate > t.setup.policy.target);
}

/* A FULL where it is shorter, or what the deltas since the last one come to is longer. */
static void test_shorter(void **state)
{
	u64 random = 1;
	u32 deltas = 0;

	(void)state;
	t.setup.full_after = 1;
	open_sender();
	fill_randomly(&random, SHIFT, 20000);
	assert_int_equal(after(0), SENDER_PUSHED);
	memset(t.bits, 0, sizeof(t.bits));
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_FULL], 2);
	fill_randomly(&random, SHIFT, 20000);
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_FULL], 3);
	while (t.count[WIRE_FULL] == 3 && deltas++ < 10) {
		flip(64 * deltas, BITS / 9);
		assert_int_equal(after(0), SENDER_PUSHED);
	}
	assert_in_range(deltas, 2, 9);
	assert_int_equal(t.count[WIRE_FULL], 4);
	deltas = t.count[WIRE_DELTA];
	flip(64, BITS / 9);
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_DELTA], deltas + 1);
}

/* Who asks gets a FULL, one for all, and not more often than is said. */
static void test_want(void **state)
{
	struct wire_self other = { .key = wire_key_of(&group, "b"), .epoch = 1 };
	struct wire_head head = { .type = WIRE_WANT };
	u8 want[WIRE_HEADER + WIRE_TAG];
	size_t size = wire_seal(&other, &head, want);

	(void)state;
	t.setup.want_ns = 10 * S;
	t.setup.heartbeat_ns = 100 * S;
	open_sender();
	assert_int_equal(after(0), SENDER_PUSHED);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(sender_wanted(t.sender, &group, "b", want, size), 0);
	assert_int_equal(after(10 * S - 1), SENDER_NOTHING);
	assert_int_equal(after(1), SENDER_PUSHED);
	assert_int_equal(t.count[WIRE_FULL], 2);
	assert_int_equal(after(20 * S), SENDER_NOTHING);
	assert_int_equal(sender_wanted(t.sender, &group, "c", want, size), -EBADMSG);
	assert_int_equal(sender_wanted(t.sender, &group, "b", want, size - 1), -EBADMSG);
	head.type = WIRE_BYE;
	size = wire_seal(&other, &head, want);
	assert_int_equal(sender_wanted(t.sender, &group, "b", want, size), -EINVAL);
	assert_int_equal(after(20 * S), SENDER_NOTHING);
	assert_int_equal(sender_stats(t.sender)->wants, 5);
}

/* What could not be handed over may be missing: a FULL mends it. */
static void test_failure(void **state)
{
	(void)state;
	open_sender();
	assert_int_equal(after(0), SENDER_PUSHED);
	flip(0, BITS / 8);
	t.emit_error = -EPIPE;
	assert_int_equal(after(0), -EPIPE);
	t.emit_error = 0;
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(t.last.type, WIRE_FULL);
	assert_int_equal(t.last.seq, 3);
	assert_int_equal(sender_stats(t.sender)->failed, 1);
	assert_int_equal(after(0), SENDER_NOTHING);
}

/* Over a long time no more than the limit, and not more often than the interval; nothing is lost. */
static void test_limits(void **state)
{
	const u32 checks = 6000;
	const struct sender_stats *stats;
	u64 random = 1, before;

	(void)state;
	t.setup.policy.rule = UPDATE_every;
	t.setup.policy.every = 1;
	t.setup.interval_ns = S / 20;
	t.setup.bytes_per_s = 1000;
	open_sender();
	for (u32 i = 0; i < checks; i++) {
		flip(random_below(&random, BITS), 1);
		after(S / 100);
	}
	stats = sender_stats(t.sender);
	assert_in_range(stats->bytes, 1000 * checks / 100 * 9 / 10, 1000 * checks / 100 + 2000);
	assert_true(stats->suppressed > 0);
	before = stats->bytes;
	after(3600 * S); /* an hour of silence is not saved up */
	for (u32 i = 0; i < 100; i++) {
		flip(random_below(&random, BITS), 1);
		after(S / 20);
	}
	assert_in_range(stats->bytes - before, 5000, 7000);
	t.setup.bytes_per_s = 0;
	sender_close(t.sender);
	t.last.order = t.self.order;
	open_sender();
	for (u32 i = 0; i < 1000; i++) {
		flip(random_below(&random, BITS), 1);
		after(S / 100);
	}
	stats = sender_stats(t.sender);
	assert_int_equal(stats->fulls + stats->deltas, 200);
	assert_false(sender_ready(t.sender, t.now));
	t.now.mono_ns += S / 20;
	assert_true(sender_ready(t.sender, t.now));
}

/* What has changed is told after a time, though the rule has nothing against it. */
static void test_untold(void **state)
{
	(void)state;
	t.setup.untold_ns = 5 * S;
	t.setup.heartbeat_ns = 100 * S;
	open_sender();
	assert_int_equal(after(0), SENDER_PUSHED);
	assert_int_equal(after(10 * S), SENDER_NOTHING);
	flip(0, 1);
	assert_int_equal(after(S), SENDER_NOTHING);
	assert_int_equal(after(5 * S - 1), SENDER_NOTHING);
	assert_int_equal(after(1), SENDER_PUSHED);
	flip(0, 1);
	assert_int_equal(after(S), SENDER_NOTHING);
	flip(0, 1); /* as it was */
	assert_int_equal(after(S), SENDER_NOTHING);
	flip(0, 1);
	assert_int_equal(after(4 * S), SENDER_NOTHING);
	assert_int_equal(after(5 * S), SENDER_PUSHED);
}

/* A filter of @keys keys at random places, as it would be of the sender's size. */
static int after_keys(u64 ns, u32 keys)
{
	u64 random = 1;

	t.home.keys = keys;
	memset(t.bits, 0, sizeof(t.bits));
	for (u32 i = 0; i < 4 * keys; i++) {
		u64 at = random64(&random) >> (64 - sender_shift(t.sender));

		t.bits[at / 64] |= 1ULL << at % 64;
	}
	return after(ns);
}

/* Larger as soon as the target needs it; smaller only after some time. */
static void test_resize(void **state)
{
	(void)state;
	t.setup.resize = true;
	t.setup.shift_least = 10;
	t.setup.shift_most = 16;
	t.setup.resize_ns = 60 * S;
	open_sender();
	assert_int_equal(after_keys(0, 100), SENDER_PUSHED);
	assert_int_equal(after_keys(S, 2000), SENDER_AGAIN);
	assert_int_equal(sender_shift(t.sender), 15);
	assert_null(sender_sent(t.sender));
	assert_int_equal(after_keys(0, 2000), SENDER_PUSHED);
	assert_int_equal(t.last.type, WIRE_FULL);
	assert_int_equal(t.last.shift, 15);
	assert_true(sender_stats(t.sender)->floor < t.setup.policy.target);
	assert_int_equal(after_keys(S, 100), SENDER_PUSHED);
	assert_int_equal(after_keys(30 * S, 100), SENDER_BEAT);
	after_keys(0, 2000);
	after_keys(0, 100);
	assert_int_equal(after_keys(59 * S, 100), SENDER_BEAT);
	assert_int_equal(after_keys(S, 100), SENDER_AGAIN);
	assert_int_equal(sender_shift(t.sender), 14);
	assert_int_equal(after_keys(0, 100), SENDER_PUSHED);
	assert_int_equal(after_keys(0, 1u << 20), SENDER_AGAIN);
	assert_int_equal(sender_shift(t.sender), 16);
	assert_int_equal(after_keys(0, 1u << 20), SENDER_PUSHED); /* more than it can be */
	assert_int_equal(sender_stats(t.sender)->resizes, 3);
}

/* A filter larger than a message, of any density: parts that cover it once. */
static void test_parts(void **state)
{
	static const u32 of_64k[] = { 1, 100, 3000, 32768, 30000, 1, 200 };
	u64 random = 1;

	(void)state;
	t.setup.shift = MOST;
	t.setup.policy.dirty = 0;
	open_sender();
	for (u32 i = 0; i < XDD_ARRAY_SIZE(of_64k); i++) {
		fill_randomly(&random, MOST, of_64k[i]);
		assert_int_equal(after(0), SENDER_PUSHED);
	}
	assert_true(t.longest <= WIRE_MAX);
	assert_true(t.longest > WIRE_MAX / 4);
	assert_true(t.count[WIRE_DELTA] >= 3);
}

/* 2^23 bits of which one in a hundred changes: bytes, and the time to compare and encode them. */
static void test_cost(void **state)
{
	const u32 shift = 23;
	u64 random = 1, before;
	clock_t start;
	double ms;

	(void)state;
	t.setup.shift = shift;
	t.setup.policy.dirty = 0.005;
	t.setup.emit = hear;
	open_sender();
	fill_randomly(&random, shift, 65536 / 4);
	assert_int_equal(after(0), SENDER_PUSHED);
	fill_randomly(&random, shift, 65536 / 100);
	before = sender_stats(t.sender)->bytes;
	start = clock();
	assert_int_equal(sender_check(t.sender, &t.home, t.now), SENDER_PUSHED);
	ms = (clock() - start) * 1e3 / CLOCKS_PER_SEC;
	before = sender_stats(t.sender)->bytes - before;
	print_message("%llu bytes, %.1f ms to compare, encode, seal and decode\n",
		      (unsigned long long)before, ms);
	assert_int_equal(t.last.type, WIRE_DELTA);
	/* Of 83000 bits: their entropy is 84 KB, and 1.28 bytes each where gaps are of two bytes. */
	assert_in_range(before, 80000, 120000);
}

static void test_never(void **state)
{
	(void)state;
	t.setup.policy.rule = UPDATE_never;
	open_sender();
	flip(0, 1000);
	assert_int_equal(after(10 * S), SENDER_NOTHING);
	assert_false(sender_ready(t.sender, t.now));
	assert_true(t.last.order == 0);
	assert_int_equal(sender_bye(t.sender, t.now), 0);
	assert_int_equal(t.count[WIRE_BYE], 1);
}

static void test_refused(void **state)
{
	(void)state;
	t.setup.shift = 9;
	assert_null(sender_open(&t.setup));
	assert_int_equal(errno, EINVAL);
	t.setup.shift = 33;
	assert_null(sender_open(&t.setup));
	t.setup.shift = 12;
	t.setup.hashes = 0;
	assert_null(sender_open(&t.setup));
	t.setup.hashes = 1;
	t.setup.resize = true;
	t.setup.shift_least = 13;
	t.setup.shift_most = 20;
	assert_null(sender_open(&t.setup));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dirty),   TEST(test_beats_between_looks),
		TEST(test_every),   TEST(test_false_rate),
		TEST(test_growth),  TEST(test_floor),
		TEST(test_shorter), TEST(test_want),
		TEST(test_failure), TEST(test_limits),
		TEST(test_untold),  TEST(test_resize),
		TEST(test_parts),   TEST(test_cost),
		TEST(test_never),   TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The accurate counting Bloom filter: the paper's levels bit for bit, and a counting filter's answers. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/common/acbf.h"
#include "tests/common/path.h"
#include "tests/common/test.h"
#include "user/accessors.h"
#include "user/message.h"
#include "user/watch/file.h"

#define KEYS 100000
#define QUERIES 1000000

/* The paper's levels as it has them: bits in a row, moved one by one. */
#define LEVELS 40

struct literal {
	u32 bits[LEVELS]; /* [1], ... */
	u8 *level[LEVELS];
};

static void literal_open(struct literal *l, u32 bits, u32 room)
{
	for (u32 i = 1; i < LEVELS; i++)
		l->level[i] = calloc(1, bits + room);
	memset(l->bits, 0, sizeof(l->bits));
	l->bits[1] = bits;
}

static void literal_close(struct literal *l)
{
	for (u32 i = 1; i < LEVELS; i++)
		free(l->level[i]);
}

static u32 popcount(const struct literal *l, u32 j, u32 index)
{
	u32 ones = 0;

	for (u32 i = 0; i < index; i++)
		ones += l->level[j][i];
	return ones;
}

static void literal_up(struct literal *l, u32 index)
{
	u32 j = 1;

	for (; l->level[j][index]; j++)
		index = popcount(l, j, index);
	l->level[j][index] = 1;
	index = popcount(l, j, index);
	j++;
	memmove(l->level[j] + index + 1, l->level[j] + index, l->bits[j] - index);
	l->bits[j]++;
	l->level[j][index] = 0;
}

static void literal_down(struct literal *l, u32 index)
{
	u32 j = 1, before = 0;

	for (; l->level[j][index]; j++) {
		before = index;
		index = popcount(l, j, index);
	}
	l->bits[j]--;
	memmove(l->level[j] + index, l->level[j] + index + 1, l->bits[j] - index);
	l->level[j - 1][before] = 0;
}

/* A filter, the literal one, and counters, side by side. */
struct sides {
	struct acbf acbf;
	struct literal literal;
	u32 *counter;
	u32 keys;
};

static void sides_open(struct sides *s, u32 counters, u32 hashes, u32 bits)
{
	assert_int_equal(acbf_open(&s->acbf, counters, hashes, bits), 0);
	literal_open(&s->literal, bits, 4 * counters - bits);
	s->counter = calloc(bits, sizeof(*s->counter));
	s->keys = 0;
}

static void sides_close(struct sides *s)
{
	acbf_close(&s->acbf);
	literal_close(&s->literal);
	free(s->counter);
}

static void assert_levels(struct sides *s)
{
	u8 *bits = malloc(s->acbf.bits + s->acbf.room);

	for (u32 j = 1; j < LEVELS; j++) {
		assert_int_equal(acbf_level(&s->acbf, j, bits), s->literal.bits[j]);
		assert_memory_equal(bits, s->literal.level[j], s->literal.bits[j]);
	}
	free(bits);
}

static void sides_add(struct sides *s, const u64 *positions)
{
	u32 k = s->acbf.hashes;
	bool full = (s->keys + 1) * k > s->acbf.room;

	assert_int_equal(acbf_add(&s->acbf, positions), full ? -ENOSPC : 0);
	for (u32 i = 0; i < k && !full; i++) {
		literal_up(&s->literal, positions[i]);
		s->counter[positions[i]]++;
	}
	s->keys += !full;
}

/* Whether a counting filter can take the key back. */
static bool sides_has(const struct sides *s, const u64 *positions)
{
	bool has = true;

	for (u32 i = 0; i < s->acbf.hashes; i++) {
		u32 equal = 0;

		for (u32 j = 0; j < s->acbf.hashes; j++)
			equal += positions[i] == positions[j];
		has = has && s->counter[positions[i]] >= equal;
	}
	return has;
}

/* Whether one takes the key for one of the set. */
static bool sides_contains(const struct sides *s, const u64 *positions)
{
	for (u32 i = 0; i < s->acbf.hashes; i++)
		if (!s->counter[positions[i]])
			return false;
	return true;
}

static void sides_delete(struct sides *s, const u64 *positions)
{
	bool has = sides_has(s, positions);

	assert_int_equal(acbf_delete(&s->acbf, positions), has ? 0 : -ENOENT);
	for (u32 i = 0; i < s->acbf.hashes && has; i++) {
		literal_down(&s->literal, positions[i]);
		s->counter[positions[i]]--;
	}
	s->keys -= has;
}

static void assert_text(struct acbf *a, const char *text)
{
	u8 bits[64];
	char found[256], *to = found;
	u64 n;

	for (u32 j = 1; (n = acbf_level(a, j, bits)); j++) {
		if (j > 1)
			*to++ = '/';
		for (u64 i = 0; i < n; i++)
			*to++ = '0' + bits[i];
	}
	*to = 0;
	assert_string_equal(found, text);
}

/* The example of Figure 2's kind that PAPERS.md works out. */
static void test_trace(void **state)
{
	static const u64 x0[] = { 1, 4, 6 }, x1[] = { 4, 6, 9 }, x2[] = { 4, 4, 2 };
	struct acbf a;

	(void)state;
	assert_int_equal(acbf_open(&a, 10, 3, 10), 0);
	assert_int_equal(acbf_add(&a, x0), 0);
	assert_text(&a, "0100101000/000");
	assert_int_equal(acbf_add(&a, x1), 0);
	assert_text(&a, "0100101001/0110/00");
	assert_int_equal(acbf_add(&a, x2), 0);
	assert_text(&a, "0110101001/00110/10/1/0");
	assert_int_equal(acbf_count(&a, 4), 4);
	assert_int_equal(acbf_delete(&a, x1), 0);
	assert_text(&a, "0110101000/0010/1/0");
	assert_int_equal(acbf_delete(&a, x1), -ENOENT);
	assert_text(&a, "0110101000/0010/1/0");
	acbf_close(&a);
}

static void draw(u64 *seed, const struct acbf *a, u64 *positions)
{
	for (u32 i = 0; i < a->hashes; i++)
		positions[i] = random_below(seed, a->bits);
}

/* Random updates up to the full set and back, so narrow that keys collide, count twice and are taken
 * for others.
 */
static void check_random(u32 counters, u32 hashes, u32 bits, u32 steps)
{
	u64 seed = counters * 1000003ull + bits, positions[ACBF_MAX_HASHES];
	u64 *history = malloc(steps * sizeof(*history));
	u32 grow = 3, added = 0;
	struct sides s;

	sides_open(&s, counters, hashes, bits);
	for (u32 i = 0; i < steps; i++) {
		bool known = added && random_below(&seed, 4), add = random_below(&seed, 4) < grow;
		u64 key = seed;

		if (known && !add)
			key = history[random_below(&seed, added)];
		history[added] = key;
		added += add;
		draw(&key, &s.acbf, positions);
		if (add)
			sides_add(&s, positions);
		else
			sides_delete(&s, positions);
		assert_int_equal(acbf_contains(&s.acbf, positions), sides_contains(&s, positions));
		if ((s.keys + 1) * hashes > s.acbf.room || !s.keys)
			grow = s.keys ? 1 : 3;
		random64(&seed);
		if (i % (steps / 50) == 0)
			assert_levels(&s);
	}
	assert_levels(&s);
	for (u32 i = 0; i < bits; i++)
		assert_int_equal(acbf_count(&s.acbf, i), s.counter[i]);
	free(history);
	sides_close(&s);
}

static void test_random(void **state)
{
	(void)state;
	check_random(10, 3, 10, 5000);
	check_random(16, 4, 5, 5000);
	check_random(1000, 3, 3700, 20000);
	check_random(5000, 3, 5000, 20000);
	check_random(3000, 7, 9000, 20000);
}

/*
 * Level j has the bit "the counter is at least j" for each counter of at least j - 1. So is it in
 * many groups of many pages, too, through updates in all of them.
 */
static void assert_levels_of(struct acbf *a, const u32 *counter)
{
	u8 *bits = malloc(a->bits + a->room);
	u64 n = a->bits, at;

	for (u32 j = 1; n; j++) {
		assert_int_equal(acbf_level(a, j, bits), n);
		at = n = 0;
		for (u64 i = 0; i < a->bits; i++) {
			if (counter[i] >= j - 1)
				assert_int_equal(bits[at++], counter[i] >= j);
			n += counter[i] >= j;
		}
	}
	free(bits);
}

static void test_groups(void **state)
{
	u64 seed = 5, positions[3];
	struct acbf_stats stats;
	struct acbf a;
	u32 *counter;

	(void)state;
	assert_int_equal(acbf_open(&a, 200000, 3, 200000), 0);
	assert_true(a.groups > 2);
	counter = calloc(a.bits, sizeof(*counter));
	for (u32 phase = 0; phase < 6; phase++) {
		for (u32 i = 0; i < 50000; i++) {
			bool add = random_below(&seed, 10) < 9 - 8 * (phase & 1);

			draw(&seed, &a, positions);
			if (!add) /* one that is there seldom is: make it of one position */
				positions[1] = positions[2] = positions[0];
			if ((add ? acbf_add : acbf_delete)(&a, positions))
				continue;
			for (u32 j = 0; j < 3; j++)
				counter[positions[j]] += add ? 1 : -1;
		}
		assert_levels_of(&a, counter);
	}
	acbf_stats(&a, &stats);
	assert_int_equal(stats.used, 3 * stats.keys);
	assert_int_equal(stats.used + stats.idle, 600000);
	free(counter);
	acbf_close(&a);
}

/* Full: the last key is taken, the next refused; after deleting all nothing is left of any. */
static void test_full(void **state)
{
	u64 seed = 9, positions[3];
	struct acbf_stats stats;
	struct acbf a;

	(void)state;
	assert_int_equal(
		acbf_open(&a, 100000, 3, acbf_first_bits(ACBF_FIRST_optimal, 100000, 10000, 3)), 0);
	for (u32 i = 0; i < 10000; i++) {
		draw(&seed, &a, positions);
		assert_int_equal(acbf_add(&a, positions), 0);
	}
	assert_int_equal(acbf_add(&a, positions), -ENOSPC);
	acbf_stats(&a, &stats);
	assert_int_equal(stats.keys, 10000);
	assert_int_equal(stats.idle, 0);
	assert_int_equal(stats.capacity, 10000);
	seed = 9;
	for (u32 i = 0; i < 10000; i++) {
		draw(&seed, &a, positions);
		assert_true(acbf_contains(&a, positions));
		assert_int_equal(acbf_delete(&a, positions), 0);
	}
	acbf_stats(&a, &stats);
	assert_int_equal(stats.first_ones, 0);
	assert_int_equal(stats.levels, 1);
	assert_int_equal(stats.idle, 30000);
	acbf_close(&a);
}

/* A key may be added often, but not so often that its chain takes long to walk. */
static void test_count(void **state)
{
	static const u64 positions[] = { 3, 3 };
	struct acbf a;

	(void)state;
	assert_int_equal(acbf_open(&a, 10000, 2, 10), 0);
	for (u32 i = 0; i < ACBF_MAX_COUNT / 2; i++)
		assert_int_equal(acbf_add(&a, positions), 0);
	assert_int_equal(acbf_add(&a, positions), -EOVERFLOW);
	assert_int_equal(acbf_count(&a, 3), ACBF_MAX_COUNT);
	assert_int_equal(a.used, ACBF_MAX_COUNT);
	for (u32 i = 0; i < ACBF_MAX_COUNT / 2; i++)
		assert_int_equal(acbf_delete(&a, positions), 0);
	assert_int_equal(acbf_delete(&a, positions), -ENOENT);
	acbf_close(&a);
}

static void test_shapes(void **state)
{
	struct acbf a;

	(void)state;
	assert_int_equal(acbf_first_bits(ACBF_FIRST_2m, 1000, 7, 3), 2000);
	assert_int_equal(acbf_first_bits(ACBF_FIRST_optimal, 10, 5, 3), 25);
	assert_int_equal(acbf_first_bits(ACBF_FIRST_optimal, 10, 13, 3), 1);
	assert_int_equal(acbf_first_bits(ACBF_FIRST_optimal, 10, 14, 3), 0);
	assert_int_equal(acbf_open(&a, 10, 3, 0), -EINVAL);
	assert_int_equal(acbf_open(&a, 10, 3, 40), -EINVAL);
	assert_int_equal(acbf_open(&a, 10, 3, 38), -EINVAL);
	assert_int_equal(acbf_open(&a, 10, 0, 10), -EINVAL);
	assert_int_equal(acbf_open(&a, 10, ACBF_MAX_HASHES + 1, 1), -EINVAL);
	assert_int_equal(acbf_open(&a, 2000000000, 3, 1ull << 32), -EINVAL);
}

static void digest_of(u64 number, struct xdd_digest *digest)
{
	digest->lo = xdd_mix64(number);
	digest->hi = xdd_mix64(~number);
}

static double measured_fpr(struct acbf *a)
{
	u64 positions[3], found = 0;
	struct xdd_digest digest;

	for (u64 i = 0; i < KEYS; i++) {
		digest_of(i, &digest);
		acbf_positions(a, &digest, positions);
		assert_int_equal(acbf_add(a, positions), 0);
	}
	for (u64 i = KEYS; i < KEYS + QUERIES; i++) {
		digest_of(i, &digest);
		acbf_positions(a, &digest, positions);
		found += acbf_contains(a, positions);
	}
	return (double)found / QUERIES;
}

/* Section 3.2's f of n = 100K, m/n = 10, k = 3, by the formula and measured. */
static void test_rates(void **state)
{
	static const double expected[] = { .017411, .002703, .000862, .000472 };

	(void)state;
	for (u32 first = 0; first < XDD_ARRAY_SIZE(expected); first++) {
		u64 bits = acbf_first_bits(first, 10 * KEYS, KEYS, 3);
		struct acbf a;
		double fpr;

		assert_true(fabs(acbf_model_fpr(KEYS, bits, 3) - expected[first]) < 1e-6);
		assert_int_equal(acbf_open(&a, 10 * KEYS, 3, bits), 0);
		fpr = measured_fpr(&a);
		/* 5 standard errors, and .5 % for how full this filter happens to be */
		assert_true(fabs(fpr - expected[first]) <
			    5 * sqrt(expected[first] / QUERIES) + .005 * expected[first]);
		acbf_close(&a);
	}
}

/* The paper's bits and 0.6 % at most, when full. */
static void test_memory(void **state)
{
	struct acbf_stats stats;
	u64 positions[3];
	struct acbf a;

	(void)state;
	assert_int_equal(acbf_open(&a, 10 * KEYS, 3, 37 * KEYS), 0);
	for (u64 i = 0; i < KEYS; i++) {
		struct xdd_digest digest;

		digest_of(i, &digest);
		acbf_positions(&a, &digest, positions);
		assert_int_equal(acbf_add(&a, positions), 0);
	}
	acbf_stats(&a, &stats);
	assert_int_equal(stats.paper_bytes, 5 * KEYS);
	assert_true(stats.memory_bytes <= 1.006 * stats.paper_bytes);
	acbf_close(&a);
}

/* Keys that are drawn one after the other: so few that some are deleted more often than they were added. */
static void next_drawn(void *to, const struct acbf *a, u64 *positions)
{
	struct xdd_digest digest;

	digest_of(random_below(to, 3000), &digest);
	acbf_positions(a, &digest, positions);
}

/* Many at once are the same as one by one, up to the one that is refused, since it is not there or the set is full. */
static void test_update(void **state)
{
	u64 seed = 5, refused[2] = {};
	struct acbf one, many;

	(void)state;
	assert_int_equal(acbf_open(&one, 7000, 3, 14000), 0);
	assert_int_equal(acbf_open(&many, 7000, 3, 14000), 0);
	for (u32 i = 0; i < 4000; i++) {
		u64 n = random_below(&seed, 40), single = seed, together = seed, positions[3], done;
		bool add = i / 500 % 2 ? random_below(&seed, 4) == 0 : random_below(&seed, 4) > 0;
		int rc = 0, rc_many;

		for (done = 0; done < n; done++) {
			next_drawn(&single, &one, positions);
			rc = (add ? acbf_add : acbf_delete)(&one, positions);
			if (rc)
				break;
		}
		assert_int_equal(acbf_update(&many, add, n, next_drawn, &together, &rc_many), done);
		assert_int_equal(rc_many, rc);
		refused[add] += rc != 0;
		if (i % 100 == 0)
			assert_same(&one, &many);
	}
	assert_true(refused[0] > 100 && refused[1] > 100);
	assert_same(&one, &many);
	acbf_close(&one);
	acbf_close(&many);
}

static char message[MESSAGE_MAX];

static void save(struct acbf *a)
{
	const struct watch_about about = { WATCH_OF_packets, 2, 77 };
	struct watch_header header;
	struct sink sink;

	assert_int_equal(sink_open(&sink, path), 0);
	assert_int_equal(watch_file_save(a, &about, &sink), 0);
	sink_close(&sink);
	assert_int_equal(watch_file_header(&header, path), 0);
	assert_int_equal(header.keys, a->keys);
}

static int load(struct acbf *a)
{
	struct watch_about about;
	int rc = watch_file_load(a, &about, path, message, sizeof(message));

	if (!rc)
		assert_true(about.of == WATCH_OF_packets && about.hash == 2 && about.seed == 77);
	return rc;
}

/* What was saved comes back, and can be changed as before; in many groups, or empty. */
static void test_file(void **state)
{
	static const u64 counters[] = { 10, 1000, 200000 };
	u64 seed = 3, positions[3];
	struct acbf a, b;

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(counters); i++) {
		assert_int_equal(acbf_open(&a, counters[i], 3, counters[i]), 0);
		for (u64 j = 0; j < counters[i]; j++) {
			save(&a);
			assert_int_equal(load(&b), 0);
			assert_same(&a, &b);
			acbf_close(&b);
			do {
				draw(&seed, &a, positions);
				assert_int_equal(acbf_add(&a, positions), 0);
			} while (a.keys % (counters[i] / 2));
			j = a.keys;
		}
		save(&a);
		assert_int_equal(load(&b), 0);
		for (u32 j = 0; j < 2; j++)
			assert_int_equal(acbf_delete(j ? &a : &b, positions), 0);
		assert_same(&a, &b);
		acbf_close(&a);
		acbf_close(&b);
	}
}

static void put_file(const u8 *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

/* Every bit that is wrong, every cut, and what is behind the end. */
static void test_damage(void **state)
{
	static const u64 positions[] = { 3, 5, 3 };
	struct acbf a, b;
	u8 bytes[512];
	ssize_t n;
	int fd;

	(void)state;
	assert_int_equal(acbf_open(&a, 10, 3, 10), 0);
	assert_int_equal(acbf_add(&a, positions), 0);
	save(&a);
	acbf_close(&a);
	fd = open(path, O_RDONLY);
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	/* header, levels 1 to 3, checksum */
	assert_int_equal(n, sizeof(struct watch_header) + 3 * 8 + 4);
	for (ssize_t bit = 0; bit < 8 * n; bit++) {
		int rc;

		bytes[bit / 8] ^= 1 << bit % 8;
		put_file(bytes, n);
		bytes[bit / 8] ^= 1 << bit % 8;
		rc = load(&b);
		assert_true(rc == -EBADMSG || (rc == -EPROTONOSUPPORT && bit / 8 / 4 == 2));
	}
	for (ssize_t cut = 0; cut < n; cut++) {
		put_file(bytes, cut);
		assert_int_equal(load(&b), -EBADMSG);
	}
	put_file(bytes, n + 1);
	assert_int_equal(load(&b), -EBADMSG);
	put_file(bytes, n);
	assert_int_equal(load(&b), 0);
	acbf_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace),  cmocka_unit_test(test_random),
		cmocka_unit_test(test_groups), cmocka_unit_test(test_full),
		cmocka_unit_test(test_count),  cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_rates),  cmocka_unit_test(test_memory),
		cmocka_unit_test(test_file),   cmocka_unit_test(test_damage),
		cmocka_unit_test(test_update),
	};

	return cmocka_run_group_tests_name("acbf", tests, make_path, remove_path);
}

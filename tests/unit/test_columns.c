// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Replicas side by side (columns.h), against one filter for each peer: whatever their width and sizes, a look
 * at the array says of every peer what its own filter says.
 */
#include <string.h>

#include "tests/common/config.h"
#include "tests/common/traffic.h"
#include "user/accessors.h"
#include "user/cluster/columns.h"

#define SHIFT 13
#define PLACES (1u << SHIFT)
#define KEYS 300

/* What is known of each peer, bit by bit, in filters of 2^SHIFT bits. */
static bool model[XDD_MAX_PEERS][PLACES];
static u64 words[PLACES * XDD_MAX_PEERS / 64];

struct setup {
	struct columns columns;
	struct xdd_store store;
	u32 width;
};

static void setup_open(struct setup *s, u32 width)
{
	memset(s, 0, sizeof(*s));
	memset(words, 0, sizeof(words));
	memset(model, 0, sizeof(model));
	s->width = width;
	s->store.fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	s->store.live = config_live();
	s->store.fixed.peers = width;
	s->store.fixed.replica_shift = SHIFT;
	s->store.fixed.replica_hashes = 5;
	s->store.replicas = words;
	columns_over(&s->columns, words, &s->store.peer_gate, width, SHIFT);
}

static struct xdd_digest digest_of(u64 key)
{
	struct xdd_digest digest = { xdd_mix64(key + 1), 0 };

	return digest;
}

/* Add the key to a filter of 2^@shift bits. */
static void add(const struct setup *s, u64 *bits, u32 shift, u64 key)
{
	struct xdd_digest digest = digest_of(key);
	struct xdd_entry entry = xdd_entry_of(&s->store.fixed, &digest);

	for (u32 i = 0; i < s->store.fixed.replica_hashes; i++, entry.first += entry.step) {
		u64 place = xdd_replica_place(entry.first, shift);

		bits[place / 64] |= 1ULL << place % 64;
	}
}

static void model_set(u32 peer, const u64 *bits, u32 shift)
{
	for (u32 i = 0; i < PLACES; i++) {
		u32 at = i >> (SHIFT - shift);

		model[peer][i] = bits[at / 64] >> at % 64 & 1;
	}
}

static void compare(const struct setup *s)
{
	for (u32 i = 0; i < PLACES * s->width; i++)
		assert_int_equal(words[i / 64] >> i % 64 & 1, model[i % s->width][i / s->width]);
}

static void fill(const struct setup *s, u64 *bits, u32 shift, u64 *seed, u32 keys)
{
	memset(bits, 0, (1u << shift) / 8);
	for (u32 i = 0; i < keys; i++)
		add(s, bits, shift, random_below(seed, 100000));
}

/* Filters that are set, flipped and cleared in turn, of sizes that differ. */
static void test_columns(void **state)
{
	static u64 bits[PLACES / 64], next[PLACES / 64];
	struct setup s;
	u64 seed = 7;

	(void)state;
	for (u32 width = 8; width <= 64; width *= 2) {
		setup_open(&s, width);
		for (u32 i = 0; i < 40; i++) {
			u32 peer = random_below(&seed, width), shift = 10 + random_below(&seed, 4);

			fill(&s, bits, shift, &seed, i % 5 ? KEYS : 0);
			columns_set(&s.columns, peer, bits, shift);
			model_set(peer, bits, shift);
			compare(&s);
			fill(&s, next, shift, &seed, KEYS);
			model_set(peer, next, shift);
			for (u32 w = 0; w < (1u << shift) / 64; w++)
				next[w] ^= bits[w];
			columns_flip(&s.columns, peer, next, shift);
			compare(&s);
			if (i % 3)
				continue;
			columns_clear(&s.columns, peer);
			memset(model[peer], 0, sizeof(model[peer]));
			compare(&s);
		}
	}
}

/* A filter is the fold of one twice as large: the larger one says no to more, and to no key that it has. */
static void test_fold(void **state)
{
	static u64 large[PLACES / 64], small[PLACES / 64];
	struct setup s;

	(void)state;
	setup_open(&s, 8);
	for (u32 key = 0; key < KEYS; key++) {
		add(&s, large, SHIFT, key);
		add(&s, small, 10, key);
	}
	for (u32 i = 0; i < PLACES; i++) {
		u32 at = i >> (SHIFT - 10);

		if (large[i / 64] >> i % 64 & 1)
			small[at / 64] &= ~(1ULL << at % 64);
	}
	for (u32 i = 0; i < (1u << 10) / 64; i++)
		assert_int_equal(small[i], 0);
}

/* Every peer's keys are found, of believed peers alone and until the time has come. */
static void test_ask(void **state)
{
	static u64 bits[PLACES / 64];
	u64 wrong = 0, all = 0;
	struct setup s;

	(void)state;
	for (u32 width = 8; width <= 64; width *= 2) {
		setup_open(&s, width);
		for (u32 peer = 0; peer < width; peer += 3) {
			memset(bits, 0, sizeof(bits));
			for (u32 key = 0; key < KEYS; key++)
				add(&s, bits, SHIFT, peer * KEYS + key);
			columns_set(&s.columns, peer, bits, SHIFT);
		}
		columns_believe(&s.columns, ~2ULL >> (64 - width), 1000);
		for (u32 key = 0; key < width * KEYS; key++) {
			struct xdd_digest digest = digest_of(key);
			u32 peer = key / KEYS;
			u64 said = xdd_replica_said(&s.store.fixed, &s.store, &digest, ~0ULL);
			u32 found = xdd_ask_peers(&s.store.fixed, &s.store, &digest, 999);

			if (!(peer % 3))
				assert_true(said >> peer & 1);
			else
				wrong += said >> peer & 1;
			all += peer % 3 != 0;
			said &= s.store.peer_gate.believed;
			assert_int_equal(!!said, !!(found & XDD_ELSEWHERE));
			if (said)
				assert_int_equal(__builtin_ctzll(said), xdd_found_peer(found));
			assert_int_equal(xdd_ask_peers(&s.store.fixed, &s.store, &digest, 1000), 0);
		}
	}
	print_message("# %lu of %lu keys of others taken for a peer's own\n", (unsigned long)wrong,
		      (unsigned long)all);
	assert_int_equal(wrong, 0); /* of peers that hold nothing */
}

/* With `count` the own filter is asked as well. */
static void test_action(void **state)
{
	static u64 bits[PLACES / 64];
	struct xdd_digest digest = digest_of(1);
	struct setup s;

	(void)state;
	setup_open(&s, 16);
	memset(bits, 0, sizeof(bits));
	add(&s, bits, SHIFT, 1);
	columns_set(&s.columns, 9, bits, SHIFT);
	columns_believe(&s.columns, 1 << 9, 10);
	assert_int_equal(xdd_ask_peers(&s.store.fixed, &s.store, &digest, 1),
			 XDD_SEEN | XDD_ELSEWHERE | XDD_UNASKED | 9 << XDD_PEER_SHIFT);
	s.store.live.replica_action = XDD_REPLICA_count;
	assert_int_equal(xdd_ask_peers(&s.store.fixed, &s.store, &digest, 1),
			 XDD_ELSEWHERE | 9 << XDD_PEER_SHIFT);
	columns_believe(&s.columns, 0, 10);
	assert_int_equal(xdd_ask_peers(&s.store.fixed, &s.store, &digest, 1), 0);
}

static void test_lowest(void **state)
{
	(void)state;
	for (u32 i = 0; i < 64; i++) {
		assert_int_equal(xdd_lowest(1ULL << i), i);
		assert_int_equal(xdd_lowest(~0ULL << i), i);
	}
}

/* Cells keep their order, and each has a place of its own where there are as many. */
static void test_cells(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet);
	u64 last = 0;

	(void)state;
	for (fixed.blocks = 1; fixed.blocks < 40; fixed.blocks++) {
		u32 cells = fixed.blocks * XDD_LINE_TIMERS, shift = 0;

		while (1u << shift < cells)
			shift++;
		fixed.replica_step = xdd_replica_step(&fixed);
		for (u32 i = 0; i < cells; i++) {
			u64 place = xdd_replica_place(xdd_replica_cell(&fixed, i / XDD_LINE_TIMERS,
								       i % XDD_LINE_TIMERS),
						      shift);

			assert_true(place < 1u << shift && (!i || place > last));
			last = place;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns), cmocka_unit_test(test_fold),
		cmocka_unit_test(test_ask),	cmocka_unit_test(test_action),
		cmocka_unit_test(test_lowest),	cmocka_unit_test(test_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains of filters: when they grow and shrink, and what they decide (koloniari-2011 section 5). */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/common/config.h"
#include "user/batch.h"
#include "user/chain.h"
#include "user/model.h"
#include "user/model/growth.h"
#include "user/store.h"
#include "xdd/slices.h"

#define FILTERS 4
#define FPR .05
#define WINDOW 100

/* 1000 lines of 60 timers in each filter. */
static struct xdd_fixed grown(u32 grow)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_timer, XDD_KEY_packet);

	fixed.slicing = XDD_SLICING_none;
	fixed.slices = 1;
	fixed.blocks = 1000;
	fixed.grow = grow;
	fixed.filters = FILTERS;
	fixed.grow_density = chain_density(model_growth_density(FPR, fixed.hashes));
	fixed.tick_ns = 1;
	return fixed;
}

static void expect(const struct xdd_chain *chain, u32 asked, u32 newest)
{
	u64 state = xdd_chain_read(chain);

	assert_int_equal(xdd_chain_asked(state), asked);
	assert_int_equal(xdd_chain_newest(state), newest);
}

static void test_limits(void **state)
{
	struct xdd_fixed fixed = grown(XDD_GROWTH_density);

	(void)state;
	assert_int_equal(chain_limit(&fixed), 28372); /* .47287 of 60000 */
	fixed.grow = XDD_GROWTH_cardinality;
	assert_int_equal(chain_limit(&fixed), 9604); /* .16008 of them */
	fixed.slicing = XDD_SLICING_horizontal;
	fixed.slices = 10;
	assert_int_equal(chain_limit(&fixed), 960);
	assert_int_equal(xdd_chains(&fixed), 10);
	fixed.slicing = XDD_SLICING_vertical;
	assert_int_equal(chain_limit(&fixed), 9604);
	assert_int_equal(xdd_chains(&fixed), 1);
	assert_int_equal(chain_density(1e-30), 1);
	assert_int_equal(chain_density(1), ~0u);
}

/* All zeroes, as in new memory, is one filter; then there are two, the first runs out, and so on
 * around the ring.
 */
static void test_ring(void **state)
{
	struct xdd_fixed fixed = grown(XDD_GROWTH_density);
	struct xdd_chain chain = {};

	(void)state;
	expect(&chain, 1, 0);
	chain.live[0] = chain_limit(&fixed);
	assert_false(chain_grow(&chain, &fixed, 1000));
	chain.live[0]++;
	for (u32 i = 1; i < 3 * FILTERS; i++) {
		u32 now = i % FILTERS, before = (i - 1) % FILTERS;

		assert_true(chain_grow(&chain, &fixed, 1000 * i));
		expect(&chain, 1u << before | 1u << now, now);
		assert_int_equal(chain.live[now], 0);
		assert_false(chain_grow(&chain, &fixed, 1000 * i));
		/* The newest is empty, too, and stays; one with cells stays; and one just closed. */
		assert_int_equal(chain_shrink(&chain, &fixed, 1000 * i + 500, 3), 0);
		chain.live[before] = 0;
		assert_int_equal(chain_shrink(&chain, &fixed, 1000 * i + 2, 3), 0);
		assert_int_equal(chain_shrink(&chain, &fixed, 1000 * i + 3, 3), 1);
		expect(&chain, 1u << now, now);
		assert_int_equal(chain_live(&chain), 1);
		chain.live[now] = chain_limit(&fixed) + 1;
	}
	assert_int_equal(chain.opened, 3 * FILTERS - 1);
	assert_int_equal(chain.retired, 3 * FILTERS - 1);
	assert_int_equal(chain.refused, 0);
}

/* At the cap nothing changes but what is said; room is made by what runs out first. */
static void test_cap(void **state)
{
	struct xdd_fixed fixed = grown(XDD_GROWTH_cardinality);
	struct xdd_chain chain = {};

	(void)state;
	for (u32 i = 0; i < FILTERS; i++) {
		chain.inserted = chain_limit(&fixed);
		chain.live[i] = 1;
		assert_int_equal(chain_grow(&chain, &fixed, 10 * i), i + 1 < FILTERS);
		assert_int_equal(chain.full, i + 1 == FILTERS);
		assert_int_equal(chain.inserted, i + 1 < FILTERS ? 0 : chain_limit(&fixed));
	}
	expect(&chain, (1u << FILTERS) - 1, FILTERS - 1);
	assert_int_equal(chain.refused, 1);
	chain.live[0] = 0;
	assert_int_equal(chain_shrink(&chain, &fixed, 1000, 0), 1);
	expect(&chain, 14, FILTERS - 1);
	assert_true(chain_grow(&chain, &fixed, 1001));
	expect(&chain, 15, 0);
	assert_int_equal(chain.full, 0);
}

static void test_fpr(void **state)
{
	struct xdd_fixed fixed = grown(XDD_GROWTH_density);
	struct xdd_chain chain = {};

	(void)state;
	assert_true(chain_fpr(&chain, &fixed) == 0);
	chain.state = xdd_chain_state(7, 2);
	for (u32 i = 0; i < FILTERS; i++)
		chain.live[i] = chain_limit(&fixed);
	assert_true(fabs(chain_fpr(&chain, &fixed) - model_chain_fpr(FPR, 3)) < 1e-4);
	assert_true(fabs(model_chain_fpr(FPR, 3) - .142625) < 1e-9);
}

static void test_refused(void **state)
{
	struct xdd_live live = config_live();
	struct xdd_store store;

	(void)state;
#define REFUSE(change)                                                           \
	do {                                                                     \
		struct xdd_fixed fixed = grown(XDD_GROWTH_density);              \
		change;                                                          \
		assert_int_equal(store_open(&store, &fixed, &live, 0), -EINVAL); \
	} while (0)
	REFUSE(fixed.filters = 1);
	REFUSE(fixed.filters = XDD_MAX_FILTERS + 1);
	REFUSE(fixed.filters = 0);
	REFUSE(fixed.grow = XDD_GROWTH_off);
	REFUSE(fixed.grow = XDD_GROWTH_MAX);
	REFUSE(fixed.grow_density = 0);
	REFUSE(fixed.equal = 2);
	REFUSE(fixed.engine = XDD_ENGINE_tagged);
	REFUSE(fixed.engine = XDD_ENGINE_bloom);
	REFUSE((fixed.slicing = XDD_SLICING_horizontal, fixed.slices = fixed.blocks));
	REFUSE((fixed.slicing = XDD_SLICING_horizontal, fixed.slices = XDD_MAX_CHAINS + 1,
		fixed.blocks = 2 * fixed.slices));
#undef REFUSE
}

/* Keys that are all different, except that each @copy_every-th comes again after half a window. */
struct stream {
	struct xdd_store store;
	u64 record, copies, missed, false_copies;
	u32 copy_every;
	u64 lost[1024]; /* bits by record, of the last 65536: what was taken for a copy */
};

static void stream_start(struct stream *s, const struct xdd_fixed *fixed, u32 copy_every)
{
	struct xdd_live live = config_live();

	live.window_ticks = WINDOW;
	memset(s, 0, sizeof(*s));
	s->copy_every = copy_every;
	assert_int_equal(store_open(&s->store, fixed, &live, 0), 0);
}

static bool stream_ask(struct stream *s, u64 key, u64 tick)
{
	struct xdd_digest digest = { .lo = xdd_mix64(key) };
	bool seen;

	tick += 1000000;
	batch_ask(&s->store, &digest, &tick, 1, &seen);
	return seen;
}

/* @per_tick new keys in each tick of @ticks from @tick on; copies when a window has this rate. */
static void stream_run(struct stream *s, u64 tick, u64 ticks, u32 per_tick)
{
	u64 steady = tick + WINDOW;

	for (u64 end = tick + ticks; tick < end; tick++) {
		for (u32 i = 0; i < per_tick; i++) {
			u64 key = ++s->record, word = key / 64 % 1024;
			bool seen = stream_ask(s, key, tick);

			s->false_copies += seen;
			s->lost[word] &= ~(1ULL << key % 64);
			s->lost[word] |= (u64)seen << key % 64;
			if (!s->copy_every || key % s->copy_every || tick < steady)
				continue;
			key -= (WINDOW / 2) * per_tick;
			if (s->lost[key / 64 % 1024] >> key % 64 & 1)
				continue;
			s->copies++;
			s->missed += !stream_ask(s, key, tick);
		}
	}
}

/* A filter for 1.05 windows at the base rate of 96 a tick: PAPERS.md's chains of at most 3 filters in a
 * burst of 2 and 6 in one of 5; by density one at the base rate, by cardinality one or two; each copy
 * is found whose first was not taken for one; and no more false positives than 1 - (1 - P)^F.
 */
static void check_burst(u32 grow, u32 burst, u32 most)
{
	struct xdd_fixed fixed = grown(grow);
	u64 windows = 20 * WINDOW, keys;
	double base, high;
	struct stream s;

	fixed.filters = XDD_MAX_FILTERS;
	fixed.blocks = ceil(model_bloom_cells(1.05 * 96 * WINDOW, FPR, 4) / XDD_LINE_TIMERS);
	stream_start(&s, &fixed, 10);
	stream_run(&s, 0, windows, 96);
	base = s.false_copies / (double)s.record;
	assert_int_equal(s.store.filters_most, grow == XDD_GROWTH_density ? 1 : 2);
	keys = s.record;
	s.false_copies = 0;
	stream_run(&s, windows, windows, 96 * burst);
	high = s.false_copies / (double)(s.record - keys);
	assert_in_range(s.store.filters_most, burst == 2 ? 3 : 5, most);
	stream_run(&s, 2 * windows, windows, 96);
	assert_in_range(chain_live(s.store.chains), 1, grow == XDD_GROWTH_density ? 1 : 2);
	print_message("# %s, %ux: most %u, FPR %.4f, %.4f in the burst; %lu of %lu copies missed\n",
		      grow == XDD_GROWTH_density ? "density" : "cardinality", burst,
		      s.store.filters_most, base, high, (unsigned long)s.missed,
		      (unsigned long)s.copies);
	assert_true(base < FPR && high < model_chain_fpr(FPR, most) && high > base);
	assert_true(s.copies > 1000);
	assert_int_equal(s.missed, 0);
	assert_int_equal(s.store.chains->refused, 0);
	store_close(&s.store);
}

static void test_bursts(void **state)
{
	(void)state;
	for (u32 grow = XDD_GROWTH_density; grow < XDD_GROWTH_MAX; grow++) {
		check_burst(grow, 2, 3);
		check_burst(grow, 5, 6);
	}
}

/* After an idle time, the cells of a filter that is opened again are not believed. */
static void test_reopened(void **state)
{
	static const u32 idles[] = { WINDOW, 255, 255 * 7, 4000 };
	struct xdd_fixed fixed = grown(XDD_GROWTH_density);
	struct stream s;

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(idles); i++) {
		u64 tick = 0;

		stream_start(&s, &fixed, 0);
		for (u32 round = 0; round < 2 * FILTERS; round++) {
			stream_run(&s, tick, 20, 1000);
			assert_true(s.store.filters_most > 1);
			s.record = 0; /* the same keys */
			tick += 20 + idles[i];
		}
		assert_true(s.store.chains->opened >= 2 * FILTERS);
		assert_true(s.false_copies < 2 * FPR * 20000 * 2 * FILTERS);
		store_grow_all(&s.store, 1000000 + tick);
		assert_int_equal(chain_live(s.store.chains), 1);
		store_close(&s.store);
	}
}

/* Vertical slices are one chain: the verdicts are those of none. Horizontal ones grow each by itself. */
static void test_slicings(void **state)
{
	struct xdd_fixed fixed = grown(XDD_GROWTH_density);
	struct stream none, vertical, horizontal;
	u32 apart = 0;

	(void)state;
	stream_start(&none, &fixed, 0);
	fixed.slicing = XDD_SLICING_vertical;
	fixed.slices = 10;
	stream_start(&vertical, &fixed, 0);
	fixed.slicing = XDD_SLICING_horizontal;
	stream_start(&horizontal, &fixed, 0);
	for (u64 tick = 0, key = 0; tick < 10 * WINDOW; tick++) {
		u32 lives = 0;

		for (u32 i = 0; i < 50 + tick / 8; i++, key++) {
			bool seen = stream_ask(&none, key, tick);

			assert_int_equal(stream_ask(&vertical, key, tick), seen);
			stream_ask(&horizontal, key, tick);
		}
		for (u32 i = 0; i < 10; i++)
			lives |= 1u << chain_live(&horizontal.store.chains[i]);
		apart += (lives & 6) == 6;
		assert_int_equal(vertical.store.chains->state, none.store.chains->state);
	}
	assert_true(none.store.filters_most > 2);
	assert_true(apart);
	for (u32 i = 1; i < 10; i++)
		assert_true(horizontal.store.chains[i].opened);
	store_close(&none.store);
	store_close(&vertical.store);
	store_close(&horizontal.store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),	 cmocka_unit_test(test_ring),
		cmocka_unit_test(test_cap),	 cmocka_unit_test(test_fpr),
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_reopened), cmocka_unit_test(test_slicings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

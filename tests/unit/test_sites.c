/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slices on sites: verdicts are one filter's, visits are the closed forms', and of two producers one passes a key. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/ask.h"
#include "user/cluster/strangers.h"
#include "user/health.h"
#include "user/model.h"
#include "user/model/slices.h"
#include "user/sites/local.h"
#include "user/sites/roster.h"
#include "user/stream.h"

#define LINES 400
#define SLICES 40
#define SITES 8
#define WINDOW 60
#define DOMAIN 5000

static struct xdd_fixed layout(u32 engine, u32 slicing)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
	bool diced = slicing == XDD_SLICING_hv || slicing == XDD_SLICING_vh;

	fixed.blocks = engine == XDD_ENGINE_bloom ? LINES / 8 : LINES;
	fixed.blocks = fixed.blocks < SLICES ? SLICES : fixed.blocks;
	fixed.slicing = slicing;
	fixed.slices = diced ? 8 : SLICES;
	fixed.subslices = diced ? SLICES / 8 : 0;
	fixed.hashes = 4;
	return fixed;
}

static struct producer_plan plan_of(const struct xdd_fixed *fixed, u32 protocol, bool claims)
{
	struct producer_plan plan = { .fixed = *fixed,
				      .window_ticks = WINDOW,
				      .sites = SITES,
				      .protocol = protocol,
				      .claims = claims,
				      .id = 1,
				      .key = { { 3, 4 } } };

	return plan;
}

/* A store beside the sites, which is asked the same. */
struct pair {
	struct xdd_store store;
	struct local local;
	struct producer *p;
	struct stream stream;
	u64 tick, duplicates;
};

static void pair_open(struct pair *pair, const struct producer_plan *plan)
{
	struct xdd_live live = config_live();

	live.window_ticks = WINDOW;
	*pair = (struct pair){ .tick = 1000 };
	assert_null(producer_wrong(plan));
	assert_int_equal(store_open(&pair->store, &plan->fixed, &live, 0), 0);
	assert_int_equal(local_open(&pair->local, &plan->fixed, WINDOW, plan->sites, &plan->key),
			 0);
	pair->p = producer_open(plan);
	assert_non_null(pair->p);
	stream_open(&pair->stream, DOMAIN, 0, 7);
}

static void pair_close(struct pair *pair)
{
	store_close(&pair->store);
	local_close(&pair->local);
	producer_close(pair->p);
}

static bool store_ask(struct pair *pair, const struct xdd_digest *digest, u64 tick)
{
	struct xdd_store *store = &pair->store;
	struct xdd_identity identity = { .digest = *digest };

	return xdd_ask(&store->fixed, store, &identity, tick * store->fixed.tick_ns, WINDOW,
		       store->live.window_ns, 0) &
	       XDD_SEEN;
}

/* A batch of @n to both, half of it from among few keys. Ticks go on by one each @each keys. */
static void pair_ask(struct pair *pair, u32 n, u32 each)
{
	static struct xdd_digest digests[PRODUCER_BATCH];
	static u64 ticks[PRODUCER_BATCH];

	for (u32 i = 0; i < n; i++) {
		u64 id = stream_next(&pair->stream);

		digests[i] = (struct xdd_digest){ xdd_mix64(id % 2 ? id : id % 64), 0 };
		pair->tick += stream_draw(&pair->stream) % each == 0;
		ticks[i] = pair->tick;
	}
	producer_start(pair->p, digests, ticks, n);
	local_finish(&pair->local, pair->p);
	for (u32 i = 0; i < n; i++) {
		bool seen = store_ask(pair, &digests[i], ticks[i]);

		pair->duplicates += seen;
		assert_int_equal(producer_seen(pair->p, i), seen);
	}
}

static void compare(const struct producer_plan *plan)
{
	const u32 batches[] = { 1, 2, 17, 256, PRODUCER_BATCH };
	struct pair pair;

	pair_open(&pair, plan);
	for (u32 round = 0; round < 40; round++)
		pair_ask(&pair, batches[round % XDD_ARRAY_SIZE(batches)], 1 + round % 20);
	assert_true(pair.duplicates > 500);
	assert_true(producer_counts(pair.p)->keys - pair.duplicates > 500);
	pair_close(&pair);
}

static const u32 engines[] = { XDD_ENGINE_timer, XDD_ENGINE_bloom };
static const u32 slicings[] = { XDD_SLICING_vertical, XDD_SLICING_horizontal, XDD_SLICING_hv,
				XDD_SLICING_vh };

static void test_verdicts(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * 4 * SITES_PROTOCOL_MAX * 2; i++) {
		struct xdd_fixed fixed = layout(engines[i % 2], slicings[i / 2 % 4]);
		struct producer_plan plan = plan_of(&fixed, i / 8 % SITES_PROTOCOL_MAX, i / 24 % 2);

		compare(&plan);
		plan.test_and_set = true;
		if (!producer_wrong(&plan))
			compare(&plan);
	}
}

/* Two sites fail, and one comes back: the verdicts are those of a store to whose slices the same happens. */
static void fail_and_recover(const struct producer_plan *plan)
{
	struct pair pair;

	pair_open(&pair, plan);
	for (u32 i = 0; i < 10; i++)
		pair_ask(&pair, 100, 5);
	for (u32 slice = 0; slice < SLICES; slice++)
		if (slice / (SLICES / SITES) == 2 || slice / (SLICES / SITES) == 5)
			store_fail(&pair.store, slice);
	local_fail(&pair.local, 2);
	local_fail(&pair.local, 5);
	producer_fail(pair.p, 2);
	producer_fail(pair.p, 5);
	for (u32 i = 0; i < 10; i++)
		pair_ask(&pair, 100, 5);
	assert_string_equal(producer_site_state(pair.p, 2, pair.tick), "failed");
	assert_int_equal(local_recover(&pair.local, 2), 0);
	producer_recover(pair.p, 2, pair.tick);
	for (u32 slice = 2 * SLICES / SITES; slice < 3 * SLICES / SITES; slice++)
		store_recover(&pair.store, slice, pair.tick * plan->fixed.tick_ns);
	if (plan->fixed.engine == XDD_ENGINE_timer)
		assert_string_equal(producer_site_state(pair.p, 2, pair.tick), "recovering");
	for (u32 i = 0; i < 20; i++)
		pair_ask(&pair, 100, 5);
	assert_string_equal(producer_site_state(pair.p, 2, pair.tick), "ok");
	assert_string_equal(producer_site_state(pair.p, 5, pair.tick), "failed");
	pair_close(&pair);
}

static void test_faults(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * 4 * 3 * 3; i++) {
		struct xdd_fixed fixed = layout(engines[i % 2], slicings[i / 2 % 4]);
		struct producer_plan plan;

		fixed.fault_policy = 1 + i / 8 % 3;
		fixed.vote = fixed.fault_policy == XDD_FAULTS_vote ? 3 : 0;
		plan = plan_of(&fixed, i / 24, false);
		if (!producer_wrong(&plan))
			fail_and_recover(&plan);
	}
}

/* Visits of a look-up of @keys, a share of @distinct of them new, of engine bloom at nearly no fill. */
static double visits(u32 slicing, u32 protocol, bool test_and_set)
{
	struct xdd_fixed fixed = layout(XDD_ENGINE_bloom, slicing);
	struct producer_plan plan = plan_of(&fixed, protocol, false);
	static struct xdd_digest digests[PRODUCER_BATCH];
	static u64 ticks[PRODUCER_BATCH];
	const u32 rounds = 60;
	struct pair pair;
	double mean;

	fixed.blocks = 1 << 17;
	plan.fixed = fixed;
	plan.test_and_set = test_and_set;
	pair_open(&pair, &plan);
	for (u32 round = 0; round < rounds; round++) {
		for (u32 i = 0; i < PRODUCER_BATCH; i++) {
			digests[i] = (struct xdd_digest){ stream_draw(&pair.stream), 0 };
			ticks[i] = 1;
		}
		producer_start(pair.p, digests, ticks, PRODUCER_BATCH);
		local_finish(&pair.local, pair.p);
	}
	mean = (double)producer_counts(pair.p)->visits / producer_counts(pair.p)->keys;
	pair_close(&pair);
	return mean;
}

static void test_visits(void **state)
{
	double vertical = model_messages(SLICES, 4);

	(void)state;
	assert_true(fabs(vertical - (3.8524)) <= .001);
	/* All keys are new: a question to all, or to the first; and what is set. */
	assert_true(fabs(visits(XDD_SLICING_vertical, SITES_parallel, true) - (vertical)) <= .01);
	assert_true(fabs(visits(XDD_SLICING_vertical, SITES_parallel, false) - (2 * vertical)) <=
		    .02);
	assert_true(fabs(visits(XDD_SLICING_vertical, SITES_pipeline, false) - (1 + vertical)) <=
		    .02);
	assert_true(fabs(visits(XDD_SLICING_vertical, SITES_one_pass, false) - (vertical)) <= .01);
	assert_true(fabs(visits(XDD_SLICING_horizontal, SITES_parallel, true) - (1)) <= 0);
	assert_true(fabs(visits(XDD_SLICING_horizontal, SITES_one_pass, false) - (1)) <= 0);
}

/* Two producers ask about the same keys while messages go in any order, and, with @lapses, may take longer than claims
 * last: one passes each key.
 */
static void race(const struct producer_plan *plan, bool lapses, u64 *seed)
{
	static struct xdd_digest digests[PRODUCER_BATCH];
	static u64 ticks[PRODUCER_BATCH];
	u64 claimed = 0, both = 0;
	struct producer_plan other = *plan;
	struct producer *p[2];
	struct local local;

	other.id = 2;
	assert_int_equal(local_open(&local, &plan->fixed, WINDOW, plan->sites, &plan->key), 0);
	p[0] = producer_open(plan);
	p[1] = producer_open(&other);
	for (u32 round = 0; round < 200; round++) {
		u32 n = 1 + random_below(seed, 64);

		for (u32 i = 0; i < n; i++) {
			digests[i] = (struct xdd_digest){ random64(seed), 0 };
			ticks[i] = 1000;
		}
		producer_start(p[0], digests, ticks, n);
		producer_start(p[1], digests, ticks, n);
		while (!producer_done(p[0]) || !producer_done(p[1])) {
			local_carry(&local, p[random_below(seed, 2)], random_below(seed, SITES));
			if (!random_below(seed, 30))
				producer_retry(p[random_below(seed, 2)]);
			if (lapses && !random_below(seed, 5000))
				local.now_ns += SITE_CLAIM_NS;
		}
		for (u32 i = 0; i < n; i++) {
			assert_true(producer_seen(p[0], i) || producer_seen(p[1], i));
			both += producer_seen(p[0], i) && producer_seen(p[1], i);
		}
	}
	claimed = producer_counts(p[0])->claimed + producer_counts(p[1])->claimed;
	assert_true(claimed > 10);
	assert_true(both <
		    20); /* false positives; and of those that lapsed twice none may be passed */
	producer_close(p[0]);
	producer_close(p[1]);
	local_close(&local);
}

static void test_claims(void **state)
{
	u64 seed = 99;

	(void)state;
	for (u32 i = 0; i < 2 * 4 * SITES_PROTOCOL_MAX; i++) {
		struct xdd_fixed fixed = layout(engines[i % 2], slicings[i / 2 % 4]);
		struct producer_plan plan;

		fixed.blocks = 1 << 12;
		plan = plan_of(&fixed, i / 8, true);
		race(&plan, false, &seed);
		race(&plan, true, &seed);
	}
}

/* Cut, changed or made-up bytes are refused, and a site goes on. */
static void test_damage(void **state)
{
	struct xdd_fixed fixed = layout(XDD_ENGINE_timer, XDD_SLICING_vertical);
	struct producer_plan plan = plan_of(&fixed, SITES_parallel, true);
	u8 *message = malloc(SITES_MESSAGE_MAX), *answer = malloc(SITES_MESSAGE_MAX);
	struct xdd_digest digest = { 77, 0 };
	u64 seed = 3, tick = 1000, to;
	struct pair pair;
	size_t bytes = 0;
	u32 site = 0;
	int got;

	(void)state;
	pair_open(&pair, &plan);
	producer_start(pair.p, &digest, &tick, 1);
	while (!(bytes = producer_message(pair.p, site, message)))
		site++;
	for (u32 i = 0; i < bytes; i++) {
		u8 old = message[i];

		assert_true(site_answer(&pair.local.sites[site], message, i, 0, answer, &to) < 0);
		message[i] ^= 1 + random_below(&seed, 255);
		assert_true(site_answer(&pair.local.sites[site], message, bytes, 0, answer, &to) <
			    0);
		message[i] = old;
	}
	got = site_answer(&pair.local.sites[site], message, bytes, 0, answer, &to);
	assert_true(got > 0);
	for (int i = 0; i < got; i++) {
		answer[i] ^= 4;
		assert_true(producer_answer(pair.p, site, answer, got) < 0);
		answer[i] ^= 4;
		assert_true(producer_answer(pair.p, site, answer, i) < 0);
	}
	assert_int_equal(producer_answer(pair.p, site, answer, got), 0);
	local_finish(&pair.local, pair.p);
	assert_false(producer_seen(pair.p, 0));
	pair_close(&pair);
	free(message);
	free(answer);
}

/* A claim ends by itself when its producer has died. */
static void test_dead_claimer(void **state)
{
	struct xdd_fixed fixed = layout(XDD_ENGINE_bloom, XDD_SLICING_horizontal);
	struct producer_plan plan = plan_of(&fixed, SITES_parallel, true);
	u8 *message = malloc(SITES_MESSAGE_MAX), *answer = malloc(SITES_MESSAGE_MAX);
	struct xdd_digest digest = { 77, 0 };
	struct producer *alive;
	struct pair pair;
	size_t bytes = 0;
	u64 tick = 1, to;
	u32 site = 0;

	(void)state;
	pair_open(&pair, &plan);
	plan.id = 2;
	alive = producer_open(&plan);
	producer_start(pair.p, &digest, &tick, 1);
	while (!(bytes = producer_message(pair.p, site, message)))
		site++;
	assert_true(site_answer(&pair.local.sites[site], message, bytes, 0, answer, &to) > 0);
	producer_start(alive, &digest, &tick, 1);
	for (u32 i = 0; i < 3; i++) {
		local_carry(&pair.local, alive, site);
		producer_retry(alive);
	}
	assert_int_equal(producer_counts(alive)->claimed, 3);
	assert_false(producer_done(alive));
	pair.local.now_ns += SITE_CLAIM_NS;
	local_finish(&pair.local, alive);
	assert_false(producer_seen(alive, 0));
	producer_close(alive);
	pair_close(&pair);
	free(message);
	free(answer);
}

/* Of two producers the first has a claim and is held up; the other one passes the key: what the first sets is refused, and
 * it finds the key. With @before what it sets came in time.
 */
static void held_up(u32 protocol, bool before)
{
	struct xdd_fixed fixed = layout(XDD_ENGINE_bloom, XDD_SLICING_horizontal);
	struct producer_plan plan = plan_of(&fixed, protocol, true);
	struct xdd_digest digest = { 77, 0 };
	struct producer *other;
	struct pair pair;
	u64 tick = 1;
	u32 site = 0;

	pair_open(&pair, &plan);
	plan.id = 2;
	other = producer_open(&plan);
	producer_start(pair.p, &digest, &tick, 1);
	while (!local_carry(&pair.local, pair.p, site))
		site++;
	assert_false(producer_done(pair.p));
	if (before)
		local_carry(&pair.local, pair.p, site);
	pair.local.now_ns += SITE_CLAIM_NS;
	producer_start(other, &digest, &tick, 1);
	local_finish(&pair.local, other);
	assert_int_equal(producer_seen(other, 0), before);
	while (!producer_done(pair.p)) {
		local_carry(&pair.local, pair.p, site);
		producer_retry(pair.p);
	}
	assert_int_equal(producer_seen(pair.p, 0), !before);
	assert_int_equal(pair.local.sites[site].counts.claimed, !before);
	assert_int_equal(producer_counts(pair.p)->claimed, !before);
	assert_int_equal(producer_counts(pair.p)->duplicates, !before);
	producer_close(other);
	pair_close(&pair);
}

/* What a batch has many times is asked about once: then its cells are set, or with timers asked about once more. */
static void test_again(void **state)
{
	static struct xdd_digest digests[PRODUCER_BATCH];
	static u64 ticks[PRODUCER_BATCH];

	(void)state;
	for (u32 i = 0; i < PRODUCER_BATCH; i++) {
		digests[i] = (struct xdd_digest){ 77, 0 };
		ticks[i] = 1000;
	}
	for (u32 i = 0; i < 2 * SITES_PROTOCOL_MAX; i++) {
		struct xdd_fixed fixed = layout(engines[i % 2], XDD_SLICING_horizontal);
		struct producer_plan plan = plan_of(&fixed, i / 2, true);
		bool timers = fixed.engine == XDD_ENGINE_timer;
		struct pair pair;

		pair_open(&pair, &plan);
		producer_start(pair.p, digests, ticks, PRODUCER_BATCH);
		local_finish(&pair.local, pair.p);
		for (u32 key = 0; key < PRODUCER_BATCH; key++)
			assert_int_equal(producer_seen(pair.p, key), key > 0);
		assert_int_equal(producer_counts(pair.p)->duplicates, PRODUCER_BATCH - 1);
		assert_int_equal(producer_counts(pair.p)->visits,
				 1 + (plan.protocol != SITES_one_pass) + timers);
		pair_close(&pair);
	}
}

static void test_held_up(void **state)
{
	(void)state;
	held_up(SITES_parallel, false);
	held_up(SITES_parallel, true);
	held_up(SITES_pipeline, false);
	held_up(SITES_pipeline, true);
}

/* Messages and answers that come twice, late or not at all: nothing is done twice, and verdicts are one filter's. */
static void lossy(const struct producer_plan *plan, u64 *seed)
{
	u8 *question = malloc(SITES_MESSAGE_MAX), *answer = malloc(SITES_MESSAGE_MAX);
	static struct xdd_digest digests[PRODUCER_BATCH];
	static u64 ticks[PRODUCER_BATCH];
	struct pair pair;
	u64 to, again = 0;

	pair_open(&pair, plan);
	for (u32 round = 0; round < 60; round++) {
		u32 n = 1 + random_below(seed, 100);

		for (u32 i = 0; i < n; i++) {
			digests[i] = (struct xdd_digest){ xdd_mix64(random_below(seed, 2000)), 0 };
			ticks[i] = 1000 + round / 4;
		}
		producer_start(pair.p, digests, ticks, n);
		while (!producer_done(pair.p)) {
			u32 site = random_below(seed, SITES);
			struct site *at = &pair.local.sites[site];
			size_t size = producer_message(pair.p, site, question);
			int got = 0;

			while (size && random_below(seed, 3))
				got = site_answer(at, question, size, 1, answer, &to);
			if (!size)
				continue;
			got = site_answer(at, question, size, 1, answer, &to);
			assert_true(got > 0);
			assert_int_equal(to, plan->id);
			assert_int_equal(producer_answer(pair.p, site, answer, got), 0);
			assert_int_equal(producer_answer(pair.p, site, answer, got), -ENOENT);
		}
		for (u32 i = 0; i < n; i++)
			assert_int_equal(producer_seen(pair.p, i),
					 store_ask(&pair, &digests[i], ticks[i]));
	}
	for (u32 i = 0; i < SITES; i++)
		again += pair.local.sites[i].counts.repeats;
	assert_true(again > 100);
	pair_close(&pair);
	free(question);
	free(answer);
}

static void test_repeats(void **state)
{
	u64 seed = 5;

	(void)state;
	for (u32 i = 0; i < 2 * SITES_PROTOCOL_MAX * 2; i++) {
		struct xdd_fixed fixed = layout(engines[i % 2], XDD_SLICING_vertical);
		struct producer_plan plan = plan_of(&fixed, i / 2 % SITES_PROTOCOL_MAX, i / 6);

		lossy(&plan, &seed);
		plan.test_and_set = true;
		if (!producer_wrong(&plan))
			lossy(&plan, &seed);
	}
}

/* Older questions get no answer; of more processes than there is room for, the last ones are told so, until others
 * were silent.
 */
static void test_room(void **state)
{
	struct repeats *r = calloc(1, sizeof(*r));
	const u8 answer[3] = { 7, 8, 9 };

	(void)state;
	repeats_open(r);
	for (u64 from = 1; from <= REPEATS_MAX; from++) {
		assert_int_equal(repeats_look(r, from, 5, from), REPEATS_NEW);
		assert_int_equal(repeats_look(r, from, 5, from), REPEATS_OLD);
		assert_int_equal(repeats_look(r, from, 6, from), REPEATS_NEW);
		repeats_keep(r, answer, sizeof(answer));
		assert_int_equal(repeats_look(r, from, 5, from), REPEATS_OLD);
	}
	assert_int_equal(repeats_look(r, 1000, 1, 99), REPEATS_FULL);
	assert_int_equal(repeats_look(r, 1, 6, 1), REPEATS_AGAIN);
	assert_int_equal(r->now->bytes, sizeof(answer));
	assert_memory_equal(r->now->answer, answer, sizeof(answer));
	assert_int_equal(repeats_look(r, 1000, 1, REPEATS_SILENT_NS), REPEATS_FULL);
	assert_int_equal(repeats_look(r, 1000, 1, REPEATS_SILENT_NS + 1), REPEATS_NEW);
	assert_int_equal(repeats_look(r, 2, 6, REPEATS_SILENT_NS + 1), REPEATS_AGAIN);
	repeats_close(r);
	free(r);
}

/* Sites with any shares of the slices, of which some have none; a newcomer takes those over. */
static void test_deal(void **state)
{
	struct xdd_fixed fixed = layout(XDD_ENGINE_bloom, XDD_SLICING_vertical);
	struct producer_plan plan = plan_of(&fixed, SITES_parallel, true);
	const struct producer_site before[] = { { 0, 1 }, { 5, 0 }, { 10, 3 } };
	const struct producer_site after[] = { { 0, 1 }, { 5, 4 }, { 10, 3 } };
	struct xdd_digest digest = { 77, 0 };
	u8 *message = malloc(SITES_MESSAGE_MAX);
	struct producer *p;
	u64 tick = 1;

	(void)state;
	plan.fixed.fault_policy = XDD_FAULTS_distinct;
	p = producer_open(&plan);
	assert_int_equal(producer_deal(p, before, 3), 0);
	assert_string_equal(producer_site_state(p, 0, 1), "ok");
	assert_string_equal(producer_site_state(p, 1, 1), "failed");
	for (u32 slice = 0; slice < SLICES; slice++)
		assert_int_equal(producer_site_of(p, slice), slice < 5 ? 0 : slice < 10 ? 1 : 2);
	producer_start(p, &digest, &tick, 1);
	assert_int_equal(producer_message(p, 1, message), 0);
	producer_fail(p, 0);
	producer_fail(p, 2);
	assert_true(producer_done(p));
	assert_false(producer_seen(p, 0));
	assert_int_equal(producer_deal(p, after, 3), 0);
	assert_string_equal(producer_site_state(p, 0, 1), "failed");
	assert_string_equal(producer_site_state(p, 1, 1), "failed");
	for (u32 site = 0; site < 3; site++) {
		producer_recover(p, site, 1);
		assert_string_equal(producer_site_state(p, site, 1), "ok");
	}
	producer_close(p);
	free(message);
}

/* The places of @digest in a filter of a number of cells beyond 32 bits, without the core's arithmetic. */
static u64 far_cell(const struct xdd_fixed *fixed, u64 digest, u32 i)
{
	const double whole = 0x1p32, each = xdd_line_cells(fixed);
	u64 lines = fixed->blocks, draw = xdd_bits_draw(digest, i), first = 0;

	if (fixed->slicing == XDD_SLICING_horizontal) {
		lines /= fixed->slices;
		first = floor((digest >> 32) / whole * fixed->slices) * lines;
	}
	return (first + (u64)floor((draw >> 32) / whole * lines)) * (u64)each +
	       (u64)floor((u32)draw / whole * each);
}

/* Of a filter of 64 GiB the last slice is here: keys in it are known again, by places that others reckon, too. */
static void far(u32 engine, u32 slicing)
{
	const struct producer_site dealt[] = { { 0, 0 }, { 399, 1 } };
	struct xdd_fixed fixed = layout(engine, slicing), small = fixed;
	struct producer_plan plan;
	struct local local;
	u64 tick = 1000, here = 0, slice_cells;
	struct producer *p;

	fixed.slices = 400;
	fixed.blocks = (1 << 30) / 400 * 400;
	fixed.fault_policy = XDD_FAULTS_duplicate;
	plan = plan_of(&fixed, SITES_parallel, true);
	slice_cells = xdd_cells(&fixed) / 400;
	assert_true(xdd_cells(&fixed) >> 34);
	p = producer_open(&plan);
	assert_int_equal(producer_deal(p, dealt, 2), 0);
	assert_int_equal(local_open(&local, &small, WINDOW, 2, &plan.key), 0);
	site_close(&local.sites[1]);
	assert_int_equal(site_open(&local.sites[1], &fixed, WINDOW, 1, 1, &plan.key), 0);
	for (u64 n = 0; n < 40000; n++) {
		struct xdd_digest digest = { xdd_mix64(n), 0 };
		bool has = false;

		for (u32 i = 0; i < fixed.hashes; i++)
			has |= far_cell(&fixed, digest.lo, i) / slice_cells == 399;
		producer_start(p, &digest, &tick, 1);
		while (!producer_done(p))
			assert_true(local_carry(&local, p, 1));
		assert_int_equal(producer_seen(p, 0), !has);
		producer_start(p, &digest, &tick, 1);
		while (!producer_done(p))
			assert_true(local_carry(&local, p, 1));
		assert_true(producer_seen(p, 0));
		here += has;
	}
	assert_true(here > 50);
	producer_close(p);
	local_close(&local);
}

static void test_far(void **state)
{
	(void)state;
	for (u32 i = 0; i < 4; i++)
		far(engines[i % 2], slicings[i / 2]);
}

static void test_here(void **state)
{
	struct call_here here = { .fingerprint = 1,
				  .start_ns = 2,
				  .first = 30,
				  .n = 10,
				  .of = 40,
				  .serves = true,
				  .name = "a.site",
				  .about = "bloom" };
	u8 payload[CALL_HERE_MOST];
	struct call_here got;

	(void)state;
	assert_int_equal(call_put_here(&here, payload), CALL_HERE_BYTES);
	assert_int_equal(call_get_here(payload, CALL_HERE_BYTES, &got), 0);
	assert_memory_equal(&got, &here, offsetof(struct call_here, about) + CALL_TEXT);
	assert_int_equal(call_get_here(payload, CALL_HERE_BYTES - 1, &got), -EBADMSG);
	assert_int_equal(call_get_here(payload, CALL_HERE_BYTES + 1, &got), -EBADMSG);
	strcpy(here.parent, "root");
	assert_int_equal(call_put_here(&here, payload), CALL_HERE_MOST);
	assert_int_equal(call_get_here(payload, CALL_HERE_MOST, &got), 0);
	assert_string_equal(got.parent, "root");
	*here.parent = 0;
	for (u32 i = 31; i < 41; i += 9) {
		here.first = i;
		call_put_here(&here, payload);
		assert_int_equal(call_get_here(payload, CALL_HERE_BYTES, &got), -EBADMSG);
	}
	here.first = 0;
	here.name[1] = 27; /* which a terminal obeys */
	call_put_here(&here, payload);
	assert_int_equal(call_get_here(payload, CALL_HERE_BYTES, &got), -EBADMSG);
}

/* Of what two filters are in words only what differs is said. */
static void test_differs(void **state)
{
	char text[CALL_DIFFERS], whole[CALL_TEXT], other[CALL_TEXT];

	(void)state;
	call_differs("engine bloom, 64KiB, 4 hashes", "engine bloom, 32KiB, 4 hashes", text);
	assert_string_equal(text, "64KiB; here: 32KiB");
	call_differs("a, b, c", "a, d, e, c, f", text);
	assert_string_equal(text, "b; here: d, e, f");
	call_differs("a, b", "a, b", text);
	assert_string_equal(text, "a, b, and what these words do not tell");
	memset(whole, 'a', sizeof(whole));
	memset(other, 'b', sizeof(other));
	whole[CALL_TEXT - 1] = other[CALL_TEXT - 1] = 0;
	call_differs(whole, other, text);
	assert_int_equal(strlen(text), 2 * CALL_TEXT - 2 + strlen("; here: "));
}

/* A sender is told of once, and at most eight in a minute, which others may be later. */
static void test_strangers(void **state)
{
	struct strangers s = {};
	u64 now = 5, minute = 60000000000;
	u32 told = 0;

	(void)state;
	assert_true(strangers_tell(&s, 7, now));
	assert_false(strangers_tell(&s, 7, now));
	assert_true(strangers_tell(&s, strangers_id("a.tap"), now));
	assert_false(strangers_tell(&s, strangers_id("a.tap"), now + 1));
	for (u64 id = 100; id < 200; id++)
		told += strangers_tell(&s, id, now + 2);
	assert_int_equal(told, STRANGERS_AT_ONCE - 2);
	assert_false(strangers_tell(&s, 7, now + minute));
	assert_true(strangers_tell(&s, 199, now + minute));
	for (u64 id = 1000; id < 1000 + 100 * 60; id++)
		told += strangers_tell(&s, id, now + id * minute / 60);
	assert_true(strangers_tell(&s, 7, now + 9000 * minute));
}

static enum roster_news come(struct roster *r, u64 id, u32 first, u32 n, u64 start_ns)
{
	struct call_here here = { .fingerprint = 5,
				  .start_ns = start_ns,
				  .first = first,
				  .n = n,
				  .of = SLICES,
				  .serves = true,
				  .name = "a.b",
				  .about = "c" };

	return roster_take(r, &here, id);
}

/* Who has which slices: who comes later replaces who had them, who began before is not believed again. */
static void test_roster(void **state)
{
	struct xdd_fixed fixed = layout(XDD_ENGINE_bloom, XDD_SLICING_vertical);
	struct roster *r = malloc(sizeof(*r));
	struct producer_site dealt[ROSTER_DEALT];
	char text[32];

	(void)state;
	roster_open(r, &fixed, 5);
	assert_int_equal(roster_missing(r, text, sizeof(text)), SLICES);
	assert_string_equal(text, "0-39");
	assert_int_equal(come(r, 2, 20, 10, 100), ROSTER_CAME);
	assert_int_equal(come(r, 1, 1, 10, 100), ROSTER_CAME);
	assert_int_equal(come(r, 1, 1, 10, 100), ROSTER_KNOWN);
	assert_int_equal(roster_missing(r, text, sizeof(text)), 20);
	assert_string_equal(text, "0, 11-19, 30-39");
	assert_int_equal(roster_deal(r, dealt), 5);
	assert_int_equal(dealt[1].first, 1);
	assert_int_equal(dealt[1].id, 1);
	assert_int_equal(dealt[2].id, 0);
	assert_false(r->changed);
	r->fingerprint = 6;
	assert_int_equal(come(r, 3, 0, 1, 100), ROSTER_OTHER);
	r->fingerprint = 5;
	r->started = true;
	assert_int_equal(come(r, 3, 5, 10, 99), ROSTER_KNOWN);
	assert_null(roster_find(r, 3));
	roster_find(r, 1)->lost = true;
	assert_int_equal(come(r, 1, 1, 10, 100), ROSTER_BACK);
	assert_true(roster_find(r, 1)->back);
	assert_int_equal(come(r, 3, 5, 20, 101), ROSTER_CAME);
	assert_null(roster_find(r, 1));
	assert_null(roster_find(r, 2));
	assert_int_equal(r->n, 1);
	roster_forget(r, 3);
	assert_int_equal(roster_missing(r, text, sizeof(text)), SLICES);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_visits),	 cmocka_unit_test(test_claims),
		cmocka_unit_test(test_damage),	 cmocka_unit_test(test_dead_claimer),
		cmocka_unit_test(test_repeats),	 cmocka_unit_test(test_room),
		cmocka_unit_test(test_deal),	 cmocka_unit_test(test_here),
		cmocka_unit_test(test_differs),	 cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_roster),	 cmocka_unit_test(test_far),
		cmocka_unit_test(test_held_up),	 cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

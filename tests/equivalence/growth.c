// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Chains of filters in both builds: the same verdicts and the same cells, whatever opens and retires
 * filters meanwhile; and a chain of one filter is that filter.
 */
#include "both.h"
#include "tests/common/numbered.h"
#include "user/chain.h"

#define FRAMES 1500
#define FEW_FRAMES 300
#define KEYS 400
#define SCRIPT_EVERY 25

static bool few; /* an emulated machine is slow */

/* The chains of the kernel's filter, of all CPUs. */
static struct xdd_chain *kernel_chains(const struct both *both)
{
	const struct xdd_fixed *fixed = &both->store.fixed;
	bool percpu = fixed->placement == XDD_PLACEMENT_percpu;
	size_t n = xdd_chains(fixed) * (percpu ? libbpf_num_possible_cpus() : 1);
	struct xdd_chain *chains = mmap(NULL, n * sizeof(*chains), PROT_READ | PROT_WRITE,
					MAP_SHARED, bpf_map__fd(both->skel->maps.chains), 0);

	assert_true(chains != MAP_FAILED);
	return chains;
}

/* Nothing is opened or retired but by the script. */
static void growth_stop(struct both *both)
{
	for (u32 i = 0; i < xdd_chains(&both->store.fixed); i++)
		both->store.growth[i].enough = ~0ULL;
}

/* Another filter becomes the newest of some chain, or an older one is no longer asked. */
static void script(struct both *both, struct xdd_chain *kernel, u64 *seed, u64 *states)
{
	const struct xdd_fixed *fixed = &both->store.fixed;
	u32 number = random_below(seed, xdd_chains(fixed));
	struct xdd_chain *chain = &both->store.chains[number];
	u32 asked = xdd_chain_asked(chain->state), newest = xdd_chain_newest(chain->state);
	u32 other = random_below(seed, fixed->filters);

	if (random_below(seed, 2))
		newest = (newest + 1) % fixed->filters;
	else if (other != newest)
		asked &= ~(1u << other);
	chain->state = xdd_chain_state(asked | 1u << newest, newest);
	kernel[number].state = chain->state;
	*states |= 1ULL << __builtin_popcount(asked | 1u << newest);
}

static u64 next_time(u64 now, u64 *seed)
{
	u32 pick = random_below(seed, 100);

	if (pick < 90)
		return now + random_below(seed, CONFIG_TICK_NS / 4);
	if (pick < 94)
		return now - random_below(seed, 8 * CONFIG_TICK_NS);
	return now + random_below(seed, pick < 99 ? 10 : 300) * CONFIG_TICK_NS;
}

static u32 decide(struct both *both, u64 *seed, u64 now)
{
	u8 frame[NUMBERED_BYTES];

	numbered_make(frame, random_below(seed, KEYS));
	return both_decide(both, frame, sizeof(frame), now).found;
}

struct outcome {
	u32 runs, seen, distinct, back;
	u64 states; /* bit n: n filters were asked */
};

static void run(struct xdd_fixed *fixed, struct outcome *outcome)
{
	u64 seed = ++outcome->runs, now = 77777ULL * CONFIG_TICK_NS;
	struct xdd_live live = config_live();
	struct xdd_chain *kernel;
	struct both both;

	live.window_ticks = 1 + random_below(&seed, XDD_MAX_WINDOW_TICKS);
	both_open(&both, fixed, &live);
	growth_stop(&both);
	kernel = kernel_chains(&both);
	for (u32 i = 0; i < (few ? FEW_FRAMES : FRAMES); i++) {
		u32 found = decide(&both, &seed, now);

		assert_false(found & (XDD_MISSING | XDD_STALE));
		outcome->seen += found & XDD_SEEN;
		outcome->distinct += !(found & XDD_SEEN);
		outcome->back += !!(found & XDD_TIME_BACK);
		if (i % SCRIPT_EVERY == 0)
			script(&both, kernel, &seed, &outcome->states);
		now = next_time(now, &seed);
	}
	both_compare(&both);
	assert_memory_equal(kernel, both.store.chains, xdd_chains(fixed) * sizeof(*kernel));
	both_close(&both);
}

static void visit(struct xdd_fixed *fixed, void *context)
{
	static const u32 filters[] = { 2, 3, XDD_MAX_FILTERS };

	if (!structure_grows(fixed))
		return;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(filters); i++) {
		fixed->hashes = i == 1 ? 4 : XDD_MAX_HASHES - i;
		fixed->refresh = i & 1;
		if (fixed->slicing == XDD_SLICING_K1xK2)
			fixed->hashes &= ~1u;
		structure_grow(fixed, 1 + i % 2, filters[i]);
		run(fixed, context);
	}
}

static void test_scripted(void **state)
{
	struct outcome outcome = {};

	(void)state;
	both_need_root();
	structures_each(visit, &outcome);
	print_message("# %u runs: %u duplicates, %u distinct\n", outcome.runs, outcome.seen,
		      outcome.distinct);
	assert_true(outcome.seen > 1000 && outcome.distinct > 1000 && outcome.back > 10);
	for (u32 n = 1; n <= XDD_MAX_FILTERS; n++)
		assert_true(outcome.states >> n & 1);
}

/* A chain whose filters never grow, and a filter that is none. */
static void check_single(u32 slicing)
{
	struct xdd_fixed fixed =
		structure_fixed(XDD_ENGINE_timer, slicing, XDD_PLACEMENT_shared, true);
	struct xdd_live live = config_live();
	u64 seed = 3, now = 77777ULL * CONFIG_TICK_NS;
	struct xdd_store single;
	struct both chain;
	u32 seen = 0;

	fixed.line_cells = 7; /* false positives, too */
	assert_int_equal(store_open(&single, &fixed, &live, 0), 0);
	structure_grow(&fixed, XDD_GROWTH_density, 4);
	both_open(&chain, &fixed, &live);
	growth_stop(&chain);
	for (u32 i = 0; i < (few ? FEW_FRAMES : FRAMES); i++) {
		u64 before = seed;
		u32 found = decide(&chain, &seed, now);
		u8 frame[NUMBERED_BYTES];
		struct xdd_packet packet = { frame,	    frame + sizeof(frame), NULL,
					     sizeof(frame), sizeof(frame),	   fixed.link };

		numbered_make(frame, random_below(&before, KEYS));
		assert_int_equal(store_decide(&single, &packet, now).found, found);
		seen += found & XDD_SEEN;
		now = next_time(now, &seed);
	}
	assert_true(seen > 20);
	for (u32 i = 0; i < xdd_chains(&fixed); i++)
		assert_int_equal(chain_live(&chain.store.chains[i]), 1);
	both_close(&chain);
	store_close(&single);
}

static void test_single(void **state)
{
	(void)state;
	both_need_root();
	for (u32 slicing = 0; slicing < XDD_SLICING_MAX; slicing++)
		check_single(slicing);
}

/* --few: shorter. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripted),
		cmocka_unit_test(test_single),
	};

	few = argc > 1 && !strcmp(argv[1], "--few");
	libbpf_set_print(NULL); /* lines side by side have no type, which it says each time */
	both_pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two builds of the core are one filter: random and captured packets give the same
 * verdicts and leave the same bytes, for every engine, key, hash, slicing and placement.
 */
#include <dirent.h>

#include "both.h"
#include "tests/common/traffic.h"
#include "user/capture/capture.h"
#include "xdd/bits.h"

#define RANDOM_FRAMES 1200
#define FEW_FRAMES 400

static u64 run_number;
static bool few; /* an emulated machine is slow: one hash, two keys */

struct outcome {
	u32 class[XDD_CLASS_MAX];
	u32 passes, let_through;
	u32 bypassed[XDD_BYPASS_MAX];
	u32 unwanted;
	u32 seen;
	u32 distinct;
	struct xdd_audit_counts audit;
};

static void outcome_audit(struct outcome *outcome, const struct xdd_audit_counts *counts)
{
#define ADD_COUNT(name, help) outcome->audit.name += counts->name;
	XDD_AUDIT_COUNTS(ADD_COUNT)
}

static void outcome_duplicate(struct outcome *outcome, struct xdd_verdict verdict)
{
	outcome->seen++;
	outcome->class[verdict.class]++;
	outcome->passes += !!(verdict.found & XDD_PASSES);
	outcome->let_through += !!(verdict.found & XDD_LET_THROUGH);
}

static void outcome_add(struct outcome *outcome, struct xdd_verdict verdict)
{
	outcome->unwanted += xdd_is_unwanted(verdict);
	if (verdict.bypass < XDD_BYPASS_MAX)
		outcome->bypassed[verdict.bypass]++;
	else if (verdict.found & XDD_SEEN)
		outcome_duplicate(outcome, verdict);
	else
		outcome->distinct++;
}

/* Steps within a tick, of several, beyond windows and horizons, and back. */
static u64 next_time(u64 now, u64 *seed)
{
	u32 pick = random_below(seed, 1000);

	if (pick < 900)
		return now + random_below(seed, CONFIG_TICK_NS);
	if (pick < 960)
		return now + random_below(seed, 12 * CONFIG_TICK_NS);
	if (pick < 980)
		return now - random_below(seed, 8 * CONFIG_TICK_NS);
	if (pick < 998)
		return now + random_below(seed, 140) * CONFIG_TICK_NS;
	return now + random_below(seed, 4000) * CONFIG_TICK_NS;
}

/* K1xK2, and lines of which not all cells are used. */
static void vary_slices(struct xdd_fixed *fixed, u64 bits)
{
	fixed->line_cells = 0;
	if (xdd_engine_is_sliced(fixed->engine) && bits >> 50 & 1)
		fixed->line_cells = 1 + (bits >> 51) % XDD_LINE_TIMERS;
	if (fixed->slicing != XDD_SLICING_K1xK2)
		return;
	fixed->slice_hashes = 1 + (bits >> 57) % XDD_MAX_HASHES;
	fixed->hashes = fixed->slice_hashes * (XDD_MAX_HASHES / fixed->slice_hashes);
}

/* A third of the runs have no policy. */
static void vary_faults(struct xdd_fixed *fixed, u64 bits)
{
	fixed->fault_policy = 0;
	fixed->vote = 0;
	if (fixed->placement == XDD_PLACEMENT_tree || !xdd_engine_may_fail(fixed->engine))
		return;
	fixed->fault_policy = (bits >> 8) % 3 ? 1 + bits % (XDD_FAULTS_MAX - 1) : 0;
	if (fixed->fault_policy == XDD_FAULTS_vote)
		fixed->vote = 1 + (bits >> 16) % fixed->hashes;
	if (fixed->fault_policy)
		fixed->equal = 0;
}

/* Half of the runs are without any. */
static void vary_policy(struct xdd_fixed *fixed, u64 bits)
{
	if (bits & 1)
		bits = 0;
	fixed->changed_fields = bits >> 1 & ((1u << XDD_FIELD_MAX) - 1);
	fixed->payload_bytes = bits >> 20 & 1 ? (bits >> 21) % 2000 : 0;
	fixed->scope_iface = bits >> 32 & 1;
	fixed->vlan_key = bits >> 33 & 1;
	fixed->vlan_maps = bits >> 34 & 3;
	for (u32 i = 0; i < XDD_MAX_VLAN_MAPS; i++) {
		fixed->vlan_from[i] = 100 + i;
		fixed->vlan_to[i] = i;
	}
}

/* Off, all keys, or a share of them, in a shadow that is too small or not. */
static void vary_audit(struct xdd_fixed *fixed, u64 bits)
{
	static const u32 thresholds[] = { 0, ~0u, ~0u, 1u << 30 };

	fixed->audit_threshold = thresholds[bits & 3];
	if (fixed->engine == XDD_ENGINE_recovery)
		fixed->audit_threshold = 0;
	fixed->audit_buckets = 1u << (bits >> 2) % 8;
	fixed->audit_race_ns = bits >> 8 & 1 ? 300000 : 0;
}

/* Half of the runs are without a set. */
static void vary_watch(struct xdd_fixed *fixed, struct xdd_live *live, u64 bits)
{
	fixed->watch_bits = bits & 1 ? 1 + (bits >> 1) % 5000 : 0;
	fixed->watch_hashes = 1 + (bits >> 20) % 4;
	live->watch_action = (bits >> 30) % XDD_WATCH_MAX;
}

/* Half of the runs are without any. */
static void vary_repeats(struct xdd_live *live, u64 bits)
{
	if (bits & 1)
		bits = 0;
	live->ambiguous_pass = bits >> 1 & 3 ? 0 : bits >> 3 & ((2u << XDD_CLASS_MAX) - 2);
	live->max_suppress = bits >> 20 & 1 ? 1 + (bits >> 21) % 4 : 0;
	live->top = bits >> 30 & 1;
}

/* What may be switched on in any configuration: another mix of it in each run. */
static void vary(struct xdd_fixed *fixed, struct xdd_live *live)
{
	u64 bits = xdd_mix64(++run_number);

	fixed->refresh = bits & 1 && fixed->placement != XDD_PLACEMENT_tree;
	fixed->verify_checksum = bits >> 1 & 1;
	fixed->zero_checksum_ok = bits >> 2 & 1;
	fixed->zero_length_ok = bits >> 3 & 1;
	fixed->short_capture_ok = bits >> 4 & 1;
	fixed->non_ip_frame = bits >> 5 & 1;
	fixed->hashes = 1 + (bits >> 6) % XDD_MAX_HASHES;
	vary_slices(fixed, bits);
	fixed->equal =
		fixed->placement == XDD_PLACEMENT_tree ? 0 : (bits >> 60) % (fixed->hashes + 1);
	vary_faults(fixed, xdd_mix64(bits + 1));
	fixed->offset_pos = (bits >> 16) % 40;
	fixed->offset_len = 1 + (bits >> 24) % 60;
	fixed->seed = bits;
	fixed->inner = bits >> 46 & 1;
	fixed->vni_key = bits >> 47 & 1;
	fixed->tunnel_port[3] = 4789;
	fixed->tunnel_port[7] = 2152;
	fixed->tunnel_kind[7] = XDD_TUNNEL_gtpu;
	vary_policy(fixed, xdd_mix64(bits));
	vary_audit(fixed, xdd_mix64(bits + 1));
	fixed->sbf_bits = 1u << run_number % 4;
	fixed->sbf_max = 1 + (bits >> 48) % ((1u << fixed->sbf_bits) - 1);
	fixed->reset_bits = 1 + (bits >> 40) % (64 / fixed->sbf_bits);
	fixed->variant = bits >> 14 & 1;
	fixed->reservoir_events = 1 + (bits >> 56);
	live->window_ticks = 1 + (bits >> 32) % XDD_MAX_WINDOW_TICKS;
	live->window_ns = live->window_ticks * fixed->tick_ns;
	vary_repeats(live, xdd_mix64(bits ^ 1));
	vary_watch(fixed, live, xdd_mix64(bits ^ 2));
}

/* After a third of the run parts fail, after two thirds half of them come back. */
static void step_faults(struct both *both, u32 i, u32 frames, u64 now_ns)
{
	u32 parts = xdd_parts(&both->store.fixed);

	if (!both->store.fixed.fault_policy || (i != frames / 3 && i != frames * 2 / 3))
		return;
	for (u32 part = run_number % 2; part < parts; part += 2)
		if (i == frames / 3 || part % 4 < 2)
			both_fail(both, part, i == frames / 3 ? 0 : now_ns);
}

static void run_random(const struct xdd_fixed *fixed, const struct xdd_live *live, u32 frames,
		       struct outcome *outcome)
{
	struct traffic *traffic = calloc(1, sizeof(*traffic));
	u64 now = 77777ULL * CONFIG_TICK_NS;
	struct both both;

	traffic->seed = 1000 + run_number;
	traffic->link = fixed->link;
	traffic->max_payload = 8900;
	both_open(&both, fixed, live);
	for (u32 i = 0; i < frames; i++) {
		const struct frame *frame = traffic_next(traffic);

		step_faults(&both, i, frames, now);
		outcome_add(outcome, both_decide(&both, frame->byte, frame->len, now));
		now = next_time(now, &traffic->seed);
	}
	outcome_audit(outcome, &both.store.audit_counts);
	both_compare(&both);
	both_close(&both);
	free(traffic);
}

static void visit_random(struct xdd_fixed *fixed, void *context)
{
	struct xdd_live live = config_live();

	for (fixed->key = 0; fixed->key < XDD_KEY_MAX; fixed->key++) {
		for (fixed->hash = 0; fixed->hash < XDD_HASH_MAX; fixed->hash++) {
			if (!structure_visits(fixed, few))
				continue;
			vary(fixed, &live);
			run_random(fixed, &live, few ? FEW_FRAMES : RANDOM_FRAMES, context);
		}
	}
}

/* Every verdict and every reason came up, or the traffic proves less than it should. */
static void test_random(void **state)
{
	struct outcome outcome = {};

	(void)state;
	both_need_root();
	structures_each(visit_random, &outcome);
	print_message("# %u distinct, %u duplicates in %lu configurations\n", outcome.distinct,
		      outcome.seen, (unsigned long)run_number);
	assert_true(outcome.distinct > 1000 && outcome.seen > 1000);
	assert_true(outcome.bypassed[XDD_BYPASS_not_ip] > 10);
	assert_true(outcome.bypassed[XDD_BYPASS_truncated] > 10);
	assert_true(outcome.bypassed[XDD_BYPASS_malformed] > 10);
	assert_true(outcome.bypassed[XDD_BYPASS_bad_checksum] > 10);
	assert_true(outcome.bypassed[XDD_BYPASS_unsupported] > 10);
	for (u32 i = 0; i < XDD_CLASS_MAX; i++)
		assert_true(outcome.class[i] > 10);
	assert_true(outcome.passes > 10 && outcome.let_through > 10);
	assert_true(outcome.bypassed[XDD_BYPASS_faulted] > 100);
	assert_true(outcome.bypassed[XDD_BYPASS_watch] > outcome.unwanted + 1000);
	assert_true(outcome.unwanted > 1000);
	assert_int_equal(outcome.bypassed[XDD_BYPASS_stale], 0);
	assert_int_equal(outcome.bypassed[XDD_BYPASS_internal], 0);
	assert_true(outcome.audit.tp > 100 && outcome.audit.tn > 100);
	assert_true(outcome.audit.excluded > 100);
}

/* Filters of two lines err: the audits of both builds say so alike. */
static void test_audit(void **state)
{
	static const u32 engines[] = { XDD_ENGINE_tagged, XDD_ENGINE_timer, XDD_ENGINE_rlbsbf };
	struct xdd_live live = config_live();
	struct outcome outcome = {};
	u64 runs = run_number;

	(void)state;
	both_need_root();
	live.window_ticks = XDD_MAX_WINDOW_TICKS;
	live.window_ns = live.window_ticks * CONFIG_TICK_NS;
	for (u32 i = 0; i < 2 * XDD_ARRAY_SIZE(engines); i++) {
		struct xdd_fixed fixed = config_fixed(engines[i / 2], XDD_KEY_packet);

		fixed.slices = fixed.blocks = fixed.hashes = 2;
		if (xdd_engine_has_bits(fixed.engine)) {
			fixed.slicing = XDD_SLICING_none;
			fixed.slices = 1;
		}
		fixed.audit_threshold = ~0u;
		fixed.audit_buckets = 16 << i % 2 * 4;
		fixed.audit_race_ns = i % 2 * 1000000000;
		/* the traffic of this test, whatever the others did */
		run_number = i;
		run_random(&fixed, &live, RANDOM_FRAMES, &outcome);
	}
	run_number = runs;
#define PRINT_COUNT(name, help) \
	print_message("# audit: %lu " #name "\n", (unsigned long)outcome.audit.name);
	XDD_AUDIT_COUNTS(PRINT_COUNT)
	assert_true(outcome.audit.fp > 50 && outcome.audit.fn > 20 && outcome.audit.races);
	assert_true(outcome.audit.tp > 100 && outcome.audit.tn > 100);
	assert_true(outcome.audit.edge && outcome.audit.excluded);
}

/* The counts beside the bits of both builds, as after @events events. */
static void set_events(struct both *both, u64 events)
{
	bool shared = both->store.fixed.placement == XDD_PLACEMENT_shared;
	struct xdd_loads loads[libbpf_num_possible_cpus()];
	u32 zero = 0;

	memset(loads, 0, sizeof(loads));
	loads[0].events = events;
	both->store.loads.events = events;
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(shared ? both->skel->maps.loads
								: both->skel->maps.cpu_loads),
					     &zero, loads, BPF_ANY),
			 0);
}

/* rsbf in its three stages: s events, then by chance, then always. */
static void check_stages(u32 placement, u32 variant)
{
	struct xdd_fixed fixed =
		structure_fixed(XDD_ENGINE_rsbf, XDD_SLICING_none, placement, false);
	struct traffic *traffic = calloc(1, sizeof(*traffic));
	struct xdd_live live = config_live();
	struct outcome outcome = {};
	struct both both;
	u64 bits;

	fixed.hashes = 2;
	fixed.variant = variant;
	if (placement == XDD_PLACEMENT_shared)
		fixed.blocks = 2;
	bits = fixed.blocks * fixed.lines_per_block / 2 * XDD_LINE_BITS;
	fixed.reservoir_events = bits + 600;
	traffic->seed = 5;
	traffic->link = fixed.link;
	traffic->max_payload = 100;
	both_open(&both, &fixed, &live);
	set_events(&both, bits - 300);
	for (u32 i = 0; i < 3000; i++) {
		const struct frame *frame = traffic_next(traffic);

		outcome_add(&outcome, both_decide(&both, frame->byte, frame->len, 1000000000));
	}
	assert_true(both.store.loads.events > fixed.reservoir_events + 300);
	assert_true(outcome.seen > 100 && outcome.distinct > 100);
	both_compare(&both);
	both_close(&both);
	free(traffic);
}

static void test_stages(void **state)
{
	(void)state;
	both_need_root();
	for (u32 variant = 0; variant < XDD_VARIANT_MAX; variant++) {
		check_stages(XDD_PLACEMENT_shared, variant);
		check_stages(XDD_PLACEMENT_percpu, variant);
	}
}

/* Copies, losses and late ones of a few nodes and streams, and sometimes any number. */
static void numbered(struct frame *frame, u64 *seed, u32 n)
{
	static const char *const specs[] = {
		"eth hsr:%u ip4 udp pay:40",	 "eth vlan:7 hsr:%u arp",
		"eth rtag:%u ip6 tcp",		 "eth vlan:9 rtag:%u ip6 tcp",
		"eth ip4 udp pay:40 rct:%u",	 "eth vlan arp pad:20 rct:%u",
		"eth qinq vlan arp rct:%u pad:4"
	};
	u32 number = n / 8 + 65520 - random_below(seed, 6);
	char spec[64];

	if (!random_below(seed, 60))
		number = random64(seed);
	snprintf(spec, sizeof(spec), specs[random_below(seed, XDD_ARRAY_SIZE(specs))],
		 number & 0xffff);
	frame_build(frame, random_below(seed, 40) ? spec : "eth ip4 udp");
	frame->byte[5] = frame->byte[11] = random_below(seed, 2);
}

static void check_recovery(struct xdd_fixed *fixed, struct outcome *outcome, u32 *rogue,
			   u32 *evicted)
{
	struct xdd_live live = config_live();
	u64 seed = ++run_number, now = 1ULL << 40;
	struct xdd_verdict verdict;
	struct frame frame;
	struct both both;

	fixed->refresh = run_number & 1;
	fixed->scope_iface = run_number >> 1 & 1;
	fixed->vlan_key = run_number >> 2 & 1;
	both_open(&both, fixed, &live);
	for (u32 i = 0; i < (few ? FEW_FRAMES : 4000); i++) {
		numbered(&frame, &seed, i);
		now += random_below(&seed, 200) ? random_below(&seed, 100000) : 20 * CONFIG_TICK_NS;
		now -= random_below(&seed, 50) ? 0 : 90000;
		verdict = both_decide(&both, frame.byte, frame.len, now);
		outcome_add(outcome, verdict);
		*rogue += !!(verdict.found & XDD_ROGUE);
		*evicted += !!(verdict.found & XDD_EVICTED);
	}
	both_compare(&both);
	both_close(&both);
}

/* Engine recovery on frames that have numbers, in a filter so small that streams make room. */
static void test_recovery(void **state)
{
	static const u32 histories[] = { 0, 2, 100, XDD_MAX_HISTORY };
	struct outcome outcome = {};
	u32 rogue = 0, evicted = 0;

	(void)state;
	both_need_root();
	for (u32 i = 0; i < XDD_ARRAY_SIZE(histories) * 2; i++) {
		struct xdd_fixed fixed =
			structure_fixed(XDD_ENGINE_recovery, XDD_SLICING_none, i & 1, false);

		fixed.key = XDD_KEY_redundancy;
		fixed.history = histories[i / 2];
		if (fixed.placement == XDD_PLACEMENT_shared)
			fixed.blocks = 2 * XDD_RECOVERY_WAYS;
		check_recovery(&fixed, &outcome, &rogue, &evicted);
	}
	print_message("# %u distinct, %u of them rogue, %u evictions, %u duplicates\n",
		      outcome.distinct, rogue, evicted, outcome.seen);
	assert_true(outcome.distinct > 500 && outcome.seen > 300 && rogue > 100 && evicted > 50);
	assert_true(outcome.bypassed[XDD_BYPASS_untagged] > 30);
}

/* The other link types, which no NIC has. */
static void test_links(void **state)
{
	static const u32 links[] = {
		XDD_LINK_NULL, XDD_LINK_RAW_BSD, XDD_LINK_RAW,	XDD_LINK_LOOP,
		XDD_LINK_SLL,  XDD_LINK_IPV4,	 XDD_LINK_IPV6, XDD_LINK_SLL2
	};
	struct xdd_live live = config_live();

	(void)state;
	both_need_root();
	for (u32 i = 0; i < XDD_ARRAY_SIZE(links); i++) {
		struct xdd_fixed fixed = config_fixed(i % XDD_ENGINE_recovery, XDD_KEY_flow);
		struct outcome outcome = {};

		vary(&fixed, &live);
		fixed.link = links[i];
		fixed.watch_bits = 0; /* or the filter is asked too seldom */
		run_random(&fixed, &live, RANDOM_FRAMES, &outcome);
		assert_true(outcome.seen > 50 && outcome.distinct > 50);
	}
}

/* Feed the frames of one file that have the filter's link type. Returns their number. */
static u32 feed_capture(struct both *both, const char *path)
{
	struct capture_reader *reader;
	struct capture_item item;
	char err[512];
	u32 n = 0;

	if (capture_open(&reader, path, 1 << 20, err, sizeof(err)))
		return 0;
	while (capture_next(reader, &item) > 0) {
		if (item.kind != CAPTURE_FRAME || item.len < TRAFFIC_MIN || item.len > 9000 ||
		    item.iface->link != both->store.fixed.link)
			continue;
		both_decide(both, item.data, item.len, item.time_ns);
		n++;
	}
	capture_close(reader);
	return n;
}

static u32 feed_captures(struct both *both, const char *folder)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort);
	u32 frames = 0;

	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (strstr(names[i]->d_name, ".pcap"))
			frames += feed_capture(both, path);
		free(names[i]);
	}
	free(names);
	return frames;
}

static void test_captures(void **state)
{
	static const u32 keys[] = { XDD_KEY_packet, XDD_KEY_frame, XDD_KEY_biflow };
	const char *folder = getenv("XDD_CAPTURES") ?: "../shared/captures";
	u32 frames = 0;

	(void)state;
	both_need_root();
	if (access(folder, R_OK)) {
		print_message("# SKIP no captures in %s\n", folder);
		skip();
	}
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		for (u32 i = 0; i < XDD_ARRAY_SIZE(keys); i++) {
			struct xdd_fixed fixed = config_fixed(engine, keys[i]);
			struct xdd_live live = config_live();
			struct both both;

			if (!config_takes(engine, keys[i]))
				continue;
			vary(&fixed, &live);
			both_open(&both, &fixed, &live);
			frames += feed_captures(&both, folder);
			both_compare(&both);
			both_close(&both);
		}
	}
	print_message("# %u captured frames\n", frames);
	assert_true(frames > 1000);
}

/* A packet whose IPv4 checksum is wrong does not shadow the good one behind it. */
static void test_bad_checksum(void **state)
{
	struct xdd_live live = config_live();
	struct frame frame;

	(void)state;
	both_need_root();
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
		struct both both;
		struct xdd_verdict verdict;

		if (!config_takes(engine, fixed.key))
			continue;
		both_open(&both, &fixed, &live);
		frame_build(&frame, "eth ip4 udp pay:40");
		frame.byte[frame.l3 + 10] ^= 1;
		verdict = both_decide(&both, frame.byte, frame.len, 1000000000);
		assert_int_equal(verdict.bypass, XDD_BYPASS_bad_checksum);
		frame_fix_sum(&frame);
		verdict = both_decide(&both, frame.byte, frame.len, 1000000000);
		assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
		assert_int_equal(verdict.found, 0);
		verdict = both_decide(&both, frame.byte, frame.len, 1000000000);
		assert_int_equal(verdict.found, XDD_SEEN);
		both_close(&both);
	}
}

/* --few: a small part of the configurations. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	 cmocka_unit_test(test_audit),
		cmocka_unit_test(test_stages),	 cmocka_unit_test(test_links),
		cmocka_unit_test(test_captures), cmocka_unit_test(test_bad_checksum),
		cmocka_unit_test(test_recovery),
	};

	few = argc > 1 && !strcmp(argv[1], "--few");
	both_pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

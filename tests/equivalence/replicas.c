// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Replicas in both builds: what one filter publishes of itself has every live key and no expired one, and
 * a filter that holds it as a replica gives the same verdicts in both builds.
 */
#include "both.h"
#include "tests/common/traffic.h"
#include "user/clock.h"
#include "user/cluster/columns.h"
#include "user/cluster/occupancy.h"

#define SHIFT 16
#define FRAMES 300
#define TICK_NS 1000000000ull /* the test takes less than the window */
#define PEER 2

static u64 bits[(1u << SHIFT) / 64];

static struct xdd_fixed home_fixed(u32 engine, u32 slicing, u32 placement)
{
	struct xdd_fixed fixed = structure_fixed(engine, slicing, placement, false);

	fixed.tick_ns = TICK_NS;
	fixed.replica_shift = SHIFT;
	fixed.replica_hashes = xdd_engine_is_sliced(engine) ? fixed.hashes : 5;
	fixed.replica_step = xdd_replica_step(&fixed);
	return fixed;
}

static struct xdd_live home_live(void)
{
	struct xdd_live live = config_live();

	live.window_ns = live.window_ticks * TICK_NS;
	return live;
}

/* What occupancy_read() looks at of an instance. */
static void publish(struct both *both, struct occupancy *about)
{
	struct instance in = { .fixed = both->store.fixed, .live = both->store.live };

	in.maps.lines = bpf_map__fd(both->skel->maps.lines);
	in.maps.cpu_blocks = bpf_map__fd(both->skel->maps.cpu_blocks);
	in.maps.digests = bpf_map__fd(both->skel->maps.digests);
	assert_int_equal(occupancy_read(&in, SHIFT, NULL, bits, about), 0);
}

static void traffic_open(struct traffic *traffic, u64 seed)
{
	memset(traffic, 0, sizeof(*traffic));
	traffic->seed = seed;
	traffic->link = XDD_LINK_ETHERNET;
	traffic->max_payload = 100;
}

/* Show both builds FRAMES frames of @seed at @now; the number of them that no copy was, or, as @found, was. */
static u32 show(struct both *both, u64 seed, u64 now, u32 found)
{
	struct traffic *traffic = malloc(sizeof(*traffic));
	u32 n = 0;

	assert_non_null(traffic);
	traffic_open(traffic, seed);
	for (u32 i = 0; i < FRAMES; i++) {
		const struct frame *frame = traffic_next(traffic);
		struct xdd_verdict verdict = both_decide(both, frame->byte, frame->len, now);

		if (verdict.bypass == XDD_BYPASS_MAX)
			n += found ? (verdict.found & found) == found : !(verdict.found & XDD_SEEN);
	}
	free(traffic);
	return n;
}

/* A replica of @bits in both builds. */
static void hold(struct both *both, struct columns *columns, u64 until_ns)
{
	struct instance in = { .fixed = both->store.fixed };
	struct columns native;
	char err[256];

	in.maps.replicas = bpf_map__fd(both->skel->maps.replicas);
	in.maps.peer_gate = bpf_map__fd(both->skel->maps.peer_gate);
	in.maps.peers = bpf_map__fd(both->skel->maps.peers);
	assert_int_equal(columns_open(columns, &in, err, sizeof(err)), 0);
	columns_over(&native, both->store.replicas, &both->store.peer_gate, both->store.fixed.peers,
		     SHIFT);
	columns_set(columns, PEER, bits, SHIFT);
	columns_set(&native, PEER, bits, SHIFT);
	columns_believe(columns, 1 << PEER, until_ns);
	columns_believe(&native, 1 << PEER, until_ns);
	assert_memory_equal(columns->words, both->store.replicas,
			    ((size_t)both->store.fixed.peers << SHIFT) / 8);
}

struct records {
	u32 n, said, unasked;
};

static int take_record(void *context, void *data, size_t size)
{
	const struct xdd_peer_audit *record = data;
	struct records *records = context;

	assert_int_equal(size, sizeof(*record));
	assert_int_equal(record->believed, 1 << PEER);
	assert_int_equal(record->said & ~record->believed, 0);
	records->n++;
	records->said += record->said != 0;
	records->unasked += record->own == XDD_PEER_OWN_UNASKED;
	if (record->own == XDD_PEER_OWN_UNASKED)
		assert_int_equal(record->said, 1 << PEER);
	return 0;
}

/* All keys are in the sample: what peers said of each packet is recorded while they are believed. */
static void check_records(struct both *away, u32 action, u32 there)
{
	int fd = bpf_map__fd(away->skel->maps.peer_audit);
	struct records records = {};
	struct ring_buffer *ring = ring_buffer__new(fd, take_record, &records, NULL);

	assert_non_null(ring);
	assert_true(ring_buffer__consume(ring) > 0);
	ring_buffer__free(ring);
	assert_int_equal(records.said, there);
	assert_int_equal(records.unasked, action == XDD_REPLICA_count ? 0 : there);
}

static void check_away(const struct xdd_fixed *home, u32 peers, u32 action, u32 keys)
{
	struct xdd_live live = home_live();
	struct xdd_fixed fixed = *home;
	u64 now = now_ns(), until = now + TICK_NS;
	struct columns columns;
	struct both away;
	u32 there;

	fixed.peers = peers;
	fixed.audit_threshold = ~0u;
	fixed.audit_buckets = 64;
	live.replica_action = action;
	both_open(&away, &fixed, &live);
	away.store.replicas = calloc((peers << SHIFT) / 64, sizeof(u64));
	hold(&away, &columns, until);
	there = show(&away, 1, now, XDD_ELSEWHERE | XDD_UNASKED | PEER << XDD_PEER_SHIFT);
	if (action == XDD_REPLICA_count) {
		assert_int_equal(there, 0);
		there = show(&away, 1, now, XDD_ELSEWHERE | PEER << XDD_PEER_SHIFT);
		check_records(&away, action, 2 * there);
	} else {
		check_records(&away, action, there);
	}
	assert_true(there >= keys);
	if (action == XDD_REPLICA_drop) {
		assert_true(show(&away, 1, until, 0) >= keys - 2);
		assert_true(show(&away, 1, until, XDD_SEEN) >= keys);
	}
	show(&away, 2, now, 0);
	both_compare(&away);
	columns_close(&columns);
	free(away.store.replicas);
	both_close(&away);
}

static void check(u32 engine, u32 slicing, u32 placement)
{
	struct xdd_fixed fixed = home_fixed(engine, slicing, placement);
	struct xdd_live live = home_live();
	struct occupancy about;
	struct both home;
	u32 keys, old;

	both_open(&home, &fixed, &live);
	/* Of a time that has gone by, but for bits, which stay. */
	if (engine != XDD_ENGINE_bloom) {
		old = show(&home, 3, now_ns() - 40 * TICK_NS, 0);
		publish(&home, &about);
		assert_true(old > 50);
		assert_int_equal(about.keys, 0);
		assert_int_equal(about.ones, 0);
	}
	keys = show(&home, 1, now_ns(), 0);
	publish(&home, &about);
	print_message("# engine %u slicing %u placement %u: %u keys, %lu published\n", engine,
		      slicing, placement, keys, (unsigned long)about.keys);
	assert_true(keys > 50);
	assert_in_range(about.keys, keys - keys / 20, keys + keys / 20);
	assert_int_equal(about.unpublished, about.keys);
	for (u32 peers = 8; peers <= 64; peers *= 2)
		check_away(&fixed, peers, (peers / 16) % XDD_REPLICA_MAX, keys);
	both_close(&home);
}

static void test_replicas(void **state)
{
	(void)state;
	both_need_root();
	both_pin();
	check(XDD_ENGINE_tagged, XDD_SLICING_horizontal, XDD_PLACEMENT_shared);
	check(XDD_ENGINE_tagged, XDD_SLICING_horizontal, XDD_PLACEMENT_percpu);
	check(XDD_ENGINE_timer, XDD_SLICING_horizontal, XDD_PLACEMENT_shared);
	check(XDD_ENGINE_timer, XDD_SLICING_none, XDD_PLACEMENT_percpu);
	check(XDD_ENGINE_timer, XDD_SLICING_vh, XDD_PLACEMENT_shared);
	check(XDD_ENGINE_bloom, XDD_SLICING_none, XDD_PLACEMENT_shared);
	check(XDD_ENGINE_exact, XDD_SLICING_none, XDD_PLACEMENT_shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replicas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

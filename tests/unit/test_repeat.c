// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Duplicates that may be sent twice, by class; those that are kept; --max-suppress. */
#include <math.h>
#include <stdlib.h>

#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "user/accessors.h"

#define NOW_NS 5000000000ull

static struct xdd_packet packet_of(const struct frame *frame)
{
	struct xdd_packet packet = {
		.data = frame->byte,
		.end = frame->byte + frame->len,
		.len = frame->len,
		.wire_len = frame->len,
		.link = frame->link,
	};

	return packet;
}

/* The verdict on a frame that was seen just before. */
static struct xdd_verdict again(const struct xdd_fixed *fixed, const struct xdd_live *live,
				const struct frame *frame)
{
	struct xdd_packet packet = packet_of(frame);
	struct xdd_verdict verdict;
	struct xdd_store store;

	assert_int_equal(store_open(&store, fixed, live, 1 << 20), 0);
	verdict = store_decide(&store, &packet, NOW_NS);
	assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
	assert_int_equal(verdict.found, 0);
	assert_int_equal(verdict.class, XDD_CLASS_identified);
	verdict = store_decide(&store, &packet, NOW_NS);
	assert_true(verdict.found & XDD_SEEN);
	store_close(&store);
	return verdict;
}

static void check_class(const struct xdd_fixed *fixed, const struct frame *frame, const char *name,
			u32 class)
{
	struct xdd_live live = config_live();
	struct xdd_verdict verdict = again(fixed, &live, frame);

	if (verdict.class != class)
		fail_msg("%s: class %u, not %u", name, verdict.class, class);
	assert_true(xdd_is_suppressed(verdict));
	live.ambiguous_pass = 1u << class & ~1u;
	verdict = again(fixed, &live, frame);
	assert_int_equal(!(verdict.found & XDD_PASSES), class == XDD_CLASS_identified);
	assert_int_equal(xdd_is_suppressed(verdict), class == XDD_CLASS_identified);
	live.ambiguous_pass ^= (1u << XDD_CLASS_MAX) - 2;
	assert_true(xdd_is_suppressed(again(fixed, &live, frame)));
}

struct class_row {
	const char *spec;
	u32 class;
};

static void check_rows(const struct xdd_fixed *fixed, const struct class_row *rows, size_t n)
{
	struct frame frame;

	for (size_t i = 0; i < n; i++) {
		frame_build(&frame, rows[i].spec);
		check_class(fixed, &frame, rows[i].spec, rows[i].class);
	}
}

#define ACK "segment:16"
#define RST "segment:4"
#define RST_ACK "segment:20"
#define SYN "segment:2"
#define FIN_ACK "segment:17"

static void test_classes(void **state)
{
	static const struct class_row rows[] = {
		{ "eth ip4 " ACK, XDD_CLASS_identified },
		{ "eth ip4 udp pay:9", XDD_CLASS_identified },
		{ "eth ip4first udp pay:40", XDD_CLASS_identified },
		{ "eth ip4df " ACK " pad:6", XDD_CLASS_ack_rst },
		{ "eth ip4df:3 " RST, XDD_CLASS_ack_rst },
		{ "eth ip4df " RST_ACK, XDD_CLASS_ack_rst },
		{ "eth ip4df " ACK " pay:1", XDD_CLASS_tcp_data },
		{ "eth ip4df:10 " ACK " pay:1400", XDD_CLASS_tcp_data },
		{ "eth ip4df " SYN, XDD_CLASS_tcp_data },
		{ "eth ip4df " FIN_ACK, XDD_CLASS_tcp_data },
		{ "eth ip4df udp pay:3", XDD_CLASS_udp },
		{ "eth ip4df udplite pay:3", XDD_CLASS_udp },
		{ "eth ip4df icmp:8 pay:56", XDD_CLASS_other },
		{ "eth ip4df proto:6", XDD_CLASS_other },
		{ "eth ip4df gre:0 ip4 udp", XDD_CLASS_other },
		{ "eth ip6 " ACK " pad:4", XDD_CLASS_ack_rst },
		{ "eth ip6 " ACK " pay:3000", XDD_CLASS_tcp_data },
		{ "eth ip6 hop dst:2 route:2 ah:4 " RST, XDD_CLASS_ack_rst },
		{ "eth ip6 hop udp pay:9", XDD_CLASS_udp },
		{ "eth ip6 icmp6:135 pay:8", XDD_CLASS_other },
		{ "eth ip6 dst dst dst dst dst dst dst dst dst udp", XDD_CLASS_other },
		{ "eth ip6 frag " ACK, XDD_CLASS_identified },
		{ "eth ip6 hop frag:1 udp pay:8", XDD_CLASS_identified },
		{ "eth ip6 dst frag:2 proto:17 pay:8", XDD_CLASS_identified },
		{ "eth vlan mpls ip4df " ACK, XDD_CLASS_ack_rst },
		{ "raw ip6 udp pay:8", XDD_CLASS_udp },
	};
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	check_rows(&fixed, rows, XDD_ARRAY_SIZE(rows));
	fixed.inner = 1;
	check_rows(&fixed, (const struct class_row[]){ { "eth ip4 gre:0 ip6 udp", XDD_CLASS_udp } },
		   1);
	check_rows(&fixed,
		   (const struct class_row[]){ { "eth ip6 gre:0 ip4 udp", XDD_CLASS_identified } },
		   1);
}

/* Without identification in the key no IPv4 packet has one; a shorter tail changes nothing. */
static void test_policy(void **state)
{
	static const struct class_row rows[] = {
		{ "eth ip4 " ACK, XDD_CLASS_ack_rst },
		{ "eth ip4:4 " ACK " pay:8", XDD_CLASS_tcp_data },
		{ "eth ip4 udp pay:9", XDD_CLASS_udp },
		{ "eth ip4first udp pay:40", XDD_CLASS_udp },
		{ "eth ip4later proto:17 pay:40", XDD_CLASS_other },
		{ "eth ip6 frag:1 udp pay:8", XDD_CLASS_identified },
	};
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);

	(void)state;
	fixed.changed_fields = 1u << XDD_FIELD_ipid;
	check_rows(&fixed, rows, XDD_ARRAY_SIZE(rows));
	fixed.payload_bytes = 4;
	check_rows(&fixed, rows, XDD_ARRAY_SIZE(rows));
}

/* Segmentation offload leaves the length at 0: the packet reaches to the captured end. */
static void test_offload(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct frame frame;

	(void)state;
	fixed.zero_length_ok = 1;
	frame_build(&frame, "eth ip4df " ACK " pay:5000");
	frame_put16(frame.byte + frame.l3 + 2, 0);
	frame_fix_sum(&frame);
	check_class(&fixed, &frame, "IPv4", XDD_CLASS_tcp_data);
	frame_build(&frame, "eth ip6 " ACK " pay:5000");
	frame_put16(frame.byte + frame.l3 + 4, 0);
	check_class(&fixed, &frame, "IPv6", XDD_CLASS_tcp_data);
}

/* Frames without IP have no identification, and other keys do not ask for one. */
static void test_other_keys(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct frame frame;

	(void)state;
	fixed.non_ip_frame = 1;
	frame_build(&frame, "eth vlan arp pad:18");
	check_class(&fixed, &frame, "ARP", XDD_CLASS_other);
	for (fixed.key = XDD_KEY_packet + 1; fixed.key < XDD_KEY_MAX; fixed.key++) {
		if (fixed.key == XDD_KEY_redundancy) /* of numbered frames only */
			continue;
		frame_build(&frame, "eth ip6 udp pay:8");
		check_class(&fixed, &frame, "another key", XDD_CLASS_identified);
	}
}

/* Which of so many copies pass, as a string of '.' and '#'. */
static void pattern(struct xdd_store *store, const struct frame *frame, u64 now_ns, u32 n,
		    char *text)
{
	struct xdd_packet packet = packet_of(frame);

	for (u32 i = 0; i < n; i++) {
		struct xdd_verdict verdict = store_decide(store, &packet, now_ns);

		text[i] = xdd_is_suppressed(verdict) ? '.' : '#';
		assert_int_equal(text[i] == '#' && verdict.found & XDD_SEEN,
				 !!(verdict.found & XDD_LET_THROUGH));
	}
	text[n] = 0;
}

/* The exact engine: of each key one after so many, counted anew from the next distinct one. */
static void test_max_exact(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct xdd_live live = config_live();
	struct xdd_store store;
	struct frame one, two;
	char text[32];

	(void)state;
	live.max_suppress = 3;
	assert_int_equal(store_open(&store, &fixed, &live, 1 << 20), 0);
	frame_build(&one, "eth ip4 udp pay:1");
	frame_build(&two, "eth ip4 udp pay:2");
	pattern(&store, &one, NOW_NS, 11, text);
	assert_string_equal(text, "#...#...#..");
	pattern(&store, &two, NOW_NS, 6, text);
	assert_string_equal(text, "#...#.");
	pattern(&store, &one, NOW_NS, 3, text);
	assert_string_equal(text, ".#.");
	pattern(&store, &one, NOW_NS + live.window_ns + 1, 6, text);
	assert_string_equal(text, "#...#.");
	store.live.max_suppress = 1;
	pattern(&store, &two, NOW_NS + 2 * live.window_ns + 2, 6, text);
	assert_string_equal(text, "#.#.#.");
	store_close(&store);
}

/* A duplicate that its class keeps is not counted as suppressed. */
static void test_max_with_class(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct xdd_live live = config_live();
	struct xdd_verdict verdict;
	struct xdd_packet packet;
	struct xdd_store store;
	struct frame frame;

	(void)state;
	live.max_suppress = 1;
	live.top = 1;
	live.ambiguous_pass = 1u << XDD_CLASS_udp;
	assert_int_equal(store_open(&store, &fixed, &live, 1 << 20), 0);
	frame_build(&frame, "eth ip6 udp pay:1");
	packet = packet_of(&frame);
	store_decide(&store, &packet, NOW_NS);
	for (u32 i = 0; i < 5; i++) {
		verdict = store_decide(&store, &packet, NOW_NS);
		assert_int_equal(verdict.found, XDD_SEEN | XDD_PASSES);
	}
	store.live.ambiguous_pass = 0;
	verdict = store_decide(&store, &packet, NOW_NS);
	assert_int_equal(verdict.found, XDD_SEEN);
	verdict = store_decide(&store, &packet, NOW_NS);
	assert_int_equal(verdict.found, XDD_SEEN | XDD_LET_THROUGH);
	store_close(&store);
}

/* The other engines: one in N + 1 within five standard deviations, at one moment, of one key. */
static void check_max(u32 engine, u32 most)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
	const u32 n = 40000;
	double expected = (double)n / (most + 1), passed = 0;
	struct xdd_live live = config_live();
	struct xdd_store store;
	struct frame frame;
	char *text = malloc(n + 1);

	fixed.reservoir_events = 1000;
	live.max_suppress = most;
	frame_build(&frame, "eth ip4 udp pay:9");
	assert_int_equal(store_open(&store, &fixed, &live, 1 << 20), 0);
	pattern(&store, &frame, NOW_NS, n, text);
	for (u32 i = 1; i < n; i++)
		passed += text[i] == '#';
	if (passed < expected - 5 * sqrt(expected) || passed > expected + 5 * sqrt(expected))
		fail_msg("engine %u: %g of %u passed, not %g", engine, passed, n, expected);
	store_close(&store);
	free(text);
}

static void test_max_by_chance(void **state)
{
	(void)state;
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		if (!config_takes(engine, XDD_KEY_packet))
			continue;
		check_max(engine, 1);
		check_max(engine, 9);
		check_max(engine, 99);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),	      cmocka_unit_test(test_policy),
		cmocka_unit_test(test_offload),	      cmocka_unit_test(test_other_keys),
		cmocka_unit_test(test_max_exact),     cmocka_unit_test(test_max_with_class),
		cmocka_unit_test(test_max_by_chance),
	};

	return cmocka_run_group_tests_name("repeat", tests, NULL, NULL);
}

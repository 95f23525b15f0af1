// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sequence recovery against the standard's pseudo code, written down with arrays and one step at a
 * time: copies in any order, losses, jumps, numbers that go round, quiet streams.
 */
#include <errno.h>

#include "tests/common/ask.h"
#include "tests/common/frame.h"

#define WINDOW_NS (CONFIG_WINDOW_TICKS * (u64)CONFIG_TICK_NS)
#define SPACE 65536

/* The recovery function's variables, IEEE 802.1CB 7.4.3.2. */
struct model {
	s32 history; /* frerSeqRcvyHistoryLength; 0: the match algorithm */
	bool node;   /* of PRP or HSR */
	bool refresh;
	bool take_any;
	s32 last; /* RecovSeqNum */
	bool seen[XDD_MAX_HISTORY];
	u64 time_ns; /* when RemainingTicks was set */
};

static void model_take(struct model *m, s32 number, u64 now)
{
	memset(m->seen, 0, sizeof(m->seen));
	m->seen[0] = true;
	m->take_any = false;
	m->last = number;
	m->time_ns = now;
}

static void model_shift(struct model *m, bool seen)
{
	memmove(m->seen + 1, m->seen, sizeof(m->seen) - sizeof(m->seen[0]));
	m->seen[0] = seen;
}

static u32 model_rogue(struct model *m, s32 number, u64 now)
{
	if (m->node)
		model_take(m, number, now);
	else if (m->refresh)
		m->time_ns = now;
	return XDD_ROGUE;
}

static u32 model_ask(struct model *m, s32 number, u64 now)
{
	s32 delta = (number - m->last) & (SPACE - 1);

	if (delta & SPACE / 2)
		delta -= SPACE;
	if (m->take_any || (now > m->time_ns ? now - m->time_ns : m->time_ns - now) > WINDOW_NS) {
		model_take(m, number, now);
		return 0;
	}
	if (m->history && (delta >= m->history || delta <= -m->history))
		return model_rogue(m, number, now);
	if (m->history ? delta <= 0 && m->seen[-delta] : !delta) {
		if (m->refresh)
			m->time_ns = now;
		return XDD_SEEN;
	}
	m->time_ns = now;
	if (m->history && delta <= 0) {
		m->seen[-delta] = true;
		return 0;
	}
	for (; m->history && delta > 1; delta--)
		model_shift(m, false);
	model_shift(m, true);
	m->last = number;
	return 0;
}

static struct xdd_fixed recovery_fixed(u32 history)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_recovery, XDD_KEY_redundancy);

	fixed.slicing = XDD_SLICING_none;
	fixed.slices = 1;
	fixed.history = history;
	return fixed;
}

static u32 ask_number(struct xdd_store *store, u64 stream, u8 scheme, u16 number, u64 now)
{
	struct xdd_identity identity = { .digest = { xdd_mix64(stream), stream } };
	struct xdd_verdict verdict;

	identity.key.sequence = number;
	identity.key.head.proto = scheme;
	verdict = xdd_judge(&store->fixed, &store->live, store, &identity, now, 0);
	assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
	return verdict.found;
}

/* The next number: copies, losses, late ones, jumps, all over the circle. */
static s32 next_number(u64 *seed, s32 number, s32 history)
{
	u32 pick = random_below(seed, 1000);
	s32 reach = history + 2;

	if (pick < 400)
		return number;
	if (pick < 700)
		return number + 1;
	if (pick < 800)
		return number + random_below(seed, reach);
	if (pick < 998)
		return number - random_below(seed, reach);
	return random_below(seed, SPACE);
}

static void compare(u32 history, u8 scheme, bool refresh)
{
	struct model model = { history, scheme == XDD_SCHEME_NODE, refresh, .take_any = true };
	struct xdd_fixed fixed = recovery_fixed(history);
	u64 seed = history * 4 + scheme * 2 + refresh + 1, now = 1ULL << 40;
	u32 found[3] = {};
	struct xdd_store store;
	s32 number = SPACE - 20;

	fixed.refresh = refresh;
	ask_open(&store, &fixed);
	for (u32 i = 0; i < 30000; i++) {
		u32 expected;

		number = next_number(&seed, number, history) & (SPACE - 1);
		now += random_below(&seed, 100) ? random_below(&seed, 40000) : 2 * WINDOW_NS;
		now -= random_below(&seed, 100) ? 0 : 50000;
		expected = model_ask(&model, number, now);
		assert_int_equal(ask_number(&store, 7, scheme, number, now), expected);
		found[expected == XDD_ROGUE ? 2 : expected == XDD_SEEN]++;
	}
	assert_true(found[0] > 500 && found[1] > 500);
	assert_true(history ? found[2] > 100 : !found[2]);
	store_close(&store);
}

static void test_standard(void **state)
{
	static const u32 histories[] = { 0, 2, 3, 63, 64, 65, 200, 255, 256 };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(histories) * 4; i++)
		compare(histories[i / 4], i & 1, i & 2);
}

/* The window is inclusive; only what was accepted restarts it. */
static void test_quiet(void **state)
{
	struct xdd_fixed fixed = recovery_fixed(64);
	u64 now = 1ULL << 40;
	struct xdd_store store;

	(void)state;
	ask_open(&store, &fixed);
	assert_int_equal(ask_number(&store, 1, XDD_SCHEME_FRER, 5, now), 0);
	assert_int_equal(ask_number(&store, 1, XDD_SCHEME_FRER, 5, now + WINDOW_NS), XDD_SEEN);
	assert_int_equal(ask_number(&store, 1, XDD_SCHEME_FRER, 900, now + WINDOW_NS), XDD_ROGUE);
	assert_int_equal(ask_number(&store, 1, XDD_SCHEME_FRER, 900, now + WINDOW_NS + 1), 0);
	assert_int_equal(ask_number(&store, 1, XDD_SCHEME_FRER, 900, now + WINDOW_NS + 1),
			 XDD_SEEN);
	store_close(&store);
}

/* Four streams find room in a set; a fifth takes the place of the one that is quiet for longest. */
static void test_room(void **state)
{
	struct xdd_fixed fixed = recovery_fixed(XDD_MAX_HISTORY);
	u64 now = 1ULL << 40;
	struct xdd_store store;

	(void)state;
	fixed.blocks = XDD_RECOVERY_WAYS;
	ask_open(&store, &fixed);
	for (u32 i = 0; i < XDD_RECOVERY_WAYS; i++)
		assert_int_equal(ask_number(&store, i, XDD_SCHEME_NODE, 9, now + (i + 2) % 4), 0);
	for (u32 i = 0; i < XDD_RECOVERY_WAYS; i++)
		assert_int_equal(ask_number(&store, i, XDD_SCHEME_NODE, 9, now + 5), XDD_SEEN);
	assert_int_equal(ask_number(&store, 4, XDD_SCHEME_NODE, 9, now + 6), XDD_EVICTED);
	for (u32 i = 0; i <= XDD_RECOVERY_WAYS; i++) {
		u32 found = i == 2 ? XDD_EVICTED : XDD_SEEN;

		if (i != 2)
			assert_int_equal(ask_number(&store, i, XDD_SCHEME_NODE, 9, now + 7), found);
	}
	assert_int_equal(ask_number(&store, 2, XDD_SCHEME_NODE, 9, now + 8), XDD_EVICTED);
	assert_int_equal(ask_number(&store, 9, XDD_SCHEME_NODE, 9, now + 2 * WINDOW_NS), 0);
	store_close(&store);
}

static struct xdd_verdict ask_frame(struct xdd_store *store, const char *spec, u64 now)
{
	static struct frame frame;
	struct xdd_packet packet;

	frame_build(&frame, spec);
	packet = frame_packet(&frame);
	return store_decide(store, &packet, now);
}

static void expect(struct xdd_store *store, const char *spec, u32 bypass, u32 found)
{
	struct xdd_verdict verdict = ask_frame(store, spec, 1ULL << 40);

	if (verdict.bypass != bypass || verdict.found != found)
		fail_msg("%s: bypass %u found %u", spec, verdict.bypass, verdict.found);
}

#define FIRST(spec) expect(&store, spec, XDD_BYPASS_MAX, 0)
#define COPY(spec) expect(&store, spec, XDD_BYPASS_MAX, XDD_SEEN)
#define BYPASS(spec, reason) expect(&store, spec, XDD_BYPASS_##reason, 0)

/* Which frames are one: engines that know numbers only by the key see the same. */
static void check_frames(u32 engine)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_redundancy);
	struct xdd_store store;

	fixed.slicing = XDD_SLICING_none;
	fixed.slices = 1;
	ask_open(&store, &fixed);
	/* LAN A, LAN B; with a VLAN tag in one of them; a box to HSR; padding behind, a checksum. */
	FIRST("eth ip4 udp pay:40 rct:10");
	COPY("eth ip4 udp pay:40 rct:0x1000a");
	COPY("eth vlan ip4 udp pay:40 rct:0x1000a");
	COPY("eth hsr:10 ip4 udp pay:40");
	COPY("eth vlan hsr:10 ip4 udp pay:40");
	COPY("eth arp rct:10 pad:4");
	FIRST("eth arp pad:14 rct:11");
	COPY("eth arp pad:14 rct:0x1000b");
	FIRST("eth hsr:12 arp");
	/* A number of a stream is none of a node. */
	FIRST("eth rtag:12 ip6 tcp");
	COPY("eth rtag:12 ip4 udp");
	FIRST("eth vlan rtag:12 ip6 tcp");
	COPY("eth rtag:12 vlan ip6 tcp");
	COPY("eth vlan:0x64 rtag:12 arp");
	FIRST("eth vlan:0x65 rtag:12 arp");
	BYPASS("eth ip4 udp pay:40", untagged);
	BYPASS("eth arp rct:13 pad:3", untagged);
	BYPASS("eth vlan vlan vlan vlan vlan rtag:1 arp", unsupported);
	FIRST("eth vlan vlan vlan vlan rtag:1");
	BYPASS("sll arp", unsupported);
	store_close(&store);
}

static void test_frames(void **state)
{
	(void)state;
	check_frames(XDD_ENGINE_recovery);
	check_frames(XDD_ENGINE_exact);
}

static __attribute__((noinline)) u32 find(const struct xdd_packet *packet,
					  struct xdd_number *number)
{
	return xdd_find_number(packet, number);
}

/* A trailer whose LAN, size or suffix is wrong is none; nor can one be seen that was cut off. */
static void test_trailers(void **state)
{
	struct xdd_number number;
	struct frame frame;
	struct xdd_packet packet;

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:40 rct:0x11234");
	packet = frame_packet(&frame);
	assert_int_equal(find(&packet, &number), XDD_BYPASS_MAX);
	assert_int_equal(number.sequence, 0x1234);
	assert_int_equal(number.scheme, XDD_SCHEME_NODE);
	assert_memory_equal(number.address, frame.byte + 6, 6);
	for (u32 i = 1; i <= 4; i++) {
		frame.byte[frame.len - i] ^= 0x40;
		assert_int_equal(find(&packet, &number), XDD_BYPASS_untagged);
		frame.byte[frame.len - i] ^= 0x40;
	}
	packet.wire_len++;
	assert_int_equal(find(&packet, &number), XDD_BYPASS_truncated);
}

/* Two networks whose nodes have the same addresses and numbers. */
static void test_two_networks(void **state)
{
	static u32 ifaces[] = { 3, 4 };
	struct xdd_fixed fixed = recovery_fixed(XDD_MAX_HISTORY);
	struct frame frames[2];
	struct xdd_store store;

	(void)state;
	frame_build(&frames[0], "eth vlan:1 ip4 udp rct:7");
	frame_build(&frames[1], "eth vlan:2 ip4 udp rct:0x10007");
	for (u32 by = 0; by < 4; by++) {
		fixed.vlan_key = by & 1;
		fixed.scope_iface = by >> 1;
		ask_open(&store, &fixed);
		for (u32 i = 0; i < 4; i++) {
			struct xdd_packet packet = frame_packet(&frames[i & 1]);
			struct xdd_verdict verdict;

			packet.source = &ifaces[i & 1];
			verdict = store_decide(&store, &packet, 1ULL << 40);
			assert_int_equal(verdict.found, i < (by ? 2 : 1) ? 0 : XDD_SEEN);
		}
		store_close(&store);
	}
}

/* What the filter of packets sees behind the tags, and at the end of frames without IP. */
static void test_other_keys(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct xdd_store store;

	(void)state;
	fixed.non_ip_frame = 1;
	ask_open(&store, &fixed);
	FIRST("eth ip4 udp pay:40");
	COPY("eth ip4 udp pay:40 rct:10");
	COPY("eth hsr:11 ip4 udp pay:40");
	COPY("eth vlan rtag:12 vlan ip4 udp pay:40");
	FIRST("eth vntag pay:60 rct:10");
	COPY("eth hsr:9 vntag pay:60");
	COPY("eth vlan vntag pay:60 rct:0x1000a");
	store.fixed.inner = 1;
	COPY("eth ip4 gre eth hsr:1 ip4 udp pay:40");
	COPY("eth ip4 gre eth vlan rtag:1 ip4 udp pay:40");
	store_close(&store);
}

static void test_refused(void **state)
{
	struct xdd_fixed good = recovery_fixed(2), bad;
	struct xdd_live live = config_live();
	struct xdd_store store;

	(void)state;
	ask_open(&store, &good);
	store_close(&store);
#define REFUSE(field, value)                                                   \
	do {                                                                   \
		bad = good;                                                    \
		bad.field = (value);                                           \
		assert_int_equal(store_open(&store, &bad, &live, 0), -EINVAL); \
	} while (0)
	REFUSE(key, XDD_KEY_packet);
	REFUSE(history, 1);
	REFUSE(history, XDD_MAX_HISTORY + 1);
	REFUSE(blocks, XDD_RECOVERY_WAYS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standard),   cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_room),	   cmocka_unit_test(test_frames),
		cmocka_unit_test(test_trailers),   cmocka_unit_test(test_two_networks),
		cmocka_unit_test(test_other_keys), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

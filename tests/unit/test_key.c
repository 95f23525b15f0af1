/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which changes of a packet change its key, by a table; biflow's symmetry; offsets; bypasses. */
#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "user/accessors.h"

#define KEY(name) (1u << XDD_KEY_##name)
#define FLOWS (KEY(flow) | KEY(biflow))
#define SOURCE (FLOWS | KEY(src) | KEY(srcdst))
#define TARGET (FLOWS | KEY(dst) | KEY(srcdst))
#define CONTENT (KEY(packet) | KEY(frame))

static struct frame frame, other;

struct full_key {
	struct xdd_key key;
	u32 bypass;
	u8 tail[FRAME_MAX];
};

static struct full_key key_of(const struct xdd_fixed *fixed, const struct frame *of)
{
	struct xdd_packet packet = frame_packet(of);
	struct full_key full;

	memset(&full, 0, sizeof(full));
	full.bypass = xdd_key_build(fixed, &packet, &full.key);
	if (full.bypass != XDD_BYPASS_MAX)
		return full;
	assert_true(full.key.tail + full.key.head.tail_len <= of->len);
	memcpy(full.tail, of->byte + full.key.tail, full.key.head.tail_len);
	full.key.tail = 0;
	return full;
}

static bool same_key(const struct xdd_fixed *fixed)
{
	static struct full_key one, two;

	one = key_of(fixed, &frame);
	two = key_of(fixed, &other);
	assert_int_equal(one.bypass, XDD_BYPASS_MAX);
	assert_int_equal(two.bypass, XDD_BYPASS_MAX);
	return !memcmp(&one, &two, sizeof(one));
}

/* @spec as it is, and with the bytes at @at (from the IP header) changed by @flip. */
struct change {
	const char *what;
	const char *spec;
	u32 at;
	u8 flip;
	u32 differ; /* the keys that tell the two apart */
};

static const struct change changes[] = {
	{ "nothing", "eth ip4 udp pay:20", 0, 0, 0 },
	{ "TOS", "eth ip4 udp pay:20", 1, 0xfc, KEY(frame) },
	{ "identification", "eth ip4 udp pay:20", 5, 1, CONTENT },
	{ "do not fragment", "eth ip4 udp pay:20", 6, 0x40, CONTENT },
	{ "TTL", "eth ip4 udp pay:20", 8, 1, KEY(frame) },
	{ "protocol, UDP to TCP", "eth ip4 udp pay:20", 9, 17 ^ 6, CONTENT | FLOWS },
	{ "source", "eth ip4 udp pay:20", 13, 1, CONTENT | SOURCE },
	{ "destination", "eth ip4 udp pay:20", 19, 1, CONTENT | TARGET },
	{ "source port", "eth ip4 udp pay:20", 21, 1, CONTENT | FLOWS },
	{ "destination port", "eth ip4 udp pay:20", 23, 1, CONTENT | FLOWS },
	{ "UDP checksum", "eth ip4 udp pay:20", 27, 1, CONTENT },
	{ "first byte of payload", "eth ip4 udp pay:20", 28, 1, CONTENT },
	{ "last byte of payload", "eth ip4 udp pay:20", 47, 1, CONTENT },
	{ "padding", "eth ip4 udp pay:10 pad:8", 40, 1, KEY(frame) },
	{ "option", "eth ip4:2 udp pay:10", 22, 2, CONTENT },
	{ "TCP acknowledgement", "eth ip4 tcp pay:10", 28, 1, CONTENT },
	{ "SCTP port", "eth ip4 sctp pay:20", 21, 1, CONTENT | FLOWS },
	{ "ICMP type", "eth ip4 icmp:3 pay:20", 20, 8, CONTENT | FLOWS },
	{ "echo identifier", "eth ip4 icmp:8 pay:20", 25, 1, CONTENT | FLOWS },
	{ "echo sequence", "eth ip4 icmp:8 pay:20", 27, 1, CONTENT },
	{ "later fragment, where ports would be", "eth ip4later proto:17 pay:20", 21, 1, CONTENT },
	{ "first fragment, port", "eth ip4first udp pay:20", 21, 1, CONTENT | FLOWS },
	{ "traffic class", "eth ip6 udp pay:20", 0, 0x0f, KEY(frame) },
	{ "flow label", "eth ip6 udp pay:20", 3, 0xff, KEY(frame) },
	{ "hop limit", "eth ip6 udp pay:20", 7, 1, KEY(frame) },
	{ "next header, UDP to TCP", "eth ip6 udp pay:20", 6, 17 ^ 6, CONTENT | FLOWS },
	{ "IPv6 source, first half", "eth ip6 udp pay:20", 9, 1, CONTENT | SOURCE },
	{ "IPv6 source, second half", "eth ip6 udp pay:20", 23, 1, CONTENT | SOURCE },
	{ "IPv6 destination", "eth ip6 udp pay:20", 39, 1, CONTENT | TARGET },
	{ "port behind extensions", "eth ip6 hop dst udp pay:20", 57, 1, CONTENT | FLOWS },
	{ "option in an extension", "eth ip6 dst udp pay:20", 45, 1, CONTENT },
	{ "fragment identification", "eth ip6 frag:1 udp pay:20", 47, 1, CONTENT },
	{ "IPv6 later fragment", "eth ip6 frag:2 proto:17 pay:20", 49, 1, CONTENT },
};

static void check_change(const struct change *change)
{
	frame_build(&frame, change->spec);
	other = frame;
	other.byte[other.l3 + change->at] ^= change->flip;
	frame_fix_sum(&other);
	for (u32 key = 0; key < XDD_KEY_offset; key++) {
		struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, key);
		bool differ = change->differ & 1u << key;

		if (same_key(&fixed) == differ)
			fail_msg("%s, %s: key %u %s differ", change->what, change->spec, key,
				 differ ? "must" : "must not");
	}
}

static void test_changes(void **state)
{
	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(changes); i++)
		check_change(&changes[i]);
}

/* The same IP packet in other frames: only key frame tells them apart. */
static void test_links(void **state)
{
	static const char *const specs[] = {
		"eth ip6 udp pay:30",		"eth vlan:99 ip6 udp pay:30",
		"eth qinq vlan ip6 udp pay:30", "eth mpls ip6 udp pay:30",
		"sll ip6 udp pay:30",		"sll2 ip6 udp pay:30",
		"null ip6 udp pay:30",		"raw ip6 udp pay:30",
		"eth ip6 udp pay:30 pad:3"
	};

	(void)state;
	frame_build(&frame, specs[0]);
	for (u32 i = 1; i < XDD_ARRAY_SIZE(specs); i++) {
		frame_build(&other, specs[i]);
		for (u32 key = 0; key < XDD_KEY_offset; key++) {
			struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, key);

			assert_int_equal(same_key(&fixed), key != XDD_KEY_frame);
		}
	}
}

/* IPv4 and IPv6 packets never share a key, nor do two kinds. */
static void test_kinds_apart(void **state)
{
	struct full_key one, two;

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:20");
	frame_build(&other, "eth ip6 udp pay:20");
	for (u32 key = 0; key < XDD_KEY_offset; key++) {
		struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, key);

		assert_false(same_key(&fixed));
		one = key_of(&fixed, &frame);
		for (fixed.key = 0; fixed.key < key; fixed.key++) {
			two = key_of(&fixed, &frame);
			assert_memory_not_equal(&one, &two, sizeof(one));
		}
	}
}

static void exchange(u8 *a, u8 *b, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		u8 byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

/* @other becomes the answer to @frame. */
static void make_reply(u32 reply_type)
{
	u8 *ip;
	u32 address;

	other = frame;
	ip = other.byte + other.l3;
	address = other.version == 4 ? 12 : 8;
	exchange(ip + address, ip + (other.version == 4 ? 16 : 24), other.version == 4 ? 4 : 16);
	if (reply_type != ~0u)
		other.byte[other.l4] = reply_type;
	else
		exchange(other.byte + other.l4, other.byte + other.l4 + 2, 2);
	frame_fix_sum(&other);
}

static void check_reply(const char *spec, u32 reply_type, u64 *seed)
{
	struct xdd_fixed biflow = config_fixed(XDD_ENGINE_exact, XDD_KEY_biflow);
	struct xdd_fixed flow = config_fixed(XDD_ENGINE_exact, XDD_KEY_flow);
	u8 *ip;
	bool same_address = !random_below(seed, 4);

	frame_build(&frame, spec);
	ip = frame.byte + frame.l3;
	if (frame.version == 4) {
		random_bytes(seed, ip + 12, 8);
		if (same_address)
			memcpy(ip + 16, ip + 12, 4);
	} else {
		random_bytes(seed, ip + 8, 32);
		if (same_address)
			memcpy(ip + 24, ip + 8, 16);
		else if (random_below(seed, 2))
			memcpy(ip + 24, ip + 8, 8);
	}
	if (reply_type == ~0u)
		random_bytes(seed, frame.byte + frame.l4, 4);
	frame_fix_sum(&frame);
	make_reply(reply_type);
	assert_true(same_key(&biflow));
	assert_false(same_key(&flow));
	other.byte[other.l4 + (reply_type == ~0u ? 0 : 5)] ^= 1;
	assert_false(same_key(&biflow));
}

static void test_biflow(void **state)
{
	u64 seed = 11;

	(void)state;
	for (u32 i = 0; i < 2000; i++) {
		check_reply("eth ip4 tcp pay:4", ~0u, &seed);
		check_reply("eth ip6 udp pay:4", ~0u, &seed);
		check_reply("eth ip6 dst sctp pay:4", ~0u, &seed);
		check_reply("eth ip4 icmp:8 pay:4", 0, &seed);
		check_reply("eth ip6 icmp6:128 pay:4", 129, &seed);
	}
}

/* Key offset takes those bytes and no others, and passes what is too short for them. */
static void test_offset(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_offset);

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:60");
	for (u32 i = 0; i < frame.len; i++) {
		other = frame;
		other.byte[i] ^= 1;
		assert_int_equal(same_key(&fixed),
				 i < fixed.offset_pos || i >= fixed.offset_pos + fixed.offset_len);
	}
	frame.len = fixed.offset_pos + fixed.offset_len;
	assert_int_equal(key_of(&fixed, &frame).bypass, XDD_BYPASS_MAX);
	frame.len--;
	assert_int_equal(key_of(&fixed, &frame).bypass, XDD_BYPASS_truncated);
	fixed.offset_pos = 65535;
	fixed.offset_len = 65535;
	assert_int_equal(key_of(&fixed, &frame).bypass, XDD_BYPASS_truncated);
}

/* Key frame: link type, wire length and every byte. */
static void test_frame(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_frame);
	struct xdd_packet packet;
	struct xdd_key one, two;

	(void)state;
	frame_build(&frame, "eth arp");
	for (u32 i = 0; i < frame.len; i++) {
		other = frame;
		other.byte[i] ^= 0x80;
		assert_false(same_key(&fixed));
	}
	other = frame;
	other.link = XDD_LINK_RAW;
	assert_false(same_key(&fixed));
	packet = frame_packet(&frame);
	xdd_key_build(&fixed, &packet, &one);
	packet.wire_len++;
	xdd_key_build(&fixed, &packet, &two);
	assert_memory_not_equal(&one, &two, sizeof(one));
}

/* Captures cut by the snap length: the stated lengths still tell packets apart. */
static void test_short_captures(void **state)
{
	static const char *const specs[] = { "eth ip4 udp pay:60", "eth ip6 udp pay:60" };
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	fixed.short_capture_ok = 1;
	fixed.verify_checksum = 0;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(specs); i++) {
		frame_build(&frame, specs[i]);
		frame.len -= 30;
		other = frame;
		assert_true(same_key(&fixed));
		other.byte[other.l3 + (other.version == 4 ? 3 : 5)]++;
		assert_false(same_key(&fixed));
	}
}

/* Where options end is part of the key, even if all bytes behind the fixed header agree. */
static void test_header_length(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	frame_build(&frame, "eth ip4:2 proto:89 pay:20");
	other = frame;
	other.byte[other.l3]++;
	frame_fix_sum(&other);
	assert_false(same_key(&fixed));
}

/* EtherType and what follows; no addresses, tags or padding. */
static void check_not_ip(const struct xdd_fixed *fixed)
{
	frame_build(&frame, "eth arp");
	frame_build(&other, "eth vlan arp pad:18");
	assert_true(same_key(fixed));
	other.byte[3] ^= 1;
	assert_true(same_key(fixed));
	other.byte[other.len - 18 - 1] ^= 1;
	assert_false(same_key(fixed));

	frame_build(&frame, "eth stp pad:9");
	frame.byte[12] = 0;
	frame.byte[13] = 46;
	other = frame;
	other.byte[other.len - 1] ^= 1;
	assert_true(same_key(fixed));
	other.byte[other.len - 10] ^= 1;
	assert_false(same_key(fixed));
}

/* What switches say to each other passes: each has addresses of its own, but repeats itself. */
static void check_link_local(const struct xdd_fixed *fixed)
{
	frame_build(&frame, "eth stp");
	memcpy(frame.byte, "\x01\x80\xc2\0\0\x0f", 6);
	assert_int_equal(key_of(fixed, &frame).bypass, XDD_BYPASS_not_ip);
	frame.byte[5]++;
	assert_int_equal(key_of(fixed, &frame).bypass, XDD_BYPASS_MAX);
}

static void test_not_ip(void **state)
{
	(void)state;
	for (u32 key = 0; key < XDD_KEY_offset; key++) {
		struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, key);

		if (key == XDD_KEY_frame)
			continue;
		frame_build(&frame, "eth arp");
		assert_int_equal(key_of(&fixed, &frame).bypass, XDD_BYPASS_not_ip);
		fixed.non_ip_frame = 1;
		check_not_ip(&fixed);
		check_link_local(&fixed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),	       cmocka_unit_test(test_links),
		cmocka_unit_test(test_kinds_apart),    cmocka_unit_test(test_biflow),
		cmocka_unit_test(test_offset),	       cmocka_unit_test(test_frame),
		cmocka_unit_test(test_short_captures), cmocka_unit_test(test_header_length),
		cmocka_unit_test(test_not_ip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

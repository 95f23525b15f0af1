/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The innermost packet of tunnels, by the table of tunnels.h: that it is found; that nothing is read
 * beyond the end; that a packet which is cut, or spoilt, leaves the last one that was whole.
 */
#include "tests/common/guard.h"
#include "tests/common/tunnels.h"
#include "user/accessors.h"

static struct frame frame, spoilt;
static struct guard guard;

struct found {
	struct xdd_layers layers;
	struct xdd_walk walk;
};

static struct found look(const struct xdd_fixed *fixed, const struct frame *in)
{
	const u8 *at = guard_copy(&guard, in->byte, in->len, false);
	struct xdd_packet packet = { at, at + in->len, NULL, in->len, in->len, in->link };
	struct xdd_around around = {};
	struct found found;

	xdd_packet_layers(fixed, &packet, &found.layers);
	xdd_packet_inner(fixed, &packet, &found.walk, &found.layers, &around);
	return found;
}

static void expect_ip(const struct found *found, const struct frame *in, u32 ip, u32 end)
{
	assert_int_equal(found->layers.bypass, XDD_BYPASS_MAX);
	assert_int_equal(found->layers.l3, in->ip[ip].at);
	assert_int_equal(found->layers.version, in->ip[ip].version);
	assert_int_equal(found->layers.end, end);
}

/* The IP packets that hold others: none where only the link is around the innermost one. */
static void test_found(void **state)
{
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(tunnel_specs); i++) {
		struct found found;

		print_message("# %s\n", tunnel_specs[i]);
		frame_build(&frame, tunnel_specs[i]);
		for (fixed.key = 0; fixed.key < XDD_KEY_offset; fixed.key++) {
			found = look(&fixed, &frame);
			expect_ip(&found, &frame, frame.ips - 1, frame.end);
			assert_int_equal(found.walk.note, XDD_inner_fine);
		}
	}
}

static void test_not_found(void **state)
{
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(no_tunnel_specs); i++) {
		struct found found;

		print_message("# %s\n", no_tunnel_specs[i]);
		frame_build(&frame, no_tunnel_specs[i]);
		found = look(&fixed, &frame);
		expect_ip(&found, &frame, 0, frame.end);
	}
}

/* The frame as cut by a snap length, at any byte: nothing on a NIC; in a file what there is of the
 * packet that the cut goes through.
 */
static void check_snapped(const struct xdd_fixed *fixed)
{
	u32 len = frame.len;

	for (frame.len = 0; frame.len < frame.end; frame.len++) {
		struct found found = look(fixed, &frame);
		u32 whole = 0;

		while (whole < frame.ips &&
		       frame.ip[whole].at + (frame.ip[whole].version == 4 ? 20 : 40) <= frame.len)
			whole++;
		if (!fixed->short_capture_ok || !whole)
			assert_int_not_equal(found.layers.bypass, XDD_BYPASS_MAX);
		else
			expect_ip(&found, &frame, whole - 1, frame.len);
	}
	frame.len = len;
}

static void test_snapped(void **state)
{
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(tunnel_specs); i++) {
		print_message("# %s\n", tunnel_specs[i]);
		frame_build(&frame, tunnel_specs[i]);
		fixed.short_capture_ok = 0;
		fixed.verify_checksum = 1;
		check_snapped(&fixed);
		fixed.short_capture_ok = 1;
		fixed.verify_checksum = 0;
		check_snapped(&fixed);
	}
}

/* A tunnel's sender cut what it carries: the outermost @ips packets are whole, what they hold is not. */
static void check_cut(const struct xdd_fixed *fixed, u32 ips, u32 len)
{
	const struct frame_header *last = &frame.ip[ips - 1];
	struct found found;

	spoilt = frame;
	frame_cut(&spoilt, ips, len);
	found = look(fixed, &spoilt);
	expect_ip(&found, &spoilt, ips - 1, len);
	assert_in_range(found.walk.note, XDD_inner_fine, XDD_inner_truncated);
	if (len > last->at + last->bytes + 40)
		assert_int_equal(found.walk.note, XDD_inner_truncated);
}

static void test_cut(void **state)
{
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(tunnel_specs); i++) {
		print_message("# %s\n", tunnel_specs[i]);
		frame_build(&frame, tunnel_specs[i]);
		for (u32 ips = 1; ips < frame.ips; ips++) {
			u32 len = frame.ip[ips - 1].at + frame.ip[ips - 1].bytes;

			for (; len < frame.end; len++)
				check_cut(&fixed, ips, len);
		}
	}
}

/* Inner headers that no host would take: the packet around them stays the key. */
static void spoil_version(u8 *ip)
{
	ip[0] ^= 0xf0;
}

static void spoil_header_length(u8 *ip)
{
	ip[0] = 0x44;
}

static void spoil_total(u8 *ip)
{
	frame_put16(ip + 2, 19);
}

static void spoil_sum(u8 *ip)
{
	ip[10] ^= 1;
}

static void test_malformed(void **state)
{
	static void (*const spoils[])(u8 * ip) = { spoil_version, spoil_header_length, spoil_total,
						   spoil_sum };
	static const char *const specs[] = {
		"eth ip4 ip4 udp pay:9",
		"eth ip6 gre:0x2000 eth vlan ip4 tcp pay:9",
		"eth ip4 udp:4789 vxlan eth ip4 tcp pay:9",
		"eth ip4 gre ip4 udp:6081 geneve ip4 udp pay:9",
	};
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(specs) * XDD_ARRAY_SIZE(spoils); i++) {
		struct found found;
		u32 last;

		frame_build(&frame, specs[i / XDD_ARRAY_SIZE(spoils)]);
		last = frame.ips - 1;
		spoils[i % XDD_ARRAY_SIZE(spoils)](frame.byte + frame.ip[last].at);
		found = look(&fixed, &frame);
		expect_ip(&found, &frame, last - 1, frame.end);
		assert_int_equal(found.walk.note, XDD_inner_malformed);
	}
}

static void test_depth(void **state)
{
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	struct found found;
	char spec[512] = "eth ip4 gre eth";

	(void)state;
	frame_build(&frame, "eth ip4 ip4 ip4 ip4 ip4 ip4 udp pay:9");
	found = look(&fixed, &frame);
	expect_ip(&found, &frame, XDD_MAX_INNER, frame.end);
	assert_int_equal(found.walk.note, XDD_inner_unsupported);

	for (u32 i = 0; i < XDD_MAX_HEADERS; i++)
		strcat(spec, " vlan");
	strcat(spec, " ip4 udp pay:9");
	frame_build(&frame, spec);
	found = look(&fixed, &frame);
	expect_ip(&found, &frame, 0, frame.end);
	assert_int_equal(found.walk.note, XDD_inner_unsupported);
}

static u64 hash_of(const struct xdd_fixed *fixed, const char *spec)
{
	struct xdd_secret secret = {};
	struct xdd_digest digest = {};
	struct xdd_packet packet;
	struct xdd_key key;

	frame_build(&frame, spec);
	packet = frame_packet(&frame);
	assert_int_equal(xdd_key_build(fixed, &packet, &key), XDD_BYPASS_MAX);
	assert_int_equal(xdd_key_hash(fixed, &secret, &packet, &key, &digest), 0);
	return digest.lo;
}

/* What only the innermost packet's own bytes do: with and without the tunnel's identifier. */
static void test_identifier(void **state)
{
	static const struct {
		const char *one, *two;
		bool apart; /* with --vni key */
	} pairs[] = {
		{ "eth ip4 udp:4789 vxlan:5 eth ip4 udp pay:9", "eth ip4 udp pay:9", true },
		{ "eth ip4 udp:4789 vxlan:5 eth ip4 udp pay:9",
		  "eth ip6 udp:8472 vxlan:5 eth vlan ip4 udp pay:9", false },
		{ "eth ip4 udp:4789 vxlan:5 eth ip4 udp pay:9",
		  "eth ip4 udp:4789 vxlan:6 eth ip4 udp pay:9", true },
		{ "eth ip4 udp:4789 vxlan:0 eth ip6 udp pay:9", "eth ip6 udp pay:9", true },
		{ "eth ip4 gre:0x2000 ip4 udp pay:9", "eth ip4 gre ip4 udp pay:9", true },
		{ "eth ip4 gre ip4 udp pay:9", "eth vlan ip4 udp pay:9", false },
		{ "eth ip4 gre:0x1000 erspan2 eth ip6 udp pay:9", "eth ip6 udp pay:9", false },
		{ "eth ip4 udp:2152 gtpu ip4 udp pay:9", "eth ip4 udp:2152 gtpu:4 ip4 udp pay:9",
		  false },
		{ "eth ip4 udp:4789 vxlan:5 eth ip4 ip4 udp pay:9",
		  "eth ip4 udp:4789 vxlan:6 eth ip4 ip4 udp pay:9", true },
	};
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	(void)state;
	fixed.hash = XDD_HASH_xxh64;
	for (u32 i = 0; i < 2 * XDD_ARRAY_SIZE(pairs); i++) {
		fixed.vni_key = i & 1;
		if ((hash_of(&fixed, pairs[i / 2].one) != hash_of(&fixed, pairs[i / 2].two)) !=
		    (pairs[i / 2].apart && fixed.vni_key))
			fail_msg("%s, %s: identifiers %s", pairs[i / 2].one, pairs[i / 2].two,
				 fixed.vni_key ? "in the key" : "ignored");
	}
}

/* Any bytes behind a tunnel's header: any answer, but none that lies beyond the packet around it. */
static void test_garbage(void **state)
{
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_flow);
	u64 seed = 11;

	(void)state;
	fixed.verify_checksum = 0;
	fixed.zero_length_ok = 1;
	for (u32 i = 0; i < 200000; i++) {
		u32 from, flips = 1 + random_below(&seed, 4);
		struct found found;

		frame_build(&frame, tunnel_specs[i % XDD_ARRAY_SIZE(tunnel_specs)]);
		fixed.short_capture_ok = random_below(&seed, 2);
		from = frame.ip[0].at;
		for (u32 flip = 0; flip < flips; flip++)
			frame.byte[from + random_below(&seed, frame.len - from)] ^=
				1 << random_below(&seed, 8);
		if (!random_below(&seed, 4))
			frame.len = from + random_below(&seed, frame.len - from);
		found = look(&fixed, &frame);
		if (found.layers.bypass != XDD_BYPASS_MAX)
			continue;
		assert_in_range(found.layers.l3, from, frame.len - 20);
		assert_in_range(found.layers.end, found.layers.l3 + 20, frame.len);
	}
}

static int setup(void **state)
{
	(void)state;
	guard = guard_open();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),	   cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_snapped),	   cmocka_unit_test(test_cut),
		cmocka_unit_test(test_malformed),  cmocka_unit_test(test_depth),
		cmocka_unit_test(test_identifier), cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

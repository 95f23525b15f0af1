/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parser, by a table of frames: what it finds in each, and that it finds the same or says
 * `truncated`, and reads nothing beyond the end, when the frame is cut at any byte.
 */
#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "tests/common/guard.h"
#include "user/accessors.h"

#define PARSED XDD_BYPASS_MAX
#define BYPASS(name) XDD_BYPASS_##name

/* The last fields of a row. */
#define READ(fragment, ports) PARSED, fragment, ports
#define PASS(reason) XDD_BYPASS_##reason, XDD_WHOLE, NONE

enum ports { NONE, PORTS, TYPE, ECHO };

struct row {
	const char *what;
	const char *spec;
	void (*spoil)(struct frame *frame);
	u32 bypass;
	u32 fragment;
	enum ports ports;
};

static void version_6(struct frame *f)
{
	f->byte[f->l3] = 0x65;
	frame_fix_sum(f);
}

static void ihl_4(struct frame *f)
{
	f->byte[f->l3] = 0x44;
}

static void total_19(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 2, 19);
	frame_fix_sum(f);
}

static void total_below_options(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 2, 43);
	frame_fix_sum(f);
}

static void total_0(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 2, 0);
	frame_fix_sum(f);
}

static void total_beyond(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 2, f->len - f->l3 + 1);
	frame_fix_sum(f);
}

static void sum_wrong(struct frame *f)
{
	f->byte[f->l3 + 11] ^= 0x40;
}

static void option_wrong(struct frame *f)
{
	f->byte[f->l3 + 43] ^= 1;
}

static void sum_zero(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 10, 0);
}

static void version_5(struct frame *f)
{
	f->byte[f->l3] = 0x50;
}

static void payload_beyond(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 4, f->len - f->l3 - 39);
}

static void payload_0(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 4, 0);
	f->end = f->l4 = f->l3 + 40;
}

static void extension_beyond(struct frame *f)
{
	f->byte[f->l3 + 41] = 40;
}

/* Offsets of 8 bytes, and of 32 KiB: any bit of the field makes a later fragment. */
static void near_fragment(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 42, 8);
}

static void far_fragment(struct frame *f)
{
	frame_put16(f->byte + f->l3 + 6, 0x1000);
	frame_fix_sum(f);
}

static void family_24(struct frame *f)
{
	f->byte[0] = 24;
}

static void family_28(struct frame *f)
{
	f->byte[0] = 28;
}

static void family_linux(struct frame *f)
{
	f->byte[0] = 10;
}

static void first_nibble_9(struct frame *f)
{
	f->byte[f->l3] = 0x95;
}

static void subtype_2(struct frame *f)
{
	f->byte[15] = 2;
}

static const struct row rows[] = {
	{ "IPv4 TCP", "eth ip4 tcp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv4 UDP", "eth ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv4 UDP-Lite", "eth ip4 udplite pay:9", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv4 SCTP", "eth ip4 sctp pay:16", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv4 DCCP", "eth ip4 dccp pay:16", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv4 echo request", "eth ip4 icmp:8 pay:48", NULL, READ(XDD_WHOLE, ECHO) },
	{ "IPv4 echo reply", "eth ip4 icmp:0 pay:48", NULL, READ(XDD_WHOLE, ECHO) },
	{ "IPv4 ICMP unreachable", "eth ip4 icmp:3 pay:28", NULL, READ(XDD_WHOLE, TYPE) },
	{ "IPv4 OSPF", "eth ip4 proto:89 pay:44", NULL, READ(XDD_WHOLE, NONE) },
	{ "IPv4 in IPv4", "eth ip4 ip4 udp pay:8", NULL, READ(XDD_WHOLE, NONE) },
	{ "IPv6 in IPv4", "eth ip4 ip6 udp pay:8", NULL, READ(XDD_WHOLE, NONE) },
	{ "no transport header", "eth ip4 proto:17 pad:26", NULL, READ(XDD_WHOLE, NONE) },
	{ "7 bytes of UDP", "eth ip4 proto:17 pay:7 pad:19", NULL, READ(XDD_WHOLE, NONE) },
	{ "Ethernet padding", "eth ip4 udp pay:1 pad:17", NULL, READ(XDD_WHOLE, PORTS) },
	{ "one word of options", "eth ip4:1 udp pay:5", NULL, READ(XDD_WHOLE, PORTS) },
	{ "ten words of options", "eth ip4:10 tcp pay:5", NULL, READ(XDD_WHOLE, PORTS) },
	{ "first fragment", "eth ip4first udp pay:64", NULL, READ(XDD_FRAGMENT_FIRST, PORTS) },
	{ "later fragment", "eth ip4later proto:17 pay:64", NULL, READ(XDD_FRAGMENT_LATER, NONE) },
	{ "IPv4 version 6", "eth ip4 udp pay:30", version_6, PASS(malformed) },
	{ "IPv4 version 5", "eth ip4 udp pay:30", version_5, PASS(malformed) },
	{ "header length 16", "eth ip4 udp pay:30", ihl_4, PASS(malformed) },
	{ "total length 19", "eth ip4 udp pay:30", total_19, PASS(malformed) },
	{ "total length below options", "eth ip4:6 udp pay:30", total_below_options,
	  PASS(malformed) },
	{ "total length 0", "eth ip4 udp pay:30", total_0, PASS(malformed) },
	{ "total length beyond the frame", "eth ip4 udp pay:30", total_beyond, PASS(truncated) },
	{ "wrong checksum", "eth ip4 udp pay:30", sum_wrong, PASS(bad_checksum) },
	{ "wrong checksum, of options", "eth ip4:10 udp pay:30", option_wrong, PASS(bad_checksum) },
	{ "checksum 0", "eth ip4 udp pay:30", sum_zero, PASS(bad_checksum) },

	{ "IPv6 TCP", "eth ip6 tcp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv6 UDP", "eth ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv6 SCTP", "eth ip6 sctp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "IPv6 echo request", "eth ip6 icmp6:128 pay:30", NULL, READ(XDD_WHOLE, ECHO) },
	{ "IPv6 echo reply", "eth ip6 icmp6:129 pay:30", NULL, READ(XDD_WHOLE, ECHO) },
	{ "IPv6 neighbour solicitation", "eth ip6 icmp6:135 pay:24", NULL, READ(XDD_WHOLE, TYPE) },
	{ "IPv6 no next header", "eth ip6 proto:59 pad:6", NULL, READ(XDD_WHOLE, NONE) },
	{ "hop-by-hop", "eth ip6 hop udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "routing", "eth ip6 route:2 tcp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "destination options", "eth ip6 dst:1 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "authentication", "eth ip6 ah:4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "mobility", "eth ip6 mobility:1 proto:59", NULL, READ(XDD_WHOLE, NONE) },
	{ "host identity", "eth ip6 hip:4 proto:59", NULL, READ(XDD_WHOLE, NONE) },
	{ "shim6", "eth ip6 shim:1 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "the longest extension", "eth ip6 dst:255 udp pay:8", NULL, READ(XDD_WHOLE, PORTS) },
	{ "extensions in order", "eth ip6 hop dst route frag ah:4 dst tcp pay:9", NULL,
	  READ(XDD_FRAGMENT_ONLY, PORTS) },
	{ "atomic fragment", "eth ip6 frag udp pay:30", NULL, READ(XDD_FRAGMENT_ONLY, PORTS) },
	{ "IPv6 first fragment", "eth ip6 frag:1 udp pay:32", NULL,
	  READ(XDD_FRAGMENT_FIRST, PORTS) },
	{ "IPv6 later fragment", "eth ip6 hop frag:2 proto:17 pay:32", NULL,
	  READ(XDD_FRAGMENT_LATER, NONE) },
	{ "IPv6 later fragment, near", "eth ip6 frag:2 proto:17 pay:32", near_fragment,
	  READ(XDD_FRAGMENT_LATER, NONE) },
	{ "later fragment, far", "eth ip4later proto:17 pay:64", far_fragment,
	  READ(XDD_FRAGMENT_LATER, NONE) },
	{ "later fragment of an extension", "eth ip6 frag:2 proto:60 pay:32", NULL,
	  READ(XDD_FRAGMENT_LATER, NONE) },
	{ "IPv6 version 5", "eth ip6 udp pay:30", version_5, PASS(malformed) },
	{ "IPv6 length beyond the frame", "eth ip6 udp pay:30", payload_beyond, PASS(truncated) },
	{ "IPv6 length 0", "eth ip6 udp pay:30", payload_0, READ(XDD_WHOLE, NONE) },
	{ "extension beyond the packet", "eth ip6 dst udp pay:30", extension_beyond,
	  READ(XDD_WHOLE, NONE) },
	{ "no room for an extension", "eth ip6 proto:60 pay:7", NULL, PASS(truncated) },

	{ "VLAN", "eth vlan ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "QinQ", "eth qinq vlan ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "old QinQ numbers", "eth qinq91 qinq92 ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "MPLS with IPv6 below", "eth mpls mpls ip6 tcp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "MPLS behind a tag", "eth vlan mpls ip4 tcp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "MPLS with neither IP below", "eth mpls ip4 udp pay:3", first_nibble_9, PASS(not_ip) },
	{ "ARP", "eth arp pad:18", NULL, PASS(not_ip) },
	{ "ARP behind a tag", "eth vlan arp", NULL, PASS(not_ip) },
	{ "spanning tree", "eth stp", NULL, PASS(not_ip) },

	{ "time stamp of 64 bits", "eth stamp ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "time stamp of 64 bits, UTC", "eth stamp:0x110 ip4 udp pay:30", NULL,
	  READ(XDD_WHOLE, PORTS) },
	{ "time stamp of 48 bits", "eth stamp:0x20 vlan ip6 udp pay:30", NULL,
	  READ(XDD_WHOLE, PORTS) },
	{ "time stamp of another switch", "eth stamp:0x121 mpls ip4 udp pay:30", NULL,
	  READ(XDD_WHOLE, PORTS) },
	{ "time stamp behind a tag", "eth vlan stamp vlan ip4 udp pay:30", NULL,
	  READ(XDD_WHOLE, PORTS) },
	{ "two time stamps", "eth stamp stamp:0x20 ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "four tags and a time stamp", "eth vlan vlan stamp vlan vlan ip4 udp pay:30", NULL,
	  PASS(unsupported) },
	{ "time stamp, ARP", "eth stamp arp", NULL, PASS(not_ip) },
	{ "unknown time stamp", "eth stamp:0x30 ip4 udp pay:30", NULL, PASS(unsupported) },
	{ "unknown header of Arista", "eth stamp ip4 udp pay:30", subtype_2, PASS(unsupported) },
	{ "MACsec", "eth vlan macsec", NULL, PASS(unsupported) },

	{ "Linux cooked", "sll ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "Linux cooked, tag", "sll vlan ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "Linux cooked v2", "sll2 ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "loopback, IPv4", "null ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "loopback, IPv6", "null ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "loopback, IPv6 on NetBSD", "null ip6 udp pay:30", family_24, READ(XDD_WHOLE, PORTS) },
	{ "loopback, IPv6 on FreeBSD", "null ip6 udp pay:30", family_28, READ(XDD_WHOLE, PORTS) },
	{ "loopback, IPv6 on Linux", "null ip6 udp pay:30", family_linux, READ(XDD_WHOLE, PORTS) },
	{ "loopback, other byte order", "nullbe ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "loopback of OpenBSD", "loop ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "loopback, other family", "null arp", NULL, PASS(not_ip) },
	{ "raw IPv4", "raw ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "raw IPv6", "raw ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "raw IP of BSD", "raw:12 ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "link type IPv4", "raw:228 ip4 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "link type IPv6", "raw:229 ip6 udp pay:30", NULL, READ(XDD_WHOLE, PORTS) },
	{ "raw, not IP", "raw ip4 udp pay:30", first_nibble_9, PASS(not_ip) },
	{ "radiotap", "radiotap pay:60", NULL, PASS(unsupported) },
};

static struct frame frame;
static struct guard guard;

static struct xdd_layers parse(const struct xdd_fixed *fixed, const u8 *at, u32 len)
{
	struct xdd_packet packet = { at, at + len, NULL, len, len, frame.link };
	struct xdd_layers layers;

	xdd_packet_layers(fixed, &packet, &layers);
	return layers;
}

/* The ports as parsed, both 0 where @ports says so. */
static void expect_ports(const struct xdd_layers *layers, enum ports ports)
{
	const u8 *l4 = frame.byte + layers->l4;
	u16 want[2] = { 0, 0 };

	if (ports != NONE)
		memcpy(want, l4, ports == PORTS ? 4 : 2);
	if (ports == ECHO)
		memcpy(&want[1], l4 + 4, 2);
	assert_int_equal(layers->sport, want[0]);
	assert_int_equal(layers->dport, want[1]);
}

static void expect_parsed(const struct xdd_layers *layers, const struct row *row)
{
	assert_int_equal(layers->bypass, PARSED);
	assert_int_equal(layers->l3, frame.l3);
	assert_int_equal(layers->end, frame.end);
	assert_int_equal(layers->version, frame.version);
	assert_int_equal(layers->fragment, row->fragment);
	expect_ports(layers, row->ports);
	if (row->ports == NONE)
		return;
	assert_int_equal(layers->l4, frame.l4);
	assert_int_equal(layers->proto, frame.proto);
}

/* What a cut frame may say: the same once the IP packet is whole, else `truncated`. */
static void expect_cut(const struct row *row, u32 len, bool at_start)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_flow);
	const u8 *at = guard_copy(&guard, frame.byte, len, at_start);
	struct xdd_layers layers = parse(&fixed, at, len);

	if (row->bypass == PARSED && len >= frame.end)
		expect_parsed(&layers, row);
	else if (row->bypass == PARSED)
		assert_int_equal(layers.bypass, XDD_BYPASS_truncated);
	else if (layers.bypass != XDD_BYPASS_truncated)
		assert_int_equal(layers.bypass, row->bypass);
	if (len == frame.len)
		assert_int_equal(layers.bypass, row->bypass);
}

static void run_row(const struct row *row)
{
	frame_build(&frame, row->spec);
	if (row->spoil)
		row->spoil(&frame);
	for (u32 len = 0; len <= frame.len; len++) {
		expect_cut(row, len, false);
		expect_cut(row, len, true);
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		print_message("# %s: %s\n", rows[i].what, rows[i].spec);
		run_row(&rows[i]);
	}
}

/* @count times @word between @first and @last. */
static void run_repeated(const char *first, const char *word, u32 count, const char *last,
			 u32 bypass)
{
	char spec[256] = "";
	bool fragments = count && !strcmp(word, "frag");
	struct row row = { word, spec, NULL, bypass, fragments ? XDD_FRAGMENT_ONLY : XDD_WHOLE,
			   PORTS };

	strcat(spec, first);
	for (u32 i = 0; i < count; i++) {
		strcat(spec, " ");
		strcat(spec, word);
	}
	strcat(spec, " ");
	strcat(spec, last);
	run_row(&row);
}

static void test_depths(void **state)
{
	static const char *const extensions[] = { "hop", "route", "dst", "ah:1", "frag", "shim" };

	(void)state;
	for (u32 n = 0; n <= 5; n++) {
		u32 bypass = n > XDD_MAX_TAGS ? BYPASS(unsupported) : PARSED;

		run_repeated("eth", "vlan", n, "ip4 udp pay:9", bypass);
		run_repeated("eth", "qinq", n, "ip6 udp pay:9", bypass);
	}
	for (u32 n = 1; n <= 9; n++)
		run_repeated("eth", "mpls", n, "ip4 udp pay:9",
			     n > XDD_MAX_LABELS ? BYPASS(unsupported) : PARSED);
	for (u32 kind = 0; kind < XDD_ARRAY_SIZE(extensions); kind++) {
		for (u32 n = 0; n <= 9; n++)
			run_repeated("eth ip6", extensions[kind], n, "udp pay:9",
				     n > XDD_MAX_EXTENSIONS ? BYPASS(unsupported) : PARSED);
	}
}

/* What captures are allowed: lengths that were not filled in, and packets that are cut. */
static void test_captures(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_flow);
	struct xdd_layers layers;

	(void)state;
	fixed.zero_length_ok = 1;
	fixed.zero_checksum_ok = 1;
	frame_build(&frame, "eth ip4 udp pay:30");
	total_0(&frame);
	layers = parse(&fixed, frame.byte, frame.len);
	assert_int_equal(layers.bypass, PARSED);
	assert_int_equal(layers.end, frame.len);

	sum_zero(&frame);
	assert_int_equal(parse(&fixed, frame.byte, frame.len).bypass, PARSED);
	sum_wrong(&frame);
	assert_int_equal(parse(&fixed, frame.byte, frame.len).bypass, XDD_BYPASS_bad_checksum);
	fixed.verify_checksum = 0;
	assert_int_equal(parse(&fixed, frame.byte, frame.len).bypass, PARSED);

	frame_build(&frame, "eth ip6 udp pay:30");
	payload_0(&frame);
	layers = parse(&fixed, frame.byte, frame.len);
	assert_int_equal(layers.bypass, PARSED);
	assert_int_equal(layers.end, frame.len);
	assert_int_equal(layers.sport, xdd_ntohs(FRAME_SPORT));
}

/* Length 0 before a hop-by-hop header is a jumbogram: it goes as far as the frame. */
static void test_jumbogram(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_flow);

	(void)state;
	frame_build(&frame, "eth ip6 hop udp pay:30");
	frame_put16(frame.byte + frame.l3 + 4, 0);
	for (u32 len = 0; len <= frame.len; len++) {
		const u8 *at = guard_copy(&guard, frame.byte, len, false);
		struct xdd_layers layers = parse(&fixed, at, len);

		if (len < frame.l4) {
			assert_int_equal(layers.bypass, XDD_BYPASS_truncated);
			continue;
		}
		assert_int_equal(layers.bypass, PARSED);
		assert_int_equal(layers.end, len);
		assert_int_equal(layers.sport, len < frame.l4 + 8 ? 0 : xdd_ntohs(FRAME_SPORT));
	}
}

static void test_short_captures(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);
	static const char *const specs[] = { "eth ip4:3 udp pay:90", "eth vlan ip6 tcp pay:90" };

	(void)state;
	fixed.short_capture_ok = 1;
	fixed.verify_checksum = 0;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(specs); i++) {
		frame_build(&frame, specs[i]);
		for (u32 len = 0; len <= frame.len; len++) {
			const u8 *at = guard_copy(&guard, frame.byte, len, false);
			struct xdd_layers layers = parse(&fixed, at, len);
			u32 fixed_part = frame.l3 + (frame.version == 4 ? 20 : 40);

			assert_int_equal(layers.bypass,
					 len < fixed_part ? XDD_BYPASS_truncated : PARSED);
			if (layers.bypass == PARSED)
				assert_int_equal(layers.end, len);
		}
	}
}

/* Garbage behind a plausible start: any answer, but none that lies beyond the frame. */
static void test_garbage(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_flow);
	static const u32 links[] = { 0, 1, 12, 101, 108, 113, 228, 229, 276, 127 };
	u64 seed = 7;

	(void)state;
	fixed.verify_checksum = 0;
	for (u32 i = 0; i < 200000; i++) {
		u32 len = random_below(&seed, 160);
		struct xdd_layers layers;

		random_bytes(&seed, frame.byte, len);
		frame.link = links[random_below(&seed, XDD_ARRAY_SIZE(links))];
		if (frame.link == 1 && i & 1)
			memcpy(frame.byte + 12, i & 2 ? "\x08\x00\x45" : "\x86\xdd\x60", 3);
		layers = parse(&fixed, guard_copy(&guard, frame.byte, len, false), len);
		if (layers.bypass == PARSED)
			assert_in_range(layers.end, layers.l3 + 20, len);
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
		cmocka_unit_test(test_rows),	  cmocka_unit_test(test_depths),
		cmocka_unit_test(test_captures),  cmocka_unit_test(test_short_captures),
		cmocka_unit_test(test_jumbogram), cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What site policy adds to the key and takes from it: fields, payload, VLANs, interfaces. */
#include "tests/common/tunnels.h"
#include "user/accessors.h"

static struct frame frame, other;
static u32 iface;

static u64 hash_of(const struct xdd_fixed *fixed, const struct frame *of)
{
	struct xdd_packet packet = frame_packet(of);
	struct xdd_secret secret = {};
	struct xdd_digest digest = {};
	struct xdd_key key;

	packet.source = &iface;
	assert_int_equal(xdd_key_build(fixed, &packet, &key), XDD_BYPASS_MAX);
	assert_int_equal(xdd_key_hash(fixed, &secret, &packet, &key, &digest), 0);
	return digest.lo;
}

static struct xdd_fixed policy(void)
{
	struct xdd_fixed fixed = tunnel_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	fixed.inner = 0;
	fixed.hash = XDD_HASH_xxh64;
	fixed.verify_checksum = 0;
	return fixed;
}

/* A byte of @field, from the outermost IP header; XDD_FIELD_MAX: of no field that can change. */
struct byte {
	u32 field;
	const char *spec;
	int at;
	u8 flip;
};

#define OF(field) XDD_FIELD_##field

static const struct byte bytes[] = {
	{ OF(ipid), "eth ip4 udp pay:20", 5, 1 },
	{ OF(ttl), "eth ip4 udp pay:20", 8, 1 },
	{ OF(ttl), "eth ip6 udp pay:20", 7, 1 },
	{ OF(dscp), "eth ip4 udp pay:20", 1, 0x04 },
	{ OF(dscp), "eth ip6 udp pay:20", 0, 0x08 },
	{ OF(dscp), "eth ip6 udp pay:20", 1, 0x40 },
	{ OF(ecn), "eth ip4 udp pay:20", 1, 0x01 },
	{ OF(ecn), "eth ip6 udp pay:20", 1, 0x20 },
	{ OF(flowlabel), "eth ip6 udp pay:20", 1, 0x08 },
	{ OF(flowlabel), "eth ip6 udp pay:20", 3, 1 },
	{ OF(macs), "eth ip4 udp pay:20", -14, 1 },
	{ OF(macs), "eth ip4 udp pay:20", -3, 1 },
	{ OF(macs), "eth vlan ip6 udp pay:20", -7, 1 },
	{ OF(l4csum), "eth ip4 tcp pay:40", 20 + 17, 1 },
	{ OF(l4csum), "eth ip4:3 tcp pay:40", 32 + 16, 1 },
	{ OF(l4csum), "eth ip6 hop dst tcp pay:40", 56 + 17, 1 },
	{ OF(l4csum), "eth ip6 frag:1 udp pay:16", 48 + 7, 1 },
	{ OF(l4csum), "eth ip4 udp pay:0", 20 + 6, 1 },
	{ OF(l4csum), "eth ip4 udp pay:1400", 20 + 7, 1 },
	{ OF(l4csum), "eth ip4 udplite pay:9", 20 + 6, 1 },
	{ OF(l4csum), "eth ip4 dccp pay:9", 20 + 7, 1 },
	{ OF(l4csum), "eth ip4 icmp:8 pay:9", 20 + 3, 1 },
	{ OF(l4csum), "eth ip6 icmp6:128 pay:9", 40 + 2, 1 },
	{ OF(l4csum), "eth ip4 sctp pay:9", 20 + 11, 1 },
	{ OF(tcp_seq), "eth ip4 tcp pay:40", 20 + 4, 1 },
	{ OF(tcp_seq), "eth ip6 dst:2 tcp pay:40", 64 + 7, 1 },
	{ OF(tcp_ack), "eth ip4 tcp pay:40", 20 + 8, 1 },
	{ OF(tcp_ack), "eth ip4first tcp pay:40", 20 + 11, 1 },
	{ OF(tcp_opts), "eth ip4 tcp pay:1400", 20 + 20, 1 },
	{ OF(tcp_opts), "eth ip4 tcp pay:40", 20 + 47, 1 },
	{ XDD_FIELD_MAX, "eth ip4 tcp pay:40", 20 + 48, 1 },
	{ XDD_FIELD_MAX, "eth ip4 tcp pay:40", 20 + 14, 1 },
	{ XDD_FIELD_MAX, "eth ip4 tcp pay:1400", 20 + 1030, 1 },
	{ XDD_FIELD_MAX, "eth ip4 udp pay:40", 20 + 8, 1 },
	{ XDD_FIELD_MAX, "eth ip4later proto:6 pay:40", 20 + 4, 1 },
	{ XDD_FIELD_MAX, "eth ip6 frag:2 proto:6 pay:40", 48 + 4, 1 },
	{ XDD_FIELD_MAX, "eth ip4 udplite pay:9", 20 + 8, 1 },
	{ XDD_FIELD_MAX, "eth ip4 proto:47 pay:40", 20 + 6, 1 },
};

/* A change of the byte changes the key just where the field is in it, whatever the others are. */
static void check_byte(const struct byte *byte, u32 changed)
{
	struct xdd_fixed fixed = policy();
	bool in = byte->field == XDD_FIELD_MAX;

	fixed.changed_fields = changed;
	if (!in)
		in = (XDD_DEFAULT_FIELDS ^ changed) >> byte->field & 1;
	frame_build(&frame, byte->spec);
	other = frame;
	other.byte[(int)other.l3 + byte->at] ^= byte->flip;
	if ((hash_of(&fixed, &frame) != hash_of(&fixed, &other)) != in)
		fail_msg("%s, byte %d, fields changed %x: %s differ", byte->spec, byte->at, changed,
			 in ? "must" : "must not");
}

static void test_fields(void **state)
{
	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(bytes); i++) {
		for (u32 changed = 0; changed < 1u << XDD_FIELD_MAX; changed++)
			check_byte(&bytes[i], changed);
	}
}

static void test_payload(void **state)
{
	struct xdd_fixed fixed = policy();

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:1400");
	for (u32 payload = 1; payload < 1400; payload += 37) {
		fixed.payload_bytes = payload;
		other = frame;
		other.byte[other.l3 + 20 + payload] ^= 1;
		assert_true(hash_of(&fixed, &frame) == hash_of(&fixed, &other));
		other.byte[other.l3 + 20 + payload - 1] ^= 1;
		assert_true(hash_of(&fixed, &frame) != hash_of(&fixed, &other));
	}
	frame_build(&other, "eth ip4 udp pay:1401");
	assert_true(hash_of(&fixed, &frame) != hash_of(&fixed, &other));
}

/* The same packet in two frames. */
struct pair {
	const char *one, *two;
	bool differ; /* with VLANs in the key, 300 counting as 50 and 9 as none */
};

static const struct pair pairs[] = {
	{ "eth ip4 udp pay:9", "eth vlan:5 ip4 udp pay:9", true },
	{ "eth vlan:6 ip4 udp pay:9", "eth vlan:5 ip4 udp pay:9", true },
	{ "eth vlan:0x2005 ip4 udp pay:9", "eth vlan:0x5005 ip4 udp pay:9", false },
	{ "eth vlan:0x2000 ip4 udp pay:9", "eth ip4 udp pay:9", false },
	{ "eth vlan:5 ip6 udp pay:9", "eth qinq:5 ip6 udp pay:9", false },
	{ "eth qinq:6 vlan:5 ip6 udp pay:9", "eth vlan:5 ip6 udp pay:9", true },
	{ "eth qinq:6 vlan:5 ip6 udp pay:9", "eth qinq:5 vlan:6 ip6 udp pay:9", true },
	{ "sll vlan:5 ip4 udp pay:9", "eth vlan:5 ip4 udp pay:9", false },
	{ "sll2 vlan:6 ip4 udp pay:9", "eth vlan:5 ip4 udp pay:9", true },
	{ "eth vlan:300 ip4 udp pay:9", "eth vlan:50 ip4 udp pay:9", false },
	{ "eth vlan:9 ip4 udp pay:9", "eth ip4 udp pay:9", false },
	{ "eth qinq:9 vlan:50 mpls ip4 udp pay:9", "eth vlan:300 ip4 udp pay:9", false },
};

static const struct pair inner_pairs[] = {
	{ "eth vlan:5 ip4 gre ip4 udp pay:9", "eth vlan:6 ip4 gre ip4 udp pay:9", true },
	{ "eth vlan:5 ip4 gre eth ip4 udp pay:9", "eth vlan:6 ip4 gre eth ip4 udp pay:9", false },
	{ "eth ip4 gre eth vlan:300 ip4 udp pay:9", "eth ip4 gre eth qinq:50 ip4 udp pay:9",
	  false },
	{ "eth ip4 gre eth vlan:7 ip4 udp pay:9", "eth ip4 gre eth vlan:8 ip4 udp pay:9", true },
	{ "eth ip4 gre eth vlan:7 ip4 udp pay:9", "eth vlan:7 ip4 udp pay:9", false },
};

static void check_pair(struct xdd_fixed *fixed, const struct pair *pair)
{
	frame_build(&frame, pair->one);
	frame_build(&other, pair->two);
	fixed->vlan_key = 0;
	assert_true(hash_of(fixed, &frame) == hash_of(fixed, &other));
	fixed->vlan_key = 1;
	if ((hash_of(fixed, &frame) != hash_of(fixed, &other)) != pair->differ)
		fail_msg("%s, %s: %s differ", pair->one, pair->two,
			 pair->differ ? "must" : "must not");
}

static void test_vlans(void **state)
{
	struct xdd_fixed fixed = policy();

	(void)state;
	fixed.vlan_maps = 2;
	fixed.vlan_from[0] = 300;
	fixed.vlan_to[0] = 50;
	fixed.vlan_from[1] = 9;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(pairs); i++)
		check_pair(&fixed, &pairs[i]);
	fixed.inner = 1;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(inner_pairs); i++)
		check_pair(&fixed, &inner_pairs[i]);
}

/* Of an inner frame its own addresses count, not those of the frame that carries it. */
static void test_inner_macs(void **state)
{
	struct xdd_fixed fixed = policy();
	u64 hash;

	(void)state;
	fixed.inner = 1;
	fixed.changed_fields = 1u << XDD_FIELD_macs;
	frame_build(&frame, "eth ip4 udp:4789 vxlan eth ip4 udp pay:9");
	hash = hash_of(&fixed, &frame);
	frame.byte[1] ^= 1;
	assert_true(hash == hash_of(&fixed, &frame));
	frame.byte[frame.ip[1].at - 14] ^= 1;
	assert_true(hash != hash_of(&fixed, &frame));
}

static void test_scope(void **state)
{
	static const char *const specs[] = { "eth ip4 udp pay:9", "eth ip6 udp pay:9", "eth arp" };
	struct xdd_fixed fixed = policy();

	(void)state;
	fixed.non_ip_frame = 1;
	for (u32 i = 0; i < 2 * XDD_ARRAY_SIZE(specs); i++) {
		u64 hash;

		frame_build(&frame, specs[i / 2]);
		fixed.scope_iface = i & 1;
		iface = 1;
		hash = hash_of(&fixed, &frame);
		iface = 2;
		assert_true((hash != hash_of(&fixed, &frame)) == fixed.scope_iface);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields), cmocka_unit_test(test_payload),
		cmocka_unit_test(test_vlans),  cmocka_unit_test(test_inner_macs),
		cmocka_unit_test(test_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of frames: that they cover the frame without overlap, say what the builder wrote, stay
 * within a frame that is cut at any byte or full of garbage, and that two lists are compared by name.
 */
#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "tests/common/guard.h"
#include "user/explain/fields.h"

static struct frame frame;
static struct guard guard;

static struct xdd_fixed file_config(void)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_exact, XDD_KEY_packet);

	fixed.verify_checksum = 0;
	fixed.short_capture_ok = 1;
	return fixed;
}

/* The field called @name; fails if there is none. */
static const struct field *field_called(const struct fields *fields, const char *name)
{
	char text[FIELD_NAME_MAX];

	for (u32 i = 0; i < fields->n; i++)
		if (!strcmp(field_name(&fields->all[i], text), name))
			return &fields->all[i];
	fail_msg("no field is called %s", name);
	return NULL;
}

static struct fields fields_from(const char *spec)
{
	struct xdd_fixed fixed = file_config();
	struct xdd_packet packet;
	struct fields fields;

	frame_build(&frame, spec);
	packet = frame_packet(&frame);
	fields_of(&fixed, &packet, &fields);
	return fields;
}

static void assert_value(const struct fields *fields, const char *name, u32 off, const char *value)
{
	const struct field *field = field_called(fields, name);
	struct xdd_packet packet = frame_packet(&frame);
	char text[FIELD_VALUE_MAX];

	assert_int_equal(field->off, off);
	assert_string_equal(field_value(&packet, field, NULL, NULL, text), value);
}

static void test_values(void **state)
{
	struct fields fields = fields_from("eth vlan qinq ip4:1 udp pay:30 pad:5");
	u32 l3 = 14 + 8;

	(void)state;
	assert_value(&fields, "eth.type", 12, "0x8100");
	assert_value(&fields, "vlan.type", 16, "0x88a8");
	assert_value(&fields, "vlan[2].type", 20, "0x800");
	assert_value(&fields, "ipv4.version", l3, "4");
	assert_value(&fields, "ipv4.ihl", l3, "6");
	assert_value(&fields, "ipv4.protocol", l3 + 9, "17");
	assert_value(&fields, "udp.sport", l3 + 24, "1111");
	assert_value(&fields, "udp.dport", l3 + 26, "2222");
	assert_int_equal(field_called(&fields, "ipv4.options")->len, 4);
	assert_int_equal(field_called(&fields, "ip.payload")->off, l3 + 24 + 8);
	assert_int_equal(field_called(&fields, "ip.payload")->len, 30);
	assert_int_equal(field_called(&fields, "frame.padding")->len, 5);

	fields = fields_from("eth mpls mpls ip6 hop udp pay:9");
	assert_value(&fields, "mpls.bottom", 14, "0");
	assert_value(&fields, "mpls[2].bottom", 18, "1");
	assert_value(&fields, "ipv6.version", 22, "6");
	assert_int_equal(field_called(&fields, "ipv6.extensions")->len, 8);
	assert_value(&fields, "udp.dport", 22 + 40 + 8 + 2, "2222");
}

static const char *const specs[] = {
	"eth ip4 udp pay:20",
	"eth vlan vlan ip4:3 tcp pay:40 pad:7",
	"eth mpls ip6 hop frag:1 udp pay:9",
	"eth ip6 route dst icmp6:128 pay:9",
	"eth ip4later pay:30",
	"eth arp",
	"sll vlan ip4 udp pay:9",
	"sll2 ip6 tcp pay:9",
	"null ip4 icmp:8 pay:4",
	"raw ip6 proto:99 pay:4",
};

/* In order, within the frame; bit fields may share their bytes. */
static void check_list(const struct xdd_packet *packet, const struct fields *fields)
{
	char text[FIELD_VALUE_MAX];
	u32 end = 0;

	for (u32 i = 0; i < fields->n; i++) {
		const struct field *field = &fields->all[i];

		assert_true(field->len > 0);
		assert_in_range(field->off + field->len, 1, packet->len);
		assert_true(field->off >= end || field->kind->mask);
		end = field->off + field->len > end ? field->off + field->len : end;
		assert_in_range(strlen(field_value(packet, field, NULL, NULL, text)), 1,
				FIELD_VALUE_MAX - 1);
	}
}

static void check_cut(u32 len)
{
	struct xdd_fixed fixed = file_config();
	struct fields fields;
	struct xdd_packet packet = frame_packet(&frame);

	packet.data = guard_copy(&guard, frame.byte, len, false);
	packet.end = packet.data + len;
	packet.len = len;
	fields_of(&fixed, &packet, &fields);
	check_list(&packet, &fields);
}

static void test_cut(void **state)
{
	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(specs); i++) {
		frame_build(&frame, specs[i]);
		for (u32 len = 0; len <= frame.len; len++)
			check_cut(len);
	}
}

static void test_garbage(void **state)
{
	static const u32 links[] = { 0, 1, 12, 101, 108, 113, 228, 229, 276, 127 };
	u64 seed = 11;

	(void)state;
	for (u32 i = 0; i < 100000; i++) {
		u32 len = random_below(&seed, 200);

		random_bytes(&seed, frame.byte, len);
		frame.link = links[random_below(&seed, XDD_ARRAY_SIZE(links))];
		if (frame.link == 1 && i & 1)
			memcpy(frame.byte + 12, i & 2 ? "\x08\x00\x45" : "\x86\xdd\x60", 3);
		check_cut(len);
	}
}

/* Every byte of a frame belongs to a field, so that no difference goes unseen. */
static void test_complete(void **state)
{
	struct xdd_fixed fixed = file_config();

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(specs); i++) {
		struct fields before, after;
		struct field_pair pairs[2 * FIELDS_MAX];
		struct xdd_packet a, b;

		/* What the link header of a cooked capture says twice, and reserved bytes. */
		if (!strncmp(specs[i], "sll", 3))
			continue;
		frame_build(&frame, specs[i]);
		a = b = frame_packet(&frame);
		b.data = guard.start;
		b.end = b.data + b.len;
		fields_of(&fixed, &a, &before);
		for (u32 at = 0; at < frame.len; at++) {
			memcpy(guard.start, frame.byte, frame.len);
			guard.start[at] ^= 1;
			fields_of(&fixed, &b, &after);
			assert_true(fields_differ(&a, &before, &b, &after, pairs) > 0);
		}
	}
}

static void test_differ(void **state)
{
	struct fields tagged = fields_from("eth vlan ip4 udp pay:20");
	struct field_pair pairs[2 * FIELDS_MAX];
	struct xdd_packet a = frame_packet(&frame), b;
	struct frame other = frame;
	struct fields plain;
	char name[FIELD_NAME_MAX], value[FIELD_VALUE_MAX];
	u32 n;

	(void)state;
	other.byte[other.l3 + 8] ^= 3;	   /* TTL */
	other.byte[other.len - 5] ^= 0xff; /* payload */
	b = frame_packet(&other);
	assert_int_equal(fields_differ(&a, &tagged, &b, &tagged, pairs), 2);
	assert_string_equal(field_name(pairs[0].a, name), "ipv4.ttl");
	assert_string_equal(field_name(pairs[1].b, name), "ip.payload");
	field_value(&a, pairs[1].a, &b, pairs[1].b, value);
	assert_memory_equal(value, "+15 ", 4);

	memcpy(&other, &frame, sizeof(other));
	a = frame_packet(&other);
	plain = fields_from("eth ip4 udp pay:20");
	b = frame_packet(&frame);
	n = fields_differ(&a, &tagged, &b, &plain, pairs);
	assert_int_equal(n, 5); /* the type, and the four fields of the tag */
	assert_string_equal(field_name(pairs[0].a, name), "eth.type");
	assert_non_null(pairs[0].b);
	assert_string_equal(field_name(pairs[3].a, name), "vlan.vid");
	assert_null(pairs[3].b);
	assert_int_equal(fields_differ(&b, &plain, &a, &tagged, pairs), 5);
	assert_null(pairs[4].a);
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
		cmocka_unit_test(test_values),	cmocka_unit_test(test_cut),
		cmocka_unit_test(test_garbage), cmocka_unit_test(test_complete),
		cmocka_unit_test(test_differ),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

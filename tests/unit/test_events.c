// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events: how many leave in a second, what a line says of one; EtherTypes that pass. */
#include <string.h>

#include "tests/common/config.h"
#include "user/events/line.h"
#include "user/metrics/ethertypes.h"
#include "user/secret.h"

#define MS 1000000ull

static u32 taken(u64 *budget, u64 from_ns, u32 rate, u32 asked)
{
	u32 n = 0;

	for (u32 i = 0; i < asked; i++)
		n += xdd_event_take(budget, from_ns + i, rate);
	return n;
}

static void test_budget(void **state)
{
	u64 budget = 0;

	(void)state;
	assert_int_equal(taken(&budget, 5000 * MS, 3, 10), 3);
	assert_int_equal(taken(&budget, 5999 * MS, 3, 10), 0);
	assert_int_equal(taken(&budget, 6000 * MS, 3, 10), 3);
	/* Another CPU's clock is a little behind: that is no new second. */
	assert_int_equal(taken(&budget, 5999 * MS, 3, 10), 0);
	assert_int_equal(taken(&budget, 6001 * MS, 5, 10), 2);
	assert_int_equal(taken(&budget, 7001 * MS, 0, 10), 0);
	assert_int_equal(taken(&budget, 9001 * MS, 1, 1), 1);
}

/* The upper half of the budget wraps after 136 years. */
static void test_budget_wraps(void **state)
{
	u64 budget = ~0ull << 32 | 2;

	(void)state;
	assert_int_equal(taken(&budget, ((1ull << 32) - 1) * XDD_SECOND_NS, 2, 5), 0);
	assert_int_equal(taken(&budget, (1ull << 32) * XDD_SECOND_NS, 2, 5), 2);
}

static void test_types(void **state)
{
	struct xdd_ethertypes tables[2] = {};
	struct ethertypes types;
	json_t *all;

	(void)state;
	for (u32 i = 0; i < 20; i++)
		xdd_ethertype_count(&tables[0], 0x1000 + i);
	assert_int_equal(tables[0].other, 4);
	for (u32 i = 0; i < 7; i++)
		xdd_ethertype_count(&tables[1], 0x1003);
	for (u32 i = 0; i < 3; i++)
		xdd_ethertype_count(&tables[1], 0);
	assert_int_equal(ethertypes_add(tables, 2, &types), 0);
	assert_int_equal(types.n, 16);
	assert_int_equal(types.row[0].type, 0x1003);
	assert_int_equal(types.row[0].packets, 8);
	assert_int_equal(types.row[1].type, 0);
	assert_int_equal(types.row[1].packets, 3);
	assert_int_equal(types.other, 5); /* 17 types: the last of them has no row */
	all = ethertypes_json(&types);
	assert_int_equal(json_array_size(all), 17);
	assert_string_equal(json_string_value(json_object_get(json_array_get(all, 0), "ethertype")),
			    "0x1003");
	assert_string_equal(json_string_value(json_object_get(json_array_get(all, 1), "ethertype")),
			    "802.3");
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(all, 16), "ethertype")), "other");
	json_decref(all);
}

/* A type with a quarter of the frames among ever new ones has a row in the end, and one that has
 * gone loses its own; every frame is counted once.
 */
static void test_flood(void **state)
{
	struct xdd_ethertypes table = {};
	struct ethertypes types;
	u64 packets = 0;

	(void)state;
	for (u32 i = 0; i < 5000; i++)
		xdd_ethertype_count(&table, 0x88cc);
	for (u32 i = 0; i < 100000; i++)
		xdd_ethertype_count(&table, i % 4 ? 0x10000 + i : XDD_ETH_ARP);
	assert_int_equal(ethertypes_add(&table, 1, &types), 0);
	assert_int_equal(types.row[0].type, XDD_ETH_ARP);
	assert_in_range(types.row[0].packets, 20000, 25000);
	for (u32 i = 0; i < types.n; i++) {
		assert_int_not_equal(types.row[i].type, 0x88cc);
		packets += types.row[i].packets;
	}
	assert_int_equal(packets + types.other, 105000);
}

static void test_type_of(void **state)
{
	struct xdd_layers arp = { .ethertype = XDD_ETH_ARP }, length = { .ethertype = 38 };
	struct xdd_layers labels = { .labelled = 1 };
	char text[ETHERTYPE_TEXT_MAX];

	(void)state;
	assert_int_equal(xdd_ethertype_of(&arp), XDD_ETH_ARP);
	assert_int_equal(xdd_ethertype_of(&length), 0);
	assert_int_equal(xdd_ethertype_of(&labels), XDD_ETH_MPLS);
	assert_string_equal(ethertype_text(0x88cc, text), "LLDP");
	assert_string_equal(ethertype_text(0x1234, text), "0x1234");
}

/* An Ethernet frame with a tag and UDP from 192.0.2.1:7 to 192.0.2.2:9, cut behind 46 bytes. */
static const u8 frame[] = {
	2, 0,	 0, 0, 0,  1, 2, 0,   0, 0, 0, 2,   0x81, 0, 0, 7, 0x08, 0, 0x45, 0, 0,	 100, 0,
	1, 0x40, 0, 9, 17, 0, 0, 192, 0, 2, 1, 192, 0,	  2, 2, 0, 7,	 0, 9,	  0, 80, 0,   0,
};

static struct event_line line_of(const struct xdd_event *event, const struct xdd_fixed *fixed,
				 const struct xdd_secret *secret)
{
	return (struct event_line){ .event = event,
				    .bytes = frame,
				    .time_ns = 1700000000000002000ull,
				    .iface = "tap0",
				    .fixed = fixed,
				    .secret = secret };
}

static void test_comment(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	struct xdd_event event = { .window_ns = 20 * MS,
				   .kind = XDD_EVENT_duplicate,
				   .action = XDD_ACTION_drop };
	struct event_line line = line_of(&event, &fixed, NULL);
	char text[EVENT_TEXT_MAX];

	(void)state;
	assert_string_equal(event_comment(&line, text),
			    "duplicate: key packet, engine tagged, window 20ms, interface tap0, "
			    "action drop");
	fixed.inner = 1;
	fixed.engine = XDD_ENGINE_rlbsbf;
	event.action = XDD_ACTION_count;
	assert_string_equal(event_comment(&line, text),
			    "duplicate: key packet inside tunnels, engine rlbsbf, window none, "
			    "interface tap0, action count");
}

static void test_text(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	struct xdd_event event = { .wire_len = 118, .cap_len = sizeof(frame), .kind = 0 };
	struct event_line line = line_of(&event, &fixed, NULL);
	char text[EVENT_TEXT_MAX];

	(void)state;
	assert_non_null(strstr(event_text(&line, text),
			       ".000002 not_ip       tap0 118 bytes 192.0.2.1:7 > 192.0.2.2:9 udp "
			       "vlan 7"));
	event.cap_len = 18;
	assert_non_null(strstr(event_text(&line, text), "118 bytes EtherType 0x800 vlan 7"));
}

static const char *string_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void test_json(void **state)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	struct xdd_event event = {
		.wire_len = 118, .cap_len = sizeof(frame), .key = 42, .kind = XDD_EVENT_distinct
	};
	struct xdd_secret one, other;
	struct event_line line = line_of(&event, &fixed, &one);
	json_t *a, *b;

	(void)state;
	secret_from_seed(&one, 1);
	secret_from_seed(&other, 2);
	a = event_json(&line);
	line.secret = &other;
	b = event_json(&line);
	assert_string_equal(string_of(a, "verdict"), "distinct");
	assert_string_equal(string_of(a, "src"), "192.0.2.1");
	assert_string_equal(string_of(a, "dport"), "9");
	assert_string_equal(string_of(a, "action"), "pass");
	assert_true(json_is_null(json_object_get(a, "reason")));
	assert_int_equal(strlen(string_of(a, "key")), 16);
	assert_string_not_equal(string_of(a, "key"), string_of(b, "key"));
	assert_string_not_equal(string_of(a, "key"), "000000000000002a");
	assert_int_equal(strlen(string_of(a, "bytes")), 2 * sizeof(frame));
	json_decref(a);
	json_decref(b);
	line.secret = &one;
	event.kind = XDD_BYPASS_malformed;
	a = event_json(&line);
	assert_string_equal(string_of(a, "verdict"), "bypassed");
	assert_string_equal(string_of(a, "reason"), "malformed");
	assert_true(json_is_null(json_object_get(a, "key")));
	json_decref(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget),	cmocka_unit_test(test_budget_wraps),
		cmocka_unit_test(test_types),	cmocka_unit_test(test_flood),
		cmocka_unit_test(test_type_of), cmocka_unit_test(test_comment),
		cmocka_unit_test(test_text),	cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys most often suppressed, against exact counts; and how they are shown. */
#include <stdlib.h>
#include <string.h>

#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "tests/common/numbered.h"
#include "user/accessors.h"
#include "user/stream.h"
#include "user/top.h"

#define NOW_NS 5000000000ull
#define DOMAIN 100000
#define RECORDS 400000

/* What the README says: never more than there were, and of the first ten at most 2 % less. */
#define LEAST_SHARE 0.98

static struct xdd_store store;

static void open_store(u32 engine, u32 key)
{
	struct xdd_fixed fixed = config_fixed(engine, key);
	struct xdd_live live = config_live();

	fixed.non_ip_frame = 1;
	live.top = 1;
	assert_int_equal(store_open(&store, &fixed, &live, 64 << 20), 0);
}

static struct xdd_verdict decide(const u8 *at, u32 len)
{
	struct xdd_packet packet = { at, at + len, NULL, len, len, XDD_LINK_ETHERNET };

	return store_decide(&store, &packet, NOW_NS);
}

/* A packet with that number; returns whether it was suppressed. */
static bool take(u32 number)
{
	u8 frame[NUMBERED_BYTES];

	numbered_make(frame, number);
	return xdd_is_suppressed(decide(frame, sizeof(frame)));
}

static struct top top_now(void)
{
	struct top top;

	assert_int_equal(top_merge(store.top, XDD_TOP_BUCKETS, &top), 0);
	return top;
}

/* What is listed of the packet with that number; 0: nothing. */
static u64 listed(const struct top *top, u32 number)
{
	for (u32 i = 0; i < top->used; i++)
		if (top->key[i].about.v4[0] == number)
			return top->key[i].packets;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	return *(const u64 *)a < *(const u64 *)b ? 1 : -1;
}

/* Zipf's law has its numbers in the order of their counts, but for chance: compare with the real
 * tenth.
 */
static void check_zipf(double alpha)
{
	u64 *counts = calloc(DOMAIN, sizeof(*counts)), *sorted = calloc(DOMAIN, sizeof(*sorted));
	struct stream stream;
	struct top top;

	stream_open(&stream, DOMAIN, alpha, 7);
	open_store(XDD_ENGINE_exact, XDD_KEY_packet);
	for (u32 i = 0; i < RECORDS; i++) {
		u32 number = stream_next(&stream);

		counts[number] += take(number);
	}
	top = top_now();
	memcpy(sorted, counts, DOMAIN * sizeof(*sorted));
	qsort(sorted, DOMAIN, sizeof(*sorted), by_count);
	assert_int_equal(top.used, TOP_KEYS);
	for (u32 i = 0; i < TOP_KEYS; i++) {
		u64 count = counts[top.key[i].about.v4[0]];

		assert_true(top.key[i].packets <= count);
		assert_true(top.key[i].packets >= LEAST_SHARE * count);
		assert_true(count >= LEAST_SHARE * sorted[TOP_KEYS - 1]);
	}
	for (u32 number = 0; number < DOMAIN; number++)
		if (counts[number] * LEAST_SHARE > sorted[TOP_KEYS - 1])
			assert_true(listed(&top, number) > 0);
	store_close(&store);
	free(counts);
	free(sorted);
}

static void test_zipf(void **state)
{
	(void)state;
	check_zipf(0.9);
	check_zipf(1.1);
	check_zipf(1.5);
}

/* A storm of 200 copies stays visible through a million packets copied once, before or after it. */
static void test_sea(void **state)
{
	struct top top;

	(void)state;
	open_store(XDD_ENGINE_exact, XDD_KEY_packet);
	for (u32 i = 1; i <= 1000000; i++) {
		u32 storm = i == 1000 ? 0x10000000 : i == 999000 ? 0x20000000 : 0;

		for (u32 n = 0; storm && n <= 200; n++)
			take(storm);
		take(i);
		take(i);
	}
	top = top_now();
	assert_true(top.used >= 2);
	assert_in_range(listed(&top, 0x10000000), 199, 200);
	assert_in_range(listed(&top, 0x20000000), 199, 200);
	store_close(&store);
}

/* Old storms make room in the end: a new one enters a bucket where all have counted much. */
static void test_decay(void **state)
{
	struct xdd_top top = { .packets = { 5000, 5000, 300, 5000 }, .key = { 1, 2, 3, 4 } };
	u64 seed = 99;
	u32 n = 0;

	(void)state;
	while (top.key[2] == 3) {
		assert_int_equal(xdd_top_count(&top, 77, random64(&seed)), XDD_TOP_WAYS);
		n++;
	}
	assert_int_equal(top.key[2], 77);
	assert_int_equal(top.packets[2], 1);
	assert_int_equal(top.packets[0] + top.packets[1] + top.packets[3], 15000);
	/* 220 steps of 2^-10, then 8 of each chance up to 1: about 240,000 */
	assert_in_range(n, 200000, 280000);
	assert_int_equal(xdd_top_count(&top, 77, random64(&seed)), 2);
	assert_int_equal(top.packets[2], 2);
}

/* What two CPUs counted of a key is one number; what was suppressed once is not shown. */
static void test_merge(void **state)
{
	struct xdd_top cpus[2] = {
		{ .key = { 5, 6, 7 }, .packets = { 10, 1, 30 } },
		{ .key = { 7, 8, 5 }, .packets = { 3, 20, 4 } },
	};
	struct top top;

	(void)state;
	assert_int_equal(top_merge(cpus, 2, &top), 0);
	assert_int_equal(top.used, 3);
	assert_int_equal(top.key[0].key, 7);
	assert_int_equal(top.key[0].packets, 33);
	assert_int_equal(top.key[1].key, 8);
	assert_int_equal(top.key[1].packets, 20);
	assert_int_equal(top.key[2].key, 5);
	assert_int_equal(top.key[2].packets, 14);
}

struct text_row {
	u32 key;
	const char *spec, *text, *json;
};

static void check_text(const struct text_row *row)
{
	struct frame frame;
	char text[TOP_TEXT_MAX];
	struct top top;
	json_t *json;
	char *dump;

	frame_build(&frame, row->spec);
	open_store(XDD_ENGINE_tagged, row->key);
	for (u32 i = 0; i < 5; i++)
		decide(frame.byte, frame.len);
	top = top_now();
	assert_int_equal(top.used, 1);
	assert_string_equal(top_text(&top.key[0].about, row->key, text), row->text);
	json = top_json(&top, row->key);
	dump = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(dump, row->json);
	free(dump);
	json_decref(json);
	store_close(&store);
}

#define V6_SOURCE "8889:8a8b:8c8d:8e8f:9091:9293:9495:9697"
#define V6_DESTINATION "9899:9a9b:9c9d:9e9f:a0a1:a2a3:a4a5:a6a7"
#define V4_ENDS "\"protocol\":6,\"source\":\"10.1.2.3\",\"source_port\":1111}]"

static void test_text(void **state)
{
	static const struct text_row rows[] = {
		{ XDD_KEY_packet, "eth ip4:4 tcp", "10.1.2.3:1111 > 10.4.5.6:2222, TCP",
		  "[{\"destination\":\"10.4.5.6\",\"destination_port\":2222,\"packets\":"
		  "4," V4_ENDS },
		{ XDD_KEY_flow, "eth ip4:4 tcp", "10.1.2.3:1111 > 10.4.5.6:2222, TCP",
		  "[{\"destination\":\"10.4.5.6\",\"destination_port\":2222,\"packets\":"
		  "4," V4_ENDS },
		{ XDD_KEY_packet, "eth ip6 hop udp pay:9",
		  "[" V6_SOURCE "]:1111 > [" V6_DESTINATION "]:2222, UDP",
		  "[{\"destination\":\"" V6_DESTINATION
		  "\",\"destination_port\":2222,\"packets\":4,"
		  "\"protocol\":17,\"source\":\"" V6_SOURCE "\",\"source_port\":1111}]" },
		{ XDD_KEY_packet, "eth ip4 icmp:8", "10.1.2.3 > 10.4.5.6, ICMP",
		  "[{\"destination\":\"10.4.5.6\",\"packets\":4,\"protocol\":1,"
		  "\"source\":\"10.1.2.3\"}]" },
		{ XDD_KEY_src, "eth ip4 proto:89", "10.1.2.3 > any",
		  "[{\"packets\":4,\"source\":\"10.1.2.3\"}]" },
		{ XDD_KEY_dst, "eth ip4 proto:89", "any > 10.4.5.6",
		  "[{\"destination\":\"10.4.5.6\",\"packets\":4}]" },
		{ XDD_KEY_packet, "eth ip4 proto:89", "10.1.2.3 > 10.4.5.6, protocol 89",
		  "[{\"destination\":\"10.4.5.6\",\"packets\":4,\"protocol\":89,"
		  "\"source\":\"10.1.2.3\"}]" },
		{ XDD_KEY_packet, "eth vlan arp", "26:27:28:29:2a:2b > 20:21:22:23:24:25, ARP",
		  "[{\"destination\":\"20:21:22:23:24:25\",\"ethertype\":2054,\"packets\":4,"
		  "\"source\":\"26:27:28:29:2a:2b\"}]" },
		{ XDD_KEY_frame, "eth vlan arp",
		  "26:27:28:29:2a:2b > 20:21:22:23:24:25, EtherType 0x8100",
		  "[{\"destination\":\"20:21:22:23:24:25\",\"ethertype\":33024,\"packets\":4,"
		  "\"source\":\"26:27:28:29:2a:2b\"}]" },
	};

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++)
		check_text(&rows[i]);
}

/* Switched off, nothing is kept. */
static void test_off(void **state)
{
	(void)state;
	open_store(XDD_ENGINE_tagged, XDD_KEY_packet);
	store.live.top = 0;
	for (u32 i = 0; i < 20; i++)
		take(1);
	assert_int_equal(top_now().used, 0);
	store_close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zipf),  cmocka_unit_test(test_sea),
		cmocka_unit_test(test_decay), cmocka_unit_test(test_merge),
		cmocka_unit_test(test_text),  cmocka_unit_test(test_off),
	};

	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}

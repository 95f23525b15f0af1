// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Watch sets: where keys lie, what is done with packets, sets that are joined, keys as people name them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/acbf.h"
#include "tests/common/config.h"
#include "tests/common/frame.h"
#include "tests/common/test.h"
#include "user/accessors.h"
#include "user/message.h"
#include "user/secret.h"
#include "user/watch/keys.h"
#include "xdd/decide.h"

#define BITS 3700
#define KEYS 100

/* A store of engine tagged with a set of KEYS keys, 0.. of key_number(). */
struct watched {
	struct xdd_store store;
	struct acbf acbf;
};

static struct xdd_digest key_number(u64 n)
{
	return (struct xdd_digest){ .lo = xdd_mix64(n) };
}

static void open_set(struct acbf *a, u64 first, u64 n)
{
	u64 positions[ACBF_MAX_HASHES];

	assert_int_equal(acbf_open(a, 1000, 3, BITS), 0);
	for (u64 i = first; i < first + n; i++) {
		const struct xdd_digest key = key_number(i);

		acbf_positions(a, &key, positions);
		assert_int_equal(acbf_add(a, positions), 0);
	}
}

static void watched_open(struct watched *w, u32 action)
{
	struct xdd_fixed fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	struct xdd_live live = config_live();

	fixed.watch_bits = BITS;
	fixed.watch_hashes = 3;
	live.watch_action = action;
	open_set(&w->acbf, 0, KEYS);
	assert_int_equal(store_open(&w->store, &fixed, &live, 1 << 20), 0);
	w->store.watch = w->acbf.first;
}

static void watched_close(struct watched *w)
{
	store_close(&w->store);
	acbf_close(&w->acbf);
}

/* Where the program looks is where the counting filter has its ones. */
static void test_positions(void **state)
{
	u64 positions[ACBF_MAX_HASHES];
	struct acbf a = { .bits = 0xfffffff1, .hashes = ACBF_MAX_HASHES };

	(void)state;
	for (u64 n = 0; n < 1000; n++) {
		const struct xdd_digest digest = { xdd_mix64(n), n & 1 ? xdd_mix64(~n) : 0 };

		acbf_positions(&a, &digest, positions);
		for (u32 i = 0; i < a.hashes; i++) {
			assert_true(positions[i] < a.bits);
			assert_int_equal(positions[i], xdd_watch_position(&digest, i, a.bits));
		}
	}
}

/* Members are found whatever the second half of their digest; of others few. */
static void test_has(void **state)
{
	struct watched w;
	u32 others = 0;

	(void)state;
	watched_open(&w, XDD_WATCH_only);
	for (u64 n = 0; n < 100000; n++) {
		struct xdd_digest digest = key_number(n);
		u32 found;

		digest.hi = xdd_mix64(n + 77);
		found = xdd_watch_has(&w.store.fixed, &w.store, &digest);
		if (n < KEYS)
			assert_int_equal(found, XDD_SEEN);
		else
			others += found == XDD_SEEN;
	}
	assert_in_range(others, 20, 90); /* .00047 of them are expected */
	watched_close(&w);
}

/* What each action does with packets of the set, and with others. */
static void test_actions(void **state)
{
	static const u32 expected[XDD_WATCH_MAX][2] = {
		[XDD_WATCH_only] = { XDD_BYPASS_watch, XDD_BYPASS_MAX },
		[XDD_WATCH_skip] = { XDD_BYPASS_MAX, XDD_BYPASS_watch },
		[XDD_WATCH_drop] = { XDD_BYPASS_MAX, XDD_BYPASS_watch | XDD_UNWANTED },
		[XDD_WATCH_select] = { XDD_BYPASS_watch | XDD_UNWANTED, XDD_BYPASS_MAX },
	};

	(void)state;
	for (u32 action = 0; action <= XDD_WATCH_MAX; action++) {
		for (u32 member = 0; member < 2; member++) {
			const struct xdd_identity identity = {
				.digest = key_number(member ? 5 : 555555),
			};
			struct watched w;
			u32 said;

			watched_open(&w, action);
			said = xdd_watch(&w.store.fixed, &w.store.live, &w.store, &identity);
			/* What is in doubt is for xdd_judge() to bypass as stale. */
			assert_int_equal(said, action < XDD_WATCH_MAX ? expected[action][member]
								      : XDD_BYPASS_MAX);
			w.store.live.abi--;
			said = xdd_watch(&w.store.fixed, &w.store.live, &w.store, &identity);
			assert_int_equal(said, XDD_BYPASS_MAX);
			watched_close(&w);
		}
	}
}

/* Whole verdicts: an unwanted packet is no duplicate, and enters no filter. */
static void test_verdicts(void **state)
{
	static u32 iface;
	struct frame frame;
	struct xdd_packet packet;
	struct xdd_verdict verdict;
	struct watched w;

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:40");
	packet = (struct xdd_packet){ frame.byte, frame.byte + frame.len, &iface, frame.len,
				      frame.len,  XDD_LINK_ETHERNET };
	watched_open(&w, XDD_WATCH_select);
	verdict = store_decide(&w.store, &packet, 1);
	assert_int_equal(verdict.bypass, XDD_BYPASS_watch);
	assert_true(xdd_is_unwanted(verdict));
	assert_false(xdd_is_suppressed(verdict));
	w.store.live.watch_action = XDD_WATCH_only;
	verdict = store_decide(&w.store, &packet, 2);
	assert_int_equal(verdict.bypass, XDD_BYPASS_watch);
	assert_false(xdd_is_unwanted(verdict));
	w.store.live.watch_action = XDD_WATCH_skip;
	for (u32 i = 0; i < 2; i++) {
		verdict = store_decide(&w.store, &packet, 3);
		assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
		assert_int_equal(verdict.found & XDD_SEEN, i);
	}
	watched_close(&w);
}

/* Two sets joined are the set of the keys of both. */
static void test_merge(void **state)
{
	struct acbf one, other, both, narrow;

	(void)state;
	open_set(&one, 0, 40);
	open_set(&other, 20, 40);
	open_set(&both, 0, 40);
	for (u64 i = 20; i < 60; i++) {
		const struct xdd_digest key = key_number(i);
		u64 positions[ACBF_MAX_HASHES];

		acbf_positions(&both, &key, positions);
		assert_int_equal(acbf_add(&both, positions), 0);
	}
	assert_int_equal(acbf_merge(&one, &other), 0);
	assert_same(&one, &both);
	assert_int_equal(acbf_merge(&one, &other), -ENOSPC);
	assert_same(&one, &both);
	assert_int_equal(acbf_open(&narrow, 1000, 3, BITS - 1), 0);
	assert_int_equal(acbf_merge(&one, &narrow), -EINVAL);
	acbf_close(&one);
	acbf_close(&other);
	acbf_close(&both);
	acbf_close(&narrow);
}

static struct watch_keys keys_of(u32 kind)
{
	struct watch_keys keys = { .fixed = config_fixed(XDD_ENGINE_tagged, kind) };

	secret_from_seed(&keys.secret, 5);
	return keys;
}

static char message[MESSAGE_MAX];

/* The key of @frame, as the instance finds it. */
static u64 key_of_frame(const struct watch_keys *keys, const struct frame *frame)
{
	static u32 iface;
	const struct xdd_packet packet = { frame->byte, frame->byte + frame->len,
					   &iface,	frame->len,
					   frame->len,	XDD_LINK_ETHERNET };
	struct xdd_identity identity = {};

	assert_int_equal(xdd_identify(&keys->fixed, &keys->secret, &packet, &identity),
			 XDD_BYPASS_MAX);
	return identity.digest.lo;
}

/* @text names the key of the packet that @spec describes; and so do its bytes. */
static void check_key(u32 kind, const char *text, const char *spec)
{
	struct watch_keys keys = keys_of(kind);
	char hex[2 * FRAME_MAX + 1];
	struct frame frame;

	frame_build(&frame, spec);
	for (u32 i = 0; i < frame.len; i++)
		sprintf(hex + 2 * i, i & 1 ? "%02X" : "%02x", frame.byte[i]);
	if (text)
		assert_int_equal(watch_keys_parse(&keys, text, 1, message, sizeof(message)), 0);
	assert_int_equal(watch_keys_parse(&keys, hex, 2, message, sizeof(message)), 0);
	for (size_t i = 0; i < keys.n; i++)
		assert_int_equal(keys.key[i].key, key_of_frame(&keys, &frame));
	watch_keys_unique(&keys);
	assert_int_equal(keys.n, 1);
	watch_keys_close(&keys);
}

#define SRC6 "8889:8a8b:8c8d:8e8f:9091:9293:9495:9697"
#define DST6 "9899:9a9b:9c9d:9e9f:a0a1:a2a3:a4a5:a6a7"

static void test_keys(void **state)
{
	(void)state;
	check_key(XDD_KEY_src, "10.1.2.3", "eth ip4 udp pay:9");
	check_key(XDD_KEY_dst, "10.4.5.6", "eth vlan ip4 tcp pay:9");
	check_key(XDD_KEY_src, SRC6, "eth ip6 udp pay:9");
	check_key(XDD_KEY_dst, DST6, "eth ip6 udp pay:9");
	check_key(XDD_KEY_srcdst, "10.1.2.3,10.4.5.6", "eth ip4 tcp pay:9");
	check_key(XDD_KEY_srcdst, SRC6 "," DST6, "eth ip6 tcp pay:9");
	check_key(XDD_KEY_flow, "tcp,10.1.2.3,1111,10.4.5.6,2222", "eth ip4 tcp pay:9");
	check_key(XDD_KEY_flow, "17,10.1.2.3,1111,10.4.5.6,2222", "eth ip4 udp pay:9");
	check_key(XDD_KEY_flow, "SCTP," SRC6 ",1111," DST6 ",2222", "eth ip6 sctp pay:9");
	check_key(XDD_KEY_flow, "icmp,10.1.2.3,8,10.4.5.6,50373", "eth ip4 icmp:8 pay:9");
	check_key(XDD_KEY_flow, "icmp6," SRC6 ",129," DST6 ",50373", "eth ip6 icmp6:129 pay:9");
	check_key(XDD_KEY_flow, "icmp,10.1.2.3,3,10.4.5.6,0", "eth ip4 icmp:3 pay:9");
	check_key(XDD_KEY_flow, "50,10.1.2.3,0,10.4.5.6,0", "eth ip4 proto:50 pay:9");
	check_key(XDD_KEY_biflow, "udp,10.1.2.3,1111,10.4.5.6,2222", "eth ip4 udp pay:9");
	check_key(XDD_KEY_biflow, "udp,10.4.5.6,2222,10.1.2.3,1111", "eth ip4 udp pay:9");
	check_key(XDD_KEY_packet, NULL, "eth ip4 udp pay:9");
	check_key(XDD_KEY_frame, NULL, "eth arp pad:9");
	check_key(XDD_KEY_offset, NULL, "eth ip4 udp pay:90");
}

static void refuses(u32 kind, const char *text, const char *why)
{
	struct watch_keys keys = keys_of(kind);

	assert_int_equal(watch_keys_parse(&keys, text, 1, message, sizeof(message)), -EINVAL);
	if (!strstr(message, why))
		fail_msg("%s: %s", text, message);
	assert_int_equal(keys.n, 0);
	watch_keys_close(&keys);
}

static void test_refusals(void **state)
{
	struct watch_keys keys = keys_of(XDD_KEY_src);

	(void)state;
	refuses(XDD_KEY_src, "10.1.2", "write an ADDRESS");
	refuses(XDD_KEY_src, "10.1.2.3,10.1.2.3", "write an ADDRESS");
	refuses(XDD_KEY_src, "", "write an ADDRESS");
	refuses(XDD_KEY_srcdst, "10.1.2.3", "ADDRESS,ADDRESS");
	refuses(XDD_KEY_srcdst, "10.1.2.3,::1", "ADDRESS,ADDRESS");
	refuses(XDD_KEY_flow, "tcp,10.1.2.3,1,10.1.2.3", "PROTOCOL,ADDRESS");
	refuses(XDD_KEY_flow, "tcp,10.1.2.3,65536,10.1.2.3,1", "PROTOCOL,ADDRESS");
	refuses(XDD_KEY_flow, "tpc,10.1.2.3,1,10.1.2.3,1", "PROTOCOL,ADDRESS");
	refuses(XDD_KEY_flow, "256,10.1.2.3,1,10.1.2.3,1", "PROTOCOL,ADDRESS");
	refuses(XDD_KEY_flow, "icmp,10.1.2.3,256,10.1.2.3,1", "PROTOCOL,ADDRESS");
	refuses(XDD_KEY_flow, "tcp,10.1.2.3,1,10.1.2.3,1,1", "PROTOCOL,ADDRESS");
	refuses(XDD_KEY_packet, "10.1.2.3", "only a packet shows the key");
	/* an ARP frame, and one that ends in its IP header */
	refuses(XDD_KEY_packet, "ffffffffffff2020202020200806000108000604", "not_ip");
	refuses(XDD_KEY_packet, "ffffffffffff2020202020200800450000", "frame");
	keys.fixed.vlan_key = 1;
	assert_int_equal(watch_keys_parse(&keys, "10.1.2.3", 1, message, sizeof(message)), -EINVAL);
	assert_non_null(strstr(message, "VLANs"));
	watch_keys_close(&keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_positions), cmocka_unit_test(test_has),
		cmocka_unit_test(test_actions),	  cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_merge),	  cmocka_unit_test(test_keys),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

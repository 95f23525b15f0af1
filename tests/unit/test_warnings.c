/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said to be wrong: from links, and from what was added to the counts between looks. */
#include <linux/if.h>
#include <string.h>

#include "tests/common/config.h"
#include "user/metrics/status.h"
#include "user/metrics/warnings.h"
#include "xdd/event.h"

/* A tap of two interfaces, and those who look at it again and again. */
struct scene {
	struct instance instance;
	struct status status;
	struct activity activity;
	u64 now_ns;
};

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->instance.fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	s->instance.live = config_live();
	s->instance.ifaces_used = 2;
	strcpy(s->instance.name, "tap");
	for (u32 i = 0; i < 2; i++) {
		sprintf(s->instance.ifaces[i].name, "eth%u", i + 1);
		s->instance.ifaces[i].ifindex = i + 1;
		s->status.links.iface[i] = (struct link_view){ true, true, true, IF_OPER_UP };
	}
	s->status.instance = &s->instance;
	s->status.loaded_s = 1000;
	s->now_ns = 5000 * XDD_SECOND_NS;
}

static void look(struct scene *s, struct activity *activity, u32 seconds)
{
	s->now_ns += seconds * XDD_SECOND_NS;
	s->status.warnings = s->status.notes = 0;
	activity_note(activity, &s->status, s->now_ns);
	warnings_find(&s->status);
}

/* Look again after so many seconds. */
static void look_after(struct scene *s, u32 seconds)
{
	look(s, &s->activity, seconds);
}

static void arrive(struct scene *s, u32 slot, u64 distinct, u64 duplicate)
{
	struct xdd_counters *of[] = { &s->status.counters.slot[slot], &s->status.counters.total };

	for (u32 i = 0; i < 2; i++) {
		of[i]->received.packets += distinct + duplicate;
		of[i]->distinct.packets += distinct;
		of[i]->duplicate.packets += duplicate;
	}
}

static void bypass(struct scene *s, u64 packets)
{
	s->status.counters.total.received.packets += packets;
	s->status.counters.total.unsupported.packets += packets;
	s->status.counters.slot[0].received.packets += packets;
}

/* The only warning is @words, or there is none for NULL. */
static void assert_warned(const struct scene *s, const char *words)
{
	assert_int_equal(s->status.warnings, words ? 1 : 0);
	if (words && !strstr(s->status.warning[0], words))
		fail_msg("no '%s' in '%s'", words, s->status.warning[0]);
}

static void links(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	look(&s, NULL, 0);
	assert_warned(&s, NULL);
	s.status.links.iface[1] = (struct link_view){ true, true, false, IF_OPER_LOWERLAYERDOWN };
	look(&s, NULL, 0);
	assert_warned(&s, "eth2: no carrier");
	s.status.links.iface[1].up = false;
	look(&s, NULL, 0);
	assert_warned(&s, "eth2: down: ip link set dev eth2 up");
	s.status.links.iface[1].known = false;
	look(&s, NULL, 0);
	assert_warned(&s, NULL);
}

/* One that is silent while others are not: after so long as many packets would have come in. */
static void silent_one(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	arrive(&s, 0, 50000, 50000);
	arrive(&s, 1, 1000, 1000);
	look_after(&s, 0);
	for (u32 i = 1; i <= 24; i++) {
		arrive(&s, 0, 50, 50);
		look_after(&s, 1);
		assert_warned(&s, NULL);
	}
	arrive(&s, 0, 50, 50);
	look_after(&s, 1);
	assert_warned(&s, "eth2: no packets for 25 s, while others have some");
	/* What is known to be dead is said once. */
	s.status.links.iface[1].carrier = false;
	look_after(&s, 0);
	assert_warned(&s, "eth2: no carrier");
	s.status.links.iface[1].carrier = true;
	arrive(&s, 0, 1, 0);
	arrive(&s, 1, 1, 0);
	look_after(&s, 1);
	assert_warned(&s, NULL);
}

static void silent_since_load(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	arrive(&s, 0, 500, 500);
	look(&s, NULL, 0);
	assert_warned(&s, NULL);
	assert_int_equal(s.status.notes, 1);
	assert_non_null(strstr(s.status.note[0], "eth2: no packets since load"));
	s.status.loaded_s = 59;
	look(&s, NULL, 0);
	assert_int_equal(s.status.notes, 0);
}

static void all_silent(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	look_after(&s, 0);
	look_after(&s, 100);
	assert_warned(&s, NULL);
	arrive(&s, 0, 100000, 0);
	arrive(&s, 1, 100000, 0);
	look_after(&s, 1);
	look_after(&s, 59);
	assert_warned(&s, NULL);
	look_after(&s, 1);
	assert_warned(&s, "no packet on any interface for 60 s, of 200000 since load");
	/* Beside one that never had any it is not alone. */
	scene_open(&s);
	look_after(&s, 0);
	arrive(&s, 0, 100000, 0);
	look_after(&s, 1);
	look_after(&s, 12);
	assert_warned(&s, NULL);
}

/* Judged by the last minute, not by the years before. */
static void nearly_all_copies(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.instance.ifaces_used = 1;
	arrive(&s, 0, 1000000, 1000000);
	look_after(&s, 0);
	arrive(&s, 0, 60, 940);
	look_after(&s, 1);
	assert_warned(&s, NULL);
	arrive(&s, 0, 0, 10000);
	look_after(&s, 1);
	assert_warned(&s, "99.45 % of the packets are duplicates: is there a loop");
	for (u32 i = 0; i < 8; i++) {
		arrive(&s, 0, 100, 100);
		look_after(&s, 10);
	}
	assert_warned(&s, NULL);
	look(&s, NULL, 0);
	assert_int_equal(s.status.notes, 0);
}

static void nothing_compared(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.instance.ifaces_used = 1;
	look_after(&s, 0);
	bypass(&s, 5000);
	look_after(&s, 1);
	assert_warned(&s, "nothing is compared: 100 % bypassed (unsupported)");
	arrive(&s, 0, 1, 1);
	look_after(&s, 1);
	assert_warned(&s, "hardly anything is compared: 99.96 % bypassed (unsupported)");
	arrive(&s, 0, 50, 50);
	look_after(&s, 1);
	assert_warned(&s, NULL);
	bypass(&s, 1000000);
	look(&s, NULL, 0);
	assert_warned(&s, NULL);
	assert_int_equal(s.status.notes, 1);
}

/* Counts that only grow are no warning once nothing was added for a minute. */
static void cleared(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.instance.ifaces_used = 1;
	look_after(&s, 0);
	arrive(&s, 0, 100, 100);
	s.status.counters.total.redirect_errors.packets += 7;
	s.status.counters.total.evictions += 30;
	look_after(&s, 1);
	assert_int_equal(s.status.warnings, 2);
	for (u32 i = 0; i < 7; i++) {
		arrive(&s, 0, 100, 100);
		look_after(&s, 10);
		assert_int_equal(s.status.warnings, i < 6 ? 2 : 0);
	}
	look(&s, NULL, 0);
	assert_warned(&s, NULL);
	assert_int_equal(s.status.notes, 2);
	/* Loaded anew: nothing is known of it. */
	s.instance.meta.loaded_s = 7;
	look_after(&s, 1);
	assert_int_equal(s.status.warnings, 0);
}

static void missed(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.status.audit.share = 1.0 / 16;
	s.status.audit.counts.fn = 900;
	s.status.audit.fnr.low = 0.04;
	look(&s, NULL, 0);
	assert_warned(&s, NULL);
	s.status.audit.fnr.low = 0.9;
	look(&s, NULL, 0);
	assert_warned(&s, "more than 90 % of the copies pass, as measured");
	s.instance.fixed.engine = XDD_ENGINE_exact;
	s.instance.meta.capacity_keys = 512;
	look(&s, NULL, 0);
	assert_warned(&s, "engine exact forgets keys beyond 512");
	/* No more than before: it is over. */
	look_after(&s, 0);
	look_after(&s, 10);
	assert_warned(&s, "90 %");
	look_after(&s, 50);
	assert_warned(&s, NULL);
	s.status.audit.counts.fn++;
	look_after(&s, 10);
	assert_warned(&s, "90 %");
}

static void targets(void **state)
{
	struct target_view *target;
	struct scene s;

	(void)state;
	scene_open(&s);
	target = &s.status.links.target[XDD_DEV_FORWARD];
	*target = (struct target_view){
		.known = true, .name = "tool0", .ifindex = 9, .up = true, .takes = true
	};
	look_after(&s, 0);
	assert_warned(&s, NULL);
	target->dropped = 3;
	look_after(&s, 1);
	assert_warned(&s, "tool0 dropped 3 of the packets");
	look_after(&s, 60);
	look_after(&s, 60);
	assert_warned(&s, NULL);
	/* Gone: what passes is said once, and not to be lost. */
	target->ifindex = 0;
	s.status.counters.total.redirect_errors.packets = 10;
	look_after(&s, 1);
	assert_warned(&s, "is gone: they pass to this host instead");
	target->ifindex = 10;
	look_after(&s, 1);
	assert_warned(&s, "10 packets could not be redirected, and passed");
}

/* Peer @i is as believed as its state is, and its replica errs so. */
static void add_peer(struct scene *s, enum xdd_peer_state state, double fpr, u64 window_ns)
{
	struct peer_view *peer = &s->status.peers.peer[s->status.peers.n++];

	s->instance.fixed.peers = 8;
	peer->believed = state == XDD_PEER_live;
	peer->about = (struct xdd_peer){ .name = "b.tap",
					 .state = state,
					 .predicted_fpr = fpr * XDD_RATE_ONE,
					 .window_ns = window_ns };
	s->status.peers.believed += peer->believed;
}

/* What replicas lose is lost as well, and said where it is most of it; unless nothing is dropped for them. */
static void replicas_lose(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.instance.live.replica_action = XDD_REPLICA_drop;
	s.status.fullness.fpr = 0.001;
	add_peer(&s, XDD_PEER_live, 0.004, s.instance.live.window_ns);
	add_peer(&s, XDD_PEER_failed, 0.5, s.instance.live.window_ns);
	look_after(&s, 1);
	assert_int_equal(s.status.warnings, 0);
	assert_float_equal(status_fpr(&s.status), 1 - 0.999 * 0.996, 1e-9);
	add_peer(&s, XDD_PEER_live, 0.1, s.instance.live.window_ns);
	look_after(&s, 1);
	assert_int_equal(s.status.warnings, 1);
	assert_non_null(strstr(s.status.warning[0], "10 % of the packets that are new everywhere"));
	assert_float_equal(status_fpr(&s.status), 1 - 0.999 * 0.996 * 0.9, 1e-9);
	s.instance.live.replica_action = XDD_REPLICA_count;
	look_after(&s, 1);
	assert_int_equal(s.status.warnings, 0);
	assert_float_equal(status_fpr(&s.status), 0.001, 1e-9);
}

/* A peer whose window is longer is named, with both. */
static void other_window(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.instance.live.window_ns = XDD_SECOND_NS;
	add_peer(&s, XDD_PEER_mismatched, 0, XDD_SECOND_NS);
	look_after(&s, 1);
	assert_int_equal(s.status.warnings, 0);
	add_peer(&s, XDD_PEER_mismatched, 0, 10 * XDD_SECOND_NS);
	look_after(&s, 1);
	assert_int_equal(s.status.warnings, 1);
	assert_non_null(
		strstr(s.status.warning[0], "its window is 10 s, here 1 s: set both alike"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replicas_lose),
		cmocka_unit_test(other_window),
		cmocka_unit_test(links),
		cmocka_unit_test(silent_one),
		cmocka_unit_test(silent_since_load),
		cmocka_unit_test(all_silent),
		cmocka_unit_test(nearly_all_copies),
		cmocka_unit_test(nothing_compared),
		cmocka_unit_test(cleared),
		cmocka_unit_test(missed),
		cmocka_unit_test(targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

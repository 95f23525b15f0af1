/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of what other hosts say, in whatever order and state it comes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/cluster/delta.h"
#include "user/cluster/receiver.h"
#include "user/cluster/sender.h"

#define SHIFT 12
#define BITS (1u << SHIFT)
#define WORDS (BITS / 64)
#define MOST 14 /* shift of the largest filter that the receiver takes */
#define S 1000000000ULL
#define FINGERPRINT 77

#define ROOM (WIRE_HEADER + WIRE_TAG + BITS / 8 + 1)
#define LINE 4096 /* messages under way */

static const struct wire_key group = { { 3, 4 } };

struct message {
	size_t size;
	u8 bytes[ROOM];
};

/* What the replicas were told, and messages that were sent and are under way. */
static struct {
	struct receiver_setup setup;
	struct wire_self me;
	struct receiver *receiver;
	struct wire_time now;
	u64 column[RECEIVER_SLOTS][(1u << MOST) / 64];
	u32 shift[RECEIVER_SLOTS]; /* of the column; 0: it was cleared */
	u64 believed, until;
	u32 wants, changes;
	struct message line[LINE];
	u32 sent, split;
	u64 random;
} t;

static void set(void *to, u32 peer, const u64 *bits, u32 shift)
{
	assert_ptr_equal(to, &t);
	assert_false(t.believed >> peer & 1); /* half of it may be there */
	memcpy(t.column[peer], bits, (1u << shift) / 8);
	t.shift[peer] = shift;
}

static void flip(void *to, u32 peer, const u64 *changed, u32 shift)
{
	assert_ptr_equal(to, &t);
	assert_int_equal(t.shift[peer], shift);
	for (u32 i = 0; i < (1u << shift) / 64; i++)
		t.column[peer][i] ^= changed[i];
}

static void clear(void *to, u32 peer)
{
	assert_ptr_equal(to, &t);
	assert_false(t.believed >> peer & 1);
	t.shift[peer] = 0;
}

static void believe(void *to, u64 mask, u64 until_ns)
{
	assert_ptr_equal(to, &t);
	t.believed = mask;
	t.until = until_ns;
}

static void want(void *to, const char *name, const u8 *message, size_t size)
{
	struct wire_key key = wire_key_of(&group, "me");
	struct wire_head head;
	const u8 *payload;

	assert_ptr_equal(to, &t);
	assert_true(name[0]);
	assert_int_equal(wire_open(&key, message, size, &head, &payload), 0);
	assert_int_equal(head.type, WIRE_WANT);
	t.wants++;
}

static void change(void *to, u32 peer, const struct receiver_peer *now, enum xdd_peer_state before)
{
	assert_ptr_equal(to, &t);
	assert_ptr_equal(now, receiver_peer(t.receiver, peer));
	assert_true(now->state != before);
	t.changes++;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.me = (struct wire_self){ .key = wire_key_of(&group, "me"),
				   .fingerprint = FINGERPRINT,
				   .epoch = 5 };
	t.now = (struct wire_time){ 1000 * S, 5000 * S };
	t.setup = (struct receiver_setup){ .self = &t.me,
					   .group = group,
					   .name = "me",
					   .ops = { set, flip, clear, believe, want, change },
					   .to = &t,
					   .slots = RECEIVER_SLOTS,
					   .shift = MOST,
					   .max_density = 0.6,
					   .silence_ns = 5 * S,
					   .forget_ns = 60 * S,
					   .believe_ns = 2 * S,
					   .want_least_ns = S,
					   .want_most_ns = 16 * S };
	t.split = 1;
	t.random = 1;
	t.receiver = receiver_open(&t.setup);
	assert_non_null(t.receiver);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	receiver_close(t.receiver);
	return 0;
}

/* A host that talks: what it last said, version @seq. */
struct talker {
	char name[WIRE_NAME];
	struct wire_self self;
	u64 seq;
	u64 bits[WORDS];
};

static struct talker make_talker(const char *name, u64 epoch)
{
	struct talker talker = { .self = { .key = wire_key_of(&group, name),
					   .fingerprint = FINGERPRINT,
					   .epoch = epoch } };

	strcpy(talker.name, name);
	return talker;
}

static struct wire_head head_of(const struct talker *talker, enum wire_type type)
{
	return (struct wire_head){ .type = type,
				   .hashes = 4,
				   .shift = SHIFT,
				   .seq = talker->seq,
				   .time_ns = t.now.wall_ns,
				   .fpr_ppb = 1000000,
				   .fnr_ppb = 2000000,
				   .member_ppb = 30000000 };
}

static void put_on_line(struct talker *talker, struct wire_head *head)
{
	assert_true(t.sent < LINE);
	t.line[t.sent].size = wire_seal(&talker->self, head, t.line[t.sent].bytes);
	t.sent++;
}

static void say(struct talker *talker, enum wire_type type)
{
	struct wire_head head = head_of(talker, type);

	put_on_line(talker, &head);
}

/* Send @bits in t.split parts. */
static void say_filter(struct talker *talker, enum wire_type type, const u64 *bits)
{
	for (u32 i = 0; i < t.split; i++) {
		struct wire_head head = head_of(talker, type);

		head.part = i;
		head.parts = t.split;
		head.first = i * WORDS / t.split * 64;
		head.bits = (i + 1) * WORDS / t.split * 64 - head.first;
		head.payload_bytes = delta_encode(bits + head.first / 64, head.bits,
						  t.line[t.sent].bytes + WIRE_HEADER);
		put_on_line(talker, &head);
	}
}

/* The next version: some bits come and go. */
static void change_bits(struct talker *talker, u64 *changed)
{
	memset(changed, 0, sizeof(talker->bits));
	for (u32 i = 0; i < 40; i++) {
		u32 at = random_below(&t.random, BITS);

		changed[at / 64] |= 1ULL << at % 64;
	}
	for (u32 i = 0; i < WORDS; i++)
		talker->bits[i] ^= changed[i];
	talker->seq++;
}

static void say_full(struct talker *talker)
{
	u64 changed[WORDS];

	change_bits(talker, changed);
	say_filter(talker, WIRE_FULL, talker->bits);
}

static void say_delta(struct talker *talker)
{
	u64 changed[WORDS];

	change_bits(talker, changed);
	say_filter(talker, WIRE_DELTA, changed);
}

static int hear_as(const char *name, u32 i, bool stored)
{
	return receiver_take(t.receiver, name, t.line[i].bytes, t.line[i].size, stored, t.now);
}

/* All that is under way arrives from @talker. */
static void arrive(const struct talker *talker)
{
	for (u32 i = 0; i < t.sent; i++)
		assert_int_equal(hear_as(talker->name, i, false), 0);
	t.sent = 0;
}

static void pass(u64 ns)
{
	t.now.mono_ns += ns;
	t.now.wall_ns += ns;
}

static const struct receiver_peer *peer_of(const char *name, u32 *slot)
{
	for (u32 i = 0; i < t.setup.slots; i++) {
		const struct receiver_peer *peer = receiver_peer(t.receiver, i);

		if (peer->state != XDD_PEER_none && !strcmp(peer->name, name)) {
			*slot = i;
			return peer;
		}
	}
	return NULL;
}

/* The state of @talker; and if it is believed, that what is asked is what it last said. */
static enum xdd_peer_state look(const struct talker *talker)
{
	u32 slot;
	const struct receiver_peer *peer = peer_of(talker->name, &slot);

	if (!peer)
		return XDD_PEER_none;
	assert_true((t.believed >> slot & 1) == (peer->state == XDD_PEER_live));
	assert_true(t.believed == receiver_believed(t.receiver));
	if (t.shift[slot])
		assert_memory_equal(t.column[slot], receiver_replica(t.receiver, slot), BITS / 8);
	if (peer->state == XDD_PEER_live)
		assert_memory_equal(t.column[slot], talker->bits, BITS / 8);
	return peer->state;
}

static void test_updates(void **state)
{
	struct talker a = make_talker("a", 1);
	const struct receiver_peer *peer;
	u32 slot;

	(void)state;
	say(&a, WIRE_HEARTBEAT);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_joining);
	assert_int_equal(t.wants, 1);
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	for (u32 i = 0; i < 20; i++) {
		say_delta(&a);
		say(&a, WIRE_HEARTBEAT);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_live);
	}
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	peer = peer_of("a", &slot);
	assert_true(peer->fulls == 2 && peer->deltas == 20 && peer->heartbeats == 21);
	assert_true(peer->messages == 43 && !peer->refused && !peer->old && !peer->gaps);
	assert_true(peer->seq == a.seq && peer->epoch == 1 && peer->shift == SHIFT);
	assert_int_equal(t.wants, 1);
}

/* A version is missing: nothing is believed until all of it comes. A heartbeat shows it, too. */
static void test_gap(void **state)
{
	struct talker a = make_talker("a", 1);

	(void)state;
	say_full(&a);
	arrive(&a);
	for (u32 i = 0; i < 2; i++) {
		say_delta(&a);
		t.sent = 0; /* lost */
		if (i)
			say(&a, WIRE_HEARTBEAT);
		else
			say_delta(&a);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_recovering);
		say_delta(&a);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_recovering);
		pass(20 * S);
		receiver_tick(t.receiver, t.now);
		say_full(&a);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_live);
	}
	assert_int_equal(t.wants, 2);
}

/* It is asked for again after 1, 2, 4, 8, 16, 16 s, and a peer that is silent is not asked. */
static void test_back_off(void **state)
{
	struct talker a = make_talker("a", 1);
	u32 asked[100];

	(void)state;
	for (u32 second = 0; second < 100; second++) {
		say(&a, WIRE_HEARTBEAT);
		arrive(&a);
		receiver_tick(t.receiver, t.now);
		asked[second] = t.wants;
		pass(S);
	}
	assert_int_equal(asked[0], 1);
	assert_int_equal(asked[1], 2);
	assert_int_equal(asked[2], 2);
	assert_int_equal(asked[3], 3);
	assert_int_equal(asked[7], 4);
	assert_int_equal(asked[15], 5);
	assert_int_equal(asked[30], 5);
	assert_int_equal(asked[31], 6);
	assert_int_equal(asked[99], 10);
	pass(10 * S);
	for (u32 second = 0; second < 40; second++, pass(S))
		receiver_tick(t.receiver, t.now);
	assert_int_equal(t.wants, 10);
	/* A peer with gaps all the time is not asked more often. */
	for (u32 i = 0; i < 100; i++) {
		say_full(&a);
		arrive(&a);
		say_delta(&a);
		t.sent = 0;
		say_delta(&a);
		arrive(&a);
		pass(S / 10);
	}
	assert_in_range(t.wants, 15, 21);
}

/* What was said before is ignored: each kind of it. */
static void test_replay(void **state)
{
	struct talker a = make_talker("a", 1);
	u32 slot, n;

	(void)state;
	say_full(&a);
	say_delta(&a);
	say(&a, WIRE_HEARTBEAT);
	say_full(&a);
	say_delta(&a);
	n = t.sent;
	arrive(&a);
	for (u32 turn = 0; turn < 2; turn++) {
		for (u32 i = 0; i < n; i++)
			assert_int_equal(hear_as("a", i, turn), 0);
		assert_int_equal(look(&a), XDD_PEER_live);
	}
	assert_int_equal(peer_of("a", &slot)->old, 2 * n);
	/* They are no sign of life. */
	pass(5 * S);
	for (u32 i = 0; i < n; i++)
		assert_int_equal(hear_as("a", i, false), 0);
	receiver_tick(t.receiver, t.now);
	assert_int_equal(look(&a), XDD_PEER_failed);
	/* A farewell once more, after it is back; and what came before the farewell. */
	t.sent = n;
	say(&a, WIRE_BYE);
	assert_int_equal(hear_as("a", n, false), 0);
	assert_int_equal(look(&a), XDD_PEER_left);
	for (u32 i = 0; i < n; i++)
		assert_int_equal(hear_as("a", i, false), 0);
	assert_int_equal(look(&a), XDD_PEER_left);
	say_full(&a);
	assert_int_equal(hear_as("a", n + 1, false), 0);
	assert_int_equal(hear_as("a", n, false), 0);
	assert_int_equal(look(&a), XDD_PEER_live);
	/* In the name of another. */
	assert_int_equal(hear_as("b", n + 1, false), -EBADMSG);
	assert_null(peer_of("b", &slot));
	assert_int_equal(receiver_stats(t.receiver)->bad, 1);
}

/* The host begins anew: what it had is gone, and what it said before that is old. */
static void test_epochs(void **state)
{
	struct talker a = make_talker("a", 1), again = make_talker("a", t.now.wall_ns + 1);

	(void)state;
	say_full(&a);
	arrive(&a);
	say(&again, WIRE_HEARTBEAT);
	arrive(&again);
	assert_int_equal(look(&again), XDD_PEER_recovering);
	say_delta(&a);
	say_full(&a);
	say(&a, WIRE_BYE);
	arrive(&a);
	assert_int_equal(look(&again), XDD_PEER_recovering);
	again.seq = a.seq;
	say_delta(&again);
	arrive(&again);
	assert_int_equal(look(&again), XDD_PEER_recovering);
	say_full(&again);
	arrive(&again);
	assert_int_equal(look(&again), XDD_PEER_live);
}

/* What @talker has said arrives, and is refused since another speaks in its name. */
static void refuse_twin(const struct talker *talker)
{
	for (u32 i = 0; i < t.sent; i++)
		assert_int_equal(hear_as(talker->name, i, false), -EEXIST);
	t.sent = 0;
}

/* Two hosts of one name, the second of which starts a second later. */
static void start_twins(struct talker *a, struct talker *twin)
{
	*a = make_talker("a", t.now.wall_ns);
	pass(S);
	say_full(a);
	arrive(a);
	*twin = make_talker("a", t.now.wall_ns);
	pass(S);
	say_full(twin);
	arrive(twin);
	assert_int_equal(look(twin), XDD_PEER_live);
}

/* The second is taken for the first, until that is heard again: it is believed from then on, the other is not. */
static void test_twins(void **state)
{
	struct talker a, twin, third;
	u32 slot;

	(void)state;
	start_twins(&a, &twin);
	say(&a, WIRE_HEARTBEAT);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	assert_int_equal(t.wants, 1);
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	say_full(&twin);
	say(&twin, WIRE_HEARTBEAT);
	say(&twin, WIRE_BYE);
	refuse_twin(&twin);
	assert_int_equal(look(&a), XDD_PEER_live);
	third = make_talker("a", t.now.wall_ns);
	pass(S);
	say_full(&third);
	refuse_twin(&third);
	assert_int_equal(look(&a), XDD_PEER_live);
	assert_int_equal(peer_of("a", &slot)->refused, 4);
	assert_true(peer_of("a", &slot)->twin_ns == t.now.mono_ns);
	assert_int_equal(receiver_stats(t.receiver)->twins, 4);
	assert_false(receiver_stats(t.receiver)->twin_ns);
}

/* Who is left alone is believed: after a farewell of the other at once, and after its silence. */
static void test_twin_leaves(void **state)
{
	struct talker a, twin;

	(void)state;
	start_twins(&a, &twin);
	say(&twin, WIRE_BYE);
	arrive(&twin);
	assert_int_equal(look(&twin), XDD_PEER_left);
	say(&a, WIRE_HEARTBEAT);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	/* What the one that has gone said is no reason to think of it again. */
	say(&twin, WIRE_HEARTBEAT);
	refuse_twin(&twin);
	say(&a, WIRE_BYE);
	arrive(&a);
	say_full(&twin);
	arrive(&twin);
	assert_int_equal(look(&twin), XDD_PEER_live);
	pass(5 * S);
	receiver_tick(t.receiver, t.now);
	assert_int_equal(look(&twin), XDD_PEER_failed);
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
}

/* What either has said, said again, is old; and so is what was sent before the one that is believed began. */
static void test_twin_replayed(void **state)
{
	struct talker a, twin;
	u32 slot;

	(void)state;
	start_twins(&a, &twin);
	say(&twin, WIRE_HEARTBEAT);
	assert_int_equal(hear_as("a", 0, false), 0);
	say(&a, WIRE_HEARTBEAT);
	assert_int_equal(hear_as("a", 1, false), 0);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(hear_as("a", i, false), 0);
	assert_int_equal(peer_of("a", &slot)->old, 2);
	say(&twin, WIRE_HEARTBEAT);
	assert_int_equal(hear_as("a", 2, false), -EEXIST);
	assert_int_equal(hear_as("a", 2, false), 0);
	/* Kept by the server. */
	say_full(&twin);
	assert_int_equal(hear_as("a", 3, true), 0);
	assert_int_equal(peer_of("a", &slot)->old, 4);
	assert_int_equal(receiver_stats(t.receiver)->twins, 1);
}

/* Another host speaks in this one's name; its own messages that come back, and those of its last run, are none. */
static void test_own_name(void **state)
{
	struct talker mine = make_talker("me", t.me.epoch), twin = make_talker("me", 3);

	(void)state;
	say(&mine, WIRE_HEARTBEAT);
	arrive(&mine);
	t.now.wall_ns = 4;
	say(&twin, WIRE_HEARTBEAT);
	arrive(&twin);
	assert_int_equal(receiver_stats(t.receiver)->twins, 0);
	t.now.wall_ns = 6;
	say(&twin, WIRE_HEARTBEAT);
	assert_int_equal(hear_as("me", 0, true), 0);
	assert_int_equal(hear_as("me", 0, false), -EEXIST);
	assert_int_equal(hear_as("me", 0, false), 0);
	assert_int_equal(receiver_stats(t.receiver)->twins, 1);
	assert_true(receiver_stats(t.receiver)->twin_ns == t.now.mono_ns);
}

/* Kept by the server: it counts once the peer says that nothing came after it. */
static void test_stored(void **state)
{
	struct talker a = make_talker("a", 1), b = make_talker("b", 1);

	(void)state;
	say_full(&a);
	assert_int_equal(hear_as("a", 0, true), 0);
	t.sent = 0;
	assert_int_equal(look(&a), XDD_PEER_recovering);
	say(&a, WIRE_HEARTBEAT);
	assert_int_equal(hear_as("a", 0, true), 0);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	assert_int_equal(t.wants, 0);
	say_full(&b);
	assert_int_equal(hear_as("b", 0, true), 0);
	t.sent = 0;
	say_delta(&b);
	arrive(&b);
	assert_int_equal(look(&b), XDD_PEER_live);
	say_delta(&b);
	t.sent = 0;
	say(&b, WIRE_HEARTBEAT);
	arrive(&b);
	assert_int_equal(look(&b), XDD_PEER_recovering);
	assert_int_equal(t.wants, 1);
}

/* Parts in any order, more than once, of two messages, and of none. */
static void test_parts(void **state)
{
	struct talker a = make_talker("a", 1);
	struct wire_head head;
	u32 slot;

	(void)state;
	t.split = 5;
	say_full(&a);
	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(look(&a), i ? XDD_PEER_joining : XDD_PEER_none);
		assert_int_equal(hear_as("a", 4 - i, false), 0);
		assert_int_equal(hear_as("a", 4 - i, false), 0);
	}
	assert_int_equal(look(&a), XDD_PEER_live);
	t.sent = 0;
	say_delta(&a); /* 0 to 4 */
	say_full(&a);  /* 5 to 9, which takes over */
	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(hear_as("a", 5 + i, false), 0);
		assert_int_equal(hear_as("a", i, false), 0);
	}
	assert_int_equal(look(&a), XDD_PEER_live);
	assert_int_equal(peer_of("a", &slot)->fulls, 2);
	t.sent = 0;
	say_delta(&a);
	t.sent--; /* the last part is lost */
	say(&a, WIRE_HEARTBEAT);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	/* Parts that do not fit each other, or leave something out. */
	a.seq++;
	for (u32 i = 0; i < 2; i++) {
		head = head_of(&a, WIRE_FULL);
		head.part = i;
		head.parts = 2;
		head.bits = BITS / 4;
		head.payload_bytes = 1;
		t.line[t.sent].bytes[WIRE_HEADER] = DELTA_sparse;
		put_on_line(&a, &head);
	}
	assert_int_equal(hear_as("a", 0, false), 0);
	assert_int_equal(hear_as("a", 1, false), -EBADMSG);
	head.parts = 3;
	t.sent = 0;
	put_on_line(&a, &head);
	assert_int_equal(hear_as("a", 0, false), 0);
	head.parts = 4;
	t.sent = 0;
	put_on_line(&a, &head);
	assert_int_equal(hear_as("a", 0, false), -EBADMSG);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	assert_int_equal(peer_of("a", &slot)->refused, 2);
	t.sent = 0;
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
}

/* Part @part of 2, with the first half of the bits: none of them is one. */
static void say_half(struct talker *talker, enum wire_type type, u32 part)
{
	struct wire_head head = head_of(talker, type);

	head.part = part;
	head.parts = 2;
	head.bits = BITS / 2;
	head.payload_bytes = 1;
	t.line[t.sent].bytes[WIRE_HEADER] = DELTA_sparse;
	put_on_line(talker, &head);
}

/* A FULL and a DELTA that are the same version, and parts that overlap: no bits but those sent. */
static void test_strange_parts(void **state)
{
	struct talker a = make_talker("a", 1);

	(void)state;
	for (u32 i = 0; i < 40; i++)
		say_full(&a);
	arrive(&a);
	a.seq++;
	say_half(&a, WIRE_DELTA, 0);
	say_half(&a, WIRE_FULL, 1);
	assert_int_equal(hear_as("a", 0, false), 0);
	assert_int_equal(hear_as("a", 1, false), -EBADMSG);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	t.sent = 0;
	say_half(&a, WIRE_FULL, 0);
	say_half(&a, WIRE_FULL, 1);
	arrive(&a);
	memset(a.bits, 0, sizeof(a.bits));
	assert_int_equal(look(&a), XDD_PEER_live);
}

/* A FULL that was overtaken by what says that there is more: it is taken, and not believed. */
static void test_overtaken(void **state)
{
	struct talker a = make_talker("a", 1);

	(void)state;
	say_full(&a);
	say_delta(&a);
	assert_int_equal(hear_as("a", 1, false), 0);
	assert_int_equal(hear_as("a", 0, false), 0);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	assert_int_equal(hear_as("a", 1, false), 0);
	assert_int_equal(look(&a), XDD_PEER_live);
}

/* Says yes to all: not believed, whether it was so from the start or became so. */
static void test_all_ones(void **state)
{
	struct talker a = make_talker("a", 1);
	u64 ones[WORDS];
	u32 slot, wants;

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	for (u32 turn = 0; turn < 2; turn++) {
		if (turn)
			say_full(&a);
		arrive(&a);
		for (u32 i = 0; i < WORDS; i++) {
			u64 changed = ~a.bits[i];

			ones[i] = turn ? changed : ~0ULL;
			a.bits[i] = ~0ULL;
		}
		a.seq++;
		say_filter(&a, turn ? WIRE_DELTA : WIRE_FULL, ones);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_distrusted);
		assert_true(peer_of("a", &slot)->density == 1);
		assert_int_equal(t.shift[slot], 0);
		assert_null(receiver_replica(t.receiver, slot));
		wants = t.wants;
		for (u32 second = 0; second < 64; second++, pass(S)) {
			say(&a, WIRE_HEARTBEAT);
			arrive(&a);
			receiver_tick(t.receiver, t.now);
		}
		assert_in_range(t.wants - wants, 3, 4);
		say_delta(&a);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_distrusted);
		memset(a.bits, 0, sizeof(a.bits));
		say_full(&a);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_live);
	}
	/* What is allowed changes: at the next update. */
	receiver_limits(t.receiver, 0.001, 5 * S);
	say_delta(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_distrusted);
}

/* Loaded otherwise, or larger than there is room for. */
static void test_mismatched(void **state)
{
	struct talker a = make_talker("a", 1);
	struct wire_head head;
	u32 changes;

	(void)state;
	say_full(&a);
	arrive(&a);
	a.self.fingerprint++;
	changes = t.changes;
	for (u32 i = 0; i < 5; i++) {
		say_full(&a);
		say(&a, WIRE_HEARTBEAT);
		arrive(&a);
		assert_int_equal(look(&a), XDD_PEER_mismatched);
	}
	assert_int_equal(t.changes, changes + 1); /* named once */
	a.self.fingerprint--;
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	a.seq++;
	head = head_of(&a, WIRE_FULL);
	head.shift = MOST + 1;
	head.parts = 1;
	head.bits = 1u << (MOST + 1);
	head.payload_bytes = 1;
	t.line[0].bytes[WIRE_HEADER] = DELTA_sparse;
	put_on_line(&a, &head);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_mismatched);
	assert_int_equal(t.wants, 0);
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
}

/* A longer window would make copies of what is new here; a tick more, or less, does not. */
static void test_other_window(void **state)
{
	struct talker a = make_talker("a", 1);
	struct wire_head head;

	(void)state;
	t.setup.window_ns = 16 * S;
	receiver_close(t.receiver);
	t.receiver = receiver_open(&t.setup);
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	head = head_of(&a, WIRE_HEARTBEAT);
	head.window_ns = 17 * S;
	put_on_line(&a, &head);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	head.window_ns++;
	put_on_line(&a, &head);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_mismatched);
	assert_int_equal(receiver_believed(t.receiver), 0);
	head.window_ns = S;
	put_on_line(&a, &head);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_recovering);
	say_full(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
}

/* Another size needs a FULL, and one of less bits is taken as it is. */
static void test_sizes(void **state)
{
	struct talker a = make_talker("a", 1);
	u32 slot;

	(void)state;
	say_full(&a);
	arrive(&a);
	for (u32 shift = WIRE_SHIFT_MIN; shift <= MOST; shift++) {
		struct wire_head head;

		for (u32 type = WIRE_DELTA; type >= WIRE_FULL; type--) {
			a.seq++;
			head = head_of(&a, type);
			head.shift = shift;
			head.parts = 1;
			head.bits = 1u << shift;
			head.payload_bytes = 2;
			t.line[0].bytes[WIRE_HEADER] = DELTA_sparse;
			t.line[0].bytes[WIRE_HEADER + 1] = 5;
			put_on_line(&a, &head);
			arrive(&a);
			assert_true(peer_of("a", &slot)->state ==
				    (type == WIRE_FULL ? XDD_PEER_live : XDD_PEER_recovering));
			memset(a.bits, 0, sizeof(a.bits));
		}
		assert_int_equal(t.shift[slot], shift);
		assert_int_equal(t.column[slot][0], 32);
	}
}

/* Silent for long: not believed; back: at once, if nothing was missed; gone: its slot is free. */
static void test_silence(void **state)
{
	struct talker a = make_talker("a", 1);

	(void)state;
	say_full(&a);
	arrive(&a);
	pass(5 * S - 1);
	receiver_tick(t.receiver, t.now);
	assert_int_equal(look(&a), XDD_PEER_live);
	assert_true(t.until == t.now.mono_ns + 2 * S);
	pass(1);
	receiver_tick(t.receiver, t.now);
	assert_int_equal(look(&a), XDD_PEER_failed);
	say(&a, WIRE_HEARTBEAT);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	pass(5 * S);
	receiver_tick(t.receiver, t.now);
	say_delta(&a);
	arrive(&a);
	assert_int_equal(look(&a), XDD_PEER_live);
	pass(60 * S);
	receiver_tick(t.receiver, t.now);
	assert_int_equal(look(&a), XDD_PEER_none);
	assert_int_equal(t.shift[0], 0);
}

/* More peers than slots: those that came first have them, until they leave or are silent. */
static void test_slots(void **state)
{
	struct talker peers[100];
	u32 live = 0;

	(void)state;
	for (u32 i = 0; i < 100; i++) {
		char name[16];

		sprintf(name, "host%u.eth0", i);
		peers[i] = make_talker(name, 1);
		say_full(&peers[i]);
		assert_int_equal(hear_as(name, 0, false), i < RECEIVER_SLOTS ? 0 : -ENOSPC);
		t.sent = 0;
	}
	assert_int_equal(receiver_stats(t.receiver)->full, 100 - RECEIVER_SLOTS);
	assert_true(t.believed == ~0ULL);
	say(&peers[10], WIRE_BYE);
	arrive(&peers[10]);
	assert_int_equal(look(&peers[10]), XDD_PEER_left);
	say_full(&peers[70]);
	arrive(&peers[70]);
	assert_int_equal(look(&peers[70]), XDD_PEER_live);
	assert_int_equal(look(&peers[10]), XDD_PEER_none);
	say(&peers[11], WIRE_BYE);
	arrive(&peers[11]);
	say_full(&peers[11]); /* it is back before anybody takes its slot */
	arrive(&peers[11]);
	assert_int_equal(look(&peers[11]), XDD_PEER_live);
	for (u32 i = 0; i < 14; i++) {
		pass(4 * S);
		say(&peers[70], WIRE_HEARTBEAT);
		arrive(&peers[70]);
		receiver_tick(t.receiver, t.now);
	}
	for (u32 i = 0; i < 100; i++)
		live += look(&peers[i]) == XDD_PEER_live;
	assert_int_equal(live, 1);
	pass(4 * S);
	say(&peers[70], WIRE_HEARTBEAT);
	arrive(&peers[70]);
	receiver_tick(t.receiver, t.now);
	say_full(&peers[99]);
	arrive(&peers[99]);
	assert_int_equal(look(&peers[99]), XDD_PEER_live);
}

/* Clocks, versions, types, names, and what is not for a receiver. */
static void test_refused(void **state)
{
	struct talker a = make_talker("a", 1);
	char name[WIRE_NAME + 1];
	u32 slot;

	(void)state;
	receiver_close(t.receiver);
	t.setup.skew_ns = 60 * S;
	t.receiver = receiver_open(&t.setup);
	say_full(&a);
	t.now.wall_ns += 61 * S;
	assert_int_equal(hear_as("a", 0, false), -ESTALE);
	t.now.wall_ns -= 122 * S;
	assert_int_equal(hear_as("a", 0, false), -ESTALE);
	assert_null(peer_of("a", &slot));
	assert_int_equal(hear_as("a", 0, true), 0); /* as old as it may be */
	assert_int_equal(look(&a), XDD_PEER_recovering);
	t.line[0].bytes[4] = 2;
	assert_int_equal(hear_as("a", 0, false), -EPROTONOSUPPORT);
	assert_int_equal(receiver_stats(t.receiver)->versions, 1);
	assert_int_equal(receiver_stats(t.receiver)->skewed, 2);
	t.sent = 0;
	say(&a, WIRE_TYPE_MAX);
	assert_int_equal(hear_as("a", 0, false), -EOPNOTSUPP);
	assert_int_equal(receiver_stats(t.receiver)->types, 1);
	assert_int_equal(hear_as("", 0, false), -EINVAL);
	memset(name, 'a', sizeof(name));
	name[WIRE_NAME] = '\0';
	assert_int_equal(hear_as(name, 0, false), -EINVAL);
	name[WIRE_NAME - 1] = '\0';
	assert_int_equal(hear_as(name, 0, false), -EBADMSG);
	assert_int_equal(hear_as("me", 0, false), 0); /* an echo */
	t.sent = 0;
	a = make_talker("b", 1);
	say(&a, WIRE_WANT);
	say(&a, WIRE_AUDIT_ASK);
	say(&a, WIRE_AUDIT_ANSWER);
	say(&a, WIRE_BYE);
	arrive(&a);
	assert_null(peer_of("b", &slot));
	t.setup.slots = RECEIVER_SLOTS + 1;
	assert_null(receiver_open(&t.setup));
	assert_int_equal(errno, EINVAL);
}

/* Eq. 14 to 16, with a rate for each replica. */
static void test_rates(void **state)
{
	struct receiver_rates rates;

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		char name[8];
		struct talker a;

		sprintf(name, "%u", i);
		a = make_talker(name, 1);
		say_full(&a);
		if (i == 3)
			say(&a, WIRE_BYE);
		arrive(&a);
	}
	rates = receiver_rates(t.receiver, 0.01, false);
	assert_true(fabs(rates.fpr - (1 - 0.99 * pow(1 - 0.001, 3))) < 1e-12);
	assert_true(fabs(rates.fnr - (1 - pow(1 - 0.002, 3))) < 1e-12);
	assert_true(fabs(1 - rates.rate - (1 - rates.fpr) * (1 - rates.fnr)) < 1e-12);
	rates = receiver_rates(t.receiver, 0.01, true);
	assert_true(fabs(rates.fnr - (1 - pow(1 - 0.03, 3))) < 1e-12);
}

/* Versions that a host sent, by a sum of their bits. */
#define VERSIONS 100000
static u64 versions[VERSIONS];
static u32 n_versions;

static u64 sum_of(const u64 *bits)
{
	u64 sum = 0;

	for (u32 i = 0; i < WORDS; i++)
		sum = (sum ^ bits[i]) * 0x9E3779B97F4A7C15ULL + (sum >> 29);
	return sum;
}

static void note_version(const u64 *bits)
{
	assert_true(n_versions < VERSIONS);
	versions[n_versions++] = sum_of(bits);
}

/* A sender's message is put on the line, in parts if that is asked for. */
static int put_parts(void *to, enum wire_type type, const u8 *message, size_t size)
{
	struct talker *talker = to;
	struct wire_head head;
	const u8 *payload;
	u64 bits[WORDS];

	assert_int_equal(wire_open(&talker->self.key, message, size, &head, &payload), 0);
	talker->seq = head.seq;
	if (type != WIRE_FULL && type != WIRE_DELTA) {
		say(talker, type);
		return 0;
	}
	assert_int_equal(head.parts, 1);
	assert_int_equal(delta_decode(payload, head.payload_bytes, bits, BITS), 0);
	t.split = 1 + random_below(&t.random, 4);
	say_filter(talker, type, bits);
	return 0;
}

struct host {
	struct talker talker;
	struct sender *sender;
	u64 home[WORDS];
	u32 wants; /* that it has heard */
	u64 epoch;
};

static void start_host(struct host *host)
{
	struct sender_setup setup = { .self = &host->talker.self,
				      .emit = put_parts,
				      .to = &host->talker,
				      .hashes = 4,
				      .shift = SHIFT,
				      .heartbeat_ns = S,
				      .want_ns = S,
				      .full_after = random_below(&t.random, 2),
				      .policy = { .rule = UPDATE_dirty, .dirty = 0.01 } };

	sender_close(host->sender);
	host->epoch = host->epoch < t.now.wall_ns ? t.now.wall_ns : host->epoch + 1;
	host->talker = make_talker("a", host->epoch);
	host->sender = sender_open(&setup);
	assert_non_null(host->sender);
}

/* Some of @host's bits change, it looks whether to send, and hears who wants. */
static void live_on(struct host *host, bool deaf)
{
	static const struct wire_key *key = &group;
	struct sender_home home = { .bits = host->home };

	for (u32 i = random_below(&t.random, 60); i; i--) {
		u32 at = random_below(&t.random, BITS);

		/* More go than come once it is half full. */
		if (host->home[at / 64] >> at % 64 & 1 || random_below(&t.random, 3))
			host->home[at / 64] ^= 1ULL << at % 64;
	}
	if (host->wants < t.wants && !deaf) {
		struct wire_head head = { .type = WIRE_WANT };
		u8 message[WIRE_HEADER + WIRE_TAG];
		size_t size = wire_seal(&t.me, &head, message);

		assert_int_equal(sender_wanted(host->sender, key, "me", message, size), 0);
		host->wants = t.wants;
	}
	if (sender_check(host->sender, &home, t.now) == SENDER_PUSHED)
		note_version(host->home);
}

/* The column is one that the host has sent, whole, whenever it is there. */
static void look_at_column(bool after_all)
{
	bool found = false;
	u64 sum;

	if (!t.shift[0])
		return;
	sum = sum_of(t.column[0]);
	for (u32 i = n_versions; i && !found; i--)
		found = versions[i - 1] == sum;
	assert_true(found);
	if (after_all)
		assert_true(sum == versions[n_versions - 1]);
}

/* One message of those under way, or of those that have been: lost, twice, late, damaged or whole. */
static void disturb(struct host *host)
{
	u32 i = random_below(&t.random, t.sent), chance = random_below(&t.random, 100);
	struct message *message = &t.line[i];

	if (chance < 5 && message->size) { /* damaged */
		u32 at = random_below(&t.random, 8 * message->size);

		message->bytes[at / 8] ^= 1 << at % 8;
		assert_true(hear_as("a", i, false) < 0);
		message->bytes[at / 8] ^= 1 << at % 8;
		return;
	}
	if (chance >= 15) /* else it is lost */
		assert_int_equal(hear_as(host->talker.name, i, chance >= 95), 0);
	if (chance >= 30 && chance < 40) /* it stays, and comes again much later */
		return;
	*message = t.line[--t.sent];
}

/* Whatever happens to messages: what is there is a version that was sent, and in the end the last. */
static void test_disturbed(void **state)
{
	struct host host = {};
	u32 live = 0, believed_steps = 0;

	(void)state;
	start_host(&host);
	for (u32 round = 0; round < 60; round++) {
		for (u32 step = 0; step < 200; step++) {
			if (!random_below(&t.random, 300))
				start_host(&host);
			live_on(&host, random_below(&t.random, 2));
			for (u32 n = random_below(&t.random, 8); n && t.sent; n--) {
				disturb(&host);
				look_at_column(false);
			}
			if (t.sent > 200)
				t.sent = 100; /* a long time on the way: lost */
			receiver_tick(t.receiver, t.now);
			believed_steps += t.believed;
			pass(random_below(&t.random, S / 2));
		}
		for (u32 step = 0; step < 40; step++) {
			live_on(&host, false);
			for (u32 i = 0; i < t.sent; i++) {
				assert_int_equal(hear_as("a", i, false), 0);
				look_at_column(false);
			}
			t.sent = 0;
			receiver_tick(t.receiver, t.now);
			pass(S);
		}
		assert_true(t.believed == 1);
		assert_memory_equal(t.column[0], sender_sent(host.sender), BITS / 8);
		look_at_column(true);
		live++;
	}
	assert_int_equal(live, 60);
	assert_in_range(believed_steps, 600, 11000);
	sender_close(host.sender);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_updates),	  TEST(test_gap),	  TEST(test_back_off),
		TEST(test_twins),	  TEST(test_twin_leaves), TEST(test_twin_replayed),
		TEST(test_own_name),	  TEST(test_replay),	  TEST(test_epochs),
		TEST(test_stored),	  TEST(test_parts),	  TEST(test_overtaken),
		TEST(test_strange_parts), TEST(test_all_ones),	  TEST(test_mismatched),
		TEST(test_other_window),  TEST(test_sizes),	  TEST(test_silence),
		TEST(test_slots),	  TEST(test_refused),	  TEST(test_rates),
		TEST(test_disturbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

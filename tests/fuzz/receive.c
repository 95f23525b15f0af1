/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For libFuzzer: any bytes as what other hosts say. The input is a sequence of messages, each led by
 * what is done with it: a byte of flags, one of who sends it, and one of its length in units of 1, or
 * 64 if LONG. The message is those bytes (RAW), or they are its payload, behind four more that say what
 * its header has. Since no input would ever hit a right tag, it is given one. Beside what the
 * sanitizers find: what is believed must be live, no denser than is allowed, and the column the replica.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/cluster/receiver.h"
#include "user/cluster/sender.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define SHIFT 12
#define SLOTS 3
#define DENSEST 0.5
#define NS_PER_S 1000000000ULL

enum flags { RAW = 1, KEEP_TAG = 2, STORED = 4, TICK = 8, WANT = 16, LATER = 32, LONG = 64 };

static const struct wire_key group = { { 1, 2 } };
static const char *const names[] = { "a", "b", "c", "d", "me" };

static struct {
	struct receiver *receiver;
	u64 column[SLOTS][(1 << SHIFT) / 64];
	u32 shift[SLOTS];
	u64 believed;
} t;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void set(void *to, u32 peer, const u64 *bits, u32 shift)
{
	(void)to;
	require(peer < SLOTS && shift <= SHIFT);
	memcpy(t.column[peer], bits, (1u << shift) / 8);
	t.shift[peer] = shift;
}

static void flip(void *to, u32 peer, const u64 *changed, u32 shift)
{
	(void)to;
	require(peer < SLOTS && shift == t.shift[peer]);
	for (u32 i = 0; i < (1u << shift) / 64; i++)
		t.column[peer][i] ^= changed[i];
}

static void clear(void *to, u32 peer)
{
	(void)to;
	require(peer < SLOTS && !(t.believed >> peer & 1));
	t.shift[peer] = 0;
}

static void believe(void *to, u64 mask, u64 until_ns)
{
	(void)to;
	(void)until_ns;
	t.believed = mask;
}

static void want(void *to, const char *name, const u8 *message, size_t size)
{
	(void)to;
	require(name[0] && message && size == WIRE_HEADER + WIRE_TAG);
}

static void look(void)
{
	require(t.believed == receiver_believed(t.receiver));
	for (u32 i = 0; i < SLOTS; i++) {
		const struct receiver_peer *peer = receiver_peer(t.receiver, i);

		if (!(t.believed >> i & 1))
			continue;
		require(peer->density <= DENSEST && peer->shift == t.shift[i]);
		require(!memcmp(t.column[i], receiver_replica(t.receiver, i),
				(1u << peer->shift) / 8));
	}
}

/* A header of few bytes, such that most of what comes of it is looked at. */
static struct wire_head make_head(const u8 *at, u32 payload_bytes)
{
	static const u8 types[] = { WIRE_FULL,	WIRE_FULL, WIRE_DELTA,	   WIRE_DELTA,
				    WIRE_DELTA, WIRE_WANT, WIRE_HEARTBEAT, WIRE_BYE };
	struct wire_head head = {
		.magic = WIRE_MAGIC,
		.major = WIRE_MAJOR,
		.header_bytes = WIRE_HEADER,
		.type = types[at[0] % 8],
		.hashes = 1,
		.shift = WIRE_SHIFT_MIN + (at[0] >> 3) % 4,
		.fingerprint = at[0] >> 7,
		.epoch = at[1] % 4,
		.order = at[1] >> 2,
		.seq = at[2] % 16,
		.parts = 1 + (at[2] >> 4) % 4,
		.payload_bytes = payload_bytes,
	};

	head.part = at[3] % head.parts;
	head.bits = (1ULL << head.shift) / head.parts / 64 * 64;
	head.first = at[3] & 128 ? (at[3] & 127) * 64 : head.part * head.bits;
	if (head.part + 1 == head.parts && !(at[3] & 64))
		head.bits = (1ULL << head.shift) - head.first;
	return head;
}

static void hand_over(struct sender *sender, u8 flags, const char *name, const u8 *message,
		      size_t n, struct wire_time now)
{
	if (flags & WANT)
		sender_wanted(sender, &group, name, message, n);
	else
		receiver_take(t.receiver, name, message, n, flags & STORED, now);
}

/* The @n bytes at @at are a message, or make one. */
static void take(struct sender *sender, u8 flags, u8 who, const u8 *at, size_t n,
		 struct wire_time now)
{
	const char *name = names[who % XDD_ARRAY_SIZE(names)];
	struct wire_key key = wire_key_of(&group, name);
	bool raw = flags & RAW || n < 4;
	size_t size = raw ? n : WIRE_HEADER + n - 4 + WIRE_TAG;
	u8 *message = calloc(1, size ?: 1);
	u64 tag;

	if (raw) {
		memcpy(message, at, n);
	} else {
		struct wire_head head = make_head(at, n - 4);

		memcpy(message, &head, sizeof(head));
		memcpy(message + WIRE_HEADER, at + 4, n - 4);
	}
	if (size >= WIRE_TAG && !(flags & KEEP_TAG)) {
		tag = wire_tag(&key, message, size - WIRE_TAG);
		memcpy(message + size - WIRE_TAG, &tag, WIRE_TAG);
	}
	hand_over(sender, flags, name, message, size, now);
	free(message);
}

static int hear(void *to, enum wire_type type, const u8 *message, size_t size)
{
	(void)to;
	require(type < WIRE_TYPE_MAX && message && size);
	return 0;
}

static void open_receiver(struct wire_self *self)
{
	const struct receiver_setup setup = { .self = self,
					      .group = group,
					      .name = "me",
					      .ops = { set, flip, clear, believe, want, NULL },
					      .slots = SLOTS,
					      .shift = SHIFT,
					      .max_density = DENSEST,
					      .silence_ns = 5 * NS_PER_S,
					      .forget_ns = 20 * NS_PER_S,
					      .believe_ns = NS_PER_S,
					      .want_least_ns = NS_PER_S,
					      .want_most_ns = 8 * NS_PER_S };

	memset(&t, 0, sizeof(t));
	t.receiver = receiver_open(&setup);
}

/* One for all inputs: it only notes that it is asked, and is large. */
static struct sender *the_sender(void)
{
	static struct wire_self self;
	static struct sender *sender;
	const struct sender_setup setup = {
		.self = &self, .emit = hear, .hashes = 1, .shift = WIRE_SHIFT_MIN
	};

	if (!sender)
		sender = sender_open(&setup);
	return sender;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct wire_self self = { .key = wire_key_of(&group, "me") };
	struct sender *sender = the_sender();
	struct wire_time now = { 100 * NS_PER_S, 100 * NS_PER_S };

	open_receiver(&self);
	while (size >= 3) {
		u8 flags = data[0], who = data[1];
		size_t n = data[2] * (flags & LONG ? 64 : 1);

		data += 3;
		size -= 3;
		n = n < size ? n : size;
		if (flags & LATER)
			now.mono_ns += NS_PER_S;
		take(sender, flags, who, data, n, now);
		look();
		if (flags & TICK)
			receiver_tick(t.receiver, now);
		look();
		data += n;
		size -= n;
	}
	receiver_close(t.receiver);
	return 0;
}

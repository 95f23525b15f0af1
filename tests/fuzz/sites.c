/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For libFuzzer: any bytes as what sites and producers say. The input is a sequence of messages, each led by a byte of
 * flags and one of its length: a question for a site, an answer for a producer that waits for one, or what a site says of
 * itself. Since no input would ever hit a right tag, header and tag are made. Beside what the sanitizers find: who answers
 * is asked again and says the same, and two sites in a roster share no slice.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/sites/roster.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define SLICES 8
#define LONGEST 255

enum flags { RAW = 1, ANSWER = 2, HERE = 4, AGAIN = 8, LATER = 16 };

static const struct wire_key key = { { 1, 2 } };

static struct {
	struct xdd_fixed fixed;
	struct site site;
	struct producer *producer;
	struct roster roster;
	u64 now_ns, sequence;
	u8 answer[SITES_MESSAGE_MAX], question[SITES_MESSAGE_MAX];
} t;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static size_t seal(u8 kind, u64 from, u64 to, u64 sequence, const u8 *at, size_t n, u8 *message)
{
	const struct call_head head = { kind, from, to, sequence };

	memcpy(message + CALL_HEADER, at, n);
	return call_seal(&key, &head, message, n);
}

static void ask(u8 flags, const u8 *at, size_t n)
{
	u8 message[LONGEST + CALL_HEADER + CALL_TAG];
	size_t size = n;
	u64 to = 0;
	int got;

	t.sequence += !(flags & AGAIN);
	if (flags & RAW)
		memcpy(message, at, n);
	else
		size = seal(CALL_QUESTION, 7, t.site.id, t.sequence, at, n, message);
	got = site_answer(&t.site, message, size, t.now_ns, t.answer, &to);
	require(got < 0 || (to && got <= (int)SITES_MESSAGE_MAX));
	if (got > 0)
		require(site_answer(&t.site, message, size, t.now_ns, t.question, &to) == got &&
			!memcmp(t.question, t.answer, got));
}

/* To what a producer asks site 0 about a key that it is given when it has none. */
static void answer(u8 flags, const u8 *at, size_t n)
{
	static u64 sequence;
	struct xdd_digest digest = { xdd_mix64(t.sequence++), 0 };
	u8 message[LONGEST + CALL_HEADER + CALL_TAG];
	u64 tick = 1000 + t.now_ns / 1000000000;
	size_t size = n;

	if (producer_done(t.producer))
		producer_start(t.producer, &digest, &tick, 1);
	producer_retry(t.producer);
	sequence += producer_message(t.producer, 0, t.question) > 0;
	if (flags & RAW)
		memcpy(message, at, n);
	else
		size = seal(flags & LATER ? CALL_REFUSED : CALL_ANSWER, 1, 9, sequence, at, n,
			    message);
	if (producer_answer(t.producer, 0, message, size) && flags & AGAIN)
		producer_fail(t.producer, 0);
	if (flags & LATER)
		producer_recover(t.producer, 0, tick);
}

static void say(u8 flags, const u8 *at, size_t n)
{
	struct call_here here = { .n = 1, .of = SLICES, .name = "a.b", .about = "c" };
	u8 payload[CALL_HERE_MOST] = { 0 };
	char missing[16];
	u32 next = 0;

	call_put_here(&here, payload);
	memcpy(payload, at, n < sizeof(payload) ? n : sizeof(payload));
	if (call_get_here(payload, flags & RAW ? n : sizeof(payload), &here))
		return;
	here.fingerprint &= 1;
	roster_take(&t.roster, &here, t.sequence % 5 + 1);
	if (flags & AGAIN)
		roster_forget(&t.roster, t.sequence % 3);
	for (u32 i = 0; i < t.roster.n; i++) {
		require(t.roster.site[i].here.first >= next);
		next = t.roster.site[i].here.first + t.roster.site[i].here.n;
	}
	require(next <= SLICES && roster_missing(&t.roster, missing, sizeof(missing)) <= SLICES);
}

static void open_all(void)
{
	struct producer_plan plan = {
		.window_ticks = 60, .sites = 1, .claims = true, .id = 9, .key = key
	};
	struct xdd_fixed *fixed = &t.fixed;

	memset(&t, 0, sizeof(t));
	fixed->engine = XDD_ENGINE_timer;
	fixed->slicing = XDD_SLICING_vertical;
	fixed->blocks = 16;
	fixed->lines_per_block = 1;
	fixed->slices = SLICES;
	fixed->hashes = 4;
	fixed->tick_ns = 1;
	fixed->fault_policy = XDD_FAULTS_distinct;
	plan.fixed = *fixed;
	require(!producer_wrong(&plan) && !site_open(&t.site, fixed, 60, SLICES, 1, &key));
	t.producer = producer_open(&plan);
	roster_open(&t.roster, fixed, 0);
	require(t.producer);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	open_all();
	while (size >= 2) {
		u8 flags = data[0];
		size_t n = data[1];

		data += 2;
		size -= 2;
		n = n < size ? n : size;
		if (flags & HERE)
			say(flags, data, n);
		else if (flags & ANSWER)
			answer(flags, data, n);
		else
			ask(flags, data, n);
		t.now_ns += flags & LATER ? SITE_CLAIM_NS : 1;
		data += n;
		size -= n;
	}
	site_close(&t.site);
	producer_close(t.producer);
	return 0;
}

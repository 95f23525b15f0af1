/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For libFuzzer: any bytes as what a coordinator of joint detection asks a monitor, and what monitors answer
 * it, from hosts that know the group's secret. The first byte is of flags, the second says which algorithm. Then come
 * messages, each led by its type, its round and the length of what is in it; they get a right CRC, since no
 * input would ever hit one. Where it is a coordinator that hears them, they are answers of one monitor after the other to
 * what it asks last. Beside what the sanitizers find: a monitor's keys only become fewer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/joint/council.h"
#include "user/joint/host.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define KEYS 64
#define MONITORS 3
#define SESSION 1800000000000000000ull
#define SECOND_NS 1000000000ull

enum flags { ASK = 1, WATCH = 2, AT_LEAST = 4, BEGUN = 8 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int start(void *to, u64 session, const char *watch, u64 *print, u64 *room, char *err,
		 size_t err_size)
{
	(void)to, (void)session, (void)err, (void)err_size;
	require(strlen(watch) < ORDER_NAME_MAX);
	*print = 7;
	*room = KEYS;
	return 0;
}

static int end(void *to, u64 **digests, u64 *n, u64 *overflow, char *err, size_t err_size)
{
	(void)to, (void)err, (void)err_size;
	*n = KEYS;
	*overflow = 0;
	*digests = malloc(KEYS * sizeof(u64));
	for (u32 i = 0; i < KEYS; i++)
		(*digests)[i] = xdd_mix64(i);
	return 0;
}

static int load(void *to, const char *watch, const u64 *keys, u64 n, bool truly, u64 *added,
		char *err, size_t err_size)
{
	(void)to, (void)truly, (void)err, (void)err_size;
	require(*watch && n <= KEYS && (!n || keys[n - 1] != 0));
	*added = n;
	return 0;
}

static void describe(void *to, u32 which, u64 digest, char *text, size_t size)
{
	(void)to;
	require(which < KEYS && digest == xdd_mix64(which));
	memcpy(text, "key", size < 4 ? size : 4);
}

static void stop(void *to)
{
	(void)to;
}

static int emit(void *to, u32 whom, const struct part *part)
{
	(void)to, (void)whom;
	require(part->number < part->parts);
	return 0;
}

static void show(void *to, const char *text)
{
	(void)to;
	for (; *text; text++)
		require(*text >= ' ' && *text != 127);
}

/* A part that is a whole message of @type: @n bytes at @at, with its CRC. */
static struct part part_of(struct bytes *b, u8 type, u8 round, const u8 *at, size_t n)
{
	bytes_start(b, type, round);
	for (size_t i = 0; i < n; i++)
		bytes_put(b, at[i]);
	bytes_end(b);
	return (struct part){ .session = SESSION, .parts = 1, .at = b->at, .n = b->n };
}

struct fuzzed {
	bool ask;
	struct host host;
	struct council council;
	u32 next; /* the question's step; or whose answer is next */
	u64 left; /* keys that the monitor had before */
};

static void take(struct fuzzed *f, struct part *part, u64 now_ns)
{
	if (!f->ask) {
		part->step = f->council.step;
		council_take(&f->council, f->next++ % MONITORS, part, 1, now_ns);
		council_step(&f->council, now_ns);
		return;
	}
	part->step = f->next++;
	host_take(&f->host, "coordinator", part, now_ns, SESSION);
	host_step(&f->host, now_ns);
	if (f->host.opened)
		require(f->host.monitor.n <= f->left);
	if (f->host.opened)
		f->left = f->host.monitor.n;
}

/* The monitor has collected: what is asked next is of the algorithm. */
static void collect(struct fuzzed *f, const struct joint_plan *plan, bool watch)
{
	struct order_start start = { .plan = *plan };
	struct bytes b = { 0 };
	struct part part;

	if (watch)
		memcpy(start.watch, "tap", 4);
	order_put_start(&b, &start);
	part = (struct part){ .session = SESSION, .parts = 1, .at = b.at, .n = b.n };
	take(f, &part, SECOND_NS);
	order_put(&b, ORDER_END, NULL, 0);
	part = (struct part){ .session = SESSION, .parts = 1, .at = b.at, .n = b.n };
	take(f, &part, SECOND_NS);
	bytes_free(&b);
}

static void begin(struct fuzzed *f, u8 flags, u8 kind)
{
	static const struct host_ops ops = { start, end, load, describe, stop, emit };
	static const char *const names[MONITORS] = { "a", "b", "c" };
	struct joint_plan plan = { .algorithm = kind % JOINT_ALGORITHM_MAX,
				   .monitors = MONITORS,
				   .at_least = flags & AT_LEAST ? 2 : MONITORS,
				   .rounds = 1,
				   .epsilon = 0.01 };

	plan.rounds = joint_default_rounds(plan.algorithm);
	host_open(&f->host, &ops, NULL);
	f->council.emit = emit;
	f->council.show = show;
	council_open(&f->council, &plan, names, SESSION, SECOND_NS, 60 * SECOND_NS,
		     flags & WATCH ? "tap" : NULL, SECOND_NS);
	if (f->ask && flags & BEGUN)
		collect(f, &plan, flags & WATCH);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzzed f = { .left = KEYS };
	struct bytes b = { 0 };
	u64 now_ns = SECOND_NS;

	if (size < 2)
		return 0;
	f.ask = data[0] & ASK;
	begin(&f, data[0], data[1]);
	for (data += 2, size -= 2; size >= 3;) {
		u8 type = data[0], round = data[1];
		size_t n = data[2] < size - 3 ? data[2] : size - 3;
		struct part part = part_of(&b, type, round, data + 3, n);

		now_ns += SECOND_NS / 2;
		take(&f, &part, now_ns);
		data += 3 + n;
		size -= 3 + n;
	}
	host_close(&f.host);
	council_close(&f.council);
	bytes_free(&b);
	return 0;
}

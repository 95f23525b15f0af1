/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Live monitors and their coordinator over a network that loses, doubles and delays parts, with clocks
 * that differ: what all have is found, whatever happens to messages, or who is to blame is named.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/joint/council.h"
#include "user/joint/host.h"
#include "xdd/hash.h"

#define N 3
#define COMMON 3000
#define KEYS 150000 /* of each, so that raw messages have several parts */
#define WALL_NS 1800000000000000000ull
#define SECOND_NS 1000000000ull
#define STEP_NS 20000000ull
#define MOST_SENT 4096

/* A part on its way, to monitor @whom or from it. */
struct sent {
	struct part part;
	u8 *bytes;
	u32 whom;
	bool back;
	u64 at_ns;
};

struct net {
	struct council council;
	struct host host[N];
	struct monitor {
		struct net *net;
		u32 i;
		u64 steady_ns, wall_ns; /* how far its clocks are ahead */
		bool collecting, dead, full;
		bool fails, dies; /* when it is to load truly */
		u64 loaded;
	} monitor[N];
	struct sent sent[MOST_SENT];
	u32 n;
	u64 now_ns, random;
	bool twins;	       /* all is answered by another agent of each name as well */
	u32 lose, twice, late; /* of 100 */
	u64 shown;
	u32 keys;
};

static u64 draw(struct net *net)
{
	return xdd_mix64(net->random += XDD_GOLDEN);
}

static bool chance(struct net *net, u32 percent)
{
	return draw(net) % 100 < percent;
}

static int put(struct net *net, u32 whom, bool back, const struct part *part)
{
	u32 copies = 1 + chance(net, net->twice);

	if (net->n + copies > MOST_SENT)
		return -ENOBUFS;
	for (u32 i = 0; i < copies && !chance(net, net->lose); i++) {
		struct sent *s = &net->sent[net->n++];

		*s = (struct sent){ *part, malloc(part->n + 1), whom, back, net->now_ns };
		if (part->n)
			memcpy(s->bytes, part->at, part->n);
		s->part.at = s->bytes;
		if (chance(net, net->late))
			s->at_ns += draw(net) % (3 * SECOND_NS);
	}
	return 0;
}

static int ask(void *to, u32 whom, const struct part *part)
{
	return put(to, whom, false, part);
}

static int reply(void *to, u32 whom, const struct part *part)
{
	struct monitor *m = to;

	(void)whom;
	if (m->dead)
		return 0;
	return put(m->net, m->i, true, part);
}

static int start(void *to, u64 session, const char *watch, u64 *print, u64 *room, char *err,
		 size_t err_size)
{
	struct monitor *m = to;

	(void)session, (void)watch, (void)err, (void)err_size;
	m->collecting = true;
	*print = 7;
	*room = 2 * KEYS;
	return 0;
}

static int end(void *to, u64 **digests, u64 *n, u64 *overflow, char *err, size_t err_size)
{
	struct monitor *m = to;

	(void)err, (void)err_size;
	assert_true(m->collecting);
	m->collecting = false;
	*n = m->net->keys;
	*digests = malloc(*n * sizeof(u64));
	for (u32 i = 0; i < *n; i++)
		(*digests)[i] = xdd_mix64(i < COMMON ? i + 1 : (m->i + 1ull) << 32 | i);
	*overflow = m->i == 2 ? 5 : 0;
	return 0;
}

static int load(void *to, const char *watch, const u64 *keys, u64 n, bool truly, u64 *added,
		char *err, size_t err_size)
{
	struct monitor *m = to;

	(void)keys;
	assert_string_equal(watch, "tap");
	if (m->full) {
		snprintf(err, err_size, "is full");
		return -ENOSPC;
	}
	if (truly && m->fails) {
		snprintf(err, err_size, "its disk is full");
		return -ENOSPC;
	}
	m->dead = truly && m->dies;
	if (truly)
		m->loaded += n;
	*added = n;
	return 0;
}

static void describe(void *to, u32 which, u64 digest, char *text, size_t size)
{
	(void)to, (void)digest;
	snprintf(text, size, "%u", which);
}

static void stop(void *to)
{
	((struct monitor *)to)->collecting = false;
}

static void show(void *to, const char *text)
{
	((struct net *)to)->shown++;
	assert_true(atoi(text) < COMMON);
}

static const struct host_ops ops = { start, end, load, describe, stop, reply };

static void deliver(struct net *net, const struct sent *s)
{
	struct monitor *m = &net->monitor[s->whom];

	for (u32 i = 0; s->back && i <= net->twins; i++)
		council_take(&net->council, s->whom, &s->part, 1 + i, net->now_ns);
	if (s->back)
		return;
	if (!m->dead)
		host_take(&net->host[s->whom], "z.joint-1", &s->part, net->now_ns + m->steady_ns,
			  WALL_NS + net->now_ns + m->wall_ns);
}

/* One after the other, in any order. */
static void deliver_all(struct net *net)
{
	u32 left = 0;

	for (u32 i = 0; i < net->n; i++) {
		struct sent s = net->sent[i];

		if (s.at_ns > net->now_ns) {
			net->sent[left++] = s;
			continue;
		}
		/* What it makes others say goes behind what there is. */
		net->sent[i].at_ns = 0;
		deliver(net, &s);
		free(s.bytes);
	}
	net->n = left;
}

static void open_net(struct net *net, u32 lose, u32 twice, u32 late)
{
	memset(net, 0, sizeof(*net));
	net->keys = KEYS;
	net->lose = lose;
	net->twice = twice;
	net->late = late;
	net->random = 1 + lose + twice + late;
	for (u32 i = 0; i < N; i++) {
		net->monitor[i] = (struct monitor){ .net = net,
						    .i = i,
						    .steady_ns = i * 1000 * SECOND_NS,
						    .wall_ns = i * 3 * SECOND_NS };
		host_open(&net->host[i], &ops, &net->monitor[i]);
	}
}

static void close_net(struct net *net)
{
	for (u32 i = 0; i < net->n; i++)
		free(net->sent[i].bytes);
	net->n = 0;
	for (u32 i = 0; i < N; i++)
		host_close(&net->host[i]);
	council_close(&net->council);
}

static void begin(struct net *net, u32 algorithm, u64 period_ns, u64 silence_ns, const char *watch)
{
	static const char *const names[N] = { "a.tap", "b.tap", "c.tap" };
	struct joint_plan plan = { .algorithm = algorithm,
				   .monitors = N,
				   .at_least = N,
				   .rounds = joint_default_rounds(algorithm),
				   .epsilon = 1e-9 };

	net->council = (struct council){ .emit = ask, .show = show, .to = net };
	council_open(&net->council, &plan, names, WALL_NS + net->now_ns, period_ns, silence_ns,
		     watch, net->now_ns);
}

/* Returns the phase in which it ended. */
static enum council_phase run(struct net *net, u32 algorithm, const char *watch)
{
	struct council *c = &net->council;

	begin(net, algorithm, 2 * SECOND_NS, 20 * SECOND_NS, watch);
	for (u64 end = net->now_ns + 300 * SECOND_NS; c->phase < COUNCIL_DONE && net->now_ns < end;
	     net->now_ns += STEP_NS) {
		council_step(c, net->now_ns);
		deliver_all(net);
		for (u32 i = 0; i < N; i++)
			if (!net->monitor[i].dead)
				host_step(&net->host[i], net->now_ns + net->monitor[i].steady_ns);
	}
	return c->phase;
}

static void check_found(struct net *net, u32 algorithm)
{
	assert_int_equal(run(net, algorithm, NULL), COUNCIL_DONE);
	assert_int_equal(net->council.common, COMMON);
	assert_int_equal(net->shown, COMMON);
	for (u32 i = 0; i < N; i++)
		assert_int_equal(net->council.member[i].keys, KEYS);
	assert_int_equal(net->council.member[2].overflow, 5);
}

static void test_networks(void **state)
{
	static const u32 how[][3] = {
		{ 0, 0, 0 }, { 20, 0, 0 }, { 0, 50, 0 }, { 0, 0, 50 }, { 10, 20, 30 }
	};
	static const u32 algorithms[] = { JOINT_raw, JOINT_best, JOINT_smallest_first };
	struct net *net = malloc(sizeof(*net));

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(how); i++)
		for (u32 a = 0; a < XDD_ARRAY_SIZE(algorithms); a++) {
			open_net(net, how[i][0], how[i][1], how[i][2]);
			check_found(net, algorithms[a]);
			close_net(net);
		}
	free(net);
}

/* The monitors are there for the next period, too; what was said in the one before is no part of it. */
static void test_periods(void **state)
{
	struct net *net = malloc(sizeof(*net));

	(void)state;
	open_net(net, 5, 20, 50);
	for (u32 i = 0; i < 3; i++) {
		net->shown = 0;
		check_found(net, JOINT_best);
		council_close(&net->council);
		memset(&net->council, 0, sizeof(net->council));
	}
	close_net(net);
	free(net);
}

static void test_watch(void **state)
{
	struct net *net = malloc(sizeof(*net));

	(void)state;
	open_net(net, 10, 20, 30);
	assert_int_equal(run(net, JOINT_best, "tap"), COUNCIL_DONE);
	for (u32 i = 0; i < N; i++)
		assert_int_equal(net->monitor[i].loaded, COMMON);
	close_net(net);
	open_net(net, 0, 0, 0);
	net->monitor[1].full = true;
	assert_int_equal(run(net, JOINT_best, "tap"), COUNCIL_FAILED);
	assert_non_null(
		strstr(net->council.err, "monitor b.tap: is full; so they are in no watch set"));
	for (u32 i = 0; i < N; i++)
		assert_int_equal(net->monitor[i].loaded, 0);
	assert_int_equal(net->shown, COMMON); /* nobody can ask for that period again */
	close_net(net);
	free(net);
}

/* Watch sets of which some were loaded after all had room: it is said of each. */
static void test_half_loaded(void **state)
{
	struct net *net = malloc(sizeof(*net));
	char text[ORDER_TEXT_MAX];

	(void)state;
	open_net(net, 0, 0, 0);
	net->monitor[0].fails = net->monitor[1].dies = true;
	assert_int_equal(run(net, JOINT_best, "tap"), COUNCIL_FAILED);
	assert_non_null(strstr(net->council.err, "in the watch set of tap at 1 of 3 monitors"));
	assert_string_equal(council_loaded(&net->council, 0, text),
			    "does not have them: its disk is full");
	assert_string_equal(council_loaded(&net->council, 1, text),
			    "may have them: no longer answers");
	assert_string_equal(council_loaded(&net->council, 2, text), "has them, 3000 are new");
	assert_int_equal(net->monitor[0].loaded, 0);
	assert_int_equal(net->monitor[2].loaded, COMMON);
	assert_int_equal(net->shown, COMMON);
	close_net(net);
	open_net(net, 0, 0, 0);
	net->monitor[0].full = true;
	assert_int_equal(run(net, JOINT_best, "tap"), COUNCIL_FAILED);
	assert_null(council_loaded(&net->council, 0, text));
	close_net(net);
	free(net);
}

static void answered(struct net *net, struct sent *s, char *why)
{
	struct bytes message = { .at = s->bytes, .n = s->part.n };

	assert_true(s->back);
	assert_int_equal(order_get_refused(&message, why), 0);
	net->n = 0;
	free(s->bytes);
}

/* A coordinator that was killed keeps nobody for its whole period, and who asks meanwhile is told for how long. */
static void test_killed(void **state)
{
	struct net *net = calloc(1, sizeof(*net));
	struct council *c = &net->council;
	struct part other = { .session = WALL_NS + 30 * SECOND_NS, .parts = 1 };
	struct host *h = &net->host[0];
	char why[ORDER_TEXT_MAX];

	(void)state;
	open_net(net, 0, 0, 0);
	begin(net, JOINT_best, 3600 * SECOND_NS, SECOND_NS, NULL);
	for (; net->now_ns < 40 * SECOND_NS; net->now_ns += STEP_NS) {
		council_step(c, net->now_ns);
		deliver_all(net);
		host_step(h, net->now_ns);
		assert_true(net->now_ns < SECOND_NS || net->monitor[0].collecting);
	}
	host_take(h, "y.joint-1", &other, net->now_ns, WALL_NS + net->now_ns);
	answered(net, &net->sent[0], why);
	assert_non_null(
		strstr(why, "a monitor of z.joint-1: ask again when that is over, or in 1"));
	host_step(h, net->now_ns + 12 * SECOND_NS);
	assert_true(net->monitor[0].collecting);
	host_step(h, net->now_ns + 16 * SECOND_NS);
	assert_false(net->monitor[0].collecting);
	close_net(net);
	free(net);
}

/* What cannot be found is not waited for: a monitor that ends is told of in the period. */
static void test_died(void **state)
{
	struct net *net = malloc(sizeof(*net));
	struct council *c = &net->council;

	(void)state;
	open_net(net, 0, 20, 30);
	begin(net, JOINT_best, 3600 * SECOND_NS, 3 * SECOND_NS, NULL);
	for (; c->phase < COUNCIL_DONE && net->now_ns < 60 * SECOND_NS; net->now_ns += STEP_NS) {
		council_step(c, net->now_ns);
		deliver_all(net);
		net->monitor[1].dead = net->now_ns > 30 * SECOND_NS;
	}
	assert_int_equal(c->phase, COUNCIL_FAILED);
	assert_true(net->now_ns > 32 * SECOND_NS && net->now_ns < 40 * SECOND_NS);
	assert_non_null(strstr(c->err, "monitor b.tap: no longer answers: has its agent ended"));
	close_net(net);
	free(net);
}

/* One that is killed before it could say that it is there keeps nobody longer. */
static void test_killed_at_once(void **state)
{
	struct net *net = malloc(sizeof(*net));

	(void)state;
	open_net(net, 0, 0, 0);
	begin(net, JOINT_best, 3600 * SECOND_NS, 3 * SECOND_NS, NULL);
	council_step(&net->council, 0);
	deliver_all(net);
	assert_true(net->monitor[0].collecting);
	host_step(&net->host[0], 14 * SECOND_NS);
	assert_true(net->monitor[0].collecting);
	host_step(&net->host[0], 16 * SECOND_NS);
	assert_false(net->monitor[0].collecting);
	close_net(net);
	free(net);
}

static void test_silent(void **state)
{
	struct net *net = malloc(sizeof(*net));

	(void)state;
	open_net(net, 0, 0, 0);
	net->monitor[1].dead = true;
	assert_int_equal(run(net, JOINT_best, NULL), COUNCIL_FAILED);
	assert_non_null(strstr(net->council.err, "monitor b.tap: does not answer"));
	/* Who is left alone by the coordinator ends by itself. */
	host_step(&net->host[0], net->now_ns + 100 * SECOND_NS);
	assert_false(net->monitor[0].collecting);
	close_net(net);
	open_net(net, 0, 0, 0);
	net->monitor[2].wall_ns = 100 * SECOND_NS;
	assert_int_equal(run(net, JOINT_best, NULL), COUNCIL_FAILED);
	assert_non_null(strstr(net->council.err, "monitor c.tap: its clock"));
	close_net(net);
	free(net);
}

/* Two agents of one name do not both count, nor one of them. */
static void test_twins(void **state)
{
	struct net *net = malloc(sizeof(*net));

	(void)state;
	open_net(net, 0, 0, 0);
	net->twins = true;
	assert_int_equal(run(net, JOINT_best, NULL), COUNCIL_FAILED);
	assert_non_null(strstr(net->council.err, ".tap: two agents answer as it"));
	close_net(net);
	free(net);
}

/* What cannot be is not taken, and a session that was is not begun again. */
static void test_senseless(void **state)
{
	struct net *net = malloc(sizeof(*net));
	struct order_start begin = { .plan = { JOINT_best, N, N, 2, .001, 0 } };
	struct bytes message = {};
	struct host *h;
	struct part part = { .session = WALL_NS, .parts = 1 };
	u8 noise[64];

	(void)state;
	open_net(net, 0, 0, 0);
	h = &net->host[0];
	for (u32 i = 0; i < 2000; i++) {
		for (u32 k = 0; k < sizeof(noise); k++)
			noise[k] = draw(net);
		part.session++;
		part.at = noise;
		part.n = 1 + i % sizeof(noise);
		part.step = i % 3;
		part.number = i % 5 == 4;
		host_take(h, "z.joint-1", &part, net->now_ns, WALL_NS);
		assert_false(net->monitor[0].collecting);
	}
	assert_int_equal(order_put_start(&message, &begin), 0);
	part = (struct part){ part.session + 1, 0, 0, 1, message.at, message.n };
	assert_int_equal(host_take(h, "z.joint-1", &part, net->now_ns, WALL_NS), 0);
	assert_true(net->monitor[0].collecting);
	part.step = STEP_STOP;
	assert_int_equal(host_take(h, "y.joint-1", &part, net->now_ns, WALL_NS), 0);
	assert_true(net->monitor[0].collecting);
	assert_int_equal(host_take(h, "z.joint-1", &part, net->now_ns, WALL_NS), 0);
	assert_false(net->monitor[0].collecting);
	part.step = 0;
	assert_int_equal(host_take(h, "z.joint-1", &part, net->now_ns, WALL_NS), 0);
	assert_false(net->monitor[0].collecting);
	bytes_free(&message);
	close_net(net);
	free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_networks),       cmocka_unit_test(test_periods),
		cmocka_unit_test(test_watch),	       cmocka_unit_test(test_half_loaded),
		cmocka_unit_test(test_killed),	       cmocka_unit_test(test_died),
		cmocka_unit_test(test_killed_at_once), cmocka_unit_test(test_silent),
		cmocka_unit_test(test_twins),	       cmocka_unit_test(test_senseless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

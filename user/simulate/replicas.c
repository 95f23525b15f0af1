/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts that tell each other what they have, with counting Bloom filters at home and plain ones sent
 * (zhu-jiang-2006 section 4 and 5). In a unit of time each adds
 * new keys and deletes any of those it has; then it looks whether an update is due.
 */
#include "user/simulate/replicas.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/cluster/delta.h"
#include "user/cluster/receiver.h"
#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/model/replica.h"
#include "user/simulate/kinds.h"

#define DEFAULT_HASHES 6

struct cluster {
	const struct options *o;
	struct update_policy policy;
	struct stream random;
	struct replica_host *hosts;
	u32 k;
};

static u64 words_of(u64 cells)
{
	return (cells + 63) / 64;
}

/* Bit @i of @key in a filter of @cells bits. */
static u64 position(u64 key, u32 i, u64 cells)
{
	return ((unsigned __int128)xdd_mix64(key + (i + 1) * XDD_GOLDEN) * cells) >> 64;
}

static bool is_in(const u64 *bits, u64 cells, u32 k, u64 key)
{
	for (u32 i = 0; i < k; i++) {
		u64 at = position(key, i, cells);

		if (!(bits[at / 64] >> at % 64 & 1))
			return false;
	}
	return true;
}

static void count(struct replica_host *host, u32 k, u64 key, int by)
{
	for (u32 i = 0; i < k; i++) {
		u64 at = position(key, i, host->cells), bit = 1ULL << at % 64;

		host->counters[at] += by;
		if (host->counters[at])
			host->home[at / 64] |= bit;
		else
			host->home[at / 64] &= ~bit;
	}
}

/* Room for as many keys again. */
static int grow(struct replica_host *host)
{
	u64 room = 2 * host->room + 64;
	u64 *keys = realloc(host->keys, room * sizeof(*keys));
	bool *sent = realloc(host->is_sent, room * sizeof(*sent));

	if (keys)
		host->keys = keys;
	if (sent)
		host->is_sent = sent;
	if (!keys || !sent)
		return -ENOMEM;
	host->room = room;
	return 0;
}

static int add(struct cluster *c, struct replica_host *host)
{
	int err = host->n_keys < host->room ? 0 : grow(host);

	if (err)
		return err;
	host->keys[host->n_keys] = stream_draw(&c->random);
	host->is_sent[host->n_keys] = false;
	count(host, c->k, host->keys[host->n_keys++], 1);
	host->unsent++;
	return 0;
}

static void delete_any(struct cluster *c, struct replica_host *host)
{
	u64 at, last = host->n_keys - 1;

	if (!host->n_keys)
		return;
	at = stream_draw(&c->random) % host->n_keys;
	count(host, c->k, host->keys[at], -1);
	host->unsent -= !host->is_sent[at];
	host->keys[at] = host->keys[last];
	host->is_sent[at] = host->is_sent[last];
	host->n_keys = last;
}

/* An empty filter of @cells bits at home, and nothing sent of it. */
static int make_filter(struct replica_host *host, u64 cells)
{
	free(host->counters);
	free(host->home);
	free(host->sent);
	host->cells = cells;
	host->counters = calloc(cells, sizeof(*host->counters));
	host->home = calloc(words_of(cells), sizeof(u64));
	host->sent = calloc(words_of(cells), sizeof(u64));
	return host->counters && host->home && host->sent ? 0 : -ENOMEM;
}

/* From now on the others have what is at home. */
static void publish(struct replica_host *host)
{
	memcpy(host->sent, host->home, words_of(host->cells) * sizeof(u64));
	if (host->n_keys)
		memset(host->is_sent, true, host->n_keys);
	host->unsent = host->since = 0;
}

/* As many bits a key as the first filter had. */
static int resize(struct cluster *c, struct replica_host *host)
{
	u64 cells = host->cells_per_key * host->n_keys + .5;
	int err = make_filter(host, cells ?: 1);

	for (u64 i = 0; !err && i < host->n_keys; i++)
		count(host, c->k, host->keys[i], 1);
	return err;
}

/* Send what has changed to all others, and count it in @unit. */
static int update(struct cluster *c, struct replica_host *host, struct replica_unit *unit)
{
	int err = c->o->resize ? resize(c, host) : 0;
	u8 *message = malloc(delta_room(host->cells));

	if (message && !err) {
		for (u64 i = 0; i < words_of(host->cells); i++)
			host->sent[i] ^= host->home[i];
		unit->value[REPLICA_bytes] += delta_encode(host->sent, host->cells, message);
		unit->value[REPLICA_updates]++;
		publish(host);
	}
	free(message);
	return message ? err : -ENOMEM;
}

static struct staleness stale(const struct cluster *c, const struct replica_host *host)
{
	struct staleness s = { .hashes = c->k,
			       .keys = host->n_keys,
			       .unpublished = host->unsent,
			       .since = host->since };

	update_compare(&s, host->home, host->sent, host->cells);
	return s;
}

/* Chances that a key which nobody has goes wrong, by the model: in a host's own filter, and in what the others have
 * of it.
 */
struct expected {
	double own, fpr, fnr;
};

/* What the model expects of a host, added to @unit. */
static struct expected expect(const struct cluster *c, const struct replica_host *host,
			      struct replica_unit *unit)
{
	struct staleness s = stale(c, host);
	double *value = unit->value;
	double fpr = model_replica_fpr(s.fill, s.delta1, s.delta0, c->k);
	double fnr = model_replica_fnr(s.fill, s.delta1, c->k);

	value[REPLICA_keys] += s.keys;
	value[REPLICA_delta1] += s.delta1;
	value[REPLICA_delta0] += s.delta0;
	value[REPLICA_fpr_model] += fpr;
	value[REPLICA_fnr_model] += fnr;
	value[REPLICA_member_model] += model_replica_member_fnr(
		s.unpublished, s.keys, model_replica_fill(s.fill, s.delta1, s.delta0), c->k);
	return (struct expected){ pow(s.fill, c->k), fpr, fnr };
}

/* Eq. 16 of host @asking, with what is expected of each of @n hosts rather than of one for all. */
static double expect_host(const struct expected *host, u32 n, u32 asking)
{
	double fpr = host[asking].own, fnr = 0;

	for (u32 i = 0; i < n; i++) {
		if (i == asking)
			continue;
		fpr = model_host_fpr(fpr, host[i].fpr, 1);
		fnr = 1 - (1 - fnr) * (1 - model_host_fnr(host[i].fnr, 1));
	}
	return model_host_rate(fpr, fnr);
}

/* Look up a key that nobody has at each host. */
static void query(struct cluster *c, struct replica_unit *unit)
{
	u64 key = stream_draw(&c->random), own = 0, wrong = 0;

	for (u32 i = 0; i < c->o->hosts; i++) {
		const struct replica_host *host = &c->hosts[i];
		bool home = is_in(host->home, host->cells, c->k, key);
		bool sent = is_in(host->sent, host->cells, c->k, key);

		unit->value[REPLICA_fpr] += sent;
		unit->value[REPLICA_fnr] += home && !sent;
		own |= (u64)home << i;
		wrong |= (u64)(home || sent) << i;
	}
	for (u32 i = 0; i < c->o->hosts; i++)
		unit->value[REPLICA_host] += !!((own & 1ULL << i) | (wrong & ~(1ULL << i)));
}

/* The share of its keys that the others miss. */
static double members_missed(const struct cluster *c, const struct replica_host *host)
{
	u64 missed = 0;

	for (u64 i = 0; i < host->n_keys; i++)
		missed += !is_in(host->sent, host->cells, c->k, host->keys[i]);
	return host->n_keys ? (double)missed / host->n_keys : 0;
}

static void measure(struct cluster *c, struct replica_unit *unit)
{
	struct expected expected[RECEIVER_SLOTS];

	for (u64 i = 0; i < c->o->queries; i++)
		query(c, unit);
	unit->value[REPLICA_fpr] /= c->o->queries;
	unit->value[REPLICA_fnr] /= c->o->queries;
	unit->value[REPLICA_host] /= c->o->queries;
	for (u32 i = 0; i < c->o->hosts; i++) {
		expected[i] = expect(c, &c->hosts[i], unit);
		unit->value[REPLICA_member] += members_missed(c, &c->hosts[i]);
	}
	for (u32 i = 0; i < c->o->hosts; i++)
		unit->value[REPLICA_host_model] += expect_host(expected, c->o->hosts, i);
	for (u32 i = 0; i < REPLICA_updates; i++)
		unit->value[i] /= c->o->hosts;
}

static void delete_some(struct cluster *c, struct replica_host *host)
{
	for (u64 i = 0; i < c->o->deletes; i++)
		delete_any(c, host);
}

static int advance(struct cluster *c, struct replica_host *host, struct replica_unit *unit)
{
	struct staleness s;
	int err = 0;

	if (c->o->deletes_old)
		delete_some(c, host);
	for (u64 i = 0; !err && i < c->o->adds; i++)
		err = add(c, host);
	if (err)
		return err;
	if (!c->o->deletes_old)
		delete_some(c, host);
	host->since++;
	s = stale(c, host);
	unit->value[REPLICA_rate] += update_rate(&c->policy, &s);
	return update_due(&c->policy, &s) ? update(c, host, unit) : 0;
}

static u64 initial_keys(const struct options *o, u32 host)
{
	double step = ((double)o->initial_last - o->initial) / (o->hosts - 1);

	return o->initial + step * host + .5;
}

/* Its first keys, which the others know of. */
static int open_host(struct cluster *c, u32 i)
{
	struct replica_host *host = &c->hosts[i];
	u64 keys = initial_keys(c->o, i);
	int err = make_filter(host, c->o->cells);

	host->cells_per_key = (double)c->o->cells / (keys ?: 1);
	while (!err && keys--)
		err = add(c, host);
	if (!err)
		publish(host);
	return err;
}

static void close_host(struct replica_host *host)
{
	free(host->keys);
	free(host->is_sent);
	free(host->counters);
	free(host->home);
	free(host->sent);
}

int replicas_run(const struct options *o, u32 run, struct replica_unit *units)
{
	struct cluster c = {
		.o = o,
		.policy = o->push,
		.k = o->hashes ?: DEFAULT_HASHES,
		.hosts = calloc(o->hosts, sizeof(*c.hosts)),
	};
	int err = c.hosts ? 0 : -ENOMEM;

	c.policy.target = o->false_rate_target;
	c.policy.bound = o->bound;
	c.policy.fp_weight = o->weights[0];
	c.policy.fn_weight = o->weights[1];
	stream_open(&c.random, 1, 0, o->seed + run);
	for (u32 i = 0; !err && i < o->hosts; i++)
		err = open_host(&c, i);
	for (u64 unit = 0; !err && unit < o->units; unit++) {
		for (u32 i = 0; !err && i < o->hosts; i++)
			err = advance(&c, &c.hosts[i], &units[unit]);
		if (!err)
			measure(&c, &units[unit]);
	}
	for (u32 i = 0; c.hosts && i < o->hosts; i++)
		close_host(&c.hosts[i]);
	free(c.hosts);
	return err;
}

int simulate_replicas(struct options *o)
{
	u32 runs = o->runs ?: 1;
	struct replica_unit *units;
	int err;

	if (o->hosts > RECEIVER_SLOTS) {
		complain("simulate replicas: --hosts %u: a host holds the replicas of at most %u "
			 "others here",
			 o->hosts, RECEIVER_SLOTS - 1);
		return EXIT_USAGE;
	}
	units = calloc(o->units, runs * sizeof(*units));
	err = units ? 0 : -ENOMEM;

	for (u32 run = 0; !err && run < runs; run++)
		err = replicas_run(o, run, &units[run * o->units]);
	if (err)
		complain("simulate replicas: %s: fewer --units, --hosts or --cells",
			 strerror(-err));
	else if (o->json)
		replicas_json(o, units);
	else
		replicas_text(o, units);
	free(units);
	return err ? EXIT_FAILED : EXIT_OK;
}

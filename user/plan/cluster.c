// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/plan/cluster.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "user/accessors.h"
#include "user/cluster/delta.h"
#include "user/cluster/member.h"
#include "user/cluster/receiver.h"
#include "user/cluster/wire.h"
#include "user/derive.h"
#include "user/model.h"
#include "user/model/replica.h"

#define NS 1e9
#define SAMPLE_SHIFT 22	 /* of larger filters a part is encoded */
#define LOOKS_MOST 10000 /* times of a long window at which the rule is asked */
#define FULL_FPR 0.5
#define TREE_HASHES 4

#define LIMIT(name, value, what) value,
const struct cluster_limits cluster_limits = { CLUSTER_LIMITS(LIMIT) };

/* What a replica is like @t_ns after its host spoke: of the keys that were live then, as many went as came. */
static struct staleness stale_after(const struct cluster_plan *p, u64 t_ns)
{
	double cells = ldexp(1, p->shift), fresh = fmin(p->host_rate * t_ns / NS, p->keys);
	double zero = exp(-1. * p->hashes * p->keys / cells);
	double delta = zero * -expm1(-1. * p->hashes * fresh / cells);

	return (struct staleness){
		.cells = cells,
		.hashes = p->hashes,
		.fill = 1 - zero,
		.delta1 = delta,
		.delta0 = delta,
		.keys = p->keys,
		.unpublished = fresh,
		.since = t_ns,
	};
}

static double missed_after(const struct cluster_plan *p, u64 t_ns)
{
	struct staleness s = stale_after(p, t_ns);

	return model_replica_member_fnr(s.unpublished, s.keys, s.fill, s.hashes);
}

/* The first look at which the rule says so; or when an agent speaks anyhow. */
static void choose_push(const struct cluster_demand *d, struct cluster_plan *p)
{
	u64 latest = member_untold_ns(d->window_ns);
	u64 step = p->check_ns * (latest / p->check_ns / LOOKS_MOST + 1);
	struct staleness fresh = stale_after(p, 0);

	p->floor = update_floor(&d->policy, &fresh) > d->policy.target;
	for (p->push_ns = p->check_ns; p->push_ns < latest; p->push_ns += step) {
		struct staleness s = stale_after(p, p->push_ns);

		p->by_rule = update_due(&d->policy, &s);
		if (p->by_rule)
			break;
	}
	p->stale_most_s = p->push_ns / NS;
	p->stale_mean_s = p->stale_most_s / 2;
	p->missed_most = missed_after(p, p->push_ns);
	p->missed_mean = missed_after(p, p->push_ns / 2);
}

static void set_keys(u64 *bits, u64 cells, u32 hashes, u64 first, u64 n)
{
	for (u64 key = first; key < first + n; key++)
		for (u32 i = 0; i < hashes; i++) {
			u64 at = xdd_mix64(key * XDD_MAX_HASHES + i) & (cells - 1);

			bits[at / 64] |= 1ull << at % 64;
		}
}

/* What is said is encoded: that of a part of the filter, with as many keys for each bit. */
static int measure_bytes(struct cluster_plan *p)
{
	u32 shift = p->shift < SAMPLE_SHIFT ? p->shift : SAMPLE_SHIFT;
	double part = ldexp(1, (int)shift - (int)p->shift);
	u64 cells = 1ull << shift, words = cells / 64, keys = p->keys * part + .5;
	u64 fresh = fmin(p->host_rate * p->push_ns / NS * part + .5, keys);
	u64 *home = calloc(words, sizeof(*home)), *sent = calloc(words, sizeof(*sent));

	if (home && sent) {
		set_keys(sent, cells, p->hashes, 0, keys);
		set_keys(home, cells, p->hashes, fresh, keys);
		p->full_bytes = delta_size(home, cells) / part;
		for (u64 i = 0; i < words; i++)
			sent[i] ^= home[i];
		p->delta_bytes = delta_size(sent, cells) / part;
		p->parts = ceil(p->delta_bytes / WIRE_PAYLOAD_MAX);
		p->delta_bytes += p->parts * (WIRE_HEADER + WIRE_TAG);
	}
	free(sent);
	free(home);
	return home && sent ? 0 : -ENOMEM;
}

double cluster_replicas_fpr(const struct cluster_plan *p, u32 shift, u32 *hashes)
{
	double cells = ldexp(1, shift);

	*hashes = derive_replica_hashes(shift, p->keys);
	return model_host_fpr(0, pow(model_fill(p->keys, cells, *hashes), *hashes),
			      p->group_hosts - 1);
}

static void choose_replicas(const struct cluster_demand *d, struct cluster_plan *p)
{
	p->shift = derive_replica_default(p->keys, p->group_hosts - 1);
	p->replica_bytes = ldexp(derive_replica_width(p->group_hosts - 1) / 8., p->shift);
	p->fpr = cluster_replicas_fpr(p, p->shift, &p->hashes);
	p->check_ns = member_check_every(d->window_ns);
}

static void add_up(struct cluster_plan *p)
{
	const struct cluster_limits *limit = &cluster_limits;
	double peers = p->group_hosts - 1, second = p->push_ns / NS, bits = ldexp(1, p->shift);

	p->out_bytes_s = p->delta_bytes / second;
	p->in_bytes_s = peers * p->out_bytes_s;
	p->cpu = bits * (limit->make_ns / p->check_ns + peers * limit->apply_ns / p->push_ns);
	p->server_in_s = p->group_hosts * p->parts / second;
	p->server_out_s = p->server_in_s * peers;
	p->server_bytes_s = p->group_hosts * p->in_bytes_s;
	p->servers = p->groups * fmax(fmax(p->server_in_s / limit->server_in,
					   p->server_out_s / limit->server_out),
				      p->server_bytes_s / limit->server_bytes);
	p->fits = p->cpu <= limit->host_cpu && p->servers <= p->groups;
}

/* Leaves that ask upwards (koloniari-2011 section 6): of new keys all come to the root, as k positions each. */
static void plan_tree(const struct cluster_demand *d, struct cluster_plan *p)
{
	double cells = derive_replica_bits(fmax(d->rate * d->window_ns / NS, 1));

	p->depth = 1;
	for (double leaves = 1; leaves < d->hosts; leaves *= d->fan_out)
		p->depth++;
	p->root_rate = d->rate;
	p->lookup_bits = model_lookup_bits(cells, 1, TREE_HASHES);
	p->root_bytes_s = p->root_rate * p->lookup_bits / 8;
	p->root_servers = ceil(p->root_bytes_s / cluster_limits.server_bytes);
}

/* Hosts in groups, and what each has; then whether their replicas can say anything. */
static int divide(const struct cluster_demand *d, struct cluster_plan *p)
{
	*p = (struct cluster_plan){ .group_hosts = fmin(d->hosts, RECEIVER_SLOTS + 1) };
	p->groups = ceil(d->hosts / p->group_hosts);
	p->group_hosts = ceil(d->hosts / p->groups);
	p->host_rate = d->rate / d->hosts;
	p->keys = fmax(p->host_rate * d->window_ns / NS, 1);
	choose_replicas(d, p);
	if (d->window_ns <= p->check_ns)
		return -ETIME;
	return p->fpr > FULL_FPR ? -ENOSPC : 0;
}

u64 cluster_window_least(void)
{
	return member_check_every(0) + 1;
}

u64 cluster_window_most(const struct cluster_demand *d)
{
	u64 low = 0, high = d->window_ns;
	struct cluster_demand tried = *d;
	struct cluster_plan p;

	while (high - low > 1 + low / 1000) {
		tried.window_ns = low + (high - low) / 2;
		if (divide(&tried, &p) == -ENOSPC)
			high = tried.window_ns;
		else
			low = tried.window_ns;
	}
	return low;
}

int cluster_plan(const struct cluster_demand *d, struct cluster_plan *p)
{
	int rc = divide(d, p);

	if (rc)
		return rc;
	choose_push(d, p);
	rc = measure_bytes(p);
	if (rc)
		return rc;
	add_up(p);
	plan_tree(d, p);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup plan cluster: options in, words out. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "user/cluster/receiver.h"
#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/plan/cluster.h"
#include "user/provenance.h"
#include "user/units.h"
#include "xdd/replica.h"

#define DEFAULT_WINDOW_NS 2000000000ull
#define DEFAULT_FAN_OUT 16
#define BEARABLE_FPR 0.01

/* What it takes; all else is about a filter. */
static const char *const takes[] = { "rate",  "packets-size", "window",	 "hosts",
				     "bound", "fan-out",      "weights", "false-rate-target",
				     "json",  "quiet",	      NULL };

static const char *what_is_wrong(const struct options *o)
{
	if (!option_given(o, OPT_hosts))
		return "give --hosts N";
	if (!o->rate)
		return "give --rate N, packets a second of all hosts, or bits";
	if (o->fan_out == 1)
		return "--fan-out 1 is no tree: from 2 to 65535";
	if (o->rate_bits && !o->packets_size)
		return "--rate in bits also needs --packets-size BYTES";
	return NULL;
}

static void demand_of(const struct options *o, struct cluster_demand *d)
{
	*d = (struct cluster_demand){
		.hosts = o->hosts,
		.rate = o->rate_bits ? o->rate / (8. * o->packets_size) : o->rate,
		.packet_bytes = o->packets_size,
		.window_ns = option_given(o, OPT_window) ? o->window : DEFAULT_WINDOW_NS,
		.fan_out = o->fan_out ?: DEFAULT_FAN_OUT,
		.policy = o->push,
	};
	d->policy.rule = UPDATE_false_rate;
	d->policy.target = o->false_rate_target;
	d->policy.bound = o->bound;
	d->policy.fp_weight = o->weights[0];
	d->policy.fn_weight = o->weights[1];
}

static json_t *host_json(const struct cluster_plan *p)
{
	return json_pack("{s:f, s:f, s:I, s:i, s:f, s:I, s:f, s:f, s:b, s:b, s:f, s:f, s:f, s:f, "
			 "s:f, s:f, s:f, "
			 "s:f, s:f, s:f}",
			 "packets_per_s", p->host_rate, "keys", p->keys, "replica_bits",
			 (json_int_t)1 << p->shift, "hashes", (int)p->hashes, "replicas_fpr",
			 p->fpr, "replicas_bytes", (json_int_t)p->replica_bytes, "check_s",
			 p->check_ns * 1e-9, "push_s", p->push_ns * 1e-9, "push_by_false_rate",
			 p->by_rule, "target_out_of_reach", p->floor, "delta_bytes", p->delta_bytes,
			 "delta_messages", p->parts, "full_bytes", p->full_bytes, "stale_mean_s",
			 p->stale_mean_s, "stale_most_s", p->stale_most_s, "missed_mean",
			 p->missed_mean, "missed_most", p->missed_most, "out_bytes_per_s",
			 p->out_bytes_s, "in_bytes_per_s", p->in_bytes_s, "cpu", p->cpu);
}

#define LIMIT_JSON(name, value, what) \
	json_object_set_new(limits, #name, json_real(cluster_limits.name));

static void print_json(const struct options *o, const struct cluster_demand *d,
		       const struct cluster_plan *p)
{
	json_t *all =
		json_pack("{s:f, s:f, s:f, s:f, s:f, s:b, s:o, s:{s:f, s:f, s:f, s:f}, s:{s:i, "
			  "s:f, s:f, s:f, s:f, "
			  "s:f}}",
			  "hosts", d->hosts, "packets_per_s", d->rate, "window_s",
			  d->window_ns * 1e-9, "groups", p->groups, "group_hosts", p->group_hosts,
			  "fits", p->fits, "host", host_json(p), "server", "messages_in_per_s",
			  p->server_in_s, "messages_out_per_s", p->server_out_s, "bytes_out_per_s",
			  p->server_bytes_s, "servers", p->servers, "tree", "fan_out",
			  (int)d->fan_out, "levels", p->depth, "root_lookups_per_s", p->root_rate,
			  "lookup_bits", p->lookup_bits, "root_bytes_per_s", p->root_bytes_s,
			  "root_servers", p->root_servers);
	json_t *limits = json_object();

	CLUSTER_LIMITS(LIMIT_JSON)
	json_object_set_new(all, "limits", limits);
	provenance_json(all, o);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_host(const struct cluster_plan *p)
{
	char keys[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], delta[UNITS_TEXT_MAX],
		full[UNITS_TEXT_MAX], push[UNITS_TEXT_MAX], in[UNITS_TEXT_MAX], out[UNITS_TEXT_MAX];

	printf("each host\n"
	       "  keys      %s live in a window, %.6g packets/s\n"
	       "  replicas  2^%u bits, %u hashes: %s in all, together FPR %.3g\n"
	       "  speaks    each %s, %s: %s in %.0f message%s; all it knows is %s\n"
	       "  stale     %.3g s on average, %.3g s at most: %.2g of a peer's keys are not "
	       "known, %.2g "
	       "at most\n"
	       "  network   %s/s out, %s/s in\n"
	       "  CPU       %.2g\n",
	       units_count_text(p->keys, keys), p->host_rate, p->shift, p->hashes,
	       units_size_text(p->replica_bytes, memory), p->fpr, units_time_text(p->push_ns, push),
	       p->by_rule ? "by its false rate" : "a quarter of the window",
	       units_size_text(p->delta_bytes, delta), p->parts, p->parts == 1 ? "" : "s",
	       units_size_text(p->full_bytes, full), p->stale_mean_s, p->stale_most_s,
	       p->missed_mean, p->missed_most, units_size_text(p->out_bytes_s, out),
	       units_size_text(p->in_bytes_s, in), p->cpu);
}

/* Which --replica-bits are enough for an error that is bearable, where the default of load is not. */
static void print_advice(const struct cluster_plan *p)
{
	u32 shift = p->shift, hashes;

	while (shift < XDD_REPLICA_SHIFT_MAX &&
	       cluster_replicas_fpr(p, shift, &hashes) > BEARABLE_FPR)
		shift++;
	if (shift > p->shift)
		printf("- %.2g of the packets that nobody has seen are taken for copies, by so "
		       "many "
		       "replicas: --replica-bits %llu makes that %.2g.\n",
		       p->fpr, 1ull << shift, cluster_replicas_fpr(p, shift, &hashes));
}

static void print_text(const struct cluster_demand *d, const struct cluster_plan *p)
{
	char bytes[UNITS_TEXT_MAX], root[UNITS_TEXT_MAX];

	printf("hosts       %.0f, in %.0f group%s of %.0f\n", d->hosts, p->groups,
	       p->groups == 1 ? "" : "s", p->group_hosts);
	print_host(p);
	printf("each group's server\n"
	       "  messages  %.0f a second in, %.0f out, %s/s\n"
	       "  servers   %.3g of the one that was measured, for all groups\n",
	       p->server_in_s, p->server_out_s, units_size_text(p->server_bytes_s, bytes),
	       p->servers);
	printf("as a tree of sites\n"
	       "  levels    %.0f, %u children each\n"
	       "  root      %.6g look-ups a second of %.0f bits, %s/s: %.0f servers\n",
	       p->depth, d->fan_out, p->root_rate, p->lookup_bits,
	       units_size_text(p->root_bytes_s, root), p->root_servers);
	if (p->groups > 1)
		printf("- A host holds %u replicas: what can be seen twice must come to hosts of "
		       "one "
		       "group, for example by a hash of the flow; between groups no copy is "
		       "found.\n",
		       RECEIVER_SLOTS);
	print_advice(p);
	if (p->floor)
		printf("- Even a fresh replica is above the target: more bits for each key.\n");
}

static void refuse_full(const struct cluster_demand *d, const struct cluster_plan *p)
{
	u64 most = cluster_window_most(d);
	char help[96] = "more --hosts, or fewer packets; no --window is short enough";
	char keys[UNITS_TEXT_MAX];

	if (most >= cluster_window_least())
		snprintf(help, sizeof(help),
			 "give a --window of at most %.2g s, more --hosts, or fewer packets",
			 most * 1e-9);
	complain("plan cluster: the replicas would be full and say nothing: each host has %s keys "
		 "live in a window, for at most 2^%u bits: %s",
		 units_count_text(p->keys, keys), p->shift, help);
}

/* There is nothing to plan. */
static int refuse_plan(const struct cluster_demand *d, const struct cluster_plan *p, int rc)
{
	char window[UNITS_TEXT_MAX], least[UNITS_TEXT_MAX];

	if (rc == -ETIME)
		complain("plan cluster: --window %s is over before a host looks what it has to "
			 "tell the others: give a --window above %s",
			 units_time_word(d->window_ns, window),
			 units_time_text(cluster_window_least() - 1, least));
	else if (rc == -ENOSPC)
		refuse_full(d, p);
	else
		complain("plan cluster: out of memory");
	return EXIT_FAILED;
}

/* One line, where it is too much. */
static int conclude(const struct cluster_demand *d, const struct cluster_plan *p)
{
	const struct cluster_limits *limit = &cluster_limits;
	char advice[CLUSTER_ADVICE_MAX];
	int rc;

	if (p->fits)
		return EXIT_OK;
	rc = cluster_advice(d, advice);
	if (rc)
		return refuse_plan(d, p, rc);
	if (p->cpu > limit->host_cpu)
		complain("plan cluster: a host would spend %.2g of a CPU on the others' changes, "
			 "more than %.2g%s%s",
			 p->cpu, limit->host_cpu, *advice ? ": what fits is " : "", advice);
	else
		complain("plan cluster: a group's server would have %.3g times the load of the one "
			 "that was measured%s%s",
			 p->servers / p->groups, *advice ? ": what fits is " : "", advice);
	return EXIT_FAILED;
}

int plan_cluster(const struct options *o)
{
	const char *wrong = what_is_wrong(o);
	char stray[OPTION_LABEL_MAX];
	bool beyond = option_beyond(o, takes, NULL, stray);
	struct cluster_demand d;
	struct cluster_plan p;
	int rc;

	if (beyond || wrong) {
		if (beyond)
			complain("plan cluster: --%s is about a filter: see plan without cluster",
				 stray);
		else
			complain("plan cluster: %s", wrong);
		return EXIT_USAGE;
	}
	demand_of(o, &d);
	rc = cluster_plan(&d, &p);
	if (rc)
		return refuse_plan(&d, &p, rc);
	if (o->json)
		print_json(o, &d, &p);
	else
		print_text(&d, &p);
	return conclude(&d, &p);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup joint --monitors: the keys that live hosts have all seen. */
#include "joint_hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "cmd.h"
#include "user/cluster/joint.h"
#include "user/message.h"
#include "user/provenance.h"

/* Of its keys that are not common, so many are expected to be taken for common, at most. */
static double expected_wrong(const struct council *c, const struct council_member *m)
{
	return joint_is_exact(&c->plan) ? 0 : c->plan.epsilon * m->keys;
}

/* A monitor without room has not noted all keys: common ones may be missing. */
static bool is_complete(const struct council *c)
{
	for (u32 i = 0; i < c->plan.monitors; i++)
		if (c->member[i].overflow)
			return false;
	return true;
}

static json_t *member_json(const struct council *c, const struct council_member *m)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I}", "monitor", m->name,
			 "keys", (json_int_t)m->keys, "room", (json_int_t)m->room, "overflow",
			 (json_int_t)m->overflow, "candidates", (json_int_t)m->left, "added",
			 (json_int_t)m->added, "misclassified_at_most", expected_wrong(c, m),
			 "up_bytes", (json_int_t)m->up, "down_bytes", (json_int_t)m->down);
}

struct sums {
	u64 up, down, hashes, lookups, keys;
};

static struct sums sums_of(const struct council *c)
{
	struct sums s = {};

	for (u32 i = 0; i < c->plan.monitors; i++) {
		s.up += c->member[i].up;
		s.down += c->member[i].down;
		s.hashes += c->member[i].hashes;
		s.lookups += c->member[i].lookups;
		s.keys += c->member[i].keys;
	}
	return s;
}

static void print_json(const struct council *c, const struct options *o)
{
	struct sums s = sums_of(c);
	json_t *monitors = json_array(), *all;

	for (u32 i = 0; i < c->plan.monitors; i++)
		json_array_append_new(monitors, member_json(c, &c->member[i]));
	all = json_pack("{s:s, s:I, s:b, s:i, s:i, s:f, s:I, s:I, s:I, s:I, s:i, s:I, s:o}",
			"algorithm", joint_names[c->plan.algorithm], "common",
			(json_int_t)c->common, "complete", is_complete(c), "at_least",
			(int)c->plan.at_least, "rounds", (int)c->plan.rounds, "epsilon",
			joint_is_exact(&c->plan) ? 0 : c->plan.epsilon, "up_bytes",
			(json_int_t)s.up, "down_bytes", (json_int_t)s.down, "hashes",
			(json_int_t)s.hashes, "lookup_hashes", (json_int_t)s.lookups, "exchanges",
			(int)c->exchanges, "period_ns", (json_int_t)c->period_ns, "monitors",
			monitors);
	provenance_json(all, o);
	json_dumpf(all, stderr, JSON_INDENT(2));
	fputc('\n', stderr);
	json_decref(all);
}

static void print_text(const struct council *c)
{
	struct sums s = sums_of(c);

	fprintf(stderr, "%12s %12s %12s %12s %12s\n", "keys", "candidates", "no room", "bytes up",
		"bytes down");
	for (u32 i = 0; i < c->plan.monitors; i++) {
		const struct council_member *m = &c->member[i];

		fprintf(stderr,
			"%12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
			"  %s\n",
			(uint64_t)m->keys, (uint64_t)m->left, (uint64_t)m->overflow,
			(uint64_t)m->up, (uint64_t)m->down, m->name);
	}
	fprintf(stderr,
		"%s: %" PRIu64 " key%s that %s %u have%s; %" PRIu64 " bytes up, %" PRIu64 " down\n",
		joint_names[c->plan.algorithm], (uint64_t)c->common, c->common == 1 ? "" : "s",
		c->plan.at_least < c->plan.monitors ? "at least" : "all", c->plan.at_least,
		is_complete(c) ? "; none is lost"
			       : "; others may be missing: a monitor had no room for its packets' "
				 "keys: load it with more --collect",
		(uint64_t)s.up, (uint64_t)s.down);
	if (c->watch)
		fprintf(stderr, "they are in the watch set of %s at each monitor\n", c->watch);
}

/* What makes a result less than it seems is said whatever is printed. */
static void warn(const struct council *c)
{
	for (u32 i = 0; i < c->plan.monitors; i++) {
		const struct council_member *m = &c->member[i];

		if (m->overflow)
			complain(
				"joint: monitor %s had no room for the keys of %" PRIu64
				" packets: common ones may be missing: load it with more --collect",
				m->name, (uint64_t)m->overflow);
		else if (!m->keys)
			complain("joint: monitor %s has seen no packet that has a key: is its "
				 "interface there, and up?",
				 m->name);
	}
}

static void report(const struct council *c, void *context)
{
	const struct options *o = context;

	warn(c);
	if (o->json)
		print_json(c, o);
	else if (!o->quiet)
		print_text(c);
}

int joint_with_hosts(struct options *o)
{
	char err[MESSAGE_MAX] = "";
	int rc = joint_hosts(o, report, o, err, sizeof(err));

	if (rc)
		complain("joint: %s", err);
	if (rc == -EINVAL)
		return EXIT_USAGE;
	return rc ? EXIT_FAILED : EXIT_OK;
}

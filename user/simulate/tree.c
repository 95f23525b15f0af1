/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stream whose producers are spread over the leaves of a Bloom tree between sites (koloniari-2011 sections 6 and 7):
 * what each level does, the messages between them as they are encoded, and errors. --batch: keys that a leaf asks
 * about at once, all at the time of the last one.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/names.h"
#include "user/provenance.h"
#include "user/simulate/judged.h"
#include "user/simulate/kinds.h"
#include "user/simulate/values.h"
#include "user/trees/local.h"

/* What a run came to: X(JSON's name, digits of text, words). */
#define TREE_VALUES(X)                                                        \
	X(distinct, 6, "share of records that are distinct by the truth")     \
	X(fpr, 6, "share of distinct records that are taken for copies")      \
	X(fnr, 6, "share of copies that are taken for distinct")              \
	X(messages_per_lookup, 4, "messages between nodes for a record")      \
	X(bytes_per_lookup, 2, "their bytes for a record")                    \
	X(root_per_lookup, 4, "visits of the root for a record")              \
	X(held_per_lookup, 4, "waits for the same key, on its way, a record") \
	X(differences, 0, "verdicts that differ from one filter's on one machine")

#define TREE_VALUE(name, digits, words) VALUE_##name,
enum tree_value { TREE_VALUES(TREE_VALUE) VALUE_MAX };

static const struct value_about about[] = {
#define TREE_ABOUT(name, digits, words) { #name, words, digits },
	TREE_VALUES(TREE_ABOUT)
};

/* What levels came to: of the first run. */
struct levels {
	struct node_counts counts[XDD_TREE_MAX_LEVELS];
	struct tree_traffic traffic[XDD_TREE_MAX_LEVELS];
};

/* Records that a leaf has not asked about yet. */
struct waiting {
	u32 n;
	struct record *records; /* o->batch of them */
};

/* One run. */
struct run {
	const struct simulation *sim;
	struct xdd_fixed fixed;
	struct tree_local tree;
	struct judged judged;
	struct stream producers;
	struct waiting *leaves;
};

/* The root's slices go to --hosts. */
static int run_slice(struct run *run)
{
	const struct options *o = run->sim->o;
	const char *wrong = NULL;
	int rc = 0;

	if (option_given(o, OPT_hosts))
		rc = tree_local_slice(&run->tree, &run->fixed, run->sim->derived.live.window_ticks,
				      o->hosts, o->protocol, &wrong);
	if (wrong)
		complain("simulate tree: %s", wrong);
	return rc;
}

static int run_open(struct run *run, const struct simulation *sim, u32 number)
{
	struct xdd_fixed one;
	int rc;

	run->sim = sim;
	run->fixed = sim->derived.fixed;
	run->fixed.seed = xdd_mix64(run->fixed.seed) + number;
	one = run->fixed;
	one.placement = XDD_PLACEMENT_percpu;
	rc = run_slice(run);
	if (!rc)
		rc = tree_local_open(&run->tree, &run->fixed, sim->derived.live.window_ticks);
	if (!rc)
		rc = judged_open(&run->judged, sim, &one, run->fixed.seed);
	stream_open(&run->producers, run->fixed.tree_leaves, 1, ~run->fixed.seed);
	run->leaves = calloc(run->fixed.tree_leaves, sizeof(*run->leaves));
	return rc ?: run->leaves ? 0 : -ENOMEM;
}

static void run_close(struct run *run)
{
	for (u32 i = 0; run->leaves && i < run->fixed.tree_leaves; i++)
		free(run->leaves[i].records);
	free(run->leaves);
	judged_close(&run->judged);
	tree_local_close(&run->tree);
	free(run);
}

/* Let @leaf ask about what it has, now. */
static int ask(struct run *run, u32 leaf)
{
	struct waiting *w = &run->leaves[leaf];
	struct node *node = tree_local_node(&run->tree, run->fixed.levels - 1, leaf);
	struct xdd_digest digests[NODE_BATCH];
	u64 ticks[NODE_BATCH];

	for (u32 i = 0; i < w->n; i++) {
		w->records[i].tick = w->records[w->n - 1].tick;
		w->records[i].at_ns = w->records[w->n - 1].at_ns;
		digests[i] = w->records[i].digest;
		ticks[i] = w->records[i].tick;
	}
	if (node_start(node, digests, ticks, w->n))
		return -ENOMEM;
	tree_local_finish(&run->tree, leaf);
	for (u32 i = 0; i < w->n; i++)
		judged_take(&run->judged, &w->records[i], node_seen(node, i));
	w->n = 0;
	return 0;
}

/* What leaves still have at the end is asked when the last record comes. */
static int ask_rest(struct run *run, const struct record *last)
{
	int rc = 0;

	for (u32 leaf = 0; !rc && leaf < run->fixed.tree_leaves; leaf++) {
		struct waiting *w = &run->leaves[leaf];

		if (!w->n)
			continue;
		w->records[w->n - 1].tick = last->tick;
		w->records[w->n - 1].at_ns = last->at_ns;
		rc = ask(run, leaf);
	}
	return rc;
}

static int run_records(struct run *run)
{
	const struct simulation *sim = run->sim;
	struct record record = { 0 };
	int rc = 0;

	for (u64 i = 0; !rc && i < sim->records; i++) {
		struct waiting *w;
		u32 leaf;

		record = judged_draw(&run->judged);
		leaf = simulation_leaf(sim, &run->producers, i, record.id);
		w = &run->leaves[leaf];
		w->records = w->records ?: calloc(sim->o->batch, sizeof(*w->records));
		if (!w->records)
			return -ENOMEM;
		w->records[w->n++] = record;
		if (w->n == sim->o->batch)
			rc = ask(run, leaf);
	}
	return rc ?: ask_rest(run, &record);
}

static void run_measure(const struct run *run, struct levels *levels, double *value)
{
	const struct judged *j = &run->judged;
	struct judged_rates rates = judged_rates(j);
	double n = j->asked;

	for (u32 i = 0; i < run->fixed.levels; i++) {
		struct node_counts counts = tree_local_counts(&run->tree, i);
		struct tree_traffic traffic = run->tree.traffic[i];

		if (levels) {
			levels->counts[i] = counts;
			levels->traffic[i] = traffic;
		}
		value[VALUE_messages_per_lookup] += traffic.messages / n;
		value[VALUE_bytes_per_lookup] += traffic.bytes / n;
		value[VALUE_root_per_lookup] += i ? 0 : counts.level.accesses / n;
		value[VALUE_held_per_lookup] += counts.held / n;
	}
	value[VALUE_distinct] += rates.distinct;
	value[VALUE_fpr] += rates.fpr;
	value[VALUE_fnr] += rates.fnr;
	value[VALUE_differences] += j->differences;
}

static int run_once(const struct simulation *sim, u32 number, struct levels *levels, double *value)
{
	struct run *run = calloc(1, sizeof(*run));
	int rc = run ? run_open(run, sim, number) : -ENOMEM;

	if (!rc)
		rc = run_records(run);
	if (!rc)
		run_measure(run, number ? NULL : levels, value);
	if (run)
		run_close(run);
	return rc;
}

#define SET_COUNT(name, help) json_object_set_new(to, #name, json_integer(counts->level.name));

static json_t *level_json(const struct xdd_fixed *fixed, const struct levels *levels, u32 level)
{
	const struct node_counts *counts = &levels->counts[level];
	json_t *to = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I}", "level", (int)level, "nodes",
			       (json_int_t)xdd_tree_width(fixed, level), "distinct",
			       (json_int_t)counts->distinct, "held", (json_int_t)counts->held,
			       "messages", (json_int_t)levels->traffic[level].messages, "bytes",
			       (json_int_t)levels->traffic[level].bytes);

	XDD_TREE_COUNTS(SET_COUNT)
	return to;
}

static void print_json(const struct simulation *sim, const struct levels *levels,
		       const double *value)
{
	const struct xdd_fixed *fixed = &sim->derived.fixed;
	json_t *all = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:I, s:i}", "simulation", "tree",
				"kind", tree_names[fixed->tree], "fan_out",
				(int)fixed->tree_fan_out, "depth", (int)fixed->levels, "top_down",
				(int)fixed->top_down, "batch", (int)sim->o->batch, "records",
				(json_int_t)sim->records, "runs", (int)sim->runs);
	json_t *list = json_array();

	values_json(all, about, VALUE_MAX, value, sim->runs);
	for (u32 i = 0; i < fixed->levels; i++)
		json_array_append_new(list, level_json(fixed, levels, i));
	json_object_set_new(all, "levels", list);
	json_object_set_new(all, "seed", json_integer(fixed->seed));
	warnings_json(all);
	provenance_json(all, sim->o);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_text(const struct simulation *sim, const struct levels *levels,
		       const double *value)
{
	const struct xdd_fixed *fixed = &sim->derived.fixed;

	printf("%5s %9s %11s %11s %9s %11s %13s\n", "level", "nodes", "hits", "accesses", "refuted",
	       "messages", "bytes");
	for (u32 i = fixed->levels; i-- > 0;) {
		const struct xdd_tree_level *level = &levels->counts[i].level;

		printf("%5u %9u %11llu %11llu %9llu %11llu %13llu\n", i, xdd_tree_width(fixed, i),
		       (unsigned long long)level->hits, (unsigned long long)level->accesses,
		       (unsigned long long)level->refuted,
		       (unsigned long long)levels->traffic[i].messages,
		       (unsigned long long)levels->traffic[i].bytes);
	}
	values_print(about, VALUE_MAX, value, sim->runs);
}

static int simulate(const struct simulation *sim)
{
	const char *wrong = tree_local_wrong(&sim->derived.fixed);
	double value[VALUE_MAX] = { 0 };
	struct levels levels = { 0 };
	int rc = 0;

	if (option_given(sim->o, OPT_protocol) && !option_given(sim->o, OPT_hosts))
		wrong = "--protocol is how a sliced root asks its sites: add --hosts N";
	if (wrong) {
		complain("simulate tree: %s", wrong);
		return EXIT_USAGE;
	}
	for (u32 run = 0; !rc && run < sim->runs; run++)
		rc = run_once(sim, run, &levels, value);
	if (rc == -EINVAL)
		return EXIT_USAGE;
	if (rc)
		complain("simulate tree: %s: less --memory, or fewer nodes", strerror(-rc));
	else if (sim->o->json)
		print_json(sim, &levels, value);
	else
		print_text(sim, &levels, value);
	return rc ? EXIT_FAILED : EXIT_OK;
}

int simulate_tree(struct options *o)
{
	struct simulation sim;
	int code;

	if (o->engine != XDD_ENGINE_timer && o->engine != XDD_ENGINE_bloom) {
		complain("simulate tree: give --engine bloom, or --engine timer and a window");
		return EXIT_USAGE;
	}
	o->placement = XDD_PLACEMENT_tree;
	code = simulation_plan(&sim, o);
	code = code ?: simulate(&sim);
	simulation_close(&sim);
	return code;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/bus.h"
#include "commands.h"
#include "joint/plan.h"
#include "message.h"
#include "names.h"
#include "option_kinds.h"
#include "watch/acbf.h"

#define LABEL_MAX OPTION_LABEL_MAX
#define HELP_COLUMN 26
#define HELP_WIDTH 96

struct row {
	const char *field;
	const struct kind *kind;
	int letter;
	const char *argument;
	unsigned int commands;
	const char *help;
	const char *example;
	size_t at;
};

#define OPTION_ROW(field_, type, letter_, argument_, commands_, help_, example_) \
	{                                                                        \
		.field = #field_,                                                \
		.kind = &kind_##type,                                            \
		.letter = (letter_),                                             \
		.argument = (argument_),                                         \
		.commands = (commands_),                                         \
		.help = (help_),                                                 \
		.example = (example_),                                           \
		.at = offsetof(struct options, field_),                          \
	},
static const struct row rows[] = { OPTIONS(OPTION_ROW) };

/* What getopt_long() returns for a row: above every letter. */
#define FIRST_VALUE 256

/* getopt's view of the rows. */
struct scanner {
	char names[OPT_MAX][LABEL_MAX];
	struct option options[OPT_MAX + 1];
	char letters[2 * OPT_MAX + 2];
};

/* "fpr-target" of the row of fpr_target. */
static void long_name(const struct row *row, char name[LABEL_MAX])
{
	snprintf(name, LABEL_MAX, "%s", row->field);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
}

/* The option as messages name it. */
static void label_of(const struct row *row, char label[LABEL_MAX])
{
	char name[LABEL_MAX];

	long_name(row, name);
	if (row->letter && row->argument)
		snprintf(label, LABEL_MAX, "-%c", row->letter);
	else
		snprintf(label, LABEL_MAX, "--%.*s", LABEL_MAX - 3, name);
}

/* Fill @s, which is all zeroes. */
static void scanner_init(struct scanner *s)
{
	char *letter = s->letters;

	*letter++ = ':'; /* tell a missing argument from an unknown option */
	for (int i = 0; i < OPT_MAX; i++) {
		long_name(&rows[i], s->names[i]);
		s->options[i].name = s->names[i];
		s->options[i].has_arg = rows[i].argument ? required_argument : no_argument;
		s->options[i].val = FIRST_VALUE + i;
		if (!rows[i].letter)
			continue;
		*letter++ = rows[i].letter;
		if (rows[i].argument)
			*letter++ = ':';
	}
}

/* Index of the row that getopt means by @value: a letter or FIRST_VALUE + index; or OPT_MAX. */
static int row_of(int value)
{
	int i;

	if (value >= FIRST_VALUE)
		return value - FIRST_VALUE;
	for (i = 0; i < OPT_MAX; i++)
		if (rows[i].letter && rows[i].letter == value)
			break;
	return i;
}

/* The line for what getopt_long() called '?': @word is the argument that it stands in. */
static int unknown_option(const char *word, unsigned int on, char *err, size_t err_size)
{
	const char *names[OPT_MAX + 1], *nearest;
	char labels[OPT_MAX][LABEL_MAX];
	char bare[LABEL_MAX];
	int n = 0;

	if (optopt >= FIRST_VALUE) {
		label_of(&rows[optopt - FIRST_VALUE], bare);
		return refuse(err, err_size, -EINVAL, "%s takes no value: %s", bare, word);
	}
	if (optopt)
		return refuse(err, err_size, -EINVAL, "unknown option -%c", optopt);
	for (int i = 0; i < OPT_MAX; i++) {
		if (!(rows[i].commands & on))
			continue;
		long_name(&rows[i], labels[n]);
		names[n] = labels[n];
		n++;
	}
	names[n] = NULL;
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	nearest = name_nearest(names, bare);
	return refuse(err, err_size, -EINVAL, "unknown option %s%s%s%s", word,
		      nearest ? "; did you mean --" : "", nearest ?: "", nearest ? "?" : "");
}

/* @on: the command that does not take it. */
static int wrong_command(const struct row *row, unsigned int on, char *err, size_t err_size)
{
	char label[LABEL_MAX], takers[128];

	label_of(row, label);
	if (on == ON_SET && row->commands & ON_LOAD)
		return refuse(err, err_size, -EINVAL,
			      "%s is fixed when an instance is loaded: unload it, and load it with "
			      "%s",
			      label, label);
	commands_taking(row->commands, takers, sizeof(takers));
	return refuse(err, err_size, -EINVAL, "takes no option %s%s%s", label,
		      *takers ? ": it is for " : "", takers);
}

static int parse_value(struct options *o, int i, const char *text, char *err, size_t err_size)
{
	const struct row *row = &rows[i];
	char label[LABEL_MAX];
	struct value v = {
		.kind = row->kind,
		.label = label,
		.text = text,
		.o = o,
		.at = (char *)o + row->at,
		.err = err,
		.err_size = err_size,
	};
	int ret;

	label_of(row, label);
	*err = 0;
	ret = row->kind->parse(&v);
	if (!ret) {
		o->given[i] = true;
		o->text[i] = text;
	} else if (!*err)
		refuse(err, err_size, ret, "%s %s: not %s; for example %s %s", label,
		       *text ? text : "''", row->kind->what, label, row->example);
	return ret ? -EINVAL : 0;
}

/* Whether copies have the key, rather than packets that belong together. */
static bool key_is_packet(const struct options *o)
{
	return o->key == XDD_KEY_packet || o->key == XDD_KEY_frame || o->key == XDD_KEY_redundancy;
}

/* Unless the key asks for another one. */
static u32 default_engine(const struct options *o)
{
	bool nic = !strcmp(o->command, "load") || !strcmp(o->command, "run");

	return nic ? XDD_ENGINE_tagged : XDD_ENGINE_exact;
}

/* Options that say something to some engines only. */
static int validate_engine(const struct options *o, char *err, size_t err_size)
{
	const u32 timer = 1u << XDD_ENGINE_timer, rsbf = 1u << XDD_ENGINE_rsbf;
	const u32 bloom = 1u << XDD_ENGINE_bloom, sbf = 1u << XDD_ENGINE_sbf;
	const u32 bits = XDD_BIT_ENGINES, all = (1u << XDD_ENGINE_MAX) - 1;
	const u32 recovery = 1u << XDD_ENGINE_recovery;
	const struct {
		enum option_id id;
		u32 engines;
		const char *text;
	} only[] = {
		{ OPT_hashes, timer | bits, "--engine timer and the bit engines" },
		{ OPT_slicing, XDD_SLICED_ENGINES | XDD_LINED_ENGINES,
		  "--engine timer, bloom, bsbf, bsbfsd and rlbsbf" },
		{ OPT_slices, XDD_SLICED_ENGINES, "--engine timer and bloom" },
		{ OPT_subslices, XDD_SLICED_ENGINES, "--engine timer and bloom" },
		{ OPT_equal, timer, "--engine timer" },
		{ OPT_fault_policy, XDD_FAULT_ENGINES,
		  "--engine tagged, timer and bloom, whose slices may fail" },
		{ OPT_variant, rsbf, "--engine rsbf" },
		{ OPT_p_star, rsbf, "--engine rsbf" },
		{ OPT_sbf_p, sbf, "--engine sbf" },
		{ OPT_sbf_max, sbf, "--engine sbf" },
		{ OPT_window, all & ~bits, "engines with a window, which the bit engines are not" },
		{ OPT_ticks, all & ~bits, "engines with a window, which the bit engines are not" },
		{ OPT_window_records, all & ~bits,
		  "engines with a window, which the bit engines are not" },
		{ OPT_clock, all & ~bits, "engines with a window, which the bit engines are not" },
		{ OPT_refresh, all & ~bits,
		  "engines with a window, which the bit engines are not" },
		{ OPT_capacity, (all & ~bits) | bloom,
		  "engines with a window, and bloom: the others take what keys there are; give "
		  "--memory" },
		{ OPT_audit, all & ~recovery,
		  "engines but recovery, whose verdicts depend on the order of numbers" },
		{ OPT_fpr_target, (all & ~bits & ~recovery) | bloom | sbf | rsbf,
		  "engines with a window but recovery, and bloom, sbf, rsbf: nothing of the others "
		  "follows from it" },
	};
	u32 engine = 1u << (o->engine == OPTION_AUTO ? default_engine(o) : (u32)o->engine);
	char label[LABEL_MAX];

	for (size_t i = 0; i < XDD_ARRAY_SIZE(only); i++) {
		if (!option_given(o, only[i].id) || only[i].engines & engine)
			continue;
		label_of(&rows[only[i].id], label);
		return refuse(err, err_size, -EINVAL, "%s is for %s", label, only[i].text);
	}
	return 0;
}

/* What is for frames with sequence numbers, and what is not. */
static int validate_redundancy(const struct options *o, char *err, size_t err_size)
{
	bool recovery = o->engine == XDD_ENGINE_recovery;

	if (o->key != XDD_KEY_redundancy && recovery)
		return refuse(err, err_size, -EINVAL,
			      "--engine recovery follows the sequence numbers of frames: it is for "
			      "--key redundancy");
	if (option_given(o, OPT_recovery) &&
	    (o->key != XDD_KEY_redundancy || !(recovery || o->engine == OPTION_AUTO)))
		return refuse(err, err_size, -EINVAL,
			      "--recovery is for --key redundancy with its own engine, recovery");
	if (o->key == XDD_KEY_redundancy && (o->inner || o->non_ip))
		return refuse(err, err_size, -EINVAL,
			      "--key redundancy compares sequence numbers, whatever the frames "
			      "carry: --inner and --non-ip have no place with it");
	return 0;
}

/* Options about the key that say nothing without another one, or with one. */
static int validate_key(const struct options *o, char *err, size_t err_size)
{
	u32 macs = o->key == XDD_KEY_redundancy ? 0 : 1u << XDD_FIELD_macs;

	if (!o->inner && option_given(o, OPT_tunnel_port))
		return refuse(err, err_size, -EINVAL,
			      "--tunnel-port says where tunnels are found: add --inner");
	if (!o->inner && o->vni == POLICY_KEY)
		return refuse(err, err_size, -EINVAL,
			      "--vni key is about the packets in tunnels: add --inner");
	if (o->key != XDD_KEY_packet &&
	    (option_given(o, OPT_ignore) || option_given(o, OPT_payload) || (o->include & ~macs)))
		return refuse(err, err_size, -EINVAL,
			      "--ignore, --include and --payload change the packet key: they have "
			      "no place with --key %s",
			      key_names[o->key]);
	if (o->key != XDD_KEY_packet && option_given(o, OPT_ambiguous))
		return refuse(err, err_size, -EINVAL,
			      "--ambiguous is about packets that the packet key cannot tell from "
			      "their copies: it has no place with --key %s",
			      key_names[o->key]);
	if ((o->vlan.key || o->scope || o->include) &&
	    (o->key == XDD_KEY_frame || o->key == XDD_KEY_offset))
		return refuse(err, err_size, -EINVAL,
			      "--key %s compares bytes as they lie: --vlan, --scope and --include "
			      "have no place with it",
			      key_names[o->key]);
	if (o->inner && (o->key == XDD_KEY_frame || o->key == XDD_KEY_offset))
		return refuse(err, err_size, -EINVAL,
			      "--key %s compares bytes of the frame as they lie: --inner has no "
			      "place there",
			      key_names[o->key]);
	return 0;
}

/* Sizes and windows: what sets the same thing, and what needs another. */
static int validate_size(const struct options *o, char *err, size_t err_size)
{
	bool no_keys = o->engine == XDD_ENGINE_sbf || o->engine == XDD_ENGINE_rsbf;

	if (option_given(o, OPT_memory) && option_given(o, OPT_capacity))
		return refuse(err, err_size, -EINVAL,
			      "--memory and --capacity both set the size of the filter: give one");
	if (option_given(o, OPT_window) && option_given(o, OPT_window_records))
		return refuse(err, err_size, -EINVAL,
			      "--window and --window-records both set the window: give one");
	if (o->window_records == 1)
		return refuse(err, err_size, -EINVAL,
			      "--window-records 1 is this record alone, compared with none: give "
			      "at least 2");
	if (option_given(o, OPT_fpr_target) && !option_given(o, OPT_capacity) && !no_keys &&
	    !o->grow)
		return refuse(err, err_size, -EINVAL,
			      "--fpr-target needs the number of live keys, for example "
			      "--capacity 1M --fpr-target %g",
			      o->fpr_target);
	if (option_given(o, OPT_fpr_target) && option_given(o, OPT_sbf_p))
		return refuse(err, err_size, -EINVAL,
			      "--fpr-target and --sbf-p both set P of --engine sbf: give one");
	return 0;
}

static int validate_faults(const struct options *o, char *err, size_t err_size)
{
	if (o->fault_policy && o->equal)
		return refuse(err, err_size, -EINVAL,
			      "--equal compares all timers of a key, of which --fault-policy may "
			      "not know some: give one");
	if (o->fault_policy && o->grow)
		return refuse(err, err_size, -EINVAL,
			      "--grow opens and retires filters, which have no states yet: without "
			      "--fault-policy");
	if (o->vote && o->engine == XDD_ENGINE_tagged)
		return refuse(
			err, err_size, -EINVAL,
			"--fault-policy vote:%u: a key of engine tagged has one cell: distinct "
			"or duplicate",
			o->vote);
	return 0;
}

static int validate_slicing(const struct options *o, char *err, size_t err_size)
{
	bool diced = o->slicing == XDD_SLICING_hv || o->slicing == XDD_SLICING_vh;
	bool bloom = o->engine == XDD_ENGINE_bloom;
	bool lined = o->engine != OPTION_AUTO && xdd_engine_is_lined(o->engine);
	u32 hashes = o->slice_hashes * o->slice_cells;

	if (lined && o->slicing > XDD_SLICING_horizontal)
		return refuse(err, err_size, -EINVAL,
			      "--slicing %s is for --engine timer and bloom: %s has none, or "
			      "horizontal, one line of 64 bytes for all bits of a key",
			      slicing_names[o->slicing], engine_names[o->engine]);
	if (o->slicing == XDD_SLICING_K1xK2 && !o->slice_hashes)
		return refuse(err, err_size, -EINVAL,
			      "--slicing K1xK2: write the numbers, for example --slicing 2x2");
	if (o->slices > 1 && (o->slicing == XDD_SLICING_none || (bloom && o->slicing < 0)))
		return refuse(err, err_size, -EINVAL,
			      "--slicing none is one slice: --slices %u contradicts it", o->slices);
	if (o->subslices && !diced)
		return refuse(err, err_size, -EINVAL,
			      "--subslices belongs to --slicing hv and vh: add one of them");
	if (diced && (!o->slices || !o->subslices))
		return refuse(err, err_size, -EINVAL,
			      "--slicing %s cuts twice: give both numbers, for example --slices 8 "
			      "--subslices 4",
			      slicing_names[o->slicing]);
	if (hashes && o->hashes && o->hashes != hashes)
		return refuse(err, err_size, -EINVAL,
			      "--slicing %ux%u is k = %u: --hashes %u contradicts it",
			      o->slice_hashes, o->slice_cells, hashes, o->hashes);
	return 0;
}

/* Trees of filters: what is for them alone, and what has no place there. */
static int validate_tree(const struct options *o, char *err, size_t err_size)
{
	static const enum option_id only[] = { OPT_tree,    OPT_top_down, OPT_levels,
					       OPT_fan_out, OPT_depth,	  OPT_locality };
	bool simulate = !strcmp(o->command, "simulate"), plan = !strcmp(o->command, "plan");
	bool sites = !strcmp(o->command, "site") || !strcmp(o->command, "stream") ||
		     (simulate && o->n_args && !strcmp(o->args[0], "tree"));
	char label[LABEL_MAX];

	if (simulate && o->placement != OPTION_AUTO && o->placement != XDD_PLACEMENT_tree)
		return refuse(err, err_size, -EINVAL,
			      "--placement %s is about CPUs: simulate has one filter, or a tree "
			      "of them with --placement tree",
			      placement_names[o->placement]);
	for (size_t i = 0; i < XDD_ARRAY_SIZE(only) && o->placement != XDD_PLACEMENT_tree; i++) {
		if (!option_given(o, only[i]) || plan || sites)
			continue;
		label_of(&rows[only[i]], label);
		return refuse(err, err_size, -EINVAL, "%s belongs to --placement tree%s", label,
			      simulate ? ", or to simulate tree" : "");
	}
	if (o->placement == XDD_PLACEMENT_tree && o->refresh)
		return refuse(err, err_size, -EINVAL,
			      "--refresh: in a tree a duplicate that is found on its own CPU would "
			      "have to restart the windows of all levels above: use --placement "
			      "shared");
	if (o->placement == XDD_PLACEMENT_tree && (o->grow || o->equal > 1 || o->fault_policy))
		return refuse(err, err_size, -EINVAL,
			      "--placement tree has nodes of one size, asked by the usual rule: "
			      "--grow, --equal and --fault-policy have no place with it");
	if (simulate && o->placement == XDD_PLACEMENT_tree && option_given(o, OPT_audit))
		return refuse(err, err_size, -EINVAL,
			      "--audit: simulate knows the truth about every record of a tree");
	return 0;
}

/* A filter that grows is one of timers, shared or of a CPU. */
static int validate_growth(const struct options *o, char *err, size_t err_size)
{
	if (option_given(o, OPT_max_filters) && !o->grow)
		return refuse(err, err_size, -EINVAL,
			      "--max-filters bounds a filter that grows: add --grow density or "
			      "--grow cardinality");
	if (o->grow && o->engine != XDD_ENGINE_timer &&
	    (strcmp(o->command, "plan") || o->engine != OPTION_AUTO))
		return refuse(err, err_size, -EINVAL,
			      "--grow %s is for --engine timer: the other engines keep their size",
			      growth_names[o->grow]);
	if (o->grow && o->equal > 1)
		return refuse(err, err_size, -EINVAL,
			      "--grow and --equal do not go together: the rule of equal timers is "
			      "for one filter; leave one of them out");
	return 0;
}

/* Options of agent and run that only mean something where there are other hosts. */
static const enum option_id of_group[] = { OPT_share_watch, OPT_group,	   OPT_host,
					   OPT_nats_ca,	    OPT_nats_cert, OPT_nats_key,
					   OPT_nats_creds,  OPT_push,	   OPT_false_rate_target,
					   OPT_bound,	    OPT_weights,   OPT_resize,
					   OPT_max_density, OPT_silence,   OPT_push_rate,
					   OPT_check_every };

static int validate_group(const struct options *o, char *err, size_t err_size)
{
	/* Over files alone these have no use for the variable, and so nothing against it. */
	bool files = !strcmp(o->command, "joint") || !strcmp(o->command, "stream");
	static const char *const takers[] = { "agent", "run", "joint", "stream", "site", NULL };
	const char *url = getenv(GROUP_ENVIRONMENT), *wrong;
	char label[OPTION_LABEL_MAX];

	if (name_index(takers, o->command) < 0)
		return 0;
	if (option_given(o, OPT_nats_cert) != option_given(o, OPT_nats_key))
		return refuse(
			err, err_size, -EINVAL,
			"--nats-cert and --nats-key go together: the certificate and its key");
	if (o->nats && !strcmp(o->command, "run") && !o->peers && !o->collect && !o->share_watch)
		return refuse(err, err_size, -EINVAL,
			      "--nats shares replicas, keys or a watch set with other hosts: add "
			      "--peers N, --collect KEYS or --share-watch HOST");
	if (o->share_watch && !strcmp(o->command, "run") && o->watch_action == OPTION_AUTO)
		return refuse(
			err, err_size, -EINVAL,
			"--share-watch is for an instance with a watch set: add --watch-action");
	wrong = !files && !o->nats && url && *url ? bus_url_wrong(url) : NULL;
	if (wrong)
		return refuse(err, err_size, -EINVAL, GROUP_ENVIRONMENT ": %s", wrong);
	if (o->nats || (url && *url))
		return 0;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(of_group); i++)
		if (option_given(o, of_group[i]))
			return refuse(err, err_size, -EINVAL,
				      "%s is for several hosts: add --nats URL, or "
				      "set " GROUP_ENVIRONMENT,
				      option_label(of_group[i], label));
	return 0;
}

/* What is shared with other hosts. */
static int validate_peers(const struct options *o, char *err, size_t err_size)
{
	bool loads = strcmp(o->command, "set");

	if (loads && !o->peers &&
	    (option_given(o, OPT_replica_bits) || option_given(o, OPT_replica_action)))
		return refuse(err, err_size, -EINVAL,
			      "--%s is about the replicas of other hosts: add --peers N",
			      option_given(o, OPT_replica_bits) ? "replica-bits"
								: "replica-action");
	if (o->secret_file && option_given(o, OPT_seed))
		return refuse(err, err_size, -EINVAL,
			      "--secret-file and --seed both say where the hash's secret comes "
			      "from: leave one of them out");
	if (o->secret_file && o->hash == XDD_HASH_xxh64)
		return refuse(err, err_size, -EINVAL,
			      "--secret-file: --hash xxh64 has no secret, only a --seed");
	if (o->peers && o->scope == SCOPE_INTERFACE)
		return refuse(err, err_size, -EINVAL,
			      "--peers: with --scope interface no two hosts know the same packet: "
			      "leave it out");
	return 0;
}

/* What no single option can know. */
static int validate(const struct options *o, char *err, size_t err_size)
{
	bool window = o->engine == OPTION_AUTO || !xdd_engine_has_bits(o->engine);
	bool plan = !strcmp(o->command, "plan");   /* that has rules of its own */
	bool joint = !strcmp(o->command, "joint"); /* where nothing is dropped */
	int ret = plan ? 0 : validate_engine(o, err, err_size);

	if (!ret)
		ret = validate_redundancy(o, err, err_size);
	if (!ret)
		ret = validate_key(o, err, err_size);
	if (!ret && !plan)
		ret = validate_size(o, err, err_size);
	if (!ret)
		ret = validate_slicing(o, err, err_size);
	if (!ret)
		ret = validate_tree(o, err, err_size);
	if (!ret)
		ret = validate_growth(o, err, err_size);
	if (!ret)
		ret = validate_faults(o, err, err_size);
	if (!ret)
		ret = validate_group(o, err, err_size);
	if (!ret)
		ret = validate_peers(o, err, err_size);
	if (ret)
		return ret;
	if (!key_is_packet(o) && window && !joint && !option_given(o, OPT_window) &&
	    !o->window_records)
		return refuse(err, err_size, -EINVAL,
			      "--key %s keeps one packet per key and window and drops the rest, so "
			      "it needs a window that you chose, for example --window 1s",
			      key_names[o->key]);
	return 0;
}

void options_init(struct options *o, const char *command)
{
	*o = (struct options){
		.command = command,
		.engine = strcmp(command, "simulate") ? OPTION_AUTO : XDD_ENGINE_rlbsbf,
		.clock = OPTION_AUTO,
		.slicing = OPTION_AUTO,
		.placement = OPTION_AUTO,
		.tree = XDD_TREE_dense,
		.replica_action = OPTION_AUTO,
		.key = XDD_KEY_packet,
		.recovery = XDD_MAX_HISTORY,
		.delimiter = '\t',
		.hash = XDD_HASH_keyed,
		.action = XDD_ACTION_drop,
		.mark_dscp = DEFAULT_MARK_DSCP,
		.watch_action = OPTION_AUTO,
		.watch_keys = DEFAULT_WATCH_KEYS,
		.mode = MODE_NATIVE,
		.frags = OPTION_AUTO,
		.promisc = true,
		.top_suppressed = true,
		.verdict = XDD_EVENT_ALL,
		.snaplen = DEFAULT_SNAPLEN,
		.hosts = 2,
		.site_timeout = DEFAULT_SITE_TIMEOUT_NS,
		.cells = 1200,
		.initial = 150,
		.initial_last = 150,
		.adds = 5,
		.deletes = 2,
		.units = 100,
		.queries = 10000,
		.push = { .rule = UPDATE_false_rate },
		.false_rate_target = .1,
		.bound = BOUND_member,
		.weights = { 1, 1 },
		.group = "default",
		.max_density = .6,
		.silence = DEFAULT_SILENCE_NS,
		.interval = DEFAULT_INTERVAL_NS,
		.format = OPTION_AUTO,
		.progress = OPTION_AUTO,
		.l1 = ACBF_FIRST_optimal,
		.counters = 10,
		.positions = 3,
		.algorithm = JOINT_best,
		.epsilon = .001,
		.monitors = 10,
		.sizes = 100000,
		.sizes_last = 1000000,
		.intersection = .5,
		.batch = 256,
	};
}

int options_parse(struct options *o, int argc, char **argv, unsigned int on, char *err,
		  size_t err_size)
{
	struct scanner scanner = { 0 };
	int value, ret;

	scanner_init(&scanner);
	opterr = 0;
	optind = 0; /* glibc: forget an earlier scan */
	while ((value = getopt_long(argc, argv, scanner.letters, scanner.options, NULL)) != -1) {
		int i = row_of(value == ':' ? optopt : value);

		if (value == '?')
			return unknown_option(argv[optind - 1], on, err, err_size);
		if (!(rows[i].commands & on))
			return wrong_command(&rows[i], on, err, err_size);
		if (value == ':')
			return refuse(err, err_size, -EINVAL,
				      "%s needs a value: %s; for example %s %s", argv[optind - 1],
				      rows[i].argument, argv[optind - 1], rows[i].example);
		ret = parse_value(o, i, optarg ?: "", err, err_size);
		if (ret)
			return ret;
	}
	o->args = argv + optind;
	o->n_args = argc - optind;
	return o->help ? 0 : validate(o, err, err_size);
}

bool options_differ(const struct options *a, const struct options *b, enum option_id id)
{
	if (a->given[id] != b->given[id])
		return true;
	return a->given[id] && strcmp(a->text[id], b->text[id]);
}

const char *option_label(enum option_id id, char label[OPTION_LABEL_MAX])
{
	label_of(&rows[id], label);
	return label;
}

void options_given(const struct options *o,
		   void (*each)(const char *name, const char *text, void *context), void *context)
{
	char name[LABEL_MAX];

	for (int i = 0; i < OPT_MAX; i++) {
		if (!option_given(o, i))
			continue;
		long_name(&rows[i], name);
		each(name, o->text[i] ?: "as saved", context);
	}
}

bool option_beyond(const struct options *o, const char *const *taken, const char *const *more,
		   char name[OPTION_LABEL_MAX])
{
	char each[LABEL_MAX];
	bool beyond = false;

	for (int i = 0; i < OPT_MAX; i++) {
		if (!option_given(o, i))
			continue;
		long_name(&rows[i], each);
		if (name_index(taken, each) >= 0 || (more && name_index(more, each) >= 0))
			continue;
		snprintf(name, OPTION_LABEL_MAX, "%s", each);
		beyond = true;
	}
	return beyond;
}

enum option_form option_form(const char *name)
{
	char known[LABEL_MAX];

	for (int i = 0; i < OPT_MAX; i++) {
		long_name(&rows[i], known);
		if (strcmp(known, name))
			continue;
		if (!rows[i].argument)
			return OPTION_FLAG;
		return rows[i].kind == &kind_on_off || rows[i].kind == &kind_when ? OPTION_SWITCH
										  : OPTION_VALUE;
	}
	return OPTION_NONE;
}

bool option_name_valid(const char *text)
{
	size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

	return n && n <= 32 && !text[n];
}

/* Write @text from column HELP_COLUMN on, broken between words. */
static void print_wrapped(FILE *to, const char *text)
{
	int room = HELP_WIDTH - HELP_COLUMN;

	while ((int)strlen(text) > room) {
		int n = room;

		while (n > 0 && text[n] != ' ')
			n--;
		fprintf(to, "%.*s\n%*s", n, text, HELP_COLUMN, "");
		text += n + 1;
	}
	fprintf(to, "%s\n", text);
}

static void print_row(FILE *to, const struct row *row)
{
	char name[LABEL_MAX], left[2 * LABEL_MAX];

	long_name(row, name);
	if (row->letter)
		snprintf(left, sizeof(left), "  -%c, --%s", row->letter, name);
	else
		snprintf(left, sizeof(left), "      --%s", name);
	if (row->argument)
		snprintf(left + strlen(left), sizeof(left) - strlen(left), " %s", row->argument);
	fprintf(to, "%-*s ", HELP_COLUMN - 1, left);
	print_wrapped(to, row->help);
}

void options_each(unsigned int on, void (*each)(const struct option_about *, void *context),
		  void *context)
{
	char name[LABEL_MAX];

	for (int i = 0; i < OPT_MAX; i++) {
		const struct row *row = &rows[i];
		const struct option_about about = {
			.name = name,
			.letter = row->letter,
			.argument = row->argument,
			.commands = row->commands,
			.help = row->help,
			.choices = row->kind->choices,
			.automatic = row->kind->automatic,
		};

		if (!(row->commands & on))
			continue;
		long_name(row, name);
		each(&about, context);
	}
}

void options_help(FILE *to, unsigned int on, bool everyday)
{
	for (int i = 0; i < OPT_MAX; i++)
		if (rows[i].commands & on && (!everyday || rows[i].commands & EVERYDAY))
			print_row(to, &rows[i]);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/records/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/batch.h"
#include "user/clock.h"
#include "user/cmd/cmd.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/names.h"
#include "user/records/files.h"
#include "user/records/input.h"
#include "user/records/interrupt.h"
#include "user/records/join_report.h"
#include "user/records/key.h"
#include "user/records/output.h"
#include "user/watch/file.h"

#define AT_ONCE 256
#define LEAST_COUNTERS 64 /* of a set of few keys, or none */

XDD_ASSERT(AT_ONCE <= BATCH_MAX, "records at once are a batch");

struct join {
	struct options *o;
	struct key_rule rule, theirs; /* of the records, and of those of --join */
	struct xdd_store set;	      /* the keys of --join, each once; and how keys are hashed */
	struct acbf acbf;
	struct watch_about about;
	struct input input;
	struct output output;
	struct sink save, summary;
	struct join_result result;
	/* records at once */
	u32 n;
	bool has[AT_ONCE];
	const u8 *end[AT_ONCE];	  /* behind each, with its separator */
	struct span key[AT_ONCE]; /* of those that have one */
	struct xdd_digest digest[AT_ONCE];
};

bool join_wanted(const struct options *o)
{
	return o->join || o->filter || o->save_filter;
}

/* Options of both, and those of a set that is made here and not loaded. */
static const char *const all[] = { "join",    "join-field", "save-filter", "filter",
				   "field",   "delimiter",  "null",	   "unbuffered",
				   "summary", "json",	    "quiet",	   NULL };
static const char *const made[] = { "l1", "counters", "positions", "hash", "seed", NULL };

static int check_options(const struct options *o)
{
	char other[OPTION_LABEL_MAX];
	bool beyond = option_beyond(o, all, o->join ? made : NULL, other);
	const char *wrong = NULL;

	if (o->join && o->filter)
		wrong = "--filter is the set that --join would make: give one";
	else if (o->save_filter && !o->join)
		wrong = "--save-filter needs the keys: add --join FILE";
	else if (o->save_filter && (o->n_args || o->summary))
		wrong = "--save-filter reads --join alone, and writes no records: leave the other "
			"files out";
	else if (o->seed_random)
		wrong = "--seed random would hash the keys of each run in another way: give a "
			"number";
	else if (o->join_field && !o->join)
		wrong = "--join-field is for --join";
	else if (option_given(o, OPT_delimiter) && !o->field && !o->join_field)
		wrong = "--delimiter says nothing without --field or --join-field";
	if (wrong)
		complain("stream: %s", wrong);
	else if (beyond)
		complain("stream: --%s says nothing to --%s: leave it out", other,
			 o->join ? "join" : "filter");
	return wrong || beyond ? -EINVAL : 0;
}

/* Cut records of [@at, @end) until the batch is full. Returns where it stopped, *@keys with a key. */
static const u8 *cut(struct join *j, const struct key_rule *rule, const u8 *at, const u8 *end,
		     u32 *keys)
{
	u64 none;

	for (j->n = *keys = 0; j->n < AT_ONCE && at < end; j->n++) {
		const u8 *stop = memchr(at, j->output.separator, end - at) ?: end;
		struct span record = { at, stop - at };

		j->has[j->n] = key_find(rule, record, &j->key[*keys], &none) == RECORD_BYPASS_MAX;
		*keys += j->has[j->n];
		at = stop == end ? end : stop + 1;
		j->end[j->n] = at;
	}
	key_digests(&j->set, j->key, *keys, j->digest);
	return at;
}

/* Keys of a block of --join: those that are new enter the set. */
static void take_keys(struct join *j, const struct block *block)
{
	const u8 *at = block->at, *end = at + block->len;
	u64 times[AT_ONCE];
	bool seen[AT_ONCE];
	u32 keys;

	while (at < end) {
		at = cut(j, &j->theirs, at, end, &keys);
		for (u32 i = 0; i < keys; i++)
			times[i] = ++j->result.join_records;
		batch_ask(&j->set, j->digest, times, keys, seen);
		j->result.join_no_field += j->n - keys;
	}
}

/* The files of --join, as many as commas divide. Returns their number, at most @most. */
static int cut_names(char *list, char **names, int most)
{
	int n = 0;

	for (char *name; n < most && (name = strsep(&list, ","));)
		names[n++] = name;
	return n;
}

/* No file that is written is to replace one that is read. */
static int refuse_inputs(const struct join *j, char *const *names, int n)
{
	return records_refuse_input("save-filter", j->save.path, names, n)
		       ?: records_refuse_input("summary", j->summary.path, names, n);
}

static int read_keys(struct join *j, char **names, int n)
{
	struct block block;
	int rc = input_open(&j->input, names, n, j->output.separator), got = rc;

	j->input.no_gzip = true; /* compressed bytes would be keys that no record has */
	while (!rc && (got = input_next(&j->input, &block)) > 0)
		take_keys(j, &block);
	/* A key that is missing would be a record that is lost. */
	if (got || j->input.damaged || j->input.interrupted || j->set.unanswered ||
	    j->set.forgotten) {
		complain("stream: --join %s: %s: no set without all keys", j->o->join,
			 j->input.interrupted ? "interrupted"
			 : j->input.damaged   ? "not all of it can be read"
					      : "no memory for its keys");
		rc = -EIO;
	}
	input_close(&j->input);
	j->input.fd = -1;
	return rc;
}

static void next_key(void *to, const struct acbf *a, u64 *positions)
{
	const struct store_entry **entry = to;

	while ((*entry)->time_ns == STORE_FREE)
		++*entry;
	acbf_positions(a, &(*entry)++->digest, positions);
}

static int add_keys(struct join *j)
{
	const struct store_entry *entry = j->set.entries;
	int rc;

	acbf_update(&j->acbf, true, j->set.used, next_key, &entry, &rc);
	return rc;
}

/* One set of all keys: the union of what the files have (figure 9). */
static int make_set(struct join *j)
{
	const struct options *o = j->o;
	u64 keys = j->set.used, counters = keys * o->counters;
	int rc;

	if (counters < LEAST_COUNTERS)
		counters = LEAST_COUNTERS;
	rc = acbf_open(&j->acbf, counters, o->positions,
		       acbf_first_bits(o->l1, counters, keys + !keys, o->positions));
	if (!rc)
		rc = add_keys(j);
	if (rc == -EINVAL || rc == -ENOSPC)
		complain("stream: %llu keys with %u bits each do not fit into --counters %u of "
			 "them: give more counters, or less --positions",
			 (unsigned long long)keys, o->positions, o->counters);
	else if (rc)
		complain("stream: cannot make the set of %llu keys: %s", (unsigned long long)keys,
			 strerror(-rc));
	return rc;
}

static int build(struct join *j)
{
	size_t most = strlen(j->o->join) / 2 + 1;
	char *list = strdup(j->o->join), **names = calloc(most, sizeof(*names));
	int rc = -ENOMEM, n;

	if (list && names) {
		n = cut_names(list, names, most);
		rc = refuse_inputs(j, names, n) ?: read_keys(j, names, n);
	}
	free(names);
	free(list);
	return rc ?: make_set(j);
}

static int open_hash(struct join *j)
{
	struct derived d;
	char err[MESSAGE_MAX];
	int rc;

	if (j->o->filter) {
		rc = watch_file_load(&j->acbf, &j->about, j->o->filter, err, sizeof(err));
		if (rc) {
			complain("stream: --filter %s", err);
			return -EIO;
		}
		if (j->about.of != WATCH_OF_records) {
			complain("stream: --filter %s: is a set of packets' keys, for xdp-dedup "
				 "watch",
				 j->o->filter);
			return -EINVAL;
		}
		j->o->hash = j->about.hash;
		j->o->seed = j->about.seed;
	}
	j->about.hash = j->o->hash;
	j->about.seed = j->o->seed;
	rc = derive_config(j->o, DERIVE_FILE, 1, 1, 1, &d, err, sizeof(err));
	if (rc) {
		complain("stream: %s", err);
		return rc;
	}
	d.fixed.placement = XDD_PLACEMENT_percpu;
	d.live.window_ns = STORE_FOREVER_NS;
	rc = store_open(&j->set, &d.fixed, &d.live, d.memory_bytes);
	j->set.in_order = true;
	if (rc)
		complain("stream: cannot make the set: %s", strerror(-rc));
	return rc;
}

/* Records of a block whose key may be in the set. Returns 0 or a negative errno of write(). */
static int take_block(struct join *j, struct block *block)
{
	const u8 *at = block->at, *end = at + block->len, *next;
	u64 positions[ACBF_MAX_HASHES];
	bool keep = false;
	int rc = 0;

	output_start(&j->output, block->at);
	while (at < end && !rc) {
		u32 keys, key = 0;

		next = cut(j, &j->rule, at, end, &keys);
		for (u32 i = 0; i < j->n && !rc; at = j->end[i++]) {
			if (j->has[i])
				acbf_positions(&j->acbf, &j->digest[key++], positions);
			keep = j->has[i] && acbf_contains(&j->acbf, positions);
			j->result.kept += keep;
			if (keep)
				rc = output_keep(&j->output, at, j->end[i] - at);
		}
		j->result.records += j->n;
		j->result.no_field += j->n - keys;
		at = next;
	}
	return rc ?: output_flush(&j->output, keep && !block->whole);
}

static int take_all(struct join *j)
{
	struct block block;
	int rc = input_open(&j->input, j->o->args, j->o->n_args, j->output.separator), got = rc;

	while (!rc && (got = input_next(&j->input, &block)) > 0)
		rc = take_block(j, &block);
	if (rc && rc != -EPIPE)
		complain("stream: cannot write to stdout: %s", strerror(-rc));
	else if (!rc && got)
		complain("stream: %s: no memory for a record this long: is this what ends records?",
			 j->input.path);
	j->result.interrupted = j->input.interrupted;
	j->result.complete = !rc && !got && !j->input.damaged;
	return rc ?: got;
}

static int save(struct join *j)
{
	int rc = watch_file_save(&j->acbf, &j->about, &j->save);

	if (rc)
		complain("stream: --save-filter %s: cannot be written: %s", j->o->save_filter,
			 strerror(-rc));
	return rc;
}

/* Returns the exit code. */
static int process(struct join *j)
{
	u64 start = now_ns();
	int rc = j->o->join ? build(j) : 0, reported;

	j->result.build_seconds = (now_ns() - start) * 1e-9;
	if (rc)
		return rc == -EINVAL || rc == -ENOSPC ? EXIT_USAGE : EXIT_FAILED;
	acbf_stats(&j->acbf, &j->result.stats);
	start = now_ns();
	if (j->o->save_filter)
		rc = save(j);
	else
		rc = take_all(j);
	j->result.seconds = (now_ns() - start) * 1e-9;
	if (j->o->save_filter)
		j->result.complete = !rc;
	/* Whoever closes the pipe has seen enough. */
	if (rc == -EPIPE)
		return EXIT_OK;
	reported = join_report(&j->result, j->o, &j->acbf, &j->summary);
	return rc || reported || j->input.damaged ? EXIT_FAILED : EXIT_OK;
}

static int open_all(struct join *j)
{
	const struct options *o = j->o;
	int rc = check_options(o);

	j->rule = (struct key_rule){ o->field, 0, 1, o->delimiter };
	j->theirs = j->rule;
	j->theirs.field = o->join_field ?: o->field;
	j->output = (struct output){ .separator = o->null ? 0 : '\n', .each = o->unbuffered };
	rc = rc ?: records_open(&j->save, "save-filter", o->save_filter);
	rc = rc ?: records_open(&j->summary, "summary", o->summary);
	rc = rc ?: refuse_inputs(j, o->args, o->n_args);
	if (o->filter)
		rc = rc ?: refuse_inputs(j, (char *const[]){ (char *)o->filter }, 1);
	return rc ?: open_hash(j);
}

int join_run(struct options *o)
{
	struct join *j = calloc(1, sizeof(*j));
	int rc, code = EXIT_FAILED;

	if (!j) {
		complain("stream: no memory");
		return EXIT_FAILED;
	}
	j->o = o;
	j->save.fd = j->summary.fd = j->input.fd = -1;
	interrupt_catch();
	rc = open_all(j);
	if (!rc)
		code = process(j);
	else if (rc == -EINVAL || rc == -ERANGE)
		code = EXIT_USAGE;
	input_close(&j->input);
	sink_close(&j->save);
	sink_close(&j->summary);
	acbf_close(&j->acbf);
	store_close(&j->set);
	free(j);
	return code;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup stream: records in, those of which there was no copy before out. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../batch.h"
#include "../clock.h"
#include "../cluster/branch.h"
#include "../cluster/remote.h"
#include "../derive.h"
#include "../message.h"
#include "../names.h"
#include "../records/files.h"
#include "../records/input.h"
#include "../records/interrupt.h"
#include "../records/join.h"
#include "../records/key.h"
#include "../records/output.h"
#include "../records/saved.h"
#include "../records/summary.h"
#include "../secret.h"
#include "../store_file.h"
#include "xdd/faults.h"

/* Records decided at once: what is known of them stays in the first-level cache. */
#define RECORDS_AT_ONCE 256

XDD_ASSERT(RECORDS_AT_ONCE <= BATCH_MAX, "they are a batch");
XDD_ASSERT(RECORDS_AT_ONCE <= PRODUCER_BATCH, "--batch of --sites may be more");

/* Records on their way: from the cut to the verdict. */
struct batch {
	u32 n, asked;
	const u8 *end[PRODUCER_BATCH]; /* behind each record and its separator */
	bool bypassed[PRODUCER_BATCH];
	/* of those that are not bypassed */
	struct span key[PRODUCER_BATCH];
	u64 time_ns[PRODUCER_BATCH];
	struct xdd_digest digest[PRODUCER_BATCH];
	bool seen[PRODUCER_BATCH];
};

struct job {
	struct options *o;
	struct derived derived;
	struct key_rule rule;
	struct xdd_store store;
	struct input input;
	struct output output;
	struct store_file from;	   /* --restore */
	struct sink save, summary; /* open where path is given */
	struct summary result;
	struct remote *remote; /* --sites, and --leaf; both NULL: the filter is in the store */
	struct branch *leaf;
	u64 numbered; /* records before this one, those of earlier runs included */
	u32 at_once;  /* records of a batch */
	struct batch batch;
};

/* Whether one of the @n options was given. */
static bool one_given(const struct options *o, const enum option_id *ids, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (option_given(o, ids[i]))
			return true;
	return false;
}

/* What sites do not have, and what means nothing without them. NULL: nothing is wrong. */
static const char *wrong_of_sites(const struct options *o)
{
	static const enum option_id both[] = { OPT_nats, OPT_group, OPT_batch, OPT_site_timeout };
	static const enum option_id slices[] = { OPT_protocol, OPT_primitive };
	static const enum option_id tree[] = { OPT_tree, OPT_top_down };
	bool remote = o->sites || o->leaf;

	if (o->sites && o->leaf)
		return "--sites asks who has slices of a filter, --leaf a node of a tree: give one";
	if (!remote && one_given(o, both, XDD_ARRAY_SIZE(both)))
		return "--nats, --group, --batch and --site-timeout are for filters on other "
		       "machines: add --sites, or --leaf SITE";
	if (!o->sites && one_given(o, slices, XDD_ARRAY_SIZE(slices)))
		return "--protocol and --primitive are for slices on other machines: add --sites";
	if (!o->leaf && one_given(o, tree, XDD_ARRAY_SIZE(tree)))
		return "--tree and --top-down are for a tree of sites: add --leaf SITE";
	if (remote && o->window_records)
		return "--window-records counts the records of one producer, and sites may have "
		       "several: give --window TIME --time-field N";
	if (remote && (o->save || o->restore || o->audit || o->refresh))
		return "--sites, --leaf: the filter is not here: leave out --save, --restore, "
		       "--audit and --refresh";
	return NULL;
}

/* Options of records and of the filter here that say nothing without others, or contradict each other. */
static const char *wrong_of_records(const struct options *o)
{
	bool bits = o->engine != OPTION_AUTO && xdd_engine_has_bits(o->engine);
	bool exact = o->engine == OPTION_AUTO || o->engine == XDD_ENGINE_exact;
	bool window = option_given(o, OPT_window), fields = o->field || o->time_field;

	if (option_given(o, OPT_join_field) || option_given(o, OPT_l1) ||
	    option_given(o, OPT_counters) || option_given(o, OPT_positions))
		return "--join-field, --l1, --counters and --positions are for the set of --join "
		       "FILE";
	if (o->time_field && !window)
		return "--time-field is for a window of time: add --window, for example --window "
		       "10s";
	if (window && !o->time_field)
		return "--window needs the time of a record: add --time-field N, or give "
		       "--window-records instead";
	if (!bits && !exact && !window && !o->window_records)
		return "engines tagged and timer have a window: give --window-records N, or "
		       "--window TIME --time-field N";
	if (option_given(o, OPT_time_unit) && !o->time_field)
		return "--time-unit says nothing without --time-field";
	if (option_given(o, OPT_delimiter) && !fields)
		return "--delimiter says nothing without --field or --time-field";
	if (fields && o->delimiter == (o->null ? 0 : '\n'))
		return "--delimiter is what ends a record: no record has a second field";
	if (o->restore && o->secret_file)
		return "the filter of --restore has a secret of its own: leave out --secret-file";
	if (o->restore && o->audit)
		return "--audit knows nothing of the records before --restore, which it would "
		       "take for errors: leave one out";
	return NULL;
}

static int check_options(const struct options *o)
{
	const char *wrong = wrong_of_sites(o) ?: wrong_of_records(o);

	if (!wrong)
		return 0;
	complain("stream: %s", wrong);
	return -EINVAL;
}

static u64 unit_ns(int unit)
{
	static const u64 units[] = {
		[UNIT_S] = 1000000000, [UNIT_MS] = 1000000, [UNIT_US] = 1000, [UNIT_NS] = 1
	};

	return units[unit];
}

/* Whether the file's filter is the one that the options ask for. */
static bool is_same_filter(const struct job *job)
{
	const struct store_header *h = &job->from.header;
	struct xdd_fixed fixed = job->derived.fixed;

	if (job->o->seed_random)
		fixed.seed = h->fixed.seed;
	return !memcmp(&fixed, &h->fixed, sizeof(fixed)) &&
	       job->derived.live.window_ns == h->window_ns &&
	       job->derived.live.window_ticks == h->window_ticks;
}

static int derive(struct job *job, char *err, size_t size)
{
	struct options *o = job->o;
	struct derived *d = &job->derived;
	int rc = derive_config(o, DERIVE_FILE, 1, 1, 1, d, err, size);

	if (rc)
		return rc;
	/* One thread: nothing needs to be atomic. */
	d->fixed.placement = XDD_PLACEMENT_percpu;
	if (d->fixed.engine == XDD_ENGINE_exact && !o->time_field && !o->window_records)
		d->live.window_ns = STORE_FOREVER_NS;
	job->rule =
		(struct key_rule){ o->field, o->time_field, unit_ns(o->time_unit), o->delimiter };
	return 0;
}

/* Complete the options, from the saved filter if there is one, and say what is wrong. */
static int plan(struct job *job)
{
	const char *stayed = NULL;
	char err[MESSAGE_MAX];
	int rc = 0;

	if (job->o->restore)
		rc = store_file_open(&job->from, job->o->restore, err, sizeof(err));
	if (!rc && job->o->restore)
		rc = saved_take(&job->from, job->o, &job->numbered, &stayed, err, sizeof(err));
	if (!rc) {
		rc = check_options(job->o);
		if (rc)
			return rc;
		rc = derive(job, err, sizeof(err));
	}
	if (!rc && job->o->restore && !is_same_filter(job))
		rc = saved_differs(&job->from, stayed ?: "memory", err, sizeof(err));
	if (rc)
		complain("stream: %s", err);
	else if (*job->derived.warning)
		note("stream: %s", job->derived.warning);
	return rc;
}

/* Engine bloom has no window to wait for: what comes back empty is believed at once. */
static void warn_damaged(const struct job *job)
{
	const struct xdd_fixed *fixed = &job->derived.fixed;

	note_always("stream: %s: %u of %u slices are damaged and start empty: %s", job->o->restore,
		    job->from.damaged, xdd_parts(fixed),
		    xdd_engine_has_timers(fixed->engine)
			    ? "for a window --fault-policy answers for them"
			    : "copies of the records that they held pass once more");
}

static int read_secret(struct job *job)
{
	char err[MESSAGE_MAX];
	int rc = secret_from_file(&job->store.secret, job->o->secret_file, err, sizeof(err));

	if (rc)
		complain("stream: %s", err);
	return rc;
}

static int open_leaf(struct job *job, char *err, size_t err_size)
{
	const struct branch_plan plan = { job->o, &job->derived, "stream", job->o->leaf, true };
	int rc = branch_derive(job->o, &job->derived, err, err_size);
	sigset_t before;

	interrupt_block(&before);
	rc = rc ?: branch_open(&plan, &job->leaf, err, err_size);
	interrupt_restore(&before);
	return rc ?: branch_find(job->leaf, err, err_size);
}

/* The filter is on sites; here is what digests are made with. */
static int open_sites(struct job *job)
{
	const struct options *o = job->o;
	struct derived *d = &job->derived;
	const struct remote_setup setup = { o, d, "stream", o->site_timeout };
	char err[MESSAGE_MAX];
	int rc;

	job->at_once = o->batch;
	rc = o->leaf ? open_leaf(job, err, sizeof(err))
		     : remote_open(&setup, &job->remote, err, sizeof(err));
	if (rc)
		complain("stream: %s", err);
	job->store.fixed = d->fixed;
	job->store.live = d->live;
	job->result.remote = job->remote;
	job->result.leaf = job->leaf;
	return rc ?: read_secret(job);
}

static int open_filter(struct job *job)
{
	struct derived *d = &job->derived;
	char err[MESSAGE_MAX];
	int rc;

	job->at_once = RECORDS_AT_ONCE;
	if (job->o->sites || job->o->leaf)
		return open_sites(job);
	if (job->o->restore) {
		rc = store_file_load(&job->from, &job->store, d->memory_bytes, err, sizeof(err));
		if (rc)
			complain("stream: %s", err);
		else if (job->from.damaged)
			warn_damaged(job);
		return rc;
	}
	rc = store_open(&job->store, &d->fixed, &d->live, d->memory_bytes);
	job->store.in_order = !job->rule.time_field;
	if (!rc && d->secret_random)
		rc = secret_random(&job->store.secret);
	if (!rc && job->o->secret_file)
		return read_secret(job);
	if (rc)
		complain("stream: cannot make the filter: %s: give --memory less", strerror(-rc));
	return rc;
}

static int open_all(struct job *job)
{
	const struct options *o = job->o;
	u8 separator = o->null ? 0 : '\n';
	int rc;

	job->output = (struct output){ .separator = separator, .each = o->unbuffered };
	rc = records_open(&job->save, "save", o->save);
	if (!rc)
		rc = records_open(&job->summary, "summary", o->summary);
	if (!rc && job->save.path && job->summary.path &&
	    !strcmp(job->save.path, job->summary.path)) {
		complain("stream: --save and --summary name the same file: give them two");
		rc = -EINVAL;
	}
	if (!rc)
		rc = records_refuse_input("save", job->save.path, o->args, o->n_args);
	if (!rc)
		rc = records_refuse_input("summary", job->summary.path, o->args, o->n_args);
	if (!rc)
		rc = open_filter(job);
	if (!rc)
		rc = input_open(&job->input, o->args, o->n_args, separator);
	return rc;
}

/* Cut records of [@at, @end) until the batch is full. Returns where it stopped. */
static const u8 *batch_cut(struct job *job, const u8 *at, const u8 *end)
{
	struct batch *b = &job->batch;
	u8 separator = job->output.separator;

	for (b->n = b->asked = 0; b->n < job->at_once && at < end; b->n++) {
		const u8 *stop = memchr(at, separator, end - at) ?: end;
		struct span record = { at, stop - at };
		enum record_bypass bypass;

		b->time_ns[b->asked] = ++job->numbered;
		bypass = key_find(&job->rule, record, &b->key[b->asked], &b->time_ns[b->asked]);
		b->bypassed[b->n] = bypass != RECORD_BYPASS_MAX;
		if (bypass == RECORD_BYPASS_MAX)
			b->asked++;
		else
			job->result.bypassed[bypass]++;
		at = stop == end ? end : stop + 1;
		b->end[b->n] = at;
	}
	return at;
}

/* Returns 0 or a negative errno. */
static int batch_ask_sites(struct job *job)
{
	const struct xdd_fixed *fixed = &job->store.fixed;
	struct batch *b = &job->batch;
	u64 tick[PRODUCER_BATCH];

	for (u32 i = 0; i < b->asked; i++)
		tick[i] = xdd_engine_has_timers(fixed->engine) ? b->time_ns[i] / fixed->tick_ns : 0;
	if (!b->asked)
		return 0;
	return job->leaf ? branch_ask(job->leaf, b->digest, tick, b->asked, b->seen)
			 : remote_ask(job->remote, b->digest, tick, b->asked, b->seen);
}

/* Returns 0 or a negative errno. */
static int batch_ask_filter(struct job *job)
{
	u64 before = job->store.unanswered, failed, duplicates = 0;
	struct batch *b = &job->batch;
	struct summary *s = &job->result;
	int rc = 0;

	if (job->from.damaged && b->asked) {
		store_restored(&job->store, b->time_ns[0]);
		job->from.damaged = 0;
	}
	key_digests(&job->store, b->key, b->asked, b->digest);
	if (job->remote || job->leaf)
		rc = batch_ask_sites(job);
	else
		batch_ask(&job->store, b->digest, b->time_ns, b->asked, b->seen);
	if (rc) {
		complain("stream: no memory to talk to the sites");
		return -ECANCELED;
	}
	for (u32 i = 0; i < b->asked; i++)
		duplicates += b->seen[i];
	failed = job->store.unanswered - before;
	if (b->asked)
		s->last_ns = b->time_ns[b->asked - 1];
	s->records += b->n;
	s->duplicates += duplicates;
	s->bypassed[RECORD_internal] += failed;
	s->distinct += b->asked - duplicates - failed;
	return 0;
}

/* Keep runs of records, or each, from @at on. Returns 0 or a negative errno; *@last: whether the
 * last record was kept.
 */
static int batch_keep(struct job *job, const u8 *at, bool *last)
{
	struct batch *b = &job->batch;
	const u8 *run = at;
	int rc = 0;

	for (u32 i = 0, asked = 0; i < b->n && !rc; i++) {
		*last = b->bypassed[i] || !b->seen[asked++];
		if (!*last && at > run)
			rc = output_keep(&job->output, run, at - run);
		at = b->end[i];
		if (*last && job->output.each)
			rc = output_keep(&job->output, run, at - run);
		if (!*last || job->output.each)
			run = at;
	}
	return rc || at == run ? rc : output_keep(&job->output, run, at - run);
}

/* What comes back from sites is not kept for what others will say, and a signal does not wait for them all. */
static int batch_leave(struct job *job, bool *ended)
{
	if (!job->remote && !job->leaf)
		return 0;
	*ended = interrupt_came();
	job->input.interrupted |= *ended;
	return output_flush(&job->output, false);
}

static int take_block(struct job *job, struct block *block)
{
	const u8 *at = block->at, *end = at + block->len, *next;
	bool last = false, ended = false;
	int rc = 0;

	output_start(&job->output, block->at);
	while (at < end && !rc && !ended) {
		next = batch_cut(job, at, end);
		rc = batch_ask_filter(job) ?: batch_keep(job, at, &last);
		at = next;
		if (!rc && at < end)
			rc = batch_leave(job, &ended);
	}
	job->result.bytes += at - block->at;
	return rc ?: output_flush(&job->output, last && at == end && !block->whole);
}

/* Every record. Whoever closes the pipe has seen enough: nothing to complain about. */
static int take_all(struct job *job)
{
	struct block block;
	int got, rc = 0;

	while (!rc && (got = input_next(&job->input, &block)) > 0)
		rc = take_block(job, &block);
	if (rc && rc != -EPIPE && rc != -ECANCELED)
		complain("stream: cannot write to stdout: %s", strerror(-rc));
	if (!rc && got == -EFBIG)
		complain("stream: %s: a record of 4 GiB or more: is this what ends records?",
			 job->input.path);
	else if (!rc && got)
		complain("stream: %s: no memory for a record this long", job->input.path);
	job->result.complete = !rc && !got && !job->input.damaged;
	job->result.interrupted = job->input.interrupted;
	return rc ?: got;
}

static int report(struct job *job, bool text)
{
	char *json = summary_json(&job->result);
	int rc = json ? 0 : -ENOMEM;

	if (!rc && job->o->json)
		fprintf(stderr, "%s\n", json);
	else if (text && !job->o->quiet)
		summary_text(&job->result, stderr);
	if (!rc && job->o->summary)
		rc = records_write_summary(&job->summary, json, job->o->summary);
	free(json);
	return rc;
}

/* Not after records that were decided and could not be written: they would be lost for good. */
static int save(struct job *job, int failed)
{
	struct saved saved;
	u32 bytes;
	int rc;

	if (!job->o->save)
		return 0;
	if (failed) {
		complain("stream: --save %s: not written, since not all distinct records were "
			 "delivered",
			 job->o->save);
		return failed;
	}
	bytes = saved_fill(&saved, job->o, job->numbered);
	rc = store_file_save(&job->store, &saved, bytes, &job->save);
	if (rc)
		complain("stream: --save %s: cannot be written: %s", job->o->save, strerror(-rc));
	return rc;
}

/* Returns the exit code. */
static int process(struct job *job)
{
	u64 start = now_ns();
	int rc = take_all(job), saved, reported;

	job->result.seconds = (now_ns() - start) * 1e-9;
	saved = save(job, rc);
	reported = report(job, rc != -EPIPE);
	if (rc == -EPIPE)
		rc = 0;
	return rc || saved || reported || job->input.damaged ? EXIT_FAILED : EXIT_OK;
}

static void job_close(struct job *job)
{
	input_close(&job->input);
	sink_close(&job->save);
	sink_close(&job->summary);
	store_file_close(&job->from);
	remote_close(job->remote);
	branch_close(job->leaf);
	store_close(&job->store);
	explicit_bzero(&job->store.secret, sizeof(job->store.secret));
}

static int deduplicate(struct options *o)
{
	struct job *job = calloc(1, sizeof(*job));
	int rc, code = EXIT_FAILED;

	if (!job) {
		complain("stream: no memory");
		return EXIT_FAILED;
	}
	job->o = o;
	job->from.fd = job->save.fd = job->summary.fd = job->input.fd = -1;
	job->result.options = job->o;
	job->result.derived = &job->derived;
	job->result.store = &job->store;
	job->result.rule = &job->rule;
	interrupt_catch();
	if (o->json)
		messages_keep();
	rc = plan(job);
	if (!rc)
		rc = open_all(job);
	if (!rc)
		code = process(job);
	else if (rc == -EINVAL || rc == -ERANGE)
		code = EXIT_USAGE;
	job_close(job);
	free(job);
	return code;
}

int cmd_stream(struct options *o)
{
	return join_wanted(o) ? join_run(o) : deduplicate(o);
}

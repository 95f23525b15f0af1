// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup pcap: captures in, the frames of which there was no copy before out. */
#include "cmd.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xdd/counters.h>

#include "../capture/filter.h"
#include "../capture/packet.h"
#include "../capture/progress.h"
#include "../capture/set.h"
#include "../capture/writer.h"
#include "../derive.h"
#include "../message.h"
#include "../metrics/audit.h"
#include "../metrics/chains.h"
#include "../metrics/expected.h"
#include "../names.h"
#include "../pairs.h"
#include "../provenance.h"
#include "../secret.h"
#include "../store.h"
#include "../timeline.h"
#include "../top.h"
#include "../units.h"
#include "xdd/decide.h"

/* An output: what is kept, or the copies. */
struct output {
	const char *path; /* NULL: not wanted */
	bool open;
	struct capture_writer writer;
};

struct job {
	const struct options *o;
	struct derived derived;
	u64 last_ns; /* time of the last frame, or its number */
	struct capture_set *set;
	struct xdd_store store;
	struct output kept, copies;
	struct pairs pairs;
	struct capture_filter filter;
	struct progress progress;
	struct xdd_count received, distinct, duplicates, bypassed[XDD_BYPASS_MAX];
	u64 inner[XDD_INNER_MAX];
	struct xdd_count dropped, ambiguous[XDD_CLASS_MAX];
	u64 let_through;
	u64 cut; /* frames compared of which the capture has the first bytes only */
	struct top top;
	struct timeline timeline; /* with --json */
	bool damaged;		  /* an input could not be read to its end */
};

/* Keys that the summary shows, if the first was suppressed so many times: no tap copies that often. */
#define TOP_SHOWN 5
#define TOP_WORTH 10

#define BYPASS_NAME(name, help) #name,
static const char *const bypass_names[] = { XDD_BYPASSES(BYPASS_NAME) };
#define CLASS_NAME(name, word, help) #name,
static const char *const class_names[] = { NULL, XDD_CLASSES(CLASS_NAME) };
static const char *const inner_names[XDD_INNER_MAX] = { NULL, XDD_INNERS(BYPASS_NAME) };

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static enum capture_format output_format(const struct job *job)
{
	if (job->o->format == OPTION_AUTO)
		return capture_set_format(job->set);
	return job->o->format == FORMAT_PCAP ? CAPTURE_PCAP : CAPTURE_PCAPNG;
}

static int open_filter(struct job *job)
{
	struct derived *d = &job->derived;
	int rc = store_open(&job->store, &d->fixed, &d->live, d->memory_bytes);

	if (rc) {
		complain("cannot make the filter: %s: give --memory less", strerror(-rc));
		return rc;
	}
	job->store.in_order = d->window_records;
	rc = d->secret_random ? secret_random(&job->store.secret) : 0;
	if (rc)
		complain("cannot draw a random secret: %s", strerror(-rc));
	return rc;
}

/* Complain where @path is an input, too. */
static int check_output(const struct job *job, const char *path)
{
	struct stat st;

	if (is_stdout(path) || stat(path, &st) || !capture_set_has_file(job->set, &st))
		return 0;
	complain("%s: is an input, too: write to another file", path);
	return -EINVAL;
}

static int open_output(struct job *job, struct output *out)
{
	char err[MESSAGE_MAX];
	int rc;

	if (!out->path)
		return 0;
	rc = check_output(job, out->path);
	if (rc)
		return rc;
	rc = capture_writer_open(&out->writer, job->set, out->path, output_format(job), err,
				 sizeof(err));
	if (rc)
		complain("%s", err);
	out->open = !rc;
	return rc;
}

/* After the filter, whose hash it uses. */
static int open_pairs(struct job *job)
{
	const struct derived *d = &job->derived;
	const char *path = job->o->pairs;
	int rc;

	if (!path)
		return 0;
	rc = check_output(job, path);
	if (rc)
		return rc;
	rc = pairs_open(&job->pairs, path, job->o->args, &job->store,
			xdd_engine_has_bits(d->fixed.engine) ? 0 : d->live.window_ns);
	if (rc)
		complain("%s: cannot write: %s", path, strerror(-rc));
	return rc;
}

/* Complain where two options, called @names, write to one place. */
static int check_apart(const char *names, const char *a, const struct sink *to_a, const char *b,
		       const struct sink *to_b)
{
	bool same = to_a->path && to_b->path && !strcmp(to_a->path, to_b->path);

	if (!same && !(is_stdout(a) && is_stdout(b)))
		return 0;
	complain("%s name the same file, %s: give them two", names, a);
	return -EINVAL;
}

static int open_outputs(struct job *job)
{
	const struct sink *kept = &job->kept.writer.sink, *copies = &job->copies.writer.sink;
	const struct sink *pairs = &job->pairs.sink;
	const struct options *o = job->o;
	int rc = open_output(job, &job->kept);

	if (!rc)
		rc = open_output(job, &job->copies);
	if (!rc)
		rc = open_pairs(job);
	if (!rc)
		rc = check_apart("-w and --dups", o->write, kept, o->dups, copies);
	if (!rc)
		rc = check_apart("-w and --pairs", o->write, kept, o->pairs, pairs);
	return rc ? rc : check_apart("--dups and --pairs", o->dups, copies, o->pairs, pairs);
}

static void flush_outputs(void *context)
{
	struct job *job = context;

	if (job->kept.open)
		capture_writer_flush(&job->kept.writer);
	if (job->copies.open)
		capture_writer_flush(&job->copies.writer);
	if (job->pairs.open)
		sink_flush(&job->pairs.sink);
}

static int put(struct output *out, const struct capture_item *item, bool keep)
{
	int rc = out->open ? capture_writer_put(&out->writer, item, keep) : 0;

	/* Whoever closes a pipe has seen enough: nothing to complain about. */
	if (rc && rc != -EPIPE)
		complain("%s", out->writer.error);
	return rc;
}

static void count(struct xdd_count *c, u32 bytes)
{
	c->packets++;
	c->bytes += bytes;
}

/* Is the frame to be compared? Returns 1 or 0, or a negative errno. */
static int wanted(struct job *job, const struct capture_item *item)
{
	struct capture_filter *f = &job->filter;
	enum capture_direction direction = DIRECTION_ANY;
	int rc;

	if (f->direction != DIRECTION_ANY)
		direction = capture_direction(item);
	rc = filter_takes(f, item->iface->link, item->data, item->len, item->wire_len, direction);
	if (rc < 0)
		complain("%s", f->error);
	return rc;
}

static int list_pair(struct job *job, const struct capture_item *item,
		     const struct xdd_packet *packet, bool seen)
{
	int rc = pairs_take(&job->pairs, item, packet, job->last_ns, seen);

	if (rc && rc != -EPIPE)
		complain("%s: cannot write: %s", job->pairs.path, strerror(-rc));
	return rc;
}

static void count_duplicate(struct job *job, struct xdd_verdict verdict, u32 bytes)
{
	count(&job->duplicates, bytes);
	count(&job->ambiguous[verdict.class], bytes);
	job->let_through += !!(verdict.found & XDD_LET_THROUGH);
	if (xdd_is_suppressed(verdict))
		count(&job->dropped, bytes);
}

static void count_time(struct job *job, const struct capture_item *item, enum timeline_count count)
{
	if (job->o->json)
		timeline_add(&job->timeline, item->time_ns, count);
}

/* Is the frame a copy that is dropped? Counts the verdict. */
static int judge(struct job *job, const struct capture_item *item, bool *dropped)
{
	struct xdd_packet packet = capture_packet(item);
	struct xdd_verdict verdict = { .bypass = XDD_BYPASS_filtered };
	int rc = wanted(job, item);
	bool seen;

	if (rc < 0)
		return rc;
	count(&job->received, packet.wire_len);
	job->last_ns = job->derived.window_records ? job->received.packets : (u64)item->time_ns;
	if (rc) {
		verdict = store_decide(&job->store, &packet, job->last_ns);
		job->inner[verdict.inner]++;
	}
	if (verdict.bypass != XDD_BYPASS_MAX) {
		count(&job->bypassed[verdict.bypass], packet.wire_len);
		count_time(job, item, TIMELINE_bypassed);
		return 0;
	}
	seen = verdict.found & XDD_SEEN;
	job->cut += item->wire_len > item->len;
	*dropped = xdd_is_suppressed(verdict);
	count_time(job, item, seen ? TIMELINE_duplicate : TIMELINE_distinct);
	if (seen)
		count_duplicate(job, verdict, packet.wire_len);
	else
		count(&job->distinct, packet.wire_len);
	return job->pairs.open ? list_pair(job, item, &packet, seen) : 0;
}

static int take(struct job *job, const struct capture_item *item)
{
	bool dropped = false;
	int rc = 0;

	if (item->kind == CAPTURE_FRAME) {
		rc = judge(job, item, &dropped);
		progress_step(&job->progress, job->set);
	}
	if (!rc)
		rc = put(&job->kept, item, !dropped);
	return rc ? rc : put(&job->copies, item, dropped);
}

/* Every item of every input. Damaged inputs are complained about and left. */
static int take_all(struct job *job)
{
	const struct capture_item *item;
	int rc;

	while ((rc = capture_set_next(job->set, &item))) {
		if (rc < 0) {
			progress_end(&job->progress);
			complain("%s", capture_set_error(job->set));
			job->damaged = true;
			continue;
		}
		rc = take(job, item);
		if (rc)
			return rc;
	}
	return 0;
}

static int finish(struct output *out)
{
	int rc = out->open ? capture_writer_finish(&out->writer) : 0;

	if (rc && rc != -EPIPE)
		complain("%s", out->writer.error);
	return rc;
}

static int publish(struct output *out)
{
	int rc = out->open ? capture_writer_publish(&out->writer) : 0;

	if (rc)
		complain("%s", out->writer.error);
	return rc;
}

static int finish_pairs(struct job *job)
{
	int rc = pairs_finish(&job->pairs);

	if (rc && rc != -EPIPE)
		complain("%s: cannot write: %s", job->pairs.path, strerror(-rc));
	return rc;
}

static int publish_pairs(struct job *job)
{
	int rc = pairs_publish(&job->pairs);

	if (rc)
		complain("%s: cannot write: %s", job->pairs.path, strerror(-rc));
	return rc;
}

/* Frames that have no direction are not guessed about. */
static void note_undirected(const struct job *job)
{
	static const char *const names[] = { "any", "in", "out" };
	u64 n = job->filter.undirected;

	if (n)
		note("%llu of %llu frames do not say whether they came in or went out: "
		     "--direction %s passed them without a look",
		     (unsigned long long)n, (unsigned long long)job->received.packets,
		     names[job->filter.direction]);
}

/* What the output's format had no place for, said once. */
static void note_lost(const struct job *job)
{
	const struct output *out = job->kept.open ? &job->kept : &job->copies;
	const struct capture_lost *lost = &out->writer.lost;

	if (!out->open)
		return;
	if (lost->blocks || lost->options)
		note("%s: %llu blocks without frames and the options of %llu frames (names, "
		     "comments, statistics) have no place in it and were left out",
		     out->path, (unsigned long long)lost->blocks,
		     (unsigned long long)lost->options);
	if (lost->times)
		note("%s: the times of %llu frames were cut to microseconds", out->path,
		     (unsigned long long)lost->times);
}

static int process(struct job *job)
{
	int rc;

	capture_set_on_idle(job->set, flush_outputs, job);
	rc = take_all(job);
	progress_end(&job->progress);
	if (!rc)
		rc = finish(&job->kept);
	if (!rc)
		rc = finish(&job->copies);
	if (!rc)
		rc = finish_pairs(job);
	if (!rc)
		rc = publish(&job->kept);
	if (!rc)
		rc = publish(&job->copies);
	if (!rc)
		rc = publish_pairs(job);
	if (rc)
		return rc;
	note_lost(job);
	note_undirected(job);
	return 0;
}

static json_t *json_bypassed(const struct job *job)
{
	json_t *bypassed = json_object();

	for (u32 i = 0; i < XDD_BYPASS_MAX; i++)
		json_object_set_new(bypassed, bypass_names[i],
				    json_integer(job->bypassed[i].packets));
	return bypassed;
}

static json_t *json_counts(const struct job *job)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "packets", job->received.packets, "bytes",
			 job->received.bytes, "distinct", job->distinct.packets, "duplicates",
			 job->duplicates.packets, "bypassed", json_bypassed(job));
}

static struct expected expected_of(const struct job *job)
{
	return store_expected(&job->store, job->distinct.packets, job->duplicates.packets,
			      job->last_ns);
}

static json_t *json_filter(struct job *job)
{
	const struct derived *d = &job->derived;
	const struct xdd_store *store = &job->store;
	struct expected model = expected_of(job);

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:o}", "engine",
			 engine_names[d->fixed.engine], "key", key_names[d->fixed.key], "window_ns",
			 d->window_records ? 0 : d->live.window_ns, "window_records",
			 d->window_records, "memory_bytes", store_bytes(store), "fpr_model",
			 expected_rate_json(model.fpr), "fnr_model", expected_rate_json(model.fnr),
			 "time_back", store->time_back, "evictions", store->evictions, "forgotten",
			 store->forgotten, "growth", chains_of_store(store));
}

/* Beside the verdicts: what duplicates were, and which were kept. */
static void add_repeats(const struct job *job, json_t *to)
{
	const struct xdd_fixed *fixed = &job->derived.fixed;
	json_t *ambiguous = json_object();

	for (u32 i = XDD_CLASS_identified + 1; i < XDD_CLASS_MAX; i++)
		json_object_set_new(ambiguous, class_names[i],
				    json_pack("{s:I, s:I}", "packets",
					      (json_int_t)job->ambiguous[i].packets, "bytes",
					      (json_int_t)job->ambiguous[i].bytes));
	json_object_set_new(to, "cut", json_integer(job->cut));
	json_object_set_new(to, "dropped", json_integer(job->dropped.packets));
	json_object_set_new(to, "let_through", json_integer(job->let_through));
	json_object_set_new(to, "ambiguous", ambiguous);
	json_object_set_new(to, "top_suppressed",
			    job->derived.live.top ? top_json(&job->top, fixed->key) : json_null());
}

/* Beside the verdicts: what --inner could not follow to its end. */
static void add_inner(const struct job *job, json_t *to)
{
	for (u32 i = XDD_inner_fine + 1; i < XDD_INNER_MAX; i++)
		json_object_set_new(to, inner_names[i], json_integer(job->inner[i]));
}

static struct audit audit_of(const struct job *job)
{
	struct audit audit;

	audit_make(&audit, &job->store.fixed, &job->store.audit_counts, job->distinct.packets,
		   job->duplicates.packets);
	return audit;
}

/* As they were named; null for a name that is not UTF-8. */
static json_t *inputs_json(const struct options *o)
{
	json_t *all = json_array();

	for (int i = 0; i < o->n_args; i++)
		json_array_append_new(all, json_string(o->args[i]) ?: json_null());
	return all;
}

static int print_json(struct job *job, FILE *to)
{
	json_t *all = json_counts(job), *filter = json_filter(job);
	struct audit audit = audit_of(job);
	int rc;

	json_object_set_new(all, "seconds", json_real(progress_seconds(&job->progress)));
	json_object_set_new(all, "complete", json_boolean(!job->damaged));
	json_object_update(all, filter);
	warnings_json(all);
	add_repeats(job, all);
	if (job->derived.fixed.inner)
		add_inner(job, all);
	if (audit.share)
		json_object_set_new(all, "audit", audit_json(&audit));
	if (job->derived.fixed.engine == XDD_ENGINE_recovery)
		json_object_set_new(all, "rogue", json_integer(job->store.rogue));
	json_object_set_new(all, "timeline", timeline_json(&job->timeline));
	json_object_set_new(all, "inputs", inputs_json(job->o));
	provenance_json(all, job->o);
	rc = json_dumpf(all, to, JSON_INDENT(2));
	fputc('\n', to);
	json_decref(filter);
	json_decref(all);
	return rc ? -EIO : 0;
}

static void print_bypassed(const struct job *job, FILE *to)
{
	const char *before = "passed without a look: ";

	for (u32 i = 0; i < XDD_BYPASS_MAX; i++) {
		if (!job->bypassed[i].packets)
			continue;
		fprintf(to, "%s%llu %s", before, (unsigned long long)job->bypassed[i].packets,
			bypass_names[i]);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', to);
}

static void print_inner(const struct job *job, FILE *to)
{
	const char *before = "known by a packet further out: ";

	for (u32 i = XDD_inner_fine + 1; i < XDD_INNER_MAX; i++) {
		if (!job->inner[i])
			continue;
		fprintf(to, "%s%llu %s", before, (unsigned long long)job->inner[i], inner_names[i]);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', to);
}

static void print_repeats(const struct job *job, FILE *to)
{
	const char *before = "copies or sent twice, for want of identification: ";
	u64 kept = job->duplicates.packets - job->dropped.packets;

	for (u32 i = XDD_CLASS_identified + 1; i < XDD_CLASS_MAX; i++) {
		if (!job->ambiguous[i].packets)
			continue;
		fprintf(to, "%s%llu %s", before, (unsigned long long)job->ambiguous[i].packets,
			class_words[i - 1]);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', to);
	if (kept)
		fprintf(to, "duplicates that were kept: %llu, %llu of them by --max-suppress\n",
			(unsigned long long)kept, (unsigned long long)job->let_through);
	if (!job->top.used || job->top.key[0].packets < TOP_WORTH)
		return;
	fprintf(to, "suppressed most often, at least so many times:\n");
	top_print(&job->top, job->derived.fixed.key, TOP_SHOWN, "", to);
}

static void print_errors(const struct job *job, double fpr, FILE *to)
{
	if (job->cut)
		fprintf(to,
			"%llu frames were cut when they were captured, and compared by what is "
			"there: packets that differ behind the cut alone count as copies\n",
			(unsigned long long)job->cut);
	if (xdd_engine_has_bits(job->derived.fixed.engine))
		fprintf(to,
			"a packet that is new now is taken for a copy with probability %.2g; what "
			"is "
			"missed depends on the packets: xdp-dedup simulate measures it\n",
			fpr);
	else
		fprintf(to,
			"distinct packets taken for copies: below %.1g by the model, %.1g of "
			"them\n",
			fpr * job->distinct.packets, fpr);
	if (job->store.rogue)
		fprintf(to,
			"%llu sequence numbers were too far from their stream's highest: passed\n",
			(unsigned long long)job->store.rogue);
	if (job->store.forgotten || job->store.evictions)
		fprintf(to,
			"memory was short: %llu packets were forgotten within the window, their "
			"copies may have passed: give --memory more\n",
			(unsigned long long)(job->store.forgotten + job->store.evictions));
	if (fpr > EXPECTED_FPR_HIGH)
		fprintf(to, "the filter was too full for this traffic: packets that are no copies "
			    "were dropped: give --memory more\n");
}

static void print_text(struct job *job, FILE *to)
{
	char window[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
	double seconds = progress_seconds(&job->progress);
	u64 packets = job->received.packets;
	struct expected model = expected_of(job);
	struct audit audit = audit_of(job);

	fprintf(to, "%llu frames: %llu distinct, %llu duplicates (%.1f %%)\n",
		(unsigned long long)packets, (unsigned long long)job->distinct.packets,
		(unsigned long long)job->duplicates.packets,
		packets ? 100.0 * job->duplicates.packets / packets : 0.0);
	print_bypassed(job, to);
	print_inner(job, to);
	print_repeats(job, to);
	fprintf(to, "key %s%s, window %s, engine %s in %s, %.2f s (%.2f million frames a second)\n",
		key_names[job->derived.fixed.key],
		job->derived.fixed.inner ? " inside tunnels" : "",
		derive_events_text(&job->derived, window), engine_names[job->derived.fixed.engine],
		units_size_text(store_bytes(&job->store), memory), seconds,
		packets / 1e6 / seconds);
	print_errors(job, model.fpr, to);
	audit_print(&audit, &model, to, "", "packets", 0);
}

/* The summary goes where it does not mix with a capture, and where a script expects it. */
static int report(struct job *job)
{
	const struct options *o = job->o;
	bool data = is_stdout(o->write) || is_stdout(o->dups) || is_stdout(o->pairs);
	bool files = o->write || o->dups || o->pairs;
	int rc = top_merge(job->store.top, XDD_TOP_BUCKETS, &job->top);

	if (rc) {
		complain("no memory for the list of what was suppressed");
		return rc;
	}
	if (o->json)
		return print_json(job, data ? stderr : stdout);
	if (!files || !o->quiet)
		print_text(job, files ? stderr : stdout);
	return 0;
}

static bool wants_progress(const struct options *o)
{
	if (o->progress == OPTION_AUTO)
		return !o->quiet && isatty(STDERR_FILENO);
	return o->progress == PROGRESS_ON;
}

static int open_inputs(struct job *job)
{
	char err[MESSAGE_MAX];
	int rc = capture_set_open(&job->set, job->o->args, job->o->n_args, err, sizeof(err));

	if (rc)
		complain("%s", err);
	return rc;
}

static void job_close(struct job *job)
{
	if (job->kept.open)
		capture_writer_close(&job->kept.writer);
	if (job->copies.open)
		capture_writer_close(&job->copies.writer);
	pairs_close(&job->pairs);
	filter_close(&job->filter);
	capture_set_close(job->set);
	store_close(&job->store);
}

int cmd_pcap(struct options *o)
{
	struct job job = { .o = o, .kept.path = o->write, .copies.path = o->dups };
	char err[MESSAGE_MAX];
	int rc;

	if (o->json)
		messages_keep();
	rc = derive_config(o, DERIVE_FILE, 1, 1, 1, &job.derived, err, sizeof(err));
	if (rc) {
		complain("%s", err);
		return rc == -EINVAL || rc == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
	}
	if (*job.derived.warning)
		note("%s", job.derived.warning);
	if (filter_open(&job.filter, o->filter, o->direction)) {
		complain("%s", job.filter.error);
		return EXIT_USAGE;
	}
	sink_guard();
	progress_start(&job.progress, wants_progress(o));
	rc = open_inputs(&job);
	if (!rc)
		rc = open_filter(&job);
	if (!rc)
		rc = open_outputs(&job);
	if (!rc)
		rc = process(&job);
	if (!rc)
		rc = report(&job);
	job_close(&job);
	return rc || job.damaged ? EXIT_FAILED : EXIT_OK;
}

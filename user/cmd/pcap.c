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

#include "../capture/progress.h"
#include "../capture/set.h"
#include "../capture/writer.h"
#include "../derive.h"
#include "../message.h"
#include "../metrics/fullness.h"
#include "../names.h"
#include "../secret.h"
#include "../store.h"
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
	struct progress progress;
	struct xdd_count received, distinct, duplicates, bypassed[XDD_BYPASS_MAX];
	bool damaged; /* an input could not be read to its end */
};

#define BYPASS_NAME(name, help) #name,
static const char *const bypass_names[] = { XDD_BYPASSES(BYPASS_NAME) };

static bool is_stdout(const struct output *out)
{
	return out->path && !strcmp(out->path, "-");
}

static enum capture_format output_format(const struct job *job)
{
	if (job->o->format == OPTION_AUTO)
		return capture_set_format(job->set);
	return job->o->format == FORMAT_PCAP ? CAPTURE_PCAP : CAPTURE_PCAPNG;
}

static int open_output(struct job *job, struct output *out)
{
	char err[MESSAGE_MAX];
	struct stat st;
	int rc;

	if (!out->path)
		return 0;
	if (!is_stdout(out) && !stat(out->path, &st) && capture_set_has_file(job->set, &st)) {
		complain("%s: is an input, too: write to another file", out->path);
		return -EINVAL;
	}
	rc = capture_writer_open(&out->writer, job->set, out->path, output_format(job), err,
				 sizeof(err));
	if (rc)
		complain("%s", err);
	out->open = !rc;
	return rc;
}

static int open_outputs(struct job *job)
{
	const char *kept, *copies;
	int rc = open_output(job, &job->kept);

	if (!rc)
		rc = open_output(job, &job->copies);
	if (rc)
		return rc;
	kept = job->kept.writer.sink.path;
	copies = job->copies.writer.sink.path;
	if ((kept && copies && !strcmp(kept, copies)) ||
	    (is_stdout(&job->kept) && is_stdout(&job->copies))) {
		complain("-w and --dups name the same file, %s: give them two", job->kept.path);
		return -EINVAL;
	}
	return 0;
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

static void flush_outputs(void *context)
{
	struct job *job = context;

	if (job->kept.open)
		capture_writer_flush(&job->kept.writer);
	if (job->copies.open)
		capture_writer_flush(&job->copies.writer);
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

/* Is the frame a copy? */
static bool judge(struct job *job, const struct capture_item *item)
{
	struct xdd_packet packet = {
		.data = item->data,
		.end = item->data + item->len,
		.len = item->len,
		.wire_len = item->wire_len > item->len ? item->wire_len : item->len,
		.link = item->iface->link,
	};
	struct xdd_verdict verdict;
	bool seen;

	count(&job->received, packet.wire_len);
	job->last_ns = job->derived.window_records ? job->received.packets : (u64)item->time_ns;
	verdict = store_decide(&job->store, &packet, job->last_ns);
	seen = verdict.bypass == XDD_BYPASS_MAX && verdict.found & XDD_SEEN;
	if (verdict.bypass != XDD_BYPASS_MAX)
		count(&job->bypassed[verdict.bypass], packet.wire_len);
	else
		count(seen ? &job->duplicates : &job->distinct, packet.wire_len);
	return seen;
}

static int take(struct job *job, const struct capture_item *item)
{
	bool frame = item->kind == CAPTURE_FRAME;
	bool seen = frame && judge(job, item);
	int rc = put(&job->kept, item, !seen);

	if (frame)
		progress_step(&job->progress, job->set);
	return rc ? rc : put(&job->copies, item, seen);
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
		rc = publish(&job->kept);
	if (!rc)
		rc = publish(&job->copies);
	if (!rc)
		note_lost(job);
	return rc;
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

static json_t *json_filter(struct job *job)
{
	const struct derived *d = &job->derived;
	const struct xdd_store *store = &job->store;

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:I, s:I, s:I}", "engine",
			 engine_names[d->fixed.engine], "key", key_names[d->fixed.key], "window_ns",
			 d->window_records ? 0 : d->live.window_ns, "window_records",
			 d->window_records, "memory_bytes", store_bytes(store), "fpr_model",
			 store_fpr(&job->store, job->distinct.packets, job->last_ns), "time_back",
			 store->time_back, "evictions", store->evictions, "forgotten",
			 store->forgotten);
}

static int print_json(struct job *job, FILE *to)
{
	json_t *all = json_counts(job), *filter = json_filter(job);
	int rc;

	json_object_set_new(all, "seconds", json_real(progress_seconds(&job->progress)));
	json_object_set_new(all, "complete", json_boolean(!job->damaged));
	json_object_update(all, filter);
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

static void print_errors(struct job *job, FILE *to)
{
	double fpr = store_fpr(&job->store, job->distinct.packets, job->last_ns);

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
	if (job->store.forgotten || job->store.evictions)
		fprintf(to,
			"memory was short: %llu packets were forgotten within the window, their "
			"copies may have passed: give --memory more\n",
			(unsigned long long)(job->store.forgotten + job->store.evictions));
	if (fpr > STORE_FPR_HIGH)
		fprintf(to, "the filter was too full for this traffic: packets that are no copies "
			    "were dropped: give --memory more\n");
}

static void print_text(struct job *job, FILE *to)
{
	char window[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
	double seconds = progress_seconds(&job->progress);
	u64 packets = job->received.packets;

	fprintf(to, "%llu frames: %llu distinct, %llu duplicates (%.1f %%)\n",
		(unsigned long long)packets, (unsigned long long)job->distinct.packets,
		(unsigned long long)job->duplicates.packets,
		packets ? 100.0 * job->duplicates.packets / packets : 0.0);
	print_bypassed(job, to);
	fprintf(to, "key %s, window %s, engine %s in %s, %.2f s (%.2f million frames a second)\n",
		key_names[job->derived.fixed.key], derive_events_text(&job->derived, window),
		engine_names[job->derived.fixed.engine],
		units_size_text(store_bytes(&job->store), memory), seconds,
		packets / 1e6 / seconds);
	print_errors(job, to);
}

/* The summary goes where it does not mix with a capture, and where a script expects it. */
static int report(struct job *job)
{
	bool data = is_stdout(&job->kept) || is_stdout(&job->copies);
	bool files = job->kept.path || job->copies.path;

	if (job->o->json)
		return print_json(job, data ? stderr : stdout);
	if (!files || !job->o->quiet)
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
	capture_set_close(job->set);
	store_close(&job->store);
}

int cmd_pcap(struct options *o)
{
	struct job job = { .o = o, .kept.path = o->write, .copies.path = o->dups };
	char err[MESSAGE_MAX];
	int rc;

	rc = derive_config(o, DERIVE_FILE, 1, 1, 1, &job.derived, err, sizeof(err));
	if (rc) {
		complain("%s", err);
		return rc == -EINVAL || rc == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
	}
	if (*job.derived.warning)
		note("%s", job.derived.warning);
	sink_guard();
	progress_start(&job.progress, wants_progress(o));
	rc = open_inputs(&job);
	if (!rc)
		rc = open_outputs(&job);
	if (!rc)
		rc = open_filter(&job);
	if (!rc)
		rc = process(&job);
	if (!rc)
		rc = report(&job);
	job_close(&job);
	return rc || job.damaged ? EXIT_FAILED : EXIT_OK;
}

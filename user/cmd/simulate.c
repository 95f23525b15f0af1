/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup simulate: a made stream through any engine, judged by the truth. */
#include "cmd.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../batch.h"
#include "../derive.h"
#include "../message.h"
#include "../names.h"
#include "../stream.h"
#include "../units.h"
#include "xdd/hash.h"

#define DEFAULT_RECORDS 1000000
#define DEFAULT_DISTINCT 0.15
/* The clock starts where no line counts as fresh. */
#define FIRST_NS (1ull << 40)

enum rate { RATE_FPR, RATE_FNR, RATE_LOAD, RATE_MAX };

/* What a stretch of the stream came to. */
struct tally {
	u64 records, distinct; /* by the truth */
	u64 fp, fn;
	double rate[RATE_MAX];
	double seconds, filter_seconds;
};

struct simulation {
	const struct options *o;
	struct derived derived;
	u64 records, domain;
	u32 runs;
	json_t *series; /* rows of --every, of the run under way; or NULL */
};

/* One run. */
struct pass {
	struct xdd_store store;
	struct stream stream;
	struct truth truth;
	struct tally tally;
	u64 id[BATCH_MAX];
	struct xdd_digest digest[BATCH_MAX];
	bool seen[BATCH_MAX];
};

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static void tally_rates(struct tally *t)
{
	u64 copies = t->records - t->distinct;

	t->rate[RATE_FPR] = t->distinct ? (double)t->fp / t->distinct : 0;
	t->rate[RATE_FNR] = copies ? (double)t->fn / copies : 0;
}

/* The next @n records. The digest of an identifier is a bijection of it: keys never collide. */
static void pass_batch(struct pass *pass, u32 n)
{
	u64 first = pass->tally.records;
	double start;

	for (u32 i = 0; i < n; i++) {
		pass->id[i] = stream_next(&pass->stream);
		truth_fetch(&pass->truth, pass->id[i]);
		pass->digest[i].lo = xdd_mix64(pass->id[i] ^ pass->stream.seed);
		pass->digest[i].hi = xdd_mix64(pass->digest[i].lo);
	}
	start = now_seconds();
	batch_ask(&pass->store, pass->digest, n, FIRST_NS + first, pass->seen);
	pass->tally.filter_seconds += now_seconds() - start;
	for (u32 i = 0; i < n; i++) {
		bool copy = truth_ask(&pass->truth, pass->id[i], first + i + 1);

		pass->tally.distinct += !copy;
		pass->tally.fp += !copy && pass->seen[i];
		pass->tally.fn += copy && !pass->seen[i];
	}
	pass->tally.records += n;
}

static json_t *tally_json(const struct tally *t)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "records",
			 (json_int_t)t->records, "distinct", (json_int_t)t->distinct, "fp",
			 (json_int_t)t->fp, "fn", (json_int_t)t->fn, "fpr", t->rate[RATE_FPR],
			 "fnr", t->rate[RATE_FNR], "load", t->rate[RATE_LOAD], "seconds",
			 t->seconds, "filter_seconds", t->filter_seconds);
}

static void print_tally(const struct tally *t)
{
	printf("%14llu %14llu %9.4f %9.4f %7.4f %8.2f\n", (unsigned long long)t->records,
	       (unsigned long long)t->distinct, 100 * t->rate[RATE_FPR], 100 * t->rate[RATE_FNR],
	       t->rate[RATE_LOAD], t->seconds);
	fflush(stdout);
}

static void pass_stop(struct pass *pass, double start)
{
	tally_rates(&pass->tally);
	pass->tally.seconds = now_seconds() - start;
	pass->tally.rate[RATE_LOAD] = store_load(&pass->store, FIRST_NS + pass->tally.records);
}

static void pass_stream(struct simulation *sim, struct pass *pass)
{
	u64 every = sim->o->every ?: sim->records, next = every;
	double start = now_seconds();

	while (pass->tally.records < sim->records) {
		u64 left = (next < sim->records ? next : sim->records) - pass->tally.records;

		pass_batch(pass, left < BATCH_MAX ? left : BATCH_MAX);
		if (pass->tally.records != next || next >= sim->records)
			continue;
		next += every;
		pass_stop(pass, start);
		if (sim->series)
			json_array_append_new(sim->series, tally_json(&pass->tally));
		else
			print_tally(&pass->tally);
	}
	pass_stop(pass, start);
}

/* Run number @run into @tally. Returns 0 or -ENOMEM. */
static int pass_run(struct simulation *sim, u32 run, struct tally *tally)
{
	struct xdd_fixed fixed = sim->derived.fixed;
	struct pass *pass = calloc(1, sizeof(*pass));
	int err;

	if (!pass)
		return -ENOMEM;
	fixed.seed = xdd_mix64(fixed.seed) + run;
	stream_open(&pass->stream, sim->domain, sim->o->distribution, fixed.seed);
	err = truth_open(&pass->truth, sim->domain, sim->o->window_records);
	if (!err)
		err = store_open(&pass->store, &fixed, &sim->derived.live,
				 sim->derived.memory_bytes);
	if (!err)
		pass_stream(sim, pass);
	*tally = pass->tally;
	store_close(&pass->store);
	truth_close(&pass->truth);
	free(pass);
	return err;
}

/* Mean and standard deviation of a rate over the runs. */
static double mean_of(const struct tally *tallies, u32 n, enum rate rate, double *deviation)
{
	double sum = 0, squares = 0, mean;

	for (u32 i = 0; i < n; i++)
		sum += tallies[i].rate[rate];
	mean = sum / n;
	for (u32 i = 0; i < n; i++) {
		double apart = tallies[i].rate[rate] - mean;

		squares += apart * apart;
	}
	*deviation = n > 1 ? sqrt(squares / (n - 1)) : 0;
	return mean;
}

static void add_means(json_t *all, const struct tally *tallies, u32 n)
{
	static const char *const names[] = { "fpr", "fnr", "load" };
	static const char *const deviations[] = { "fpr_sd", "fnr_sd", "load_sd" };
	json_t *runs = json_array();
	double deviation;

	for (u32 i = 0; i < n; i++)
		json_array_append_new(runs, tally_json(&tallies[i]));
	json_object_set_new(all, "runs", runs);
	for (int i = 0; i < RATE_MAX; i++) {
		json_object_set_new(all, names[i], json_real(mean_of(tallies, n, i, &deviation)));
		json_object_set_new(all, deviations[i], json_real(deviation));
	}
}

/* With several runs, counts are the first one's, rates the mean. */
static void print_json(const struct simulation *sim, const struct tally *tallies)
{
	const struct xdd_fixed *fixed = &sim->derived.fixed;
	json_t *all = tally_json(&tallies[0]);
	json_t *more = json_pack("{s:s, s:i, s:I, s:I, s:f, s:I, s:s}", "algorithm",
				 engine_names[fixed->engine], "hashes", (int)fixed->hashes,
				 "memory_bytes", (json_int_t)sim->derived.memory_bytes, "domain",
				 (json_int_t)sim->domain, "zipf", sim->o->distribution, "seed",
				 (json_int_t)fixed->seed, "version", VERSION);

	json_object_update(all, more);
	if (sim->o->every)
		json_object_set(all, "series", sim->series);
	if (sim->runs > 1)
		add_means(all, tallies, sim->runs);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(more);
	json_decref(all);
}

static void print_means(const struct simulation *sim, const struct tally *tallies)
{
	double fpr, fnr, fpr_sd, fnr_sd;

	fpr = mean_of(tallies, sim->runs, RATE_FPR, &fpr_sd);
	fnr = mean_of(tallies, sim->runs, RATE_FNR, &fnr_sd);
	printf("mean of %u runs: FPR %.4f %% (deviation %.4f), FNR %.4f %% (%.4f)\n", sim->runs,
	       100 * fpr, 100 * fpr_sd, 100 * fnr, 100 * fnr_sd);
}

static int check_window(const struct simulation *sim)
{
	u32 engine = sim->derived.fixed.engine;

	if (xdd_engine_has_bits(engine) || sim->o->window_records)
		return 0;
	complain("simulate: engine %s has a window: give --window-records", engine_names[engine]);
	return -EINVAL;
}

static int plan(struct simulation *sim, struct options *o)
{
	char err[MESSAGE_MAX];
	int code;

	sim->o = o;
	sim->records = o->records ?: DEFAULT_RECORDS;
	sim->runs = o->runs ?: 1;
	if (o->domain && o->distinct) {
		complain("simulate: --domain and --distinct both set the identifiers: give one");
		return -EINVAL;
	}
	if (o->distribution && !o->domain) {
		complain("simulate: --distribution zipf needs the number of identifiers, for "
			 "example --domain 10M");
		return -EINVAL;
	}
	sim->domain = o->domain ?: stream_domain(sim->records, o->distinct ?: DEFAULT_DISTINCT);
	if (o->engine == OPTION_AUTO)
		o->engine = XDD_ENGINE_rlbsbf;
	code = derive_config(o, DERIVE_FILE, 1, 1, 1, &sim->derived, err, sizeof(err));
	if (code) {
		complain("simulate: %s", err);
		return code;
	}
	/* One thread: nothing needs to be atomic. */
	sim->derived.fixed.placement = XDD_PLACEMENT_percpu;
	return check_window(sim);
}

static int run_all(struct simulation *sim, struct tally *tallies)
{
	int err = 0;

	if (!sim->o->json)
		printf("%14s %14s %9s %9s %7s %8s\n", "records", "distinct", "FPR %", "FNR %",
		       "load", "seconds");
	for (u32 i = 0; !err && i < sim->runs; i++) {
		err = pass_run(sim, i, &tallies[i]);
		if (!err && !sim->o->json)
			print_tally(&tallies[i]);
	}
	if (err)
		complain("simulate: %s for %llu identifiers and the filter: fewer of them, or less "
			 "--memory",
			 strerror(-err), (unsigned long long)sim->domain);
	return err;
}

int cmd_simulate(struct options *o)
{
	struct simulation sim = {};
	struct tally *tallies;
	int err;

	err = plan(&sim, o);
	if (err)
		return err == -EINVAL || err == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
	tallies = calloc(sim.runs, sizeof(*tallies));
	sim.series = o->json ? json_array() : NULL;
	err = tallies ? run_all(&sim, tallies) : -ENOMEM;
	if (!err && o->json)
		print_json(&sim, tallies);
	else if (!err && sim.runs > 1)
		print_means(&sim, tallies);
	json_decref(sim.series);
	free(tallies);
	return err ? EXIT_FAILED : EXIT_OK;
}

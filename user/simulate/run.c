/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One run of xdp-dedup simulate: the stream through the engine, judged by the truth. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/batch.h"
#include "user/clock.h"
#include "user/metrics/expected.h"
#include "user/model.h"
#include "user/simulate/messages.h"
#include "user/simulate/simulate.h"
#include "user/stream.h"
#include "xdd/faults.h"

struct pass {
	const struct simulation *sim;
	struct xdd_store store;
	struct stream stream;
	struct stream producers; /* of a tree: the leaves of made records */
	/* A record is a copy by `truth` as the engine defines its window, by `given` as the user
	 * did.
	 */
	struct truth truth, given;
	struct messages messages;
	struct tally tally;
	double start, cpu_start; /* seconds of the clock, and of this thread's */
	double new_load,
		all_load; /* the models of load by new keys, and also by forgotten copies */
	u64 id[BATCH_MAX], at_ns[BATCH_MAX], last_ns;
	struct xdd_digest digest[BATCH_MAX];
	bool seen[BATCH_MAX];
};

static double seconds_of(clockid_t clock)
{
	return clock_ns(clock) * 1e-9;
}

/* Whether the engine's window is in ticks, so that it is another one than was given. */
static bool has_ticks(const struct pass *pass)
{
	return xdd_engine_has_timers(pass->store.fixed.engine);
}

/* How many records at the base rate take as long as the first @records, of which those of the middle
 * third come in a burst.
 */
static u64 slots_of(const struct simulation *sim, u64 records)
{
	u64 third = sim->records / 3, in_burst;

	if (!sim->o->burst || records <= third)
		return records;
	in_burst = records < 2 * third ? records - third : third;
	return records - in_burst + (u64)(in_burst / sim->o->burst);
}

/* The times of the next @n records. */
static void pass_times(struct pass *pass, u32 n)
{
	const struct simulation *sim = pass->sim;
	u64 first = pass->tally.records;

	for (u32 i = 0; i < n; i++) {
		u64 at_ns = slots_of(sim, first + i);

		if (sim->clock == CLOCK_RATE)
			at_ns = (unsigned __int128)at_ns * 1000000000 / sim->o->rate;
		else if (sim->clock == CLOCK_TRACE)
			at_ns = sim->trace.times_ns[first + i];
		pass->at_ns[i] = sim->start_ns + at_ns;
	}
}

/* Their identifiers. */
static void pass_ids(struct pass *pass, u32 n)
{
	const u32 *ids = pass->sim->trace.ids;
	struct stream stream = pass->stream; /* not in memory: the compiler sees who writes to it */

	for (u32 i = 0; i < n; i++)
		pass->id[i] = ids ? ids[pass->tally.records + i] : stream_next(&stream);
	pass->stream = stream;
}

/* The next @n records. The digest of an identifier is a bijection of it: keys never collide. */
static void pass_draw(struct pass *pass, u32 n)
{
	struct truth truth = pass->truth, given = pass->given;
	bool wide = pass->store.fixed.engine == XDD_ENGINE_exact;
	u64 seed = pass->stream.seed;

	pass_times(pass, n);
	pass_ids(pass, n);
	for (u32 i = 0; i < n; i++) {
		u64 id = pass->id[i];

		truth_fetch(&truth, id);
		if (given.seen)
			truth_fetch(&given, id);
		pass->digest[i].lo = xdd_mix64(id ^ seed);
		if (wide)
			pass->digest[i].hi = xdd_mix64(pass->digest[i].lo);
	}
}

u32 simulation_leaf(const struct simulation *sim, struct stream *producers, u64 record, u64 id)
{
	u32 leaves = sim->derived.fixed.tree_leaves, rest;

	if (sim->trace.producers)
		return xdd_range(sim->trace.producers[record], leaves, &rest);
	if (sim->o->locality && ldexp(stream_draw(producers), -64) < sim->o->locality)
		return xdd_range(xdd_mix64(id), leaves, &rest);
	return stream_zipf(producers);
}

static void pass_ask_tree(struct pass *pass, u32 n)
{
	double start = seconds_of(CLOCK_MONOTONIC);

	for (u32 i = 0; i < n; i++)
		pass->seen[i] =
			store_tree_ask(&pass->store, &pass->digest[i], pass->at_ns[i],
				       simulation_leaf(pass->sim, &pass->producers,
						       pass->tally.records + i, pass->id[i]));
	memcpy(pass->tally.level, pass->store.tree.level, sizeof(pass->tally.level));
	pass->tally.filter_seconds += seconds_of(CLOCK_MONOTONIC) - start;
}

static void pass_ask(struct pass *pass, u32 n)
{
	/* How far a look-up comes depends on all that came before it. */
	const struct batch_watch watch = { messages_pipe, &pass->messages };
	bool vary = messages_vary(&pass->messages, &pass->store.fixed);
	double start = seconds_of(CLOCK_MONOTONIC);

	pass->messages.piped += vary ? 0 : n;
	batch_ask_watched(&pass->store, pass->digest, pass->at_ns, n, pass->seen,
			  vary ? &watch : NULL);
	pass->tally.filter_seconds += seconds_of(CLOCK_MONOTONIC) - start;
}

static void errors_add(struct errors *errors, bool copy, bool seen)
{
	errors->distinct += !copy;
	/* & of 0 or 1: a jump would be guessed wrong too often */
	errors->fp += !copy & seen;
	errors->fn += copy & !seen;
}

/* Let the models of load see what came in since @before. */
static void pass_model(struct pass *pass, const struct errors *before, u32 n)
{
	const struct xdd_fixed *fixed = &pass->store.fixed;
	double bits = xdd_bits_filter(fixed);
	double keys = pass->tally.errors.distinct - before->distinct;
	double forgotten = pass->tally.errors.fn - before->fn;
	const struct model_arrivals new = { keys, 0, 0 }, all = { keys, n - keys, forgotten };

	pass->new_load =
		model_load_biased(pass->new_load, &new, bits, fixed->hashes, fixed->engine);
	pass->all_load =
		model_load_biased(pass->all_load, &all, bits, fixed->hashes, fixed->engine);
}

/* Whether the filter has @seen it decides about the truth only with --truth delivered. */
static inline bool judge_ask(struct truth *truth, bool delivered, u64 id, u64 record, bool seen)
{
	return delivered ? truth_delivered(truth, id, record, !seen) : truth_ask(truth, id, record);
}

static void pass_judge(struct pass *pass, u32 n)
{
	struct errors before = pass->tally.errors, errors = before;
	struct truth truth = pass->truth;
	u64 tick_ns = pass->store.fixed.tick_ns;
	bool ticks = has_ticks(pass), delivered = pass->sim->o->truth == TRUTH_DELIVERED;

	for (u32 i = 0; i < n; i++) {
		u64 id = pass->id[i], at = pass->at_ns[i];
		bool seen = pass->seen[i], copy;

		copy = judge_ask(&truth, delivered, id, ticks ? at / tick_ns : at, seen);
		errors_add(&errors, copy, seen);
		if (!ticks)
			continue;
		copy = judge_ask(&pass->given, delivered, id, at, seen);
		errors_add(&pass->tally.given, copy, seen);
	}
	pass->tally.errors = errors;
	pass_model(pass, &before, n);
	pass->tally.records += n;
	pass->last_ns = pass->at_ns[n - 1];
}

static void set_rates(double *rate, enum simulate_rate fpr, enum simulate_rate fnr,
		      const struct errors *errors, u64 records)
{
	u64 copies = records - errors->distinct;

	rate[fpr] = errors->distinct ? (double)errors->fp / errors->distinct : 0;
	rate[fnr] = copies ? (double)errors->fn / copies : 0;
}

/* Slices that the key picks hold all of its bits, or K2 of them; the other ways spread them as an
 * unsliced filter does.
 */
static double bloom_load(const struct xdd_fixed *fixed, u64 keys)
{
	bool diced = fixed->slicing == XDD_SLICING_K1xK2;
	u32 slices = diced || xdd_slices_pick_one(fixed) ? fixed->slices : 1;

	return model_load_bloom(keys, xdd_cells(fixed), fixed->hashes, slices,
				diced ? fixed->slice_hashes : 1);
}

/* The load that the model expects by now; NAN: there is no model. Those of sbf and rsbf are for
 * uniform streams.
 */
static double load_model(const struct pass *pass)
{
	const struct xdd_fixed *fixed = &pass->store.fixed;
	const struct tally *t = &pass->tally;
	double bits = xdd_cells(fixed);
	double filter = xdd_bits_filter(fixed);
	bool uniform = !pass->sim->trace.ids && !pass->stream.alpha;

	if (fixed->engine == XDD_ENGINE_bloom)
		return bloom_load(fixed, t->errors.distinct);
	if (fixed->engine == XDD_ENGINE_sbf && uniform)
		return model_load_reset(t->records, pass->sim->domain, bits / fixed->sbf_bits,
					fixed->hashes, fixed->reset_bits, fixed->sbf_max);
	if (fixed->engine == XDD_ENGINE_rsbf && uniform && fixed->variant == XDD_VARIANT_published)
		return model_load_reset(model_reservoir(t->records, filter,
							fixed->reservoir_events),
					pass->sim->domain, filter, 1, 1, 1);
	return pass->new_load;
}

static void set_slices(struct tally *tally, const struct messages *messages, bool grows)
{
	struct model_spread spread = model_spread(messages->to, messages->slices);

	tally->slices = messages->slices;
	tally->rate[RATE_max_share] = spread.max_share;
	tally->rate[RATE_fairness] = spread.fairness;
	tally->rate[RATE_messages_per_lookup] = spread.sum / tally->records;
	if (messages->slices > 1 && !grows)
		tally->rate[RATE_pipelined_per_lookup] = (double)messages->piped / tally->records;
}

/* Complete the tally at the end of a stretch of a stream. */
static void pass_stop(struct pass *pass)
{
	struct tally *t = &pass->tally;
	u64 called = t->errors.distinct - t->errors.fp + t->errors.fn;
	struct expected model;
	double *rate = t->rate;

	for (int i = 0; i < RATE_MAX; i++)
		rate[i] = NAN;
	t->seconds = seconds_of(CLOCK_MONOTONIC) - pass->start;
	t->cpu_seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID) - pass->cpu_start;
	set_rates(rate, RATE_fpr, RATE_fnr, &t->errors, t->records);
	rate[RATE_fpr_joint] = (double)t->errors.fp / t->records;
	rate[RATE_fnr_joint] = (double)t->errors.fn / t->records;
	if (has_ticks(pass))
		set_rates(rate, RATE_given_fpr, RATE_given_fnr, &t->given, t->records);
	if (pass->store.chains) {
		store_grow_all(&pass->store, pass->last_ns);
		rate[RATE_filters_live] = store_filters_live(&pass->store);
		rate[RATE_filters_most] = pass->store.filters_most;
	}
	model = store_expected(&pass->store, called, t->records - called, pass->last_ns);
	rate[RATE_fpr_model] = model.fpr;
	rate[RATE_fnr_model] = model.fnr;
	rate[RATE_load] = store_load(&pass->store, pass->last_ns);
	rate[RATE_load_model] = load_model(pass);
	rate[RATE_load_model_copies] = pass->all_load;
	audit_make(&t->audit, &pass->store.fixed, &pass->store.audit_counts, called,
		   t->records - called);
	if (pass->messages.slices)
		set_slices(t, &pass->messages, pass->store.fixed.filters);
}

/* Where the next stretch, or else the stream, ends. */
static u64 stretch_end(const struct simulation *sim, u64 records)
{
	u64 every = sim->o->every ?: sim->records, left = sim->records - records;

	return records + (every < left ? every : left);
}

static void pass_stretch(struct pass *pass, u64 end)
{
	while (pass->tally.records < end) {
		u64 left = end - pass->tally.records;
		u32 n = left < BATCH_MAX ? left : BATCH_MAX;

		pass_draw(pass, n);
		if (pass->store.fixed.placement == XDD_PLACEMENT_tree)
			pass_ask_tree(pass, n);
		else
			pass_ask(pass, n);
		pass_judge(pass, n);
		messages_add(&pass->messages, &pass->store.fixed, pass->digest, n);
	}
}

static void pass_stream(struct simulation *sim, struct pass *pass)
{
	u64 end;

	pass->start = seconds_of(CLOCK_MONOTONIC);
	pass->cpu_start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	while (pass->tally.records < sim->records) {
		end = stretch_end(sim, pass->tally.records);
		pass_stretch(pass, end);
		pass_stop(pass);
		if (end < sim->records && sim->rows)
			sim->rows[sim->n_rows++] = pass->tally;
		else if (end < sim->records)
			report_row(&pass->tally);
	}
}

/* Add those of a run to those of the others. */
static int keep_messages(struct simulation *sim, const struct messages *messages)
{
	if (!messages->slices || messages->slices > SIMULATE_SLICES)
		return 0;
	if (!sim->messages)
		sim->messages = calloc(messages->slices, sizeof(*sim->messages));
	if (!sim->messages)
		return -ENOMEM;
	sim->slices = messages->slices;
	for (u32 i = 0; i < messages->slices; i++)
		sim->messages[i] += messages->to[i];
	return 0;
}

/* Let --faults parts fail, drawn without putting back. */
static void pass_fail(struct pass *pass)
{
	u32 parts = xdd_parts(&pass->store.fixed), left = pass->sim->o->faults;
	u64 seed = xdd_mix64(pass->store.fixed.seed);

	for (u32 i = 0; left && i < parts; i++) {
		u64 draw = xdd_bits_draw(seed, i) >> 32;

		if (draw * (parts - i) >> 32 < left) {
			store_fail(&pass->store, i);
			left--;
		}
	}
}

static int pass_open(struct pass *pass, const struct xdd_fixed *fixed)
{
	const struct simulation *sim = pass->sim;
	const struct xdd_live *live = &sim->derived.live;
	u64 window = live->window_ns == STORE_FOREVER_NS ? 0 : live->window_ns + 1;
	bool ticks = xdd_engine_has_timers(fixed->engine);
	int err;

	err = truth_open(&pass->truth, sim->domain, ticks ? live->window_ticks : window);
	if (!err && ticks)
		err = truth_open(&pass->given, sim->domain, window);
	if (!err)
		err = messages_open(&pass->messages, fixed);
	if (!err)
		err = store_open(&pass->store, fixed, live, sim->derived.memory_bytes);
	if (err)
		return err;
	pass->store.in_order = true;
	pass_fail(pass);
	return 0;
}

int simulation_run(struct simulation *sim, u32 run, struct tally *tally)
{
	struct xdd_fixed fixed = sim->derived.fixed;
	struct pass *pass = calloc(1, sizeof(*pass));
	int err;

	if (!pass)
		return -ENOMEM;
	pass->sim = sim;
	fixed.seed = xdd_mix64(fixed.seed) + run;
	stream_open(&pass->producers, fixed.tree_leaves ?: 1, 1, ~fixed.seed);
	stream_open(&pass->stream, sim->domain, sim->o->distribution, fixed.seed);
	err = pass_open(pass, &fixed);
	if (!err)
		pass_stream(sim, pass);
	*tally = pass->tally;
	if (!err)
		err = keep_messages(sim, &pass->messages);
	store_close(&pass->store);
	truth_close(&pass->truth);
	truth_close(&pass->given);
	messages_close(&pass->messages);
	free(pass);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of xdp-dedup simulate share: plan, run, report. */
#ifndef USER_SIMULATE_SIMULATE_H
#define USER_SIMULATE_SIMULATE_H

#include "user/derive.h"
#include "user/metrics/audit.h"
#include "user/simulate/trace.h"
#include "user/stream.h"
#include "xdd/tree.h"

/*
 * What a run measures: X(name). NAN where it says nothing.
 * fpr                  FP/(FP+TN): of what the truth calls distinct
 * fnr                  FN/(FN+TP): of what the truth calls a copy
 * fpr_joint, fnr_joint the same of all records (bera-2012 eq. 3.3 and 3.4: joint probabilities)
 * load, load_model     share of the cells that are in use, and what model.h expects of the keys
 * load_model_copies    the same with the copies that were forgotten, as many as there were
 * filters_live         --grow: filters of a chain now, the mean over the chains
 * filters_most         ... and the most that one had at once
 * fpr_model, fnr_model what is to be expected of the filter as it then is (struct expected)
 * given_fpr, given_fnr timer engines: against the window as it was given, see struct tally
 */
#define SIMULATE_RATES(X)    \
	X(fpr)               \
	X(fnr)               \
	X(fpr_joint)         \
	X(fnr_joint)         \
	X(load)              \
	X(load_model)        \
	X(load_model_copies) \
	X(filters_live)      \
	X(filters_most)      \
	X(fpr_model)         \
	X(fnr_model)         \
	X(given_fpr)         \
	X(given_fnr)

/* Of sliced filters, see messages.h. */
#define SIMULATE_SLICE_RATES(X) \
	X(max_share)            \
	X(fairness)             \
	X(messages_per_lookup)  \
	X(pipelined_per_lookup)

#define SIMULATE_RATE(name) RATE_##name,
enum simulate_rate {
	SIMULATE_RATES(SIMULATE_RATE) RATE_SLICES,
	RATE_BEFORE_SLICES = RATE_SLICES - 1,
	SIMULATE_SLICE_RATES(SIMULATE_RATE) RATE_MAX
};

/* Records against one truth. */
struct errors {
	u64 distinct; /* by the truth */
	u64 fp, fn;
};

/* What a stretch of the stream, from its start, came to. */
struct tally {
	u64 records;
	/* Against the window as the engine defines it. Timer engines: a copy if fewer ticks have
	 * begun since the record that started it than a window has (koloniari-2011 section 4).
	 */
	struct errors errors;
	/* Timer engines: against the window in records or nanoseconds, inclusive. */
	struct errors given;
	u32 slices; /* 0: the engine has none */
	double rate[RATE_MAX];
	struct audit audit;
	struct xdd_tree_level level[XDD_TREE_MAX_LEVELS]; /* of a tree */
	double seconds, filter_seconds, cpu_seconds;	  /* the last: of the thread */
};

/* Slices up to which the load of each is printed. */
#define SIMULATE_SLICES 4096

/* Where the time of a record comes from. */
enum simulate_clock { CLOCK_RECORDS, CLOCK_RATE, CLOCK_TRACE };

struct simulation {
	const struct options *o;
	struct derived derived;
	struct trace trace; /* no records: the stream is made */
	enum simulate_clock clock;
	u64 start_ns; /* time of record 0 is at or after it; where a tick begins */
	u64 records, domain;
	u32 runs;
	u64 *messages; /* of all runs, by slice: for --json, up to SIMULATE_SLICES of them; or NULL */
	u32 slices;    /* so many */
	struct tally *rows; /* for --json those of --every, @rows_each of each run */
	u64 rows_each, n_rows;
};

/* Complete @o into @sim. Returns an exit code, and has complained if it is not EXIT_OK.
 * simulation_close() frees in either case.
 */
int simulation_plan(struct simulation *sim, struct options *o);
void simulation_close(struct simulation *sim);

/* Run number @run (from 0; each has its own seed) into @tally. Returns 0 or -ENOMEM. */
int simulation_run(struct simulation *sim, u32 run, struct tally *tally);

/* The leaf of a tree that record @record (from 0), of identifier @id, comes from: by its producer's hash. A stand-in for
 * real logs makes leaves active by Zipf's law, drawn from @producers, and lets a part of an identifier's records come
 * from its home.
 */
u32 simulation_leaf(const struct simulation *sim, struct stream *producers, u64 record, u64 id);

/* Print what is known so far: a row of --every, or a run's end. */
void report_head(void);
void report_row(const struct tally *tally);

/* Print what @sim->runs runs came to. */
void report_text(const struct simulation *sim, const struct tally *tallies);
void report_json(const struct simulation *sim, const struct tally *tallies);

#endif

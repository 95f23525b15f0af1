/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the options of xdp-dedup simulate to what is run. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/names.h"
#include "user/simulate/simulate.h"
#include "user/store.h"
#include "user/stream.h"
#include "xdd/faults.h"

#define DEFAULT_RECORDS 1000000
#define DEFAULT_DISTINCT 0.15
#define MAX_RATE 1000000000ull
/* The clock starts where no line counts as fresh. */
#define FIRST_NS (1ull << 40)

static bool is_tree(const struct simulation *sim)
{
	return sim->derived.fixed.placement == XDD_PLACEMENT_tree;
}

/* The command line's part of the stream. Returns an exit code. */
static int check_stream(const struct options *o)
{
	const char *text = NULL;

	if (o->trace && (o->domain || o->distinct || option_given(o, OPT_distribution)))
		text = "--trace brings its own events: leave out --domain, --distinct and "
		       "--distribution";
	else if (o->trace_columns && !o->trace)
		text = "--trace-columns belongs to --trace FILE";
	else if (o->domain && o->distinct)
		text = "--domain and --distinct both set the identifiers: give one";
	else if (o->trace && o->locality)
		text = "--trace brings its own producers: leave out --locality";
	else if (o->distribution && !o->domain)
		text = "--distribution zipf needs the number of identifiers, for example "
		       "--domain 10M";
	else if (o->burst && o->trace && option_given(o, OPT_window) && !o->rate)
		text = "--burst changes the rate of records, and this --trace brings their times: "
		       "add --rate N, or give --window-records";
	if (text)
		complain("simulate: %s", text);
	return text ? EXIT_USAGE : EXIT_OK;
}

/* Engines with timers need a window, in records or in time. Returns an exit code. */
static int check_window(const struct options *o)
{
	bool time = option_given(o, OPT_window);

	if (xdd_engine_has_timers(o->engine) && !time && !o->window_records)
		complain("simulate: engine %s has a window: give --window-records N, or --window "
			 "TIME and --rate N",
			 engine_names[o->engine]);
	else if (o->rate && !time)
		complain("simulate: --rate sets the time of records, which only --window asks for: "
			 "give it instead of --window-records");
	else if (o->rate_bits)
		complain("simulate: --rate %s: records have no size: give records a second, for "
			 "example --rate 1M",
			 o->text[OPT_rate]);
	else if (o->rate > MAX_RATE)
		complain("simulate: --rate %llu: at most 1G records a second",
			 (unsigned long long)o->rate);
	else if (time && !o->rate && !o->trace)
		complain("simulate: --window is in time: also give --rate N, or a --trace with a "
			 "column time");
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

static int plan_filter(struct simulation *sim)
{
	char err[MESSAGE_MAX];
	u64 tick_ns;
	int code;

	code = derive_config(sim->o, DERIVE_SIMULATION, 1, 1, 1, &sim->derived, err, sizeof(err));
	if (code) {
		complain("simulate: %s", err);
		return code == -EINVAL || code == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
	}
	if (*sim->derived.warning)
		note("simulate: %s", sim->derived.warning);
	if (sim->o->faults > xdd_parts(&sim->derived.fixed)) {
		complain("simulate: --faults %u: the filter has %u slices, or ranges of slices, "
			 "that "
			 "can fail",
			 sim->o->faults, xdd_parts(&sim->derived.fixed));
		return EXIT_USAGE;
	}
	if (!option_given(sim->o, OPT_window) && !sim->o->window_records)
		sim->derived.live.window_ns = STORE_FOREVER_NS;
	/* What JSON can carry, and --seed takes. */
	if (sim->derived.secret_random)
		sim->derived.fixed.seed &= INT64_MAX;
	/* One thread: nothing needs to be atomic. */
	if (!is_tree(sim))
		sim->derived.fixed.placement = XDD_PLACEMENT_percpu;
	tick_ns = sim->derived.fixed.tick_ns;
	sim->start_ns = (FIRST_NS + tick_ns - 1) / tick_ns * tick_ns;
	return EXIT_OK;
}

static int plan_trace(struct simulation *sim)
{
	const struct options *o = sim->o;
	char err[MESSAGE_MAX];
	int code;

	sim->clock = option_given(o, OPT_window) && !o->rate ? CLOCK_TRACE : sim->clock;
	code = trace_read(&sim->trace, o->trace, o->trace_columns, sim->clock == CLOCK_TRACE,
			  is_tree(sim), o->records ?: UINT64_MAX, err, sizeof(err));
	if (code) {
		complain("simulate: %s", err);
		return code == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	sim->records = sim->trace.records;
	sim->domain = sim->trace.domain;
	return EXIT_OK;
}

static int check_memory(const char *what, double bytes, const char *advice)
{
	u64 available = derive_memory_available();
	char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];

	if (bytes <= available)
		return EXIT_OK;
	complain("simulate: %s would take %s, but %s of memory are free: %s", what,
		 units_size_text(fmin(bytes, 0x1p63), needed), units_size_text(available, there),
		 advice);
	return EXIT_FAILED;
}

/* The truth knows of every identifier a bit, or what started its window. */
static int check_truth(const struct simulation *sim)
{
	bool forever = sim->derived.live.window_ns == STORE_FOREVER_NS;
	double bytes = sim->domain * (forever ? 1 / 8. : sizeof(u64));

	if (xdd_engine_has_timers(sim->derived.fixed.engine))
		bytes *= 2;
	return check_memory("the truth about each identifier", bytes, "fewer of them");
}

/* Room for the rows of --every. */
static int plan_rows(struct simulation *sim)
{
	int code;

	if (!sim->o->json || !sim->o->every)
		return EXIT_OK;
	sim->rows_each = (sim->records - 1) / sim->o->every;
	code = check_memory("the rows of --every",
			    (double)sizeof(*sim->rows) * sim->rows_each * sim->runs,
			    "give a larger one");
	if (code)
		return code;
	sim->rows = calloc(sim->rows_each * sim->runs + 1, sizeof(*sim->rows));
	if (sim->rows)
		return EXIT_OK;
	complain("simulate: no memory for the rows of --every: give a larger one");
	return EXIT_FAILED;
}

int simulation_plan(struct simulation *sim, struct options *o)
{
	int code;

	memset(sim, 0, sizeof(*sim));
	sim->o = o;
	if (o->json)
		messages_keep();
	sim->runs = o->runs ?: 1;
	sim->clock = o->rate ? CLOCK_RATE : CLOCK_RECORDS;
	if (o->faults && !o->fault_policy)
		o->fault_policy = XDD_FAULTS_distinct;
	code = check_stream(o);
	if (!code)
		code = check_window(o);
	if (!code)
		code = plan_filter(sim);
	if (code)
		return code;
	sim->records = o->records ?: DEFAULT_RECORDS;
	sim->domain = o->domain ?: stream_domain(sim->records, o->distinct ?: DEFAULT_DISTINCT);
	if (o->trace)
		code = plan_trace(sim);
	if (!code)
		code = check_truth(sim);
	return code ?: plan_rows(sim);
}

void simulation_close(struct simulation *sim)
{
	trace_close(&sim->trace);
	free(sim->messages);
	free(sim->rows);
}

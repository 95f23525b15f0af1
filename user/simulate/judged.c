/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/simulate/judged.h"

#include "user/batch.h"

int judged_open(struct judged *j, const struct simulation *sim, const struct xdd_fixed *fixed,
		u64 seed)
{
	bool timers = xdd_engine_has_timers(fixed->engine);
	u64 window = timers ? sim->derived.live.window_ticks : 0;
	int rc;

	*j = (struct judged){ .sim = sim };
	rc = truth_open(&j->truth, sim->domain, window);
	if (!rc)
		rc = store_open(&j->store, fixed, &sim->derived.live, sim->derived.memory_bytes);
	stream_open(&j->stream, sim->domain, sim->o->distribution, seed);
	return rc;
}

void judged_close(struct judged *j)
{
	store_close(&j->store);
	truth_close(&j->truth);
}

struct record judged_draw(struct judged *j)
{
	const struct simulation *sim = j->sim;
	struct record record = { .number = j->drawn++ };

	record.id = sim->trace.ids ? sim->trace.ids[record.number] : stream_next(&j->stream);
	record.digest.lo = xdd_mix64(record.id ^ j->stream.seed);
	record.at_ns = record.number;
	if (sim->clock == CLOCK_RATE)
		record.at_ns = (unsigned __int128)record.number * 1000000000 / sim->o->rate;
	else if (sim->clock == CLOCK_TRACE)
		record.at_ns = sim->trace.times_ns[record.number];
	record.at_ns += sim->start_ns;
	record.tick = record.at_ns / sim->derived.fixed.tick_ns;
	return record;
}

void judged_take(struct judged *j, const struct record *record, bool seen)
{
	bool timers = xdd_engine_has_timers(j->store.fixed.engine), one;
	bool copy = truth_ask(&j->truth, record->id, timers ? record->tick : j->asked + 1);

	batch_ask_plain(&j->store, &record->digest, &record->at_ns, 1, &one);
	j->asked++;
	j->distinct += !copy;
	j->fp += !copy && seen;
	j->fn += copy && !seen;
	j->differences += seen != one;
}

struct judged_rates judged_rates(const struct judged *j)
{
	double n = j->asked, copies = n - j->distinct;

	return (struct judged_rates){ j->distinct / n,
				      j->distinct ? (double)j->fp / j->distinct : 0,
				      copies > 0 ? j->fn / copies : 0 };
}

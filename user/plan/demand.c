/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is asked for, in numbers. */
#include <math.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/names.h"
#include "user/plan/plan.h"

#define DEFAULT_FNR 0.01

/* How many live keys: by one of three ways. */
static const char *check_keys(const struct options *o)
{
	if (o->from && (o->rate || o->capacity || o->packets_size))
		return "--from measures what comes in: leave out --rate, --capacity and "
		       "--packets-size";
	if (o->capacity && o->rate)
		return "--capacity and --rate both set the number of live keys: give one";
	if (!o->from && !o->capacity && !o->rate)
		return "how many keys are live? Give --rate N (and --window), --capacity KEYS, or "
		       "--from FILE";
	if (o->rate_bits && !o->packets_size)
		return "--rate in bits also needs --packets-size BYTES";
	if (o->packets_size && !o->rate)
		return "--packets-size belongs to --rate";
	return NULL;
}

static const char *check_faults(const struct options *o)
{
	u64 count = (u64)o->slices * (o->subslices ?: 1);

	if (option_given(o, OPT_fault_fpr) && !o->faults)
		return "--fault-fpr belongs to --faults F";
	if (o->fault_fpr && o->fpr_target && o->fault_fpr <= o->fpr_target)
		return "--fault-fpr is the rate while slices have failed: more than --fpr-target";
	if (o->faults && o->slicing == XDD_SLICING_none)
		return "--slicing none is one slice, with which all fails: another --slicing bears "
		       "--faults";
	if (count && o->faults >= count)
		return "--faults are to be fewer than all slices";
	return NULL;
}

/* Options that the engine does not have. */
static const char *check_engine(const struct options *o)
{
	bool hashed = o->engine == XDD_ENGINE_timer || xdd_engine_has_bits(o->engine);

	if (o->engine == OPTION_AUTO)
		return NULL;
	if (o->engine == XDD_ENGINE_recovery)
		return "--engine recovery takes a line for each stream: give load or run "
		       "--capacity";
	if (o->hashes && !hashed)
		return "--hashes is for --engine timer and the bit engines";
	if ((o->slicing != OPTION_AUTO || o->slices) && !xdd_engine_is_sliced(o->engine))
		return "--slicing and --slices are for --engine timer and bloom";
	if (o->faults && !xdd_engine_may_fail(o->engine))
		return "--faults are of slices, which --engine tagged, timer and bloom have";
	return NULL;
}

/* Where nothing says how fine a window is, as fine as the FNR of copies that come anywhere in it asks. */
static u32 ticks_of(const struct options *o, const struct plan_demand *d)
{
	u32 ticks = o->ticks ?: DERIVE_TICKS;

	if (!o->ticks && option_given(o, OPT_fnr_target))
		ticks = fmin(fmax(ceil(1 / (2 * d->fnr)), DERIVE_TICKS), XDD_MAX_WINDOW_TICKS);
	return d->window_ns && d->window_ns < ticks ? d->window_ns : ticks;
}

/* Every packet is taken for new, and for one that has a copy. */
static void demand_by_rate(const struct options *o, struct plan_demand *d)
{
	d->packet_bytes = o->packets_size;
	d->rate = o->rate_bits ? o->rate / (8 * d->packet_bytes) : o->rate;
	d->keys = fmax(d->rate * d->window_ns / 1e9, 1);
}

int plan_demand(const struct options *o, struct plan_demand *d)
{
	const char *wrong = check_keys(o) ?: check_faults(o) ?: check_engine(o);
	int code = EXIT_OK;

	if (wrong) {
		complain("plan: %s", wrong);
		return EXIT_USAGE;
	}
	*d = (struct plan_demand){
		.keys = o->capacity,
		.copies = 1,
		.window_ns = option_given(o, OPT_window) ? o->window : DERIVE_WINDOW_NS,
		.fpr = o->fpr_target,
		.fnr = o->fnr_target ?: DEFAULT_FNR,
		.fault_fpr = o->fault_fpr,
		.failed = o->faults,
		.cost = o->cost_ratio ?: 1,
		.vote = o->cost_ratio,
		.memory = o->memory,
	};
	if (o->capacity && !option_given(o, OPT_window))
		d->window_ns = 0;
	if (o->from)
		code = plan_measure(o, d);
	else if (o->rate)
		demand_by_rate(o, d);
	d->ticks = ticks_of(o, d);
	return code;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is asked for, in numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/names.h"
#include "user/plan/plan.h"
#include "user/units.h"

#define DEFAULT_FNR 0.01
#define DEFAULT_BURST 2
#define MOST_MEMORY (UINT32_MAX * (u64)XDD_LINE_BYTES) /* lines are numbered with 32 bits */

/* How many live keys: by one of three ways. */
static const char *check_keys(const struct options *o)
{
	if (o->from && (o->rate || o->capacity || o->packets_size))
		return "--from measures what comes in: leave out --rate, --capacity and "
		       "--packets-size";
	if (o->capacity && o->rate)
		return "--capacity and --rate both set the number of live keys: give one";
	if (option_given(o, OPT_hosts) || option_given(o, OPT_false_rate_target) ||
	    option_given(o, OPT_bound) || option_given(o, OPT_weights) || o->fan_out)
		return "--hosts, --false-rate-target, --bound, --weights and --fan-out are for "
		       "plan "
		       "cluster";
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
	if (o->faults && (o->grow || o->equal > 1))
		return "--faults are borne by a --fault-policy, which --grow and --equal do not go "
		       "with: leave one out";
	return NULL;
}

/* What has a formula here. */
static const char *check_growth(const struct options *o)
{
	bool alone = o->slicing == OPTION_AUTO && o->slices <= 1;

	if (o->burst && !o->grow)
		return "--burst is what a filter that grows has room for: add --grow density or "
		       "--grow cardinality";
	if (o->grow && !alone && o->slicing != XDD_SLICING_none &&
	    o->slicing != XDD_SLICING_vertical)
		return "--grow is planned with --slicing none or vertical: slices that grow each "
		       "by "
		       "itself hold uneven shares of the keys, for which there is no formula";
	if (o->equal > 1 && (o->slicing == XDD_SLICING_vh || o->slicing == XDD_SLICING_K1xK2))
		return "--equal is planned with --slicing none, horizontal, vertical or hv: for "
		       "the "
		       "others there is no formula";
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
	if (o->equal > 1 && o->engine != XDD_ENGINE_timer)
		return "--equal is for --engine timer";
	if (o->hashes && !hashed)
		return "--hashes is for --engine timer and the bit engines";
	if ((o->slicing != OPTION_AUTO || o->slices) && !xdd_engine_is_sliced(o->engine))
		return "--slicing and --slices are for --engine timer and bloom";
	if (o->faults && !xdd_engine_may_fail(o->engine))
		return "--faults are of slices, which --engine tagged, timer and bloom have";
	return NULL;
}

/* Numbers that no filter takes, one against the other. */
static bool check_ranges(const struct options *o)
{
	u32 hashes = o->slice_hashes ? o->slice_hashes * o->slice_cells : o->hashes;

	if (o->memory > MOST_MEMORY)
		complain("plan: --memory %s: a filter has at most 4294967295 lines of 64 bytes: "
			 "less than 256GiB",
			 o->text[OPT_memory]);
	else if (o->faults >= XDD_MAX_PARTS)
		complain(
			"plan: --faults %u: a filter has states for %u slices, of more, neighbours "
			"share one: at most %u can have failed",
			o->faults, XDD_MAX_PARTS, XDD_MAX_PARTS - 1);
	else if (o->slices && o->slices < o->slice_hashes)
		complain("plan: --slicing %ux%u takes %u slices for each key: more --slices",
			 o->slice_hashes, o->slice_cells, o->slice_hashes);
	else if (hashes && o->equal > hashes)
		complain("plan: --equal %u: a key has %u timers, as --hashes or --slicing K1xK2 "
			 "says: give at most so many",
			 o->equal, hashes);
	else
		return true;
	return false;
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
	const char *wrong = check_keys(o) ?: check_faults(o) ?: check_growth(o) ?: check_engine(o);
	int code = EXIT_OK;

	if (wrong) {
		complain("plan: %s", wrong);
		return EXIT_USAGE;
	}
	if (!check_ranges(o))
		return EXIT_USAGE;
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
		.burst = o->grow ? o->burst ?: DEFAULT_BURST : 0,
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

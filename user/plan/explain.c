/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plan in words. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <xdd/line.h>

#include "user/message.h"
#include "user/names.h"
#include "user/plan/plan.h"
#include "user/model.h"
#include "user/model/growth.h"
#include "user/units.h"

__attribute__((format(printf, 2, 3))) static void say(json_t *lines, const char *format, ...)
{
	char text[MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(lines, json_string(text));
}

static void say_keys(json_t *lines, const struct plan_demand *d, const struct options *o)
{
	char window[UNITS_TEXT_MAX];

	units_time_text(d->window_ns, window);
	if (o->from)
		say(lines,
		    "%.0f keys are live at the most in a window of %s, %.0f on average; %.2f "
		    "copies "
		    "of each come; %.0f packets/s, %.0f in the busiest window",
		    d->keys, window, d->mean_keys, d->copies, d->rate, d->peak_rate);
	else if (o->rate)
		say(lines,
		    "%.0f keys are live: %.0f packets/s for %s, each taken for new and for one "
		    "that "
		    "has a copy",
		    d->keys, d->rate, window);
	else
		say(lines, "%.0f keys are live, each of which has a copy", d->keys);
}

static void say_memory(json_t *lines, const struct plan *p, const struct plan_demand *d,
		       const struct options *o)
{
	u32 engine = p->fixed.engine;

	switch (p->binds) {
	case BINDS_MEMORY:
		say(lines, "memory is what --memory gives, in whole slices");
		break;
	case BINDS_FPR:
		say(lines, "memory is set by the FPR target, %.3g%s", p->fpr_target,
		    o->fpr_target ? "" : " by default");
		break;
	case BINDS_FNR:
		say(lines, "memory is set by the FNR target, %.3g%s%s: %s", plan_own_fnr(p, d),
		    o->fnr_target ? "" : " by default",
		    d->failed ? ", beside what failed slices take" : "",
		    engine == XDD_ENGINE_tagged	 ? "a full line gives up its oldest entry"
		    : engine == XDD_ENGINE_exact ? "a full table forgets its oldest entry"
						 : "bits are reset by chance");
		break;
	case BINDS_GROWTH:
		say(lines, "memory is that of %u filters, each with room for %.0f keys",
		    p->fixed.filters, p->growth.threshold);
		break;
	case BINDS_SLICES:
		say(lines, "memory is set by the slices: each has at least a line of 64 bytes");
		break;
	case BINDS_NEVER:
		say(lines, "no memory is enough for the targets");
		break;
	case BINDS_LEAST:
		say(lines, "this is the least memory there can be");
		break;
	}
}

static void say_hashes(json_t *lines, const struct plan *p, const struct plan_demand *d,
		       const struct options *o)
{
	if (p->fixed.engine != XDD_ENGINE_timer && !xdd_engine_has_bits(p->fixed.engine))
		return;
	if (o->hashes || o->slice_hashes)
		say(lines, "k = %u is what was given", p->fixed.hashes);
	else if (d->memory)
		say(lines,
		    "k = %u errs least in this memory (a false positive costs %g false "
		    "negatives), of those that are not 2 %% better than a smaller one",
		    p->fixed.hashes, d->cost);
	else
		say(lines, "k = %u takes the least memory, or at most 2 %% more than a larger one",
		    p->fixed.hashes);
}

/* The ends of a window, for engines with ticks. */
static void say_ticks(json_t *lines, const struct plan *p, const struct plan_demand *d)
{
	char tick[UNITS_TEXT_MAX], sure[UNITS_TEXT_MAX], window[UNITS_TEXT_MAX];
	u64 tick_ns = d->window_ns / d->ticks;

	if (!xdd_engine_has_timers(p->fixed.engine) || !d->window_ns)
		return;
	say(lines,
	    "a tick is %s: copies up to %s apart are surely found, beyond %s none; of copies "
	    "spread evenly over the window that misses another %.2g %%",
	    units_time_text(tick_ns, tick), units_time_text(tick_ns * (d->ticks - 1), sure),
	    units_time_text(d->window_ns, window), 100 * model_tick_missed(d->ticks));
}

/* What a filter that grows comes to, and what one that does not would take. */
static void say_growth(json_t *lines, const struct plan *p, const struct plan_demand *d)
{
	double one = model_bloom_cells(d->burst * d->keys, p->fpr_target, p->fixed.hashes);
	const struct plan_growth *g = &p->growth;
	char memory[UNITS_TEXT_MAX];

	if (!p->fixed.filters)
		return;
	say(lines,
	    "a filter is full at FPR %.3g, with %.0f keys; a burst of %g times the usual rate "
	    "needs "
	    "%.0f at the most, and errs at most %.3g; the usual rate %.3g",
	    g->fpr, g->threshold, d->burst, g->filters, p->fpr, g->usual_fpr);
	if (g->filters > p->fixed.filters)
		say(lines,
		    "there are %u filters, so the newest may hold all keys of a burst, more than "
		    "it "
		    "is meant for",
		    p->fixed.filters);
	say(lines,
	    "one filter with room for the burst would take %s: growing saves no memory, which is "
	    "reserved, but look-ups ask no more than is alive",
	    units_size_text(one / XDD_LINE_TIMERS * XDD_LINE_BYTES, memory));
}

static void say_equal(json_t *lines, const struct plan *p)
{
	if (p->fixed.equal)
		say(lines,
		    "a copy is one only if %u of its %u timers are equal: of copies that come in "
		    "other ticks than their first %.3g are missed, for later keys overwrite timers",
		    p->fixed.equal, p->fixed.hashes, p->fnr);
}

static const char *slices_text(double slices, char text[UNITS_TEXT_MAX])
{
	snprintf(text, UNITS_TEXT_MAX, isinf(slices) ? "no number of" : "%.0f", slices);
	return text;
}

/* How many more, if not enough. */
static void say_more_slices(json_t *lines, const struct plan *p, const struct plan_demand *d)
{
	double more = p->faults.slices_fn - p->fixed.slices;

	if (isinf(more))
		say(lines,
		    "a filter has states for %u slices, of more, neighbours share one: at most "
		    "%.0f "
		    "can have failed at an FNR of %.3g",
		    XDD_MAX_PARTS, plan_most_faults(p, d), d->fnr);
	else if (more > 0)
		say(lines, "%.0f slices more would be needed to bear %u faults", more, d->failed);
}

static void say_faults(json_t *lines, const struct plan *p, const struct plan_demand *d)
{
	char fn[UNITS_TEXT_MAX], fp[UNITS_TEXT_MAX];
	double most = plan_fault_fpr(p, d);
	const struct plan_faults *f = &p->faults;

	if (!d->failed || !xdd_engine_may_fail(p->fixed.engine))
		return;
	slices_text(f->slices_fn, fn);
	slices_text(f->slices_fp, fp);
	if (f->vote == p->fixed.hashes)
		say(lines,
		    "with %u slices failed, what they held is taken as not set: %s slices keep the "
		    "FNR at %.3g; taken as set, %s slices would keep the FPR at %.3g",
		    d->failed, fn, d->fnr, fp, most);
	else
		say(lines,
		    "with %u slices failed, %u of %u cells decide, which costs least where a false "
		    "positive costs %g false negatives: %s slices keep FNR %.3g and FPR %.3g",
		    d->failed, f->vote, p->fixed.hashes, d->cost, fn, d->fnr, most);
	say_more_slices(lines, p, d);
	if (d->vote && p->fixed.slicing != XDD_SLICING_vertical)
		say(lines, "a vote needs cells in several slices: --slicing vertical");
}

/* What horizontal and vertical slices would take, one against the other. */
static void say_slicing(json_t *lines, const struct plan *p, const struct plan_demand *d)
{
	double fill = pow(p->fpr, 1.0 / p->fixed.hashes);
	double most = plan_fault_fpr(p, d);
	bool horizontal = p->fixed.slicing == XDD_SLICING_horizontal;
	char fn[UNITS_TEXT_MAX], fp[UNITS_TEXT_MAX];

	if (!d->failed || p->faults.vote != p->fixed.hashes || p->fixed.hashes == 1 ||
	    !(horizontal || p->fixed.slicing == XDD_SLICING_vertical))
		return;
	say(lines, "%s slicing would take %s slices for that FNR, and %s for that FPR",
	    horizontal ? "vertical" : "horizontal",
	    slices_text(plan_with_states(model_slices_fn(d->failed, d->fnr,
							 horizontal ? p->fixed.hashes : 1)),
			fn),
	    slices_text(plan_with_states(
				horizontal ? model_slices_fp_vertical(d->failed, fill, most,
								      p->fixed.hashes)
					   : model_slices_fp_horizontal(d->failed, p->fpr, most)),
			fp));
}

static void say_bits(json_t *lines, const struct plan *p)
{
	if (p->fixed.engine == XDD_ENGINE_bloom)
		say(lines,
		    "engine bloom never forgets: this is its rate when so many keys were seen, "
		    "and it gets worse");
	else if (xdd_engine_has_bits(p->fixed.engine))
		say(lines,
		    "engine %s has no window: rates are those of new keys without end, and of "
		    "copies that come while so many keys do",
		    engine_names[p->fixed.engine]);
}

json_t *plan_explain(const struct plan *p, const struct plan_demand *d, const struct options *o)
{
	json_t *lines = json_array();

	say_keys(lines, d, o);
	say_memory(lines, p, d, o);
	say_hashes(lines, p, d, o);
	say_ticks(lines, p, d);
	say_growth(lines, p, d);
	say_equal(lines, p);
	say_faults(lines, p, d);
	say_slicing(lines, p, d);
	say_bits(lines, p);
	return lines;
}

/* Append to @text, of @size bytes. */
__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format,
						      ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

static void add_slicing(const struct plan *p, char *text, size_t size)
{
	const struct xdd_fixed *f = &p->fixed;

	if (f->slicing == XDD_SLICING_K1xK2)
		add(text, size, " --slicing %ux%u", f->slice_hashes, f->hashes / f->slice_hashes);
	else
		add(text, size, " --slicing %s", slicing_names[f->slicing]);
	if (f->slicing != XDD_SLICING_none && !p->line_slices)
		add(text, size, " --slices %u", f->slices);
	if (f->subslices)
		add(text, size, " --subslices %u", f->subslices);
}

/* In the largest unit that says it exactly. */
static void add_time(u64 ns, char *text, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	u32 unit = 0;

	for (; unit + 1 < XDD_ARRAY_SIZE(units) && ns % 1000 == 0; unit++)
		ns /= 1000;
	add(text, size, " --window %llu%s", (unsigned long long)ns, units[unit]);
}

/* What plan->faults were computed for: without a policy no slice can be taken out. */
static void add_policy(const struct plan *p, char *text, size_t size)
{
	if (p->faults.vote == p->fixed.hashes)
		add(text, size, " --fault-policy distinct");
	else
		add(text, size, " --fault-policy vote:%u", p->faults.vote);
}

static void add_growth(const struct plan *p, char *text, size_t size)
{
	const struct xdd_fixed *f = &p->fixed;

	if (f->equal)
		add(text, size, " --equal %u", f->equal);
	if (f->filters)
		add(text, size, " --grow %s --max-filters %u --fpr-target %.6g",
		    growth_names[f->grow], f->filters, p->growth.fpr);
}

/* For a NIC: shared, for --placement percpu, which a single receive queue gets by default, would divide the
 * memory by the CPUs.
 */
void plan_options(const struct plan *p, const struct plan_demand *d, const struct options *o,
		  char *text, size_t size)
{
	const struct xdd_fixed *f = &p->fixed;
	bool bits = xdd_engine_has_bits(f->engine);

	snprintf(text, size, "--engine %s --memory %.0f", engine_names[f->engine], p->memory_bytes);
	if (f->key != XDD_KEY_packet)
		add(text, size, " --key %s", o->text[OPT_key]);
	if (bits || f->engine == XDD_ENGINE_timer)
		add(text, size, " --hashes %u", f->hashes);
	if (xdd_engine_is_sliced(f->engine))
		add_slicing(p, text, size);
	else if (xdd_engine_is_lined(f->engine))
		add(text, size, " --slicing none");
	add_growth(p, text, size);
	if (f->engine == XDD_ENGINE_sbf)
		add(text, size, " --sbf-p %u", f->reset_bits);
	if (!bits && d->window_ns)
		add_time(d->window_ns, text, size);
	if (xdd_engine_has_timers(f->engine) && d->window_ns)
		add(text, size, " --ticks %u", d->ticks);
	if (d->failed && xdd_engine_may_fail(f->engine))
		add_policy(p, text, size);
	add(text, size, " --placement shared");
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Defaults and bounds of the bit engines. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include <xdd/bits.h>

#include "derive_work.h"
#include "message.h"
#include "model.h"
#include "names.h"

/* bera-2012: what its tables were made with, and section 3. */
#define DEFAULT_BIT_HASHES 2
#define DEFAULT_P_STAR 0.03

/* rsbf, for a rate: the mean of 1 and of bera-2012's eq. 6.1, as far as there are hashes. */
static u32 rsbf_hashes(double fpr)
{
	double most = log(fpr) / log1p(-exp(-1));

	return fmin(fmax(round((1 + most) / 2), 1), XDD_MAX_HASHES);
}

static u32 default_hashes(const struct work *w)
{
	u32 engine = w->out->fixed.engine;

	if (engine == XDD_ENGINE_bloom)
		return DERIVE_HASHES;
	if (engine == XDD_ENGINE_rsbf && option_given(w->o, OPT_fpr_target))
		return rsbf_hashes(w->o->fpr_target);
	return DEFAULT_BIT_HASHES;
}

void derive_bit_kinds(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;

	f->hashes = w->o->hashes ?: default_hashes(w);
	f->variant = w->o->variant;
	f->sbf_max = w->o->sbf_max ?: 1;
	f->sbf_bits = 1;
	while (f->sbf_max >> f->sbf_bits)
		f->sbf_bits *= 2;
}

/* P for the rate that was asked for, or, by default, as far as a word has cells. */
static int derive_sbf_target(struct work *w, double cells, u32 most)
{
	struct xdd_fixed *f = &w->out->fixed;
	double target = w->o->fpr_target ?: DERIVE_BIT_FPR;
	double p = round(model_sbf_p(cells, f->hashes, f->sbf_max, target));
	char warning[160];

	if (p > most && option_given(w->o, OPT_fpr_target))
		return refuse(w->err, w->err_size, -ERANGE,
			      "--fpr-target %g: with --sbf-max %u each event would have to count "
			      "%.0f cells down, and a word has %u: %.2g is possible; more needs a "
			      "smaller --sbf-max or other --hashes",
			      target, f->sbf_max, p, most,
			      model_sbf(cells, f->hashes, f->sbf_max, most));
	f->reset_bits = fmin(fmax(p, 1), most);
	if (p <= most)
		return 0;
	snprintf(warning, sizeof(warning),
		 "sbf: with --sbf-max %u an event counts at most %u cells down: %.2g of the "
		 "distinct keys are lost in the end",
		 f->sbf_max, most, model_sbf(cells, f->hashes, f->sbf_max, most));
	derive_warn(w->out, warning);
	return 0;
}

static int derive_sbf(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	double cells = (double)w->out->lines * XDD_LINE_BITS / f->sbf_bits;
	u32 most = 64 / f->sbf_bits;
	int err = 0;

	f->reset_bits = w->o->sbf_p;
	if (f->reset_bits > most)
		return refuse(
			w->err, w->err_size, -ERANGE,
			"--sbf-p %u: with --sbf-max %u a word has %u cells, which is the most",
			f->reset_bits, f->sbf_max, most);
	if (!f->reset_bits)
		err = derive_sbf_target(w, cells, most);
	w->out->fpr_model = model_sbf(cells, f->hashes, f->sbf_max, f->reset_bits);
	return err;
}

static int too_little_memory(const struct work *w)
{
	const struct xdd_fixed *f = &w->out->fixed;
	char nodes[48] = "";

	if (f->placement == XDD_PLACEMENT_tree)
		snprintf(nodes, sizeof(nodes), " in each of %" PRIu64 " nodes",
			 (uint64_t)derive_filters(w));
	return refuse(w->err, w->err_size, -ERANGE,
		      "%u filters of at least 64 bytes%s need more --memory", f->hashes, nodes);
}

int derive_bits(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	u64 filter_bits = xdd_bits_filter(f);
	double events = filter_bits / (w->o->p_star ?: DEFAULT_P_STAR);

	if (!filter_bits)
		return too_little_memory(w);
	/* Engine bloom numbers lines, and bits of a line, which reaches as far as numbers of lines do. */
	if (f->engine != XDD_ENGINE_bloom && filter_bits > 1ull << 32)
		return refuse(w->err, w->err_size, -ERANGE,
			      "engine %s has at most 512MiB for each of the %u --hashes: give less "
			      "--memory or more --hashes",
			      engine_names[f->engine], f->hashes);
	if (f->engine == XDD_ENGINE_rsbf && events > 1ull << 42)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--p-star %g is too small for a filter of this size: at least %.2g",
			      w->o->p_star, ldexp(filter_bits, -42));
	f->reservoir_events = f->engine == XDD_ENGINE_rsbf ? ceil(events) : 0;
	return f->engine == XDD_ENGINE_sbf ? derive_sbf(w) : 0;
}

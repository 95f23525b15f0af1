/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Defaults and bounds of the bit engines. */
#include <errno.h>
#include <math.h>

#include <xdd/bits.h>

#include "derive_work.h"
#include "message.h"

/* bera-2012: what its tables were made with, and section 3. */
#define DEFAULT_BIT_HASHES 2
#define DEFAULT_SBF_P 4
#define DEFAULT_P_STAR 0.03

void derive_bit_kinds(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	u32 hashes = f->engine == XDD_ENGINE_bloom ? DERIVE_HASHES : DEFAULT_BIT_HASHES;

	f->hashes = w->o->hashes ?: hashes;
	f->variant = w->o->variant;
	f->reset_bits = w->o->sbf_p ?: DEFAULT_SBF_P;
}

int derive_bits(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	u64 filter_bits = w->out->lines / f->hashes * XDD_LINE_BITS;
	double events = filter_bits / (w->o->p_star ?: DEFAULT_P_STAR);

	if (!filter_bits)
		return refuse(w->err, w->err_size, -ERANGE,
			      "%u filters of at least 64 bytes need more --memory", f->hashes);
	if (filter_bits > 1ull << 32)
		return refuse(w->err, w->err_size, -ERANGE,
			      "a filter has at most 512MiB, and there are %u: give less --memory "
			      "or more --hashes",
			      f->hashes);
	if (f->variant == XDD_VARIANT_algorithm1 && events > 1ull << 42)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--p-star %g is too small for a filter of this size: at least %.2g",
			      w->o->p_star, ldexp(filter_bits, -42));
	f->reservoir_events = f->variant == XDD_VARIANT_algorithm1 ? ceil(events) : 0;
	return 0;
}

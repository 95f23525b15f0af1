/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --grow: chains of filters (growth.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>

#include <xdd/growth.h>

#include "chain.h"
#include "derive_work.h"
#include "message.h"
#include "model.h"
#include "model/growth.h"

#define DEFAULT_FILTERS 4

void derive_growth_kind(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;

	f->grow = w->o->grow;
	if (f->grow == XDD_GROWTH_off)
		return;
	f->filters = w->o->max_filters ?: DEFAULT_FILTERS;
	f->grow_density = chain_density(model_growth_density(derive_fpr_target(w), f->hashes));
}

int derive_growth(struct work *w)
{
	const struct xdd_fixed *f = &w->out->fixed;

	if (!f->filters)
		return 0;
	if (xdd_slices_one_line(f))
		return refuse(
			w->err, w->err_size, -EINVAL,
			"--grow with a slice for each line: a chain of filters needs slices of "
			"several lines: give --slices, up to %u, or --slicing none",
			XDD_MAX_CHAINS);
	if (xdd_chains(f) > XDD_MAX_CHAINS)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--grow --slices %u: at most %u slices grow by themselves: fewer "
			      "--slices",
			      f->slices, XDD_MAX_CHAINS);
	if (w->out->lines * f->filters > UINT32_MAX)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--max-filters %u: the filters would have %" PRIu64
			      " lines of 64 bytes, 4294967295 are possible: less than 256GiB",
			      f->filters, (uint64_t)w->out->lines * f->filters);
	return 0;
}

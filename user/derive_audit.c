/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much is audited, and in how much memory. */
#include <math.h>

#include <xdd/audit.h>

#include "derive_work.h"

#define DEFAULT_RATE (1.0 / 1024)

/* Keys that are not counted beforehand: of bit engines, or for ever. */
#define MANY_KEYS 1e7

/* Room for a few times the keys of the sample, so that hardly a bucket is ever full. */
#define ROOM 4
#define LEAST_BUCKETS (1u << 11)
#define MOST_BUCKETS (1u << 17) /* 61 MiB */

/* XDP runs to its end on a CPU: between the verdict of the filter and that of the shadow lies little
 * more than an interrupt, and the clock was read before both.
 */
#define RACE_NS 20000

static u32 buckets_for(double keys)
{
	u32 buckets = LEAST_BUCKETS;

	while (buckets < MOST_BUCKETS && (double)buckets * XDD_AUDIT_WAYS < keys * ROOM)
		buckets *= 2;
	return buckets;
}

void derive_audit(struct work *w)
{
	bool nic = w->target == DERIVE_NIC;
	double rate = option_given(w->o, OPT_audit) ? w->o->audit : nic ? DEFAULT_RATE : 0;
	struct xdd_fixed *f = &w->out->fixed;
	double keys = w->out->capacity_keys;

	/* Its verdicts depend on the order of numbers, not on a window. */
	if (!rate || f->engine == XDD_ENGINE_recovery)
		return;
	if (xdd_engine_has_bits(f->engine))
		keys = MANY_KEYS;
	f->audit_threshold = fmin(fmax(ldexp(rate, 32), 1), 0xffffffff);
	f->audit_buckets = buckets_for(keys * rate);
	f->audit_race_ns = nic && f->placement != XDD_PLACEMENT_percpu ? RACE_NS : 0;
}

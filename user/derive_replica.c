/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --peers: how large the replicas of other hosts are, and what they are good for. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>

#include "cluster/occupancy.h"
#include "derive_work.h"
#include "message.h"
#include "model/replica.h"
#include "names.h"
#include "units.h"

#define BITS_PER_KEY 10
#define LEAST_PEERS 8 /* a byte at each place */

double derive_replica_bits(double keys)
{
	return keys * BITS_PER_KEY;
}

u32 derive_replica_shift(double bits)
{
	u32 shift = XDD_REPLICA_SHIFT_MIN;

	while (shift < XDD_REPLICA_SHIFT_MAX && ldexp(1, shift) < bits)
		shift++;
	return shift;
}

u32 derive_replica_hashes(u32 shift, double keys)
{
	return fmin(fmax(round(ldexp(M_LN2, shift) / fmax(keys, 1)), 1), XDD_MAX_HASHES);
}

u32 derive_replica_width(u32 peers)
{
	u32 width = LEAST_PEERS;

	while (width < peers)
		width *= 2;
	return width;
}

u32 derive_replica_default(double keys, u32 peers)
{
	u32 shift = derive_replica_shift(derive_replica_bits(keys));
	u32 places = derive_replica_width(peers);

	for (; shift < XDD_REPLICA_SHIFT_MAX; shift++) {
		u32 hashes = derive_replica_hashes(shift, keys);
		double fill = model_fill(keys, ldexp(1, shift), hashes);

		if (model_host_fpr(0, pow(fill, hashes), places) <= DERIVE_REPLICA_MOST)
			break;
	}
	return shift;
}

/* As many bits for each key, and of an engine whose cells they are, one for each cell. */
static double wanted_bits(const struct work *w)
{
	const struct xdd_fixed *f = &w->out->fixed;
	double keys = w->out->capacity_keys;

	if (w->o->replica_bits)
		return w->o->replica_bits;
	if (xdd_engine_is_sliced(f->engine))
		return fmax(derive_replica_bits(keys), xdd_cells(f));
	return ldexp(1, derive_replica_default(keys, w->o->peers));
}

/* Bits of a key in them: the cells of the filter, or as many as make the fewest mistakes. */
static u32 hashes_for(const struct work *w, u32 shift)
{
	if (xdd_engine_is_sliced(w->out->fixed.engine))
		return w->out->fixed.hashes;
	return derive_replica_hashes(shift, w->out->capacity_keys);
}

static int not_possible(struct work *w)
{
	const struct xdd_fixed *f = &w->out->fixed;

	if (f->placement == XDD_PLACEMENT_tree)
		return refuse(w->err, w->err_size, -EINVAL,
			      "--peers: a tree of filters cannot be published: use --placement "
			      "shared");
	if (f->engine == XDD_ENGINE_exact)
		return refuse(
			w->err, w->err_size, -EINVAL,
			"--peers: engine exact keeps flow keys whole, which no replica holds: "
			"another --key, or another --engine");
	if (f->engine == XDD_ENGINE_bloom)
		return refuse(
			w->err, w->err_size, -EINVAL,
			"--peers: engine bloom can be published with --placement shared only");
	return refuse(w->err, w->err_size, -EINVAL,
		      "--peers: engine %s cannot be published: use tagged, timer, exact or bloom",
		      engine_names[f->engine]);
}

static int too_large(struct work *w, u64 bytes)
{
	char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];

	return refuse(w->err, w->err_size, -ENOMEM,
		      "the replicas of %u peers would take %s beside the filter, but %s of memory "
		      "are free: smaller --replica-bits, or fewer --peers",
		      w->out->fixed.peers, units_size_text(bytes, needed),
		      units_size_text(w->available, there));
}

u32 derive_replica_action(const struct options *o, const struct xdd_live *live)
{
	if (o->replica_action != OPTION_AUTO)
		return o->replica_action;
	if (live->action == XDD_ACTION_mark)
		return XDD_REPLICA_mark;
	return live->action == XDD_ACTION_count ? XDD_REPLICA_count : XDD_REPLICA_drop;
}

int derive_replica_check(const struct xdd_fixed *fixed, u32 replica_action, char *err,
			 size_t err_size)
{
	if (fixed->fault_policy != XDD_FAULTS_duplicate || replica_action != XDD_REPLICA_drop)
		return 0;
	return refuse(
		err, err_size, -EINVAL,
		"--fault-policy duplicate with --replica-action drop: what a silent peer has "
		"seen is unknown, so every packet would be a copy: use --fault-policy distinct");
}

int derive_replicas(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;
	u64 bytes;

	if (!w->o->peers || w->target != DERIVE_NIC)
		return 0;
	if (!occupancy_can(f))
		return not_possible(w);
	f->peers = derive_replica_width(w->o->peers);
	f->replica_shift = derive_replica_shift(wanted_bits(w));
	f->replica_hashes = hashes_for(w, f->replica_shift);
	f->replica_step = xdd_replica_step(f);
	w->out->live.replica_action = derive_replica_action(w->o, &w->out->live);
	bytes = xdd_replica_words(f) * sizeof(u64);
	if (w->o->replica_bits > 1ULL << XDD_REPLICA_SHIFT_MAX || bytes / 8 > UINT32_MAX)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--replica-bits: a replica has at most 4Gi bits, and those of %u "
			      "peers take at most 32GiB",
			      f->peers);
	if (!derive_room(w, bytes))
		return too_large(w, bytes);
	return derive_replica_check(f, w->out->live.replica_action, w->err, w->err_size);
}

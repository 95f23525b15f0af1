/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup simulate replicas: what its parts, the hosts and the report, share. */
#ifndef USER_SIMULATE_REPLICAS_H
#define USER_SIMULATE_REPLICAS_H

#include "user/cluster/update.h"
#include "user/options.h"
#include "user/stream.h"

/*
 * A host: its keys, its counting filter and, as bits, its filter and what the others have of it.
 * Keys are random numbers.
 */
struct replica_host {
	u64 *keys;
	bool *is_sent; /* ... with an update */
	u64 n_keys, room, unsent;
	u32 *counters;
	u64 *home, *sent; /* bits */
	u64 cells;
	double cells_per_key; /* at the start */
	u64 since;	      /* units of time since the last update */
};

/*
 * What a unit of time came to, of all hosts: X(name, JSON's name). Shares are means over hosts; predicted
 * and measured after the update, if there was one.
 * keys                 of a host
 * delta1, delta0       shares of the bits that the others do not know of
 * rate                 what --push compares with its target, before the update
 * fpr_model, fpr       of a replica: theorem 4, and measured
 * fnr_model, fnr       ... of any key: theorem 3
 * member_model, member ... of the keys that the host has, all of which are asked
 * host_model, host     a look-up, by a host, of a key which nobody has goes wrong (eq. 16)
 * updates, bytes       messages, of one host to all others, and their sizes
 */
#define REPLICA_VALUES(X)                 \
	X(keys, keys)                     \
	X(delta1, delta1)                 \
	X(delta0, delta0)                 \
	X(rate, rate)                     \
	X(fpr_model, fpr_model)           \
	X(fpr, fpr)                       \
	X(fnr_model, fnr_model)           \
	X(fnr, fnr)                       \
	X(member_model, fnr_member_model) \
	X(member, fnr_member)             \
	X(host_model, host_rate_model)    \
	X(host, host_rate)                \
	X(updates, updates)               \
	X(bytes, bytes)

#define REPLICA_VALUE(name, json) REPLICA_##name,
enum replica_value { REPLICA_VALUES(REPLICA_VALUE) REPLICA_VALUE_MAX };

struct replica_unit {
	double value[REPLICA_VALUE_MAX];
};

/* Run number @run into @units, one for each unit of time. Returns 0 or -ENOMEM. */
int replicas_run(const struct options *o, u32 run, struct replica_unit *units);

/* What @units, o->units of each of o->runs runs, came to. */
void replicas_text(const struct options *o, const struct replica_unit *units);
void replicas_json(const struct options *o, const struct replica_unit *units);

#endif

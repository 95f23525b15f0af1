/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What xdp-dedup simulate replicas prints. */
#include <jansson.h>
#include <stdio.h>

#include "user/provenance.h"
#include "user/simulate/replicas.h"

/* Means over all runs, of unit number @at; counts are of all hosts. */
static struct replica_unit mean_of(const struct options *o, const struct replica_unit *units,
				   u64 at)
{
	struct replica_unit mean = {};
	u32 runs = o->runs ?: 1;

	for (u32 run = 0; run < runs; run++)
		for (u32 i = 0; i < REPLICA_VALUE_MAX; i++)
			mean.value[i] += units[run * o->units + at].value[i] / runs;
	return mean;
}

/* Over all units: sums of counts, means of all else. */
static struct replica_unit total_of(const struct options *o, const struct replica_unit *units)
{
	struct replica_unit total = {};

	for (u64 at = 0; at < o->units; at++) {
		struct replica_unit mean = mean_of(o, units, at);

		for (u32 i = 0; i < REPLICA_VALUE_MAX; i++)
			total.value[i] += mean.value[i] / (i < REPLICA_updates ? o->units : 1);
	}
	return total;
}

/* @measured @name, and what the model says. */
static void print_rate(const char *name, double measured, double model)
{
	printf("%-56s %9.4f %% %9.4f %%\n", name, 100 * measured, 100 * model);
}

void replicas_text(const struct options *o, const struct replica_unit *units)
{
	struct replica_unit total = total_of(o, units);
	const double *value = total.value;

	printf("%u hosts, %llu units of time, --push %s: %.4g updates, %.4g bytes, from each to "
	       "all "
	       "others\n",
	       o->hosts, (unsigned long long)o->units, update_names[o->push.rule],
	       value[REPLICA_updates], value[REPLICA_bytes]);
	printf("%-56s %11s %11s\n", "means over time and hosts", "measured", "model");
	print_rate("a replica says yes to a key that nobody has", value[REPLICA_fpr],
		   value[REPLICA_fpr_model]);
	print_rate("a replica misses a key that its host has", value[REPLICA_member],
		   value[REPLICA_member_model]);
	print_rate("a replica says no where its filter says yes (theorem 3)", value[REPLICA_fnr],
		   value[REPLICA_fnr_model]);
	print_rate("a look-up of a key that nobody has goes wrong (eq. 16)", value[REPLICA_host],
		   value[REPLICA_host_model]);
}

static json_t *unit_json(const struct replica_unit *unit)
{
	json_t *to = json_object();

#define SET_VALUE(name, json) \
	json_object_set_new(to, #json, json_real(unit->value[REPLICA_##name]));
	REPLICA_VALUES(SET_VALUE)
	return to;
}

void replicas_json(const struct options *o, const struct replica_unit *units)
{
	struct replica_unit unit = total_of(o, units);
	json_t *all = unit_json(&unit), *series = json_array();

	for (u64 at = 0; at < o->units; at++) {
		unit = mean_of(o, units, at);
		json_array_append_new(series, unit_json(&unit));
	}
	json_object_set_new(all, "simulation", json_string("replicas"));
	json_object_set_new(all, "hosts", json_integer(o->hosts));
	json_object_set_new(all, "cells", json_integer(o->cells));
	json_object_set_new(all, "units", json_integer(o->units));
	json_object_set_new(all, "push", json_string(update_names[o->push.rule]));
	json_object_set_new(all, "bound", json_string(bound_names[o->bound]));
	json_object_set_new(all, "seed", json_integer(o->seed));
	json_object_set_new(all, "series", series);
	provenance_json(all, o);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

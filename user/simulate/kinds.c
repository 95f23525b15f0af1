/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/simulate/kinds.h"

#include <stdio.h>
#include <string.h>

#include "user/cmd/cmd.h"
#include "user/message.h"
#include "user/names.h"

/* Options that are for some of them; those of a stream alone, which are most, are not listed. */
static const struct {
	const char *option, *of;
} own[] = {
	{ "hosts", "replicas" },
	{ "cells", "replicas" },
	{ "initial", "replicas" },
	{ "adds", "replicas" },
	{ "deletes", "replicas" },
	{ "units", "replicas" },
	{ "queries", "replicas" },
	{ "push", "replicas" },
	{ "false-rate-target", "replicas" },
	{ "bound", "replicas" },
	{ "weights", "replicas" },
	{ "resize", "replicas" },
	{ "hashes", "replicas" },
	{ "hashes", "" },
	{ "l1", "acbf" },
	{ "counters", "acbf" },
	{ "positions", "acbf" },
	{ "domain", "acbf" },
	{ "domain", "" },
	{ "records", "acbf" },
	{ "records", "" },
	{ "algorithm", "joint" },
	{ "epsilon", "joint" },
	{ "rounds", "joint" },
	{ "at-least", "joint" },
	{ "monitors", "joint" },
	{ "sizes", "joint" },
	{ "intersection", "joint" },
	{ "hosts", "sites" },
	{ "protocol", "sites" },
	{ "primitive", "sites" },
	{ "batch", "sites" },
	{ "domain", "sites" },
	{ "distinct", "sites" },
	{ "distinct", "" },
	{ "distribution", "sites" },
	{ "distribution", "" },
	{ "records", "sites" },
	{ "engine", "sites" },
	{ "engine", "" },
	{ "memory", "sites" },
	{ "memory", "" },
	{ "hashes", "sites" },
	{ "slicing", "sites" },
	{ "slicing", "" },
	{ "slices", "sites" },
	{ "subslices", "sites" },
	{ "subslices", "" },
	{ "slices", "" },
	{ "window-records", "sites" },
	{ "window-records", "" },
	{ "window", "sites" },
	{ "window", "" },
	{ "rate", "sites" },
	{ "rate", "" },
	{ "ticks", "sites" },
	{ "ticks", "" },
	{ "faults", "sites" },
	{ "faults", "" },
	{ "fault-policy", "sites" },
	{ "fault-policy", "" },
	{ "hosts", "tree" },
	{ "protocol", "tree" },
	{ "slicing", "tree" },
	{ "slices", "tree" },
	{ "subslices", "tree" },
	{ "batch", "tree" },
	{ "domain", "tree" },
	{ "distinct", "tree" },
	{ "distribution", "tree" },
	{ "records", "tree" },
	{ "engine", "tree" },
	{ "memory", "tree" },
	{ "hashes", "tree" },
	{ "window-records", "tree" },
	{ "window", "tree" },
	{ "rate", "tree" },
	{ "ticks", "tree" },
	{ "tree", "tree" },
	{ "top-down", "tree" },
	{ "fan-out", "tree" },
	{ "depth", "tree" },
	{ "locality", "tree" },
	{ "trace", "tree" },
	{ "trace-columns", "tree" },
	{ "tree", "" },
	{ "top-down", "" },
	{ "fan-out", "" },
	{ "depth", "" },
	{ "locality", "" },
	{ "trace", "" },
	{ "trace-columns", "" },
};

/* What all of them take. */
static const char *const common[] = { "seed", "runs", "json", "quiet", NULL };

#define SIMULATION_NAME(name) #name ", "
#define SIMULATION_ROW(name) { #name, simulate_##name },

/* The first option that a simulation does not take. */
struct stray {
	const char *simulation;
	char option[64];
};

static void note_stray(const char *name, const char *text, void *context)
{
	struct stray *stray = context;
	bool listed = false, taken = false;

	(void)text;
	if (*stray->option || name_index(common, name) >= 0)
		return;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(own); i++) {
		if (strcmp(own[i].option, name))
			continue;
		listed = true;
		taken |= !strcmp(own[i].of, stray->simulation);
	}
	if (listed ? !taken : *stray->simulation)
		snprintf(stray->option, sizeof(stray->option), "%s", name);
}

int simulation_check_options(const struct options *o, const char *name)
{
	struct stray stray = { name, "" };

	options_given(o, note_stray, &stray);
	if (!*stray.option)
		return EXIT_OK;
	if (*name)
		complain("simulate %s: --%s is not for it", name, stray.option);
	else
		complain("simulate: --%s is for another simulation: see simulate --help",
			 stray.option);
	return EXIT_USAGE;
}

int simulation_run_named(struct options *o)
{
	static const struct {
		const char *name;
		int (*run)(struct options *o);
	} all[] = { SIMULATIONS(SIMULATION_ROW) };
	const char *name = o->args[0];

	for (size_t i = 0; i < XDD_ARRAY_SIZE(all); i++)
		if (!strcmp(all[i].name, name))
			return simulation_check_options(o, name) ?: all[i].run(o);
	complain("simulate %s: no such simulation: " SIMULATIONS(
			 SIMULATION_NAME) "or none of a name, "
					  "which is a stream through an engine",
		 name);
	return EXIT_USAGE;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup simulate: a made or a recorded stream through any engine, judged by the truth. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "simulate/kinds.h"
#include "simulate/simulate.h"

static int run_all(struct simulation *sim, struct tally *tallies)
{
	int err = 0;

	if (!sim->o->json)
		report_head();
	for (u32 i = 0; !err && i < sim->runs; i++) {
		err = simulation_run(sim, i, &tallies[i]);
		if (!err && !sim->o->json)
			report_row(&tallies[i]);
	}
	if (err)
		complain("simulate: %s for %llu identifiers and the filter: fewer of them, or less "
			 "--memory",
			 strerror(-err), (unsigned long long)sim->domain);
	return err;
}

static int run_and_report(struct simulation *sim)
{
	struct tally *tallies = calloc(sim->runs, sizeof(*tallies));
	int err;

	err = tallies ? run_all(sim, tallies) : -ENOMEM;
	if (!err && sim->o->json)
		report_json(sim, tallies);
	else if (!err)
		report_text(sim, tallies);
	free(tallies);
	return err ? EXIT_FAILED : EXIT_OK;
}

int cmd_simulate(struct options *o)
{
	struct simulation sim;
	int code;

	if (o->n_args)
		return simulation_run_named(o);
	code = simulation_check_options(o, "");
	if (code)
		return code;
	code = simulation_plan(&sim, o);
	if (!code)
		code = run_and_report(&sim);
	simulation_close(&sim);
	return code;
}

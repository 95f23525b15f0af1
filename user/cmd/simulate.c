/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup simulate: a made or a recorded stream through any engine, judged by the truth. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "simulate/acbf.h"
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

static int simulate_stream(struct options *o)
{
	struct simulation sim;
	int code = simulation_plan(&sim, o);

	if (!code)
		code = run_and_report(&sim);
	simulation_close(&sim);
	return code;
}

int cmd_simulate(struct options *o)
{
	if (!o->n_args && !option_given(o, OPT_l1) && !option_given(o, OPT_counters) &&
	    !option_given(o, OPT_positions))
		return simulate_stream(o);
	if (o->n_args && !strcmp(o->args[0], "acbf"))
		return simulate_acbf(o);
	if (o->n_args)
		complain("simulate: %s: is nothing to simulate: acbf, or leave it out for a stream "
			 "through an --engine",
			 o->args[0]);
	else
		complain("simulate: --l1, --counters and --positions are for simulate acbf");
	return EXIT_USAGE;
}

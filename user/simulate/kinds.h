/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What else than a stream through an engine xdp-dedup simulate runs: simulate NAME. */
#ifndef USER_SIMULATE_KINDS_H
#define USER_SIMULATE_KINDS_H

#include "user/options.h"

/* X(name): simulate_<name>() takes the command line and returns an exit code. */
#define SIMULATIONS(X) \
	X(acbf)        \
	X(joint)       \
	X(replicas)    \
	X(sites)       \
	X(tree)

#define SIMULATION_PROTOTYPE(name) int simulate_##name(struct options *o);
SIMULATIONS(SIMULATION_PROTOTYPE)

/* Options that only some simulations take are refused by the others, in @name's words ("" is that
 * of a stream). Returns an exit code.
 */
int simulation_check_options(const struct options *o, const char *name);

/* simulate NAME. Returns an exit code. */
int simulation_run_named(struct options *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of --config read again while its instance runs: what changed in it is applied as `set` would. */
#ifndef USER_RELOAD_H
#define USER_RELOAD_H

#include "user/conf.h"
#include "user/options.h"

struct reload {
	const struct options *started; /* what `run` was started with: what is fixed stays so */
	struct conf conf;	       /* what was read last, and applied */
	struct options options;
	bool read; /* the two above are there */
};

/*
 * Read the file that started->config names, as it was read at the start, and change instance @name by what is
 * new in it since. What cannot be changed while it runs is told, each option by a line, and left as it is. A
 * file with an error, or a change that is refused, is told and changes nothing.
 *
 * Returns 0 or a negative errno; the instance works on in any case.
 */
int reload(struct reload *r, const char *name);

void reload_free(struct reload *r);

#endif

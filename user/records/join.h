/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter before a join (li-2013, section 4.2, figures 8 and 9): a set of the keys of one input, and
 * of the other only those records whose key may be in it. None of them is ever lost; of the others a
 * share of the set's false-positive rate is kept, and finds no partner in the join.
 */
#ifndef USER_RECORDS_JOIN_H
#define USER_RECORDS_JOIN_H

#include "user/options.h"

/* Does stream, with @o, do this? */
bool join_wanted(const struct options *o);

/*
 * Build the set from the records of --join, or load it from --filter; save it with --save-filter, or
 * else write the records of the inputs whose key may be in it to stdout. Returns the exit code.
 */
int join_run(struct options *o);

#endif

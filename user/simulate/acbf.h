/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulations of li-2013, section 3.3: an accurate counting Bloom filter beside a plain one. */
#ifndef USER_SIMULATE_ACBF_H
#define USER_SIMULATE_ACBF_H

#include "user/options.h"

/* Run and report what @o asks for. Returns the exit code. */
int simulate_acbf(struct options *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TESTS_HAMMER_H
#define TESTS_HAMMER_H

#include "xdd/types.h"

/* What a CPU has done; a cache line of its own. */
struct hammer_side {
	u64 next;   /* number of the next key */
	u64 beside; /* keys shown while the other CPU was within one key */
	u64 bypassed;
	u64 pad[5];
};

#endif

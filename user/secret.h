/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_SECRET_H
#define USER_SECRET_H

#include "xdd/hash.h"

/* Fill @secret from @seed, the same for the same seed: for files and tests. */
void secret_from_seed(struct xdd_secret *secret, u64 seed);

/* Fill @secret with random bytes of the kernel. Returns 0 or a negative errno. */
int secret_random(struct xdd_secret *secret);

#endif

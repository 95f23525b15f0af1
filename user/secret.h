/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_SECRET_H
#define USER_SECRET_H

#include "xdd/hash.h"

/* Fill @secret from @seed, the same for the same seed: for files and tests. */
void secret_from_seed(struct xdd_secret *secret, u64 seed);

/* Fill @secret with random bytes of the kernel. Returns 0 or a negative errno. */
int secret_random(struct xdd_secret *secret);

/*
 * Fill @secret from the bytes of @file, the same for the same bytes: hosts of a group share such a file.
 *
 * Returns 0, or with one line in @err -EPERM: others than its owner may read it, -EINVAL: fewer than 32
 * bytes or more than 64 KiB, or what reading it returned.
 */
int secret_from_file(struct xdd_secret *secret, const char *file, char *err, size_t err_size);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/secret.h"

#include <errno.h>
#include <sys/random.h>

void secret_from_seed(struct xdd_secret *secret, u64 seed)
{
	u64 *word = (u64 *)secret;

	/* splitmix64 */
	for (size_t i = 0; i < sizeof(*secret) / sizeof(*word); i++)
		word[i] = xdd_mix64(seed += XDD_GOLDEN);
}

int secret_random(struct xdd_secret *secret)
{
	u8 *at = (u8 *)secret;
	size_t left = sizeof(*secret);

	while (left) {
		ssize_t got = getrandom(at, left, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		at += got;
		left -= got;
	}
	return 0;
}

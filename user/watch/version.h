/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What states of a watch set are told from each other by. */
#ifndef USER_WATCH_VERSION_H
#define USER_WATCH_VERSION_H

#include <stdbool.h>

#include <xdd/types.h>

/*
 * What tells one state of a set from others of the same size, whoever wrote the file: how many keys, and the CRC-32
 * of all levels. Files of equal counters are equal there, in whatever order the keys came.
 */
struct watch_print {
	u64 keys, crc;
};

static inline bool watch_print_same(const struct watch_print *a, const struct watch_print *b)
{
	return a->keys == b->keys && a->crc == b->crc;
}

/* A state of the set among those that its owner told. */
struct watch_version {
	u64 epoch, seq;
	struct watch_print print;
};

/* Below 0, 0 or above 0: @a was told before @b, is as old, or was told after it. */
static inline int watch_version_order(const struct watch_version *a, const struct watch_version *b)
{
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Promiscuous mode as `ip link set promisc` sets it. It outlives the loader, unlike a packet
 * socket's; packet sockets count on their own, so neither disturbs the other.
 */
#ifndef USER_LOADER_PROMISC_H
#define USER_LOADER_PROMISC_H

#include <stdbool.h>

#include <xdd/types.h>

/* Is it set on interface @ifindex of this network namespace? Returns 0 or a negative errno. */
int promisc_get(u32 ifindex, bool *on);

int promisc_set(u32 ifindex, bool on);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Network namespaces. The thread enters one for a while to find and attach interfaces; pins and
 * everything else stay where the caller is.
 */
#ifndef USER_LOADER_NETNS_H
#define USER_LOADER_NETNS_H

#include <stddef.h>

#include <xdd/types.h>

/* Inode of the namespace that the thread is in; 0 if /proc does not tell. */
u64 netns_inode(void);

/* Enter the namespace that `ip netns` calls @name; NULL: stay. *@home takes the thread back by
 * netns_leave(). Returns 0, or a negative errno with one line in @err.
 */
int netns_enter(const char *name, int *home, char *err, size_t err_size);

/* Enter the namespace of @inode: the present one, the one called @name (may be empty), any other
 * that `ip netns` knows, or that of process 1. Returns 0, or -ENOENT if it is none of these.
 */
int netns_enter_inode(u64 inode, const char *name, int *home);

void netns_leave(int home);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libbpf and the kernel say when something fails: kept instead of printed, for the one line
 * that the user gets.
 */
#ifndef USER_LOADER_KERNEL_LOG_H
#define USER_LOADER_KERNEL_LOG_H

/* Forget what was kept, and keep what comes from now on. */
void kernel_log_start(void);

/* The driver's own words (netlink's extended acknowledgement), or NULL. */
const char *kernel_log_driver(void);

/* libbpf's first complaint, or NULL. */
const char *kernel_log_first(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ager: walks a loaded filter at an easy pace by the BPF program xdp_ager, which zeroes the
 * timers that ran out, and records how full it found the filter in map `ager`. Verdicts do not
 * depend on it: it frees memory that nobody touches, and measures.
 */
#ifndef USER_AGE_AGER_H
#define USER_AGE_AGER_H

#include <stddef.h>

#include <xdd/types.h>

struct ager;
struct instance;

/*
 * Start ageing @instance, which must stay open until ager_close(). Whoever calls holds the
 * instance's ager lock, so that `run` and `agent` do not both walk it.
 *
 * Returns NULL with one line in @err where a map or the program cannot be used. An instance of
 * the exact engine has nothing to sweep: its ager only does nothing.
 */
struct ager *ager_open(struct instance *instance, char *err, size_t err_size);

/* Sweep the next part of the filter: at most about a millisecond. Returns 0 or a negative errno. */
int ager_step(struct ager *ager);

/* Sweep what is left of this round, as fast as it goes. Returns 0 or a negative errno. */
int ager_round(struct ager *ager);

/* Nanoseconds from one step to the next. The whole filter is walked once a second, or 32 MiB of it
 * where it is larger.
 */
u64 ager_period_ns(const struct ager *ager);

/* Free what ager_open() made. NULL is ignored. */
void ager_close(struct ager *ager);

#endif

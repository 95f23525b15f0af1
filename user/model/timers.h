/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows of ticks, and the rule of equal timers (koloniari-2011 section 4). */
#ifndef USER_MODEL_TIMERS_H
#define USER_MODEL_TIMERS_H

#include <xdd/config.h>

/* Bits of a timer for a window of @ticks ticks (at least 1): its values are 0, empty, and 1 to @ticks:
 * ceil(log2(w + 1)). The paper's ceil(log2 w) is one short where w is a power of two.
 */
u32 model_timer_bits(u64 ticks);

/* The longest time between sweeps, in ticks, with which expiries kept modulo 2^@bits decide as timers
 * that count down do: 2^b - w - 1; below 1 where the timer is too short.
 */
double model_sweep_ticks(u32 bits, u64 ticks);

/* How often an event passes that comes at each of @events ticks: each passing starts a window. */
double model_passes(double events, double ticks);

/*
 * FNR of a filter of @hashes timers a key by what it calls duplicate: a new key of which it does so, with the
 * chance @fpr, is not set, and is found as long as others keep all its timers live. The first copy behind that
 * is missed, and then the key is set. @copies of each key, evenly in the window behind it; a share of
 * them below 1.
 *
 * Others set a timer at the rate a in a window, so that e^-a are empty, and one that is live now is live after a
 * part x of it with chance q = (1 - 2 e^-a + e^(-a (1 + x))) / (1 - e^-a). c copies are all found if the
 * latest is: fpr (1 - the integral of c x^(c - 1) q^k over 0 to 1) / c.
 */
double model_left_out(double fpr, u32 hashes, double copies);

/* The share of the copies spread evenly over a window of @ticks ticks that come in the rest of the last
 * one, which the entry does not live to see: it was made somewhere in the first.
 */
double model_tick_missed(double ticks);

/* A filter with equal timers: @keys live keys spread over @slices slices (1: vertical, or none) of @cells
 * cells, @hashes cells each, made in @ticks different ticks; of a key's timers at least @equal must
 * agree, 1 to @hashes.
 */
struct model_equal {
	double keys, slices, cells, ticks;
	u32 hashes, equal;
};

/*
 * Rates under the rule. FPR: all timers of a new key live, and @equal of them set last in the same tick; the
 * paper gives this for all of them and one tick, and this is its sum over the window. FNR, of a copy that
 * comes anywhere in the window, but in another tick than what else is set then: of its timers as later keys
 * have left them fewer than @equal agree. Copies that are missed are taken to be few: each sets its timers anew.
 */
double model_equal_fpr(const struct model_equal *filter);
double model_equal_fnr(const struct model_equal *filter);

#endif

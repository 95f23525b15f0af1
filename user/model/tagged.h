/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine tagged, ours: lines of 15 cells, each with a 24-bit tag; the hash of a key picks the line. A full
 * line gives up its oldest entry.
 */
#ifndef USER_MODEL_TAGGED_H
#define USER_MODEL_TAGGED_H

#include <xdd/config.h>

/* FPR, by tags that collide: @keys spread over @lines lines. A new key is compared with the cells that
 * are live in its line, at most 15, and each agrees in its tag with probability 2^-24.
 */
double model_tagged(double keys, double lines);

/* The lowest rate that the tagged engine is sure to reach, with every cell live. */
double model_tagged_full(void);

/* The chance that an entry has been evicted: at least 15 entries were made in its line since, of which
 * @entries are to be expected. All of them are younger, and live if it would be.
 */
double model_tagged_evicted(double entries);

/*
 * FNR, by evictions: @keys different ones come in a window, and @copies of each of them (0 or more; a share of
 * them below 1), spread evenly over the window from then on. A copy that is missed makes an entry in a line
 * that is full already, which evicts others. Against simulation, at 80 % to 150 % of 8 keys a line: 5 to
 * 15 % too low for 1 or 2 copies, up to 25 % for 3 to 5.
 */
double model_tagged_fnr(double keys, double copies, double lines);

/* The same two of a filter that is there: @live, 0 to 15, of the cells of a line are on average. The entries
 * that came in a window are as many as leave so many live where a line keeps 15; of them the firsts are what
 * those that were made again leave.
 */
double model_tagged_live_fpr(double live);
double model_tagged_live_fnr(double live, double copies);

#endif

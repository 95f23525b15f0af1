/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads of the bit engines, which forget by chance, and the rates that follow (bera-2012). */
#ifndef USER_MODEL_BITS_H
#define USER_MODEL_BITS_H

#include <xdd/config.h>

/*
 * Engine sbf: the rate at which a stream of distinct keys settles, whatever its length (Deng and
 * Rafiei 2006, its stable point), and its inverse, the cells P that each event is to count down for
 * the rate @fpr: @cells in all, of which a key sets @hashes to @max. With Max and K, FPR =
 * (1 - (1 + 1 / (P (1/K - 1/m)))^-Max)^K.
 */
double model_sbf(double cells, u32 hashes, u32 max, double p);
double model_sbf_p(double cells, u32 hashes, u32 max, double fpr);

/*
 * The share of bits that are set, the load, which bera-2012 calls one minus X^(1/k). Its recurrences
 * for X (Theorem 3.1, Lemma 1, eq. 3.27, 3.28, 4.3, 4.5, 5.2) count the setting of bits that are set
 * already, and end at X = 1. These count what is newly set.
 */

/* Engine bloom: @keys different keys, @hashes bits each, in @cells bits: of the whole filter, or for
 * each of @picks equal parts of them in one of @slices, drawn anew (1 and 1: it is not sliced).
 */
double model_load_bloom(double keys, double cells, u32 hashes, u32 slices, u32 picks);

/* What comes in: different keys, copies of earlier ones, and those of the copies that are found
 * distinct because they were forgotten.
 */
struct model_arrivals {
	double keys, copies, forgotten;
};

/*
 * Engines bsbf, bsbfsd and rlbsbf: the load of their filters of @bits bits each behind @in, which
 * come in no particular order, if it was @load before.
 *
 * A new key sets its bit in a filter if it was 0, q being the load; and if it is found distinct, which
 * it is with probability 1 - q^k, resets a bit, which was 1 with probability q, with probability
 * r: 1, 1/k or q. So dq = ((1 - q) - (1 - q^k) r q) / bits.
 * A forgotten copy resets bits like that. If F of the copies are forgotten, a bit of one was
 * reset with probability 1 - (1 - F)^(1/k), since each of its k may be; it is set again.
 *
 * NAN for other engines.
 */
double model_load_biased(double load, const struct model_arrivals *in, double bits, u32 hashes,
			 u32 engine);

/* What new keys without end come to. */
double model_load_stationary(u32 hashes, u32 engine);

/*
 * FNR of the same engines, in a stream of new keys without end and few copies, each of which comes evenly
 * somewhere in the @keys new ones behind its first. The first left all its bits set; d keys later one
 * is with chance q + (1 - q) e^(-(a + b) d), b = 1 / bits being that of being set, a = (1 - q^k) r b of
 * being reset, and q = b / (a + b) the load. NAN for other engines.
 */
double model_missed_biased(double keys, double bits, u32 hashes, u32 engine);

/* How many of @records engine rsbf inserts: of record i, from 1, bits / i, but all from @all on. */
double model_reservoir(double records, double bits, double all);

/*
 * The share of cells above 0 of engine sbf: @records drawn uniformly from @domain keys, each of which
 * counts @cleared random ones of @cells cells down and sets its @hashes to @max. rsbf as published: those
 * that it inserts, one cell, one hash and a max of 1, in each of its filters. A cell that j keys fall on, whose number is
 * taken as Poisson, is set with probability j / domain and counted down with probability
 * cleared / cells by each record.
 */
double model_load_reset(double records, double domain, double cells, u32 hashes, u32 cleared,
			u32 max);

/* FNR of the same, under the conditions of model_missed_biased(); rsbf, whose look-up asks one cell in each of
 * several filters: @asked cells, of sbf @hashes.
 */
double model_missed_reset(double keys, double cells, u32 hashes, u32 cleared, u32 max, u32 asked);

#endif

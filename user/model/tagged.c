/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/model/tagged.h"

#include <math.h>
#include <string.h>

#include <xdd/line.h>

#define TAG_VALUES 16777216.0

/* The chance of fewer than @n, at most 15, where @mean are to be expected. */
static double poisson_below(double mean, u32 n)
{
	double term = exp(-mean), sum = 0;

	for (u32 i = 0; i < n; i++) {
		sum += term;
		term *= mean / (i + 1);
	}
	return sum;
}

/* Cells of a line that are live, of @entries in a window. */
static double live_of(double entries)
{
	double live = 0;

	for (u32 n = 1; n <= XDD_LINE_CELLS; n++)
		live += fmax(1 - poisson_below(entries, n), 0);
	return live;
}

double model_tagged(double keys, double lines)
{
	return live_of(keys / lines) / TAG_VALUES;
}

double model_tagged_live_fpr(double live)
{
	return live / TAG_VALUES;
}

double model_tagged_full(void)
{
	return XDD_LINE_CELLS / TAG_VALUES;
}

/* In sums of what is small: 1 - poisson_below() would lose it. */
double model_tagged_evicted(double entries)
{
	double term, sum = 0;

	if (entries <= 0)
		return 0;
	if (entries > XDD_LINE_CELLS)
		return 1 - poisson_below(entries, XDD_LINE_CELLS);
	term = exp(XDD_LINE_CELLS * log(entries) - entries - lgamma(XDD_LINE_CELLS + 1));
	for (u32 n = XDD_LINE_CELLS; term > sum * 1e-12; n++) {
		sum += term;
		term *= entries / (n + 1);
	}
	return sum;
}

/* Its mean over 0 to @entries: by parts, P(at least 15) - 15/entries P(at least 16). */
static double evicted_mean(double entries)
{
	double least = model_tagged_evicted(entries);
	double next =
		least - exp(XDD_LINE_CELLS * log(entries) - entries - lgamma(XDD_LINE_CELLS + 1));

	return fmax(least - XDD_LINE_CELLS / entries * fmax(next, 0), 0);
}

/*
 * Of a window's entries in a line some are firsts, and some were made again when a copy missed its first.
 * The line keeps the latest 15. The firsts come and go by themselves; those that are made again, at a rate
 * that follows from both, stay for a window like them. Taken as a Markov chain, in windows.
 */
#define FIRSTS 96
#define AGAIN 72
#define MOST_KEYS 30 /* a line, beyond which both hardly vary */
#define IMPOSSIBLE 1e-18
#define LONGEST 60 /* windows until nothing changes */

/* Entries made again in a window, by firsts and by copies of each: the evicted ones that are firsts, times the
 * rate at which one is missed. A key was evicted at the age of 15/all entries, and is missed if one
 * of its copies is younger.
 */
static double made_again(double firsts, double again, double copies)
{
	double all = firsts + again, evicted, age, missed;

	if (all <= XDD_LINE_CELLS)
		return 0;
	evicted = (all - XDD_LINE_CELLS) * firsts / all;
	age = XDD_LINE_CELLS / all;
	missed = copies <= 1 ? copies : (1 - pow(age, copies)) / (1 - age);
	return evicted * missed;
}

struct chain {
	double keys, step;	    /* firsts in a window; and a step, in windows */
	u32 firsts, again;	    /* states that matter, of each kind */
	double live;		    /* cells of the line, at the last step */
	double rate[FIRSTS][AGAIN]; /* made_again() */
	double chance[2][FIRSTS][AGAIN];
};

/* Some standard deviations beyond the mean, and beyond as many as can be made again. */
static void chain_start(struct chain *c, double keys, double copies)
{
	double most = keys + 1;

	memset(c, 0, sizeof(*c));
	c->keys = keys;
	c->firsts = fmin(keys + 8 * sqrt(keys) + 12, FIRSTS);
	c->again = fmin(keys + 8 * sqrt(keys) + 4, AGAIN);
	for (u32 a = 0; a < c->firsts; a++) {
		c->chance[0][a][0] = exp(a * log(keys) - keys - lgamma(a + 1));
		for (u32 r = 0; r < c->again; r++) {
			c->rate[a][r] = made_again(a, r, copies);
			most = fmax(most, keys + a + r + c->rate[a][r]);
		}
	}
	c->step = 1 / most;
}

/* What leaves a state in one step, from @from to the other chances. */
static void chain_leave(struct chain *c, u32 from, u32 a, u32 r)
{
	double(*to)[AGAIN] = c->chance[!from], stay = c->chance[from][a][r], part = stay * c->step;

	if (a + 1 < c->firsts) {
		to[a + 1][r] += part * c->keys;
		stay -= part * c->keys;
	}
	if (r + 1 < c->again) {
		to[a][r + 1] += part * c->rate[a][r];
		stay -= part * c->rate[a][r];
	}
	if (a)
		to[a - 1][r] += part * a;
	if (r)
		to[a][r - 1] += part * r;
	to[a][r] += stay - part * (a + r);
}

/* One step. Returns the entries made again in a window. */
static double chain_step(struct chain *c, u32 from)
{
	double again = 0;

	c->live = 0;
	memset(c->chance[!from], 0, sizeof(c->chance[0]));
	for (u32 a = 0; a < c->firsts; a++)
		for (u32 r = 0; r < c->again; r++) {
			if (c->chance[from][a][r] < IMPOSSIBLE)
				continue;
			again += c->chance[from][a][r] * c->rate[a][r];
			c->live += c->chance[from][a][r] * fmin(a + r, XDD_LINE_CELLS);
			chain_leave(c, from, a, r);
		}
	return again;
}

/* Entries made again in a window of a line that gets @keys firsts in it, of which *@live are then live. */
static double chain_again(double keys, double copies, double *live)
{
	double again = 0, before;
	struct chain c;

	chain_start(&c, keys, copies);
	for (u32 window = 0; window < LONGEST; window++) {
		before = again;
		for (double at = 0; at < 1; at += 2 * c.step) {
			chain_step(&c, 0);
			again = chain_step(&c, 1);
		}
		if (fabs(again - before) <= 1e-3 * again)
			break;
	}
	*live = c.live;
	return again;
}

/* The same where both are as their mean is: as many are made as leave. */
static double steady_again(double keys, double copies)
{
	double low = 0, high = keys * fmax(copies, 1), middle;

	for (u32 i = 0; i < 60; i++) {
		middle = (low + high) / 2;
		if (made_again(keys, middle, copies) > middle)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* FNR by evictions in a line of @each keys, and its *@live cells. */
static double line_fnr(double each, double copies, double *live)
{
	double again;

	*live = live_of(each);
	if (each <= 0)
		return 0;
	if (copies <= 0)
		return evicted_mean(each);
	again = each > MOST_KEYS ? steady_again(each, copies) : chain_again(each, copies, live);
	return fmax(fmin(again / (copies * each), 1), evicted_mean(each));
}

double model_tagged_fnr(double keys, double copies, double lines)
{
	double live;

	return line_fnr(keys / lines, copies, &live);
}

/* Beyond so many entries in a window all cells of a line are live. */
#define MOST_ENTRIES 64

static double entries_of(double live)
{
	double low = 0, high = MOST_ENTRIES, middle;

	while (high - low > 1e-9 * high) {
		middle = (low + high) / 2;
		if (live_of(middle) < live)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double model_tagged_live_fnr(double live, double copies)
{
	double keys = entries_of(live), fnr = 0, found;

	for (u32 i = 0; i < 3; i++) {
		fnr = line_fnr(keys, copies, &found);
		keys -= fmin((found - live) / poisson_below(keys, XDD_LINE_CELLS), keys / 8);
	}
	return fnr;
}

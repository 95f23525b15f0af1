/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Size and slices of the engines timer and bloom. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>

#include <xdd/bits.h>

#include "derive_work.h"
#include "message.h"
#include "model.h"

/* Cells of a line. */
static u32 full_line(const struct work *w)
{
	return w->out->fixed.engine == XDD_ENGINE_timer ? XDD_LINE_TIMERS : XDD_LINE_BITS;
}

static u32 subslices(const struct work *w)
{
	return w->out->fixed.subslices ?: 1;
}

/* Outer slices of a filter of @lines lines, by default as many as there is a line for. */
static double slices_of(const struct work *w, double lines)
{
	if (w->out->fixed.slicing == XDD_SLICING_none)
		return 1;
	return w->o->slices ?: fmax(floor(lines / subslices(w)), 1);
}

/* The rate of a filter of @lines lines, all cells of them used, that holds @keys keys. */
static double rate(const struct work *w, double keys, double lines)
{
	return model_sliced(&w->out->fixed, keys, slices_of(w, lines), lines * full_line(w));
}

/* Those of an unsliced filter, and as many more as it takes to make up for the uneven spread of keys
 * over the slices; the same in every slice.
 */
double derive_sliced_lines(const struct work *w)
{
	double keys = w->o->capacity, target = derive_fpr_target(w), low, high, middle;
	double slices = (w->o->slices ?: 1) * (double)subslices(w);

	low = model_bloom_cells(keys, target, w->out->fixed.hashes) / full_line(w);
	low = fmax(ceil(low), 1);
	high = low;
	while (rate(w, keys, high) > target && high < UINT32_MAX)
		high *= 2;
	while (high - low > fmax(1, low / 1024)) {
		middle = floor((low + high) / 2);
		if (rate(w, keys, middle) > target)
			low = middle;
		else
			high = middle;
	}
	return ceil((rate(w, keys, low) > target ? high : low) / slices) * slices;
}

/* Lines of a slice of @cells cells, and how many cells each is to have: all, or, where some line or
 * other would not be full, as few less as give @cells.
 */
static u64 exact_lines(u64 cells, u32 full, u32 *line_cells)
{
	u64 least = (cells + full - 1) / full, lines;

	for (lines = least; lines <= least + least / 4 + 4; lines++)
		if (cells % lines == 0)
			break;
	if (cells % lines)
		lines = least;
	*line_cells = cells / lines == full ? 0 : cells / lines;
	return lines;
}

/* Filters are made of whole lines, the same number in each slice, and never take more than was asked for: where that is
 * not one line each, derive_sliced() refuses. A simulated one has the size that was asked for to the cell, or, where lines of
 * equal size do not give that, to one cell a line.
 */
u64 derive_sliced_blocks(struct work *w, u64 bytes, u64 blocks)
{
	struct xdd_fixed *f = &w->out->fixed;
	u64 parts = (w->o->slices ?: 1) * (u64)subslices(w), cells;

	if (f->slicing == XDD_SLICING_none)
		parts = 1;
	cells = bytes * full_line(w) / XDD_LINE_BYTES / parts;
	if (w->simulated && option_given(w->o, OPT_memory) && cells &&
	    (w->o->slices || f->slicing == XDD_SLICING_none))
		return exact_lines(cells, full_line(w), &f->line_cells) * parts;
	return blocks > parts ? blocks - blocks % parts : blocks;
}

int derive_sliced(struct work *w)
{
	struct xdd_fixed *f = &w->out->fixed;

	f->slices = slices_of(w, w->out->lines);
	if (f->slice_hashes > f->slices)
		return refuse(
			w->err, w->err_size, -ERANGE,
			"--slicing %ux%u takes %u slices for each key, and the filter has %u: "
			"more --slices or more --memory",
			f->slice_hashes, f->hashes / f->slice_hashes, f->slice_hashes, f->slices);
	if ((u64)f->slices * subslices(w) <= w->out->lines)
		return 0;
	if (f->subslices)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--slices %u --subslices %u: each has at least one line of 64 bytes, "
			      "and the filter has %" PRIu64 ": fewer of them or more --memory",
			      f->slices, f->subslices, (uint64_t)w->out->lines);
	return refuse(w->err, w->err_size, -ERANGE,
		      "--slices %u: a slice has at least one line of 64 bytes, and the filter has "
		      "%" PRIu64 ": fewer slices or more --memory",
		      f->slices, (uint64_t)w->out->lines);
}

/* Keys that a filter of @lines lines holds at the target rate: the inverse of derive_sliced_lines(). */
static u64 keys_of(const struct work *w, double lines)
{
	double low = 0, high = lines * full_line(w), middle;

	while (high - low > fmax(0.5, low / 4096)) {
		middle = (low + high) / 2;
		if (rate(w, middle, lines) > derive_fpr_target(w))
			high = middle;
		else
			low = middle;
	}
	return low;
}

void derive_sliced_capacity(struct work *w)
{
	struct derived *out = w->out;
	u64 copies = out->fixed.placement == XDD_PLACEMENT_percpu ? w->cpus : 1;
	double lines = out->lines;

	if (out->fixed.line_cells)
		lines *= (double)out->fixed.line_cells / full_line(w);
	out->capacity_keys = w->o->capacity ?: keys_of(w, lines) * copies;
	out->fpr_model = rate(w, (double)out->capacity_keys / copies, lines);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a key's k cells lie in a sliced filter, engines timer and bloom (koloniari-2011 section 3).
 *
 * none        anywhere.
 * horizontal  all in one of S slices, which the key picks.
 * vertical    anywhere; the S slices are ranges of the filter.
 * hv          all in one of S slices, which is cut vertically into S2.
 * vh          anywhere in S ranges, each of which is cut into S2: in each the key picks one of them.
 * K1xK2       in K1 of S slices, by one set of hashes, K2 cells each, by another (section 3.3).
 *
 * Places are drawn by xdd_range() in stages, from slices to lines to cells. Two stages are, number
 * for number, one draw over the product of their ranges: so vertical gives the places of none,
 * and hv those of horizontal, and nothing has to be divided.
 */
#ifndef XDD_SLICES_H
#define XDD_SLICES_H

#include "bits.h"

/* A key's draws. */
struct xdd_places {
	u64 seed;	  /* of all of them; inverted, of the slices that vh and K1xK2 pick */
	u32 slice_lines;  /* lines of an innermost slice */
	u32 first, lines; /* of the part in which all cells lie */
};

/* Bits of a cell of the bit engines. */
XDD_INLINE u32 xdd_cell_bits(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_sbf ? fixed->sbf_bits : 1;
}

/* Timers, tagged cells or bits of a line that are used. */
XDD_INLINE u32 xdd_line_cells(XDD_FIXED struct xdd_fixed *fixed)
{
	if (fixed->line_cells)
		return fixed->line_cells;
	if (fixed->engine == XDD_ENGINE_tagged)
		return XDD_LINE_CELLS;
	return xdd_engine_has_timers(fixed->engine) ? XDD_LINE_TIMERS : XDD_LINE_BITS;
}

/* Those of the filter. */
XDD_INLINE u64 xdd_cells(XDD_FIXED struct xdd_fixed *fixed)
{
	return (u64)xdd_slice_lines(fixed) * xdd_slices_count(fixed) * xdd_line_cells(fixed);
}

XDD_INLINE struct xdd_places xdd_places(XDD_FIXED struct xdd_fixed *fixed,
					const struct xdd_digest *digest)
{
	struct xdd_places places = { .seed = digest->lo, .slice_lines = xdd_slice_lines(fixed) };
	u32 rest;

	places.lines = places.slice_lines * xdd_slices_count(fixed);
	if (xdd_slices_pick_one(fixed)) {
		places.lines = places.slice_lines * xdd_subslices(fixed);
		places.first = xdd_range(digest->lo >> 32, fixed->slices, &rest) * places.lines;
	}
	return places;
}

/* The line of a cell by the uniform @hash; the slices that the key picks are picked by @seed. */
XDD_INLINE u32 xdd_places_line(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_places *places,
			       u32 i, u32 hash, u32 *rest)
{
	u32 slice, unused;

	if (fixed->slicing == XDD_SLICING_vh) {
		slice = xdd_range(hash, fixed->slices, rest);
		hash = xdd_bits_draw(~places->seed, slice) >> 32;
		slice = slice * xdd_subslices(fixed) +
			xdd_range(hash, xdd_subslices(fixed), &unused);
		return slice * places->slice_lines + xdd_range(*rest, places->slice_lines, rest);
	}
	if (fixed->slicing == XDD_SLICING_K1xK2) {
		slice = xdd_bits_draw(~places->seed, i % fixed->slice_hashes) >> 32;
		slice = xdd_range(slice, fixed->slices, &unused);
		return slice * places->slice_lines + xdd_range(hash, places->slice_lines, rest);
	}
	return places->first + xdd_range(hash, places->lines, rest);
}

/* Cell @i of the key, 0..k-1: the number of its line, and its place there in *@cell. */
XDD_INLINE u32 xdd_place(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_places *places, u32 i,
			 u32 *cell)
{
	u64 draw = xdd_bits_draw(places->seed, i);
	u32 rest;

	*cell = xdd_range(draw, xdd_line_cells(fixed), &rest);
	return xdd_places_line(fixed, places, i, draw >> 32, &rest);
}

/* The lines of the key's k cells, and their places there. Returns false where a line is missing. */
XDD_INLINE bool xdd_slices_locate(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				  const struct xdd_digest *digest, struct xdd_bits *cells)
{
	struct xdd_places places = xdd_places(fixed, digest);

	for (u32 i = 0; i < XDD_MAX_HASHES; i++) {
		if (i >= fixed->hashes)
			break;
		cells->line[i] =
			xdd_line_number(fixed, store, xdd_place(fixed, &places, i, &cells->at[i]));
		if (!cells->line[i])
			return false;
	}
	return true;
}

/*
 * The slices that a look-up of @digest asks, each once, by their numbers (0 to xdd_slices_count()
 * - 1) in @slices. Returns how many, 1..k.
 */
XDD_INLINE u32 xdd_slices_of(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_digest *digest,
			     u32 slices[XDD_MAX_HASHES])
{
	struct xdd_places places = xdd_places(fixed, digest);
	u32 n = 0, cell;

	for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++) {
		u32 slice = xdd_place(fixed, &places, i, &cell) / places.slice_lines, at = 0;

		while (at < n && slices[at] != slice)
			at++;
		if (at == n)
			slices[n++] = slice;
	}
	return n;
}

#endif

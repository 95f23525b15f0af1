/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "messages.h"

#include <errno.h>
#include <stdlib.h>

#include "user/accessors.h"

u32 messages_slices(const struct xdd_fixed *fixed)
{
	return fixed->engine == XDD_ENGINE_timer ? fixed->slices : 0;
}

int messages_open(struct messages *m, const struct xdd_fixed *fixed)
{
	m->slices = messages_slices(fixed);
	m->to = m->slices ? calloc(m->slices, sizeof(*m->to)) : NULL;
	return m->slices && !m->to ? -ENOMEM : 0;
}

void messages_close(struct messages *m)
{
	free(m->to);
	m->to = NULL;
}

/* The slices of the cells of a key, which are @store->fixed.hashes, in @slice. */
static void slices_of(struct xdd_store *store, const struct xdd_digest *digest, u32 *slice)
{
	const struct xdd_fixed *fixed = &store->fixed;
	u32 lines = fixed->blocks * fixed->lines_per_block / fixed->slices;
	struct xdd_timer_cells cells;

	xdd_timer_locate(fixed, store, digest, &cells);
	for (u32 i = 0; i < fixed->hashes; i++)
		slice[i] = (cells.line[i] - store->lines) / lines;
}

/* Whether slice @at of the list @slice is in it before. */
static bool came_before(const u32 *slice, u32 at)
{
	for (u32 i = 0; i < at; i++)
		if (slice[i] == slice[at])
			return true;
	return false;
}

void messages_add(struct messages *m, struct xdd_store *store, const struct xdd_digest *digests,
		  u32 n)
{
	u32 slice[XDD_MAX_HASHES];

	if (m->slices == 1)
		m->to[0] += n;
	for (u32 i = 0; i < n && m->slices > 1; i++) {
		slices_of(store, &digests[i], slice);
		for (u32 at = 0; at < store->fixed.hashes; at++)
			m->to[slice[at]] += !came_before(slice, at);
	}
}

struct messages_spread messages_spread(const struct messages *m)
{
	struct messages_spread s = { 0, 0, 0 };
	double squares = 0, most = 0;

	for (u32 i = 0; i < m->slices; i++) {
		double to = m->to[i];

		s.sum += to;
		squares += to * to;
		most = to > most ? to : most;
	}
	s.max_share = most / s.sum;
	s.fairness = s.sum * s.sum / (m->slices * squares);
	return s;
}

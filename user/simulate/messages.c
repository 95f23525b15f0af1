/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "messages.h"

#include <errno.h>
#include <stdlib.h>

#include "user/accessors.h"
#include "user/store.h"
#include "xdd/slices.h"

u32 messages_slices(const struct xdd_fixed *fixed)
{
	return xdd_engine_is_sliced(fixed->engine) ? xdd_slices_count(fixed) : 0;
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

void messages_add(struct messages *m, const struct xdd_fixed *fixed,
		  const struct xdd_digest *digests, u32 n)
{
	u32 slices[XDD_MAX_HASHES], asked;

	if (m->slices == 1)
		m->to[0] += n;
	for (u32 i = 0; i < n && m->slices > 1; i++) {
		asked = xdd_slices_of(fixed, &digests[i], slices);
		for (u32 at = 0; at < asked; at++)
			m->to[slices[at]]++;
	}
}

static bool is_set(const struct xdd_store *store, u32 number, u32 cell, const struct xdd_when *when)
{
	const struct xdd_line *line = &store->lines[number];

	if (store->fixed.engine == XDD_ENGINE_bloom)
		return line->word[cell / 64] >> cell % 64 & 1;
	return !xdd_line_is_stale(xdd_line_age(line, when)) &&
	       xdd_timer_live(line->timer[cell], when);
}

bool messages_vary(const struct messages *m, const struct xdd_fixed *fixed)
{
	return m->slices > 1 && !fixed->filters && fixed->slicing != XDD_SLICING_horizontal;
}

/* The slices of a look-up, until a cell is not set. */
static u32 visits(const struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns)
{
	const struct xdd_fixed *fixed = &store->fixed;
	struct xdd_when when = xdd_when(now_ns / fixed->tick_ns, store->live.window_ticks);
	struct xdd_places places = xdd_places(fixed, digest);
	u32 visited[XDD_MAX_HASHES], n = 0, line, cell, at;

	for (u32 i = 0; i < fixed->hashes; i++) {
		line = xdd_place(fixed, &places, i, &cell);
		for (at = 0; at < n && visited[at] != line / places.slice_lines;)
			at++;
		if (at == n)
			visited[n++] = line / places.slice_lines;
		if (!is_set(store, line, cell, &when))
			break;
	}
	return n;
}

void messages_pipe(void *messages, const struct xdd_store *store, const struct xdd_digest *digest,
		   u64 now_ns)
{
	((struct messages *)messages)->piped += visits(store, digest, now_ns);
}

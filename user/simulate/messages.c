/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "messages.h"

#include <errno.h>
#include <stdlib.h>

#include "user/accessors.h"
#include "user/model.h"
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
	s.fairness = model_fairness(s.sum, squares, m->slices);
	return s;
}

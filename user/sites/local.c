/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/local.h"

#include <errno.h>
#include <stdlib.h>

int local_open(struct local *l, const struct xdd_fixed *fixed, u32 window_ticks, u32 n,
	       const struct wire_key *key)
{
	int rc = 0;

	*l = (struct local){ .n = n };
	l->sites = calloc(n, sizeof(*l->sites));
	l->down = calloc(n, sizeof(*l->down));
	l->question = malloc(SITES_MESSAGE_MAX);
	l->answer = malloc(SITES_MESSAGE_MAX);
	if (!l->sites || !l->down || !l->question || !l->answer)
		return -ENOMEM;
	for (u32 i = 0; !rc && i < n; i++)
		rc = site_open(&l->sites[i], fixed, window_ticks,
			       site_first(fixed, i + 1, n) - site_first(fixed, i, n), i + 1, key);
	return rc;
}

void local_close(struct local *l)
{
	for (u32 i = 0; l->sites && i < l->n; i++)
		site_close(&l->sites[i]);
	free(l->sites);
	free(l->down);
	free(l->question);
	free(l->answer);
}

bool local_carry(struct local *l, struct producer *p, u32 site)
{
	size_t bytes = producer_message(p, site, l->question);
	int answered;
	u64 to;

	if (!bytes)
		return false;
	l->now_ns++;
	answered = l->down[site] ? -ETIMEDOUT
				 : site_answer(&l->sites[site], l->question, bytes, l->now_ns,
					       l->answer, &to);
	if (answered < 0 || producer_answer(p, site, l->answer, answered))
		producer_fail(p, site);
	return true;
}

void local_finish(struct local *l, struct producer *p)
{
	while (!producer_done(p))
		for (u32 i = 0; i < l->n; i++)
			local_carry(l, p, i);
}

void local_fail(struct local *l, u32 site)
{
	l->down[site] = true;
}

int local_recover(struct local *l, u32 site)
{
	struct site *old = &l->sites[site], fresh;
	u32 slices = old->cells / xdd_line_cells(&old->fixed) / xdd_slice_lines(&old->fixed);
	int rc = site_open(&fresh, &old->fixed, old->window_ticks, slices, old->id, &old->key);

	if (rc) {
		site_close(&fresh);
		return rc;
	}
	site_close(old);
	*old = fresh;
	l->down[site] = false;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/roster.h"

#include <stdio.h>
#include <string.h>

#include "xdd/slices.h"

void roster_open(struct roster *r, const struct xdd_fixed *fixed, u64 fingerprint)
{
	*r = (struct roster){ .fingerprint = fingerprint,
			      .of = fixed->slices,
			      .each = xdd_subslices(fixed) };
}

struct roster_site *roster_find(struct roster *r, u64 id)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->site[i].id == id)
			return &r->site[i];
	return NULL;
}

static void take_out(struct roster *r, u32 i)
{
	memmove(&r->site[i], &r->site[i + 1], (r->n - i - 1) * sizeof(*r->site));
	r->n--;
	r->changed = true;
}

void roster_forget(struct roster *r, u64 id)
{
	struct roster_site *site = roster_find(r, id);

	if (site)
		take_out(r, site - r->site);
}

/* No two sites serve one slice: who had some of them is no more. */
static void make_room(struct roster *r, const struct call_here *here)
{
	for (u32 i = r->n; i-- > 0;) {
		const struct call_here *old = &r->site[i].here;

		if (old->first < here->first + here->n && here->first < old->first + old->n)
			take_out(r, i);
	}
}

static enum roster_news insert(struct roster *r, const struct call_here *here, u64 id)
{
	u32 at = r->n;

	make_room(r, here);
	if (r->n == SITES_MAX)
		return ROSTER_FULL;
	for (at = r->n; at && r->site[at - 1].here.first > here->first; at--)
		r->site[at] = r->site[at - 1];
	r->site[at] = (struct roster_site){ .here = *here, .id = id, .back = r->started };
	r->n++;
	r->changed = true;
	return ROSTER_CAME;
}

enum roster_news roster_take(struct roster *r, const struct call_here *here, u64 id)
{
	struct roster_site *site = roster_find(r, id);

	if (here->fingerprint != r->fingerprint || here->of != r->of)
		return ROSTER_OTHER;
	if (!here->serves)
		return ROSTER_KNOWN;
	if (!site)
		return insert(r, here, id);
	if (!site->lost)
		return ROSTER_KNOWN;
	site->lost = false;
	site->back = true;
	return ROSTER_BACK;
}

u32 roster_missing(const struct roster *r, char *text, size_t size)
{
	u32 missing = 0, next = 0;
	size_t used = 0;

	*text = 0;
	for (u32 i = 0; i <= r->n; i++) {
		u32 end = i < r->n ? r->site[i].here.first : r->of;

		if (end > next && used < size)
			used += snprintf(text + used, size - used,
					 end > next + 1 ? "%s%u-%u" : "%s%u", used ? ", " : "",
					 next, end - 1);
		missing += end > next ? end - next : 0;
		next = i < r->n ? end + r->site[i].here.n : end;
	}
	return missing;
}

u32 roster_deal(struct roster *r, struct producer_site sites[ROSTER_DEALT])
{
	u32 n = 0, next = 0;

	for (u32 i = 0; i < r->n; i++) {
		const struct call_here *here = &r->site[i].here;

		if (here->first > next)
			sites[n++] = (struct producer_site){ next * r->each, 0 };
		sites[n++] = (struct producer_site){ here->first * r->each, r->site[i].id };
		next = here->first + here->n;
	}
	if (next < r->of)
		sites[n++] = (struct producer_site){ next * r->each, 0 };
	r->changed = false;
	return n;
}

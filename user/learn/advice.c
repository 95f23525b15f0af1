// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <string.h>

#define SHORTEST 1 /* index of 1 ms: clocks and queues make shorter windows a gamble */

/* What the advice is based on: packets with identification, if there are any. */
static u64 basis(const struct learn_count *c, bool sure)
{
	return sure ? c->all - c->unsure : c->all;
}

static u32 choose_window(const struct learn *l, bool sure)
{
	u64 all = basis(&l->windows[LEARN_COPIES].dropped, sure), least = all - all / LEARN_MISSED;
	u32 w = SHORTEST;

	while (w < LEARN_COPIES && basis(&l->windows[w].early, sure) < least)
		w++;
	return w;
}

struct learn_advice learn_advise(const struct learn *l)
{
	const struct learn_count *copies = &l->windows[LEARN_COPIES].dropped;
	bool sure = copies->all > copies->unsure;
	struct learn_advice advice = { .verdict = LEARN_NO_COPIES };

	if (!l->compared)
		advice.verdict = LEARN_NOTHING;
	if (!l->compared || !copies->all)
		return advice;
	advice.verdict = sure ? LEARN_COPIES_SURE : LEARN_UNSURE;
	advice.window = choose_window(l, sure);
	advice.would_drop = l->windows[advice.window].dropped;
	return advice;
}

/* The same pair both ways is one. */
static bool is_named(const struct learn *l, u32 pair)
{
	for (u32 i = 0; i < pair; i++)
		if (l->vlans[i].routed && l->vlans[i].first == l->vlans[pair].copy &&
		    l->vlans[i].copy == l->vlans[pair].first)
			return true;
	return false;
}

const char *learn_vlan(const struct learn *l, char text[LEARN_VLAN_MAX])
{
	char *end = text;
	u32 maps = 0;

	strcpy(text, "key");
	for (u32 i = 0; i < l->n_vlans && maps < XDD_MAX_VLAN_MAPS; i++) {
		const struct learn_vlans *v = &l->vlans[i];

		if (!v->routed || is_named(l, i))
			continue;
		/* 0, no tag, may be what a VLAN counts as, but not the other way round. */
		end += sprintf(end, "%s%u=%u", maps++ ? "," : "map:", v->first ?: v->copy,
			       v->first ? v->copy : 0);
	}
	return l->n_vlans ? text : NULL;
}

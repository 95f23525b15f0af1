// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#define SHORTEST 1 /* index of 1 ms: clocks and queues make shorter windows a gamble */
#define MISSED 200 /* one in so many copies may be further apart than the advice reaches */

/* What the advice is based on: packets with identification, if there are any. */
static u64 basis(const struct learn_count *c, bool sure)
{
	return sure ? c->all - c->unsure : c->all;
}

static u32 choose_window(const struct learn *l, bool sure)
{
	u64 all = basis(&l->windows[LEARN_COPIES].dropped, sure), least = all - all / MISSED;
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

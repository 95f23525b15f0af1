// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#define SHORTEST 1 /* index of 1 ms: clocks and queues make shorter windows a gamble */
#define MISSED 1000
#define TICKS 16 /* the default of --ticks: copies in the last one may pass */

/* What the advice is based on: packets with identification, if there are any. */
static u64 found(const struct learn_window *window, bool sure)
{
	return sure ? window->dropped.all - window->dropped.unsure : window->dropped.all;
}

static u32 choose_window(const struct learn *l, bool sure)
{
	u64 all = found(&l->windows[LEARN_COPIES], sure);
	u32 w = SHORTEST;

	while (w < LEARN_COPIES && all - found(&l->windows[w], sure) > all / MISSED)
		w++;
	while (w < LEARN_COPIES) {
		const struct learn_window *window = &l->windows[w];
		u64 farthest = sure ? window->farthest_sure_ns : window->farthest_ns;

		if (farthest <= learn_window_ns[w] - learn_window_ns[w] / TICKS)
			break;
		w++;
	}
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

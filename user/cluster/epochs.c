/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/epochs.h"

bool epochs_twins(const struct epochs *e, u64 now_ns, u64 memory_ns)
{
	return e->twins && now_ns - e->twin_ns < memory_ns;
}

static enum epochs_verdict twin(struct epochs *e, const struct wire_head *head, u64 now_ns)
{
	e->other = head->epoch;
	e->other_order = head->order;
	e->replaced = false;
	e->twins = true;
	e->twin_ns = now_ns;
	return EPOCHS_TWIN;
}

static enum epochs_verdict begin(struct epochs *e, const struct wire_head *head, bool alive)
{
	u64 order = head->epoch == e->other ? e->other_order : 0;

	e->other = e->now;
	e->other_order = e->order;
	e->replaced = alive && e->now;
	e->now = head->epoch;
	e->order = order;
	return EPOCHS_BEGIN;
}

/* Who began earlier speaks on, so that the later one was no new start of it; and it is believed again. */
static enum epochs_verdict restore(struct epochs *e, const struct wire_head *head, u64 now_ns)
{
	begin(e, head, false);
	e->twins = true;
	e->twin_ns = now_ns;
	return EPOCHS_BEGIN;
}

/* An epoch is the time at which it began: what was sent before a later one began may be said again by anybody, and
 * says nothing.
 */
static enum epochs_verdict judge_earlier(struct epochs *e, const struct wire_head *head, bool alive,
					 u64 now_ns)
{
	if (head->time_ns <= e->now)
		return EPOCHS_OLD;
	if (!alive || (e->replaced && head->epoch == e->other))
		return restore(e, head, now_ns);
	return twin(e, head, now_ns);
}

enum epochs_verdict epochs_judge(struct epochs *e, const struct wire_head *head, bool stored,
				 bool alive, u64 now_ns, u64 memory_ns)
{
	bool twins = alive && epochs_twins(e, now_ns, memory_ns);

	if (head->epoch == e->now)
		return EPOCHS_SAME;
	if (head->epoch == e->other && head->order <= e->other_order)
		return EPOCHS_OLD;
	if (stored && (head->epoch < e->now || twins))
		return EPOCHS_OLD;
	if (head->epoch < e->now)
		return judge_earlier(e, head, alive, now_ns);
	return twins ? twin(e, head, now_ns) : begin(e, head, alive);
}

enum epochs_verdict epochs_judge_own(struct epochs *e, u64 self, const struct wire_head *head,
				     bool stored, u64 now_ns)
{
	if (head->epoch == self)
		return EPOCHS_SAME;
	if (stored || head->time_ns <= self ||
	    (head->epoch == e->other && head->order <= e->other_order))
		return EPOCHS_OLD;
	return twin(e, head, now_ns);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/activity.h"

#include <string.h>

#include "user/metrics/status.h"
#include "xdd/event.h"

#define SPAN_NS (60 * XDD_SECOND_NS)
#define STEP_NS (SPAN_NS / (ACTIVITY_MARKS - 1))

/* Where counts went back they began anew. */
static void subtract(void *counts, const void *before, size_t size)
{
	u64 *to = counts;
	const u64 *from = before;

	for (size_t i = 0; i < size / sizeof(u64); i++)
		to[i] -= from[i] <= to[i] ? from[i] : 0;
}

static struct activity_counts counts_of(const struct status *status)
{
	struct activity_counts counts = { .total = status->counters.total,
					  .audit = status->audit.counts };

	for (u32 i = 0; i < XDD_DEV_MAX; i++)
		counts.dropped[i] = status->links.target[i].dropped;
	return counts;
}

static void note_slots(struct activity *activity, struct status *status, u64 now_ns)
{
	for (u32 i = 0; i < XDD_SLOTS; i++) {
		u64 received = status->counters.slot[i].received.packets;

		if (!activity->marks || received != activity->received[i])
			activity->grew_ns[i] = now_ns;
		activity->received[i] = received;
		status->recent.silent_s[i] = (now_ns - activity->grew_ns[i]) / 1e9;
	}
}

/* Those older than the newest one that is old enough are of no use. */
static void forget_old(struct activity *activity, u64 now_ns)
{
	u32 old = 0;

	while (old + 1 < activity->marks && now_ns - activity->mark[old + 1].at_ns >= SPAN_NS)
		old++;
	activity->marks -= old;
	memmove(activity->mark, activity->mark + old, activity->marks * sizeof(*activity->mark));
}

static void set_mark(struct activity *activity, const struct activity_counts *counts, u64 now_ns)
{
	u32 n = activity->marks;

	if (n == ACTIVITY_MARKS || (n && now_ns - activity->mark[n - 1].at_ns < STEP_NS))
		return;
	activity->mark[activity->marks++] = (struct activity_mark){ now_ns, *counts };
}

void activity_note(struct activity *activity, struct status *status, u64 now_ns)
{
	struct activity_counts counts = counts_of(status);
	struct recent *recent = &status->recent;

	memset(recent, 0, sizeof(*recent));
	recent->added = counts;
	if (!activity)
		return;
	if (activity->loaded_s != status->instance->meta.loaded_s)
		activity->marks = 0;
	activity->loaded_s = status->instance->meta.loaded_s;
	note_slots(activity, status, now_ns);
	forget_old(activity, now_ns);
	if (activity->marks) {
		recent->seconds = (now_ns - activity->mark[0].at_ns) / 1e9;
		subtract(&recent->added, &activity->mark[0].counts, sizeof(recent->added));
	}
	set_mark(activity, &counts, now_ns);
}

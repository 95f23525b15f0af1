/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/health.h"

#include <stdio.h>

#include "user/names.h"

const char *const health_state_names[] = { "ok", "recovering", "failed" };

#define CAUSE_WORDS(name, words) words,
const char *const health_cause_words[] = { HEALTH_CAUSES(CAUSE_WORDS) };

XDD_ASSERT(XDD_ARRAY_SIZE(health_state_names) == HEALTH_MAX, "each state has a name");

static u64 until_ns(const struct xdd_health *health)
{
	return __atomic_load_n(&health->until_ns, __ATOMIC_SEQ_CST);
}

static u64 latest_of(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_health *site)
{
	u64 latest = 0;

	for (u32 i = 1; i < xdd_healths(fixed); i++)
		if (until_ns(&site[i]) > latest)
			latest = until_ns(&site[i]);
	return latest;
}

/* The filter is in doubt as long as any part of it: whoever changes parts at the same time, the last
 * one to write here has seen all of it.
 */
void health_changed(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site)
{
	u64 latest = latest_of(fixed, site), before;

	do {
		before = latest;
		__atomic_store_n(&site[0].until_ns, before, __ATOMIC_SEQ_CST);
		latest = latest_of(fixed, site);
	} while (latest != before);
}

static bool replace_until(struct xdd_health *part, u64 *old, u64 new)
{
	return __atomic_compare_exchange_n(&part->until_ns, old, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

const char *health_policy_text(XDD_FIXED struct xdd_fixed *fixed, char text[HEALTH_POLICY_TEXT_MAX])
{
	const char *name = fault_names[fixed->fault_policy];

	if (fixed->vote)
		snprintf(text, HEALTH_POLICY_TEXT_MAX, "%s:%u", name, fixed->vote);
	else
		snprintf(text, HEALTH_POLICY_TEXT_MAX, "%s", name);
	return text;
}

enum health_state health_state(const struct xdd_health *part, u64 now_ns)
{
	u64 until = until_ns(part);

	if (until & XDD_FAILED)
		return HEALTH_FAILED;
	return until > now_ns ? HEALTH_RECOVERING : HEALTH_OK;
}

bool health_failed_by(const struct xdd_health *part, enum health_cause cause)
{
	u64 until = until_ns(part);

	return until & XDD_FAILED && until >> cause & 1;
}

/* Of a part that has failed, the low bits are the causes. */
void health_fail(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site, u32 part,
		 enum health_cause cause)
{
	u64 old = until_ns(&site[1 + part]), new;

	do
		new = (old & XDD_FAILED ? old : XDD_FAILED) | 1ULL << cause;
	while (!replace_until(&site[1 + part], &old, new));
	health_changed(fixed, site);
}

bool health_may_recover(const struct xdd_health *site, u32 part, enum health_cause cause)
{
	return until_ns(&site[1 + part]) == (XDD_FAILED | 1ULL << cause);
}

void health_recover(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site, u32 part,
		    enum health_cause cause, u64 now_ns, u32 window_ticks)
{
	u64 old = until_ns(&site[1 + part]), back = now_ns, new;

	if (xdd_engine_has_timers(fixed->engine))
		back += (window_ticks + 1) * fixed->tick_ns;
	do {
		if (!(old & XDD_FAILED))
			return;
		new = old & ~(1ULL << cause);
	} while (!replace_until(&site[1 + part], &old, new == XDD_FAILED ? back : new));
	health_changed(fixed, site);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/health.h"

const char *const health_state_names[] = { "ok", "recovering", "failed" };

#define CAUSE_WORDS(name, words) words,
const char *const health_cause_words[] = { HEALTH_CAUSES(CAUSE_WORDS) };

XDD_ASSERT(XDD_ARRAY_SIZE(health_state_names) == HEALTH_MAX, "each state has a name");

static u64 until_ns(const struct xdd_health *health)
{
	return __atomic_load_n(&health->until_ns, __ATOMIC_RELAXED);
}

/* Of a part that has failed: the causes are the low bits. */
static void set_until(struct xdd_health *health, u64 until_ns)
{
	__atomic_store_n(&health->until_ns, until_ns, __ATOMIC_RELEASE);
}

/* The filter is in doubt as long as any part of it. */
static void set_latest(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site)
{
	u64 latest = 0;

	for (u32 i = 1; i < xdd_healths(fixed); i++)
		if (until_ns(&site[i]) > latest)
			latest = until_ns(&site[i]);
	set_until(&site[0], latest);
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

void health_fail(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site, u32 part,
		 enum health_cause cause)
{
	u64 until = until_ns(&site[1 + part]);

	if (!(until & XDD_FAILED))
		until = XDD_FAILED;
	set_until(&site[1 + part], until | 1ULL << cause);
	set_latest(fixed, site);
}

bool health_may_recover(const struct xdd_health *site, u32 part, enum health_cause cause)
{
	return until_ns(&site[1 + part]) == (XDD_FAILED | 1ULL << cause);
}

void health_recover(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site, u32 part,
		    enum health_cause cause, u64 now_ns, u32 window_ticks)
{
	u64 until = until_ns(&site[1 + part]) & ~(1ULL << cause);

	if (until == XDD_FAILED) {
		until = now_ns;
		if (xdd_engine_has_timers(fixed->engine))
			until += (window_ticks + 1) * fixed->tick_ns;
	}
	set_until(&site[1 + part], until);
	set_latest(fixed, site);
}

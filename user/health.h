/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The states of a filter's parts, as they change: include/xdd/faults.h says what a program makes of
 * them. Here @site are the xdd_healths() entries of one filter: of a store, or of one CPU in map
 * `health`. Programs may read them meanwhile, and others change them.
 */
#ifndef USER_HEALTH_H
#define USER_HEALTH_H

#include "xdd/faults.h"

enum health_state { HEALTH_OK, HEALTH_RECOVERING, HEALTH_FAILED, HEALTH_MAX };

extern const char *const health_state_names[]; /* "ok", "recovering", "failed" */

/* Why a part has failed: X(name, in words). It has failed as long as one of them holds. */
#define HEALTH_CAUSES(X)                   \
	X(command, "as fault --fail said") \
	X(cpu, "its CPU is offline")       \
	X(content, "what a file held of it is damaged")

#define HEALTH_CAUSE(name, words) HEALTH_CAUSE_##name,
enum health_cause { HEALTH_CAUSES(HEALTH_CAUSE) HEALTH_CAUSE_MAX };

extern const char *const health_cause_words[]; /* by enum health_cause */

/* The policy as --fault-policy takes it: "off", "distinct", "vote:3". Returns @text. */
#define HEALTH_POLICY_TEXT_MAX 16
const char *health_policy_text(XDD_FIXED struct xdd_fixed *fixed,
			       char text[HEALTH_POLICY_TEXT_MAX]);

/* At @now_ns, the filter's clock. */
enum health_state health_state(const struct xdd_health *part, u64 now_ns);

/* Whether it has failed because of @cause. */
bool health_failed_by(const struct xdd_health *part, enum health_cause cause);

/* Sum up in entry 0 what was written to the others by other means than these. */
void health_changed(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site);

/* Let part @part, below xdd_parts(), fail by @cause. */
void health_fail(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site, u32 part,
		 enum health_cause cause);

/* Whether part @part has failed by @cause and no other: once its lines are empty it may come back. */
bool health_may_recover(const struct xdd_health *site, u32 part, enum health_cause cause);

/*
 * @cause is over at @now_ns for part @part, which has failed by it. If by no other, its lines are empty
 * now: it is believed again a window of @window_ticks later; of engine bloom, which has none, at once.
 */
void health_recover(XDD_FIXED struct xdd_fixed *fixed, struct xdd_health *site, u32 part,
		    enum health_cause cause, u64 now_ns, u32 window_ticks);

#endif

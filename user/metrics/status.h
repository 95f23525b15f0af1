/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything there is to say about a loaded instance, from its pins alone.
 */
#ifndef USER_METRICS_STATUS_H
#define USER_METRICS_STATUS_H

#include <jansson.h>

#include "user/loader/instance.h"
#include "user/metrics/activity.h"
#include "user/metrics/audit.h"
#include "user/metrics/collected.h"
#include "user/metrics/counters.h"
#include "user/metrics/distances.h"
#include "user/metrics/ethertypes.h"
#include "user/metrics/fullness.h"
#include "user/metrics/health.h"
#include "user/metrics/links.h"
#include "user/metrics/peers.h"
#include "user/metrics/tree.h"
#include "user/top.h"
#include "user/units.h"
#include "user/watch/view.h"

#define STATUS_MAX_WARNINGS 24
#define STATUS_MAX_NOTES 12
#define STATUS_WARNING_MAX 224

struct status {
	struct instance *instance;
	struct counters counters;
	struct links links;
	struct recent recent;
	struct ethertypes ethertypes;
	struct fullness fullness;
	struct health_view health;
	struct tree tree;
	struct peers peers;
	struct audit audit;
	struct distances distances;
	struct watch_view watch;
	struct collected collected;
	struct top top; /* where live.top is on */
	/* Copies up to sure_ns apart are surely found, and none beyond never_ns. */
	u64 sure_ns, never_ns;
	u64 clock_step_ns;	/* of the filter's clock; 0: exact */
	double false_positives; /* expected until now: as the filter is filled now */
	u64 loaded_s;		/* seconds since it was loaded */
	pid_t ageing;		/* the process that ages it, or 0 */
	/* What is wrong now, and what was at some time since load. */
	int warnings, notes;
	char warning[STATUS_MAX_WARNINGS][STATUS_WARNING_MAX];
	char note[STATUS_MAX_NOTES][STATUS_WARNING_MAX];
};

/* Fill @status for @instance, which must stay open. @activity: the earlier looks of the same process at it;
 * NULL: there is none. Returns 0, and then status_free() is due, or a negative errno with one line in @err.
 */
int status_read(struct status *status, struct instance *instance, struct activity *activity,
		char *err, size_t err_size);
void status_free(struct status *status);

/* Whether the model's rates are known: how full the filter is, or that it does not matter. */
bool status_is_modelled(const struct status *status);

/* That a key which is new everywhere is lost: by the own filter, fullness.fpr, or a replica, peers_fpr(). */
double status_fpr(const struct status *status);

/* Share of all cells that is live, and live keys over those that the filter is meant for; NAN: not known. */
double status_density(const struct status *status);
double status_capacity_used(const struct status *status);

/* Where packets are redirected to, by its name now; "": nowhere. */
const char *status_target(const struct status *status, enum xdd_dev dev);

/* As one object of what `status --json` prints. NULL: no memory. */
json_t *status_json(const struct status *status);

/* For a person, on stdout. */
void status_print(const struct status *status);

/* How many distinct packets are lost as false positives, in words: "about 4 distinct packets an
 * hour at this rate".
 */
#define STATUS_LOSS_MAX 96
const char *status_loss_text(double fpr, double distinct_per_s, char text[STATUS_LOSS_MAX]);

#endif

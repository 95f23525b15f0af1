/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USER_METRICS_WARNINGS_H
#define USER_METRICS_WARNINGS_H

#include "user/metrics/status.h"

/* Add to @status, otherwise filled, what the user should do something about. */
void warnings_find(struct status *status);

#endif

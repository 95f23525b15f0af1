/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a site did, to stdout: text, or JSON if --json. */
#ifndef USER_CLUSTER_SERVE_REPORT_H
#define USER_CLUSTER_SERVE_REPORT_H

#include "user/options.h"
#include "user/sites/site.h"

/* @refused: messages to all that were not taken, beside those that the site itself refused. */
void serve_report(const struct options *o, const struct call_here *here, const struct site *site,
		  u64 refused);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a filter before a join came to. */
#ifndef USER_RECORDS_JOIN_REPORT_H
#define USER_RECORDS_JOIN_REPORT_H

#include "user/options.h"
#include "user/watch/file.h"

struct join_result {
	u64 join_records, join_no_field; /* of --join: with a key, and without */
	u64 records, kept, no_field;	 /* of the inputs; those without a key are not kept */
	struct acbf_stats stats;
	double build_seconds, seconds;
	bool interrupted, complete;
};

/* As --json, --quiet and --summary want it; @summary is open where there is one. Returns 0 or a
 * negative errno, which it complains about.
 */
int join_report(const struct join_result *r, const struct options *o, const struct acbf *a,
		struct sink *summary);

#endif

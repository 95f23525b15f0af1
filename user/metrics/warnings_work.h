/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between the files that warnings are found in. */
#ifndef USER_METRICS_WARNINGS_WORK_H
#define USER_METRICS_WARNINGS_WORK_H

struct status;

/* What is so now. */
__attribute__((format(printf, 2, 3))) void warn(struct status *status, const char *format, ...);

/* What follows from status->recent: as long as only sums since load are known, it may be long over, and is
 * a note.
 */
__attribute__((format(printf, 2, 3))) void warn_of_recent(struct status *status, const char *format,
							  ...);

/* Of interfaces and what comes in by them; of where packets go. */
void warnings_interfaces(struct status *status);
void warnings_traffic(struct status *status);
void warnings_targets(struct status *status);

#endif

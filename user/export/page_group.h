/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of METRICS about several hosts: for page.c only. */
#ifndef USER_EXPORT_PAGE_GROUP_H
#define USER_EXPORT_PAGE_GROUP_H

#include <xdd/types.h>

struct page;
struct status;
struct member_report;

/* What the instance that is being put says of itself, or NULL: it shares nothing from this process. */
const struct member_report *page_group(const struct page *page);

/* A sample with one label beside the instance's name, or none: @label is NULL. */
void page_put_count(struct page *page, u64 value, const char *label, const char *text);
void page_put_real(struct page *page, double value, const char *label, const char *text);

void put_bus_connected(struct page *page, const struct status *status);
void put_bus_connects(struct page *page, const struct status *status);
void put_bus_messages(struct page *page, const struct status *status);
void put_bus_bytes(struct page *page, const struct status *status);
void put_replica_messages(struct page *page, const struct status *status);
void put_replica_wanted(struct page *page, const struct status *status);
void put_replica_bytes(struct page *page, const struct status *status);
void put_replica_held_back(struct page *page, const struct status *status);
void put_replica_refused(struct page *page, const struct status *status);
void put_replica_stale_seconds(struct page *page, const struct status *status);
void put_replica_rate_predicted(struct page *page, const struct status *status);
void put_replica_check_seconds(struct page *page, const struct status *status);
void put_replica_look_up_rate(struct page *page, const struct status *status);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/export/page_group.h"

#include "user/clock.h"
#include "user/cluster/member.h"

#define WHO_SHARES(put)                                        \
	const struct member_report *report = page_group(page); \
                                                               \
	(void)status;                                          \
	if (report) {                                          \
		put                                            \
	}

void put_bus_connected(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->bus.up, NULL, NULL);)
}

void put_bus_connects(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->bus.connects, NULL, NULL);)
}

void put_bus_messages(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->bus.sent, "fate", "sent");
		   page_put_count(page, report->bus.unsent, "fate", "unsent");
		   page_put_count(page, report->bus.received, "fate", "received");
		   page_put_count(page, report->bus.overrun, "fate", "overrun");
		   page_put_count(page, report->bus.refused, "fate", "refused");)
}

void put_bus_bytes(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->bus.sent_bytes, "way", "sent");
		   page_put_count(page, report->bus.received_bytes, "way", "received");)
}

void put_replica_messages(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->sent->fulls, "kind", "full");
		   page_put_count(page, report->sent->deltas, "kind", "delta");
		   page_put_count(page, report->sent->heartbeats, "kind", "heartbeat");)
}

void put_replica_wanted(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->sent->wants, NULL, NULL);)
}

void put_replica_bytes(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->sent->full_bytes, "kind", "full");
		   page_put_count(page, report->sent->delta_bytes, "kind", "delta");)
}

void put_replica_held_back(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->sent->suppressed, "by", "push_rate");
		   page_put_count(page, report->skipped, "by", "bus");)
}

void put_replica_refused(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_count(page, report->received->bad, "why", "damaged");
		   page_put_count(page, report->received->versions, "why", "version");
		   page_put_count(page, report->received->types, "why", "type");
		   page_put_count(page, report->received->full, "why", "no_place");
		   page_put_count(page, report->received->twins, "why", "same_name");)
}

void put_replica_stale_seconds(struct page *page, const struct status *status)
{
	WHO_SHARES(u64 since = report->sent->changed_ns;

		   page_put_real(page, since ? (now_ns() - since) / 1e9 : 0, NULL, NULL);)
}

void put_replica_rate_predicted(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_real(page, report->sent->fpr, "rate", "fpr");
		   page_put_real(page, report->sent->fnr, "rate", "fnr_model");
		   page_put_real(page, report->sent->member, "rate", "fnr_member");
		   page_put_real(page, report->sent->rate, "rate", "pushed_by");)
}

void put_replica_check_seconds(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_real(page, report->check_ns / 1e9, "what", "one");
		   page_put_real(page, report->check_every_ns / 1e9, "what", "every");)
}

void put_replica_look_up_rate(struct page *page, const struct status *status)
{
	WHO_SHARES(page_put_real(page, report->fpr, "rate", "fpr");
		   page_put_real(page, report->fnr, "rate", "fnr");)
}

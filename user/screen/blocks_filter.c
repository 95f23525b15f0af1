/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the filter loses and misses, how full it is, and whether it is whole. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/names.h"
#include "user/screen/blocks.h"
#include "xdd/event.h"
#include "xdd/key.h"

#define TINY 1e-12 /* a rate of which nobody needs to know more */

__attribute__((format(printf, 3, 4))) static void put_value(const struct place *p, u32 line,
							    const char *format, ...)
{
	char text[CANVAS_WIDTH];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (line < p->rows)
		canvas_put(p->canvas, p->row + line, BLOCK_COLUMN, LOOK_PLAIN, "%s", text);
}

/* "about 3 distinct packets a year": that it is so at this rate the screen need not say. */
static const char *loss_text(double fpr, double distinct_per_s, char text[STATUS_LOSS_MAX])
{
	char *rate = strstr(status_loss_text(fpr, distinct_per_s, text), " at this rate");

	if (rate)
		*rate = 0;
	return text;
}

/* Together with what the own filter loses. */
static void put_lost_to_replicas(const struct place *p, double fpr)
{
	const struct status *status = p->figures->now;
	double replicas = peers_fpr(status->instance, &status->peers);
	double distinct = p->figures->total.distinct;
	char text[STATUS_LOSS_MAX];

	if (distinct > 0)
		put_value(p, 0, "%s (FPR %.2g, %.2g by replicas)", loss_text(fpr, distinct, text),
			  fpr, replicas);
	else
		put_value(p, 0, "FPR %.2g by the model, %.2g by replicas", fpr, replicas);
}

/* What is lost in words, and the model's rate behind it. */
static void put_lost(const struct place *p)
{
	const struct status *status = p->figures->now;
	const struct fullness *f = &status->fullness;
	double distinct = p->figures->total.distinct;
	double fpr = status_fpr(status);
	char text[STATUS_LOSS_MAX];

	if (fpr > f->fpr) {
		put_lost_to_replicas(p, fpr);
		return;
	}
	if (xdd_digest_is_wide(&status->instance->fixed))
		put_value(p, 0, "nothing that can be said: whole keys, or 128 bits of each");
	else if (!status_is_modelled(status))
		put_value(p, 0, "not known: nobody has measured how full the filter is");
	else if (!f->fpr)
		put_value(p, 0, "nothing: no key is live, so none is mistaken for another");
	else if (!(distinct > 0))
		put_value(p, 0, "FPR %.2g by the model", f->fpr);
	else
		put_value(p, 0, "%s (FPR %.2g by the model)", loss_text(f->fpr, distinct, text),
			  f->fpr);
}

/* Lines: lost; lost as measured; missed as measured; missed by the model. */
u32 block_losses_wants(const struct place *p)
{
	const struct status *status = p->figures->now;
	bool modelled = status_is_modelled(status) && !isnan(status->fullness.fnr);

	return 2 + (status->audit.share ? 1 + modelled : 0);
}

void block_losses_draw(const struct place *p)
{
	const struct status *status = p->figures->now;
	char text[AUDIT_TEXT_MAX];

	block_heading(p, 0, "lost");
	put_lost(p);
	if (p->rows < 2)
		return;
	if (!status->audit.share) {
		put_value(p, 1, "not measured: loaded with --audit off");
		return;
	}
	put_value(p, 1, "FPR measured %s", audit_rate_text(&status->audit.fpr, text));
	if (p->rows < 3)
		return;
	block_heading(p, 2, "missed");
	put_value(p, 2, "FNR measured %s", audit_rate_text(&status->audit.fnr, text));
	if (p->rows > 3)
		put_value(p, 3, "FNR %s%.2g by the model, if copies come at any time in the window",
			  status->fullness.fnr < TINY ? "below " : "",
			  fmax(status->fullness.fnr, TINY));
}

u32 block_filter_wants(const struct place *p)
{
	(void)p;
	return 1;
}

static void age_text(const struct status *status, char *text, size_t size)
{
	const struct fullness *f = &status->fullness;
	u64 seconds = f->since_sweep_ns / XDD_SECOND_NS;
	int used = 0;

	*text = 0;
	if (!f->known)
		return;
	if (seconds)
		used = snprintf(text, size, ", %" PRIu64 " s ago", (uint64_t)seconds);
	if (!status->ageing)
		snprintf(text + used, size - used, ", no agent runs");
}

/* Live keys over those that it is meant for, where that is known; else live cells over all. */
void block_filter_draw(const struct place *p)
{
	const struct status *status = p->figures->now;
	double used = status_capacity_used(status), cells = status_density(status);
	double share = isnan(used) ? cells : used;
	char replaced[UNITS_TEXT_MAX], age[64];
	u32 column = BLOCK_COLUMN;

	block_heading(p, 0, "filter");
	if (isnan(share)) {
		put_value(p, 0, "it is not known how full it is");
		return;
	}
	if (p->canvas->width >= 72)
		column = canvas_bar(p->canvas, p->row, column, 20, share) + 1;
	column = canvas_put(p->canvas, p->row, column, share > 1 ? LOOK_BAD : LOOK_PLAIN,
			    "%.3g %% of its %s", 100 * share, isnan(used) ? "cells" : "keys");
	age_text(status, age, sizeof(age));
	column = canvas_put(p->canvas, p->row, column, LOOK_PLAIN, "%s", age);
	if (p->figures->evictions > 0)
		canvas_put(p->canvas, p->row, column, LOOK_DOUBT, ", %s/s replaced",
			   units_count_text(p->figures->evictions, replaced));
}

u32 block_slices_wants(const struct place *p)
{
	return p->figures->now->health.n > 0;
}

/* The worst state among the parts that character @at of @width stands for. */
static enum health_state state_at(const struct health_view *health, u32 at, u32 width)
{
	u32 from = (u64)at * health->n / width, to = (u64)(at + 1) * health->n / width;
	enum health_state worst = HEALTH_OK;

	for (u32 i = from; i < to; i++)
		if (health->part[i].state > worst)
			worst = health->part[i].state;
	return worst;
}

/* A character for each slice, or for as many as there is place for: '.' ok, 'r' recovering, 'X' failed. */
void block_slices_draw(const struct place *p)
{
	static const enum look looks[HEALTH_MAX] = { LOOK_GOOD, LOOK_DOUBT, LOOK_BAD };
	static const char marks[HEALTH_MAX] = { '.', 'r', 'X' };
	const struct health_view *health = &p->figures->now->health;
	u32 room = p->canvas->width / 3, width = health->n < room ? health->n : room;
	u32 column = canvas_put(p->canvas, p->row, BLOCK_COLUMN, LOOK_PLAIN, "[");
	char text[HEALTH_TEXT_MAX];

	block_heading(p, 0, "slices");
	for (u32 i = 0; i < width; i++) {
		enum health_state state = state_at(health, i, width);

		column = canvas_put(p->canvas, p->row, column, looks[state], "%c", marks[state]);
	}
	canvas_put(p->canvas, p->row, column, LOOK_PLAIN, "] %s", health_view_text(health, text));
}

u32 block_growth_wants(const struct place *p)
{
	return p->figures->now->fullness.chains.number > 0;
}

void block_growth_draw(const struct place *p)
{
	const struct status *status = p->figures->now;
	const struct chains *c = &status->fullness.chains;

	block_heading(p, 0, "growth");
	put_value(p, 0, "%.2f filters live, at most %u of %u; by %s", c->live, c->most,
		  status->instance->fixed.filters, growth_names[status->instance->fixed.grow]);
}

/* A line of how many there are, and one of each. */
u32 block_peers_wants(const struct place *p)
{
	const struct status *status = p->figures->now;

	return status->instance->fixed.peers ? 1 + status->peers.n : 0;
}

void block_peers_draw(const struct place *p)
{
	const struct peers *peers = &p->figures->now->peers;
	char hits[UNITS_TEXT_MAX], text[PEER_TEXT_MAX];

	block_heading(p, 0, "peers");
	put_value(p, 0, "%u known, %u believed; %s packets were seen there", peers->n,
		  peers->believed, units_count_text(peers->hits, hits));
	for (u32 i = 0; i + 1 < p->rows && i < peers->n; i++)
		put_value(p, i + 1, "%s", peer_text(&peers->peer[i], text));
}

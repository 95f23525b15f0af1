/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What it is, whether it is well, and what comes in. */
#include <math.h>
#include <stdio.h>

#include "user/derive.h"
#include "user/names.h"
#include "user/screen/blocks.h"

void block_heading(const struct place *p, u32 line, const char *name)
{
	canvas_put(p->canvas, p->row + line, 0, LOOK_HEADING, "%s", name);
}

const char *block_rate(double rate, char text[UNITS_TEXT_MAX])
{
	if (!isnan(rate))
		return units_count_text(rate, text);
	snprintf(text, UNITS_TEXT_MAX, "-");
	return text;
}

u32 block_title_wants(const struct place *p)
{
	(void)p;
	return 2;
}

static u32 put_badge(const struct place *p, u32 column)
{
	u32 warnings = p->figures->now->warnings;

	switch (p->figures->state) {
	case FIGURES_WARNINGS:
		return canvas_put(p->canvas, p->row, column, LOOK_BAD, " %u WARNING%s ", warnings,
				  warnings > 1 ? "S" : "");
	case FIGURES_NO_PACKETS:
		return canvas_put(p->canvas, p->row, column, LOOK_DOUBT, " NO PACKETS ");
	default:
		return canvas_put(p->canvas, p->row, column, LOOK_GOOD, " OK ");
	}
}

/* At the right edge: which of how many, when. */
static void put_corner(const struct place *p)
{
	const struct view *v = p->view;
	char text[64], clock[16];
	struct tm tm;
	int length;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&v->clock, &tm));
	length = snprintf(text, sizeof(text), "%s", v->paused ? "paused  " : "");
	if (v->of > 1)
		length += snprintf(text + length, sizeof(text) - length, "%u of %u  ", v->number,
				   v->of);
	length += snprintf(text + length, sizeof(text) - length, "%s", clock);
	canvas_put(p->canvas, p->row, p->canvas->width - length,
		   v->paused ? LOOK_DOUBT : LOOK_PLAIN, "%s", text);
}

/* "12 s", "3 min", "5 h", "12 days" */
static const char *ago_text(u64 seconds, char text[UNITS_TEXT_MAX])
{
	static const struct {
		u64 seconds;
		const char *name;
	} units[] = { { 2 * 86400, "days" }, { 3600, "h" }, { 60, "min" }, { 0, "s" } };
	size_t i = 0;

	while (seconds < units[i].seconds)
		i++;
	snprintf(text, UNITS_TEXT_MAX, "%llu %s",
		 (unsigned long long)(seconds / (i ? units[i].seconds ?: 1 : 86400)),
		 units[i].name);
	return text;
}

static void put_config(const struct place *p)
{
	const struct status *status = p->figures->now;
	const struct instance *in = status->instance;
	char memory[UNITS_TEXT_MAX], window[UNITS_TEXT_MAX], ago[UNITS_TEXT_MAX];
	const char *forward = status_target(status, XDD_DEV_FORWARD);
	char action[ACTION_TEXT_MAX];

	canvas_put(p->canvas, p->row + 1, 0, LOOK_FAINT,
		   "%s %s, window %s, action %s%s%s, loaded %s ago", engine_names[in->fixed.engine],
		   units_size_text(in->meta.memory_bytes, memory),
		   derive_window_text(&in->fixed, in->live.window_ns, window),
		   action_text(&in->live, status_target(status, XDD_DEV_DUPLICATES), action),
		   *forward ? ", kept to " : "", forward, ago_text(status->loaded_s, ago));
}

void block_title_draw(const struct place *p)
{
	u32 column = canvas_put(p->canvas, p->row, 0, LOOK_HEADING, "%s  ",
				p->figures->now->instance->name);

	put_badge(p, column);
	put_corner(p);
	if (p->rows > 1)
		put_config(p);
}

#define WARNING_COLUMN 2

u32 block_warnings_wants(const struct place *p)
{
	const struct status *status = p->figures->now;
	u32 rows = 0;

	for (int i = 0; i < status->warnings; i++)
		rows += canvas_words(p->canvas, 0, 0, WARNING_COLUMN, LOOK_PLAIN,
				     status->warning[i]);
	return rows;
}

/* A warning in at most @rows rows; returns how many it took. */
static u32 put_warning(const struct place *p, u32 row, u32 rows, const char *words)
{
	u32 lines = canvas_words(p->canvas, row, rows, WARNING_COLUMN, LOOK_BAD, words);

	canvas_put(p->canvas, row, 0, LOOK_BAD, "!");
	if (lines <= rows)
		return lines;
	canvas_put(p->canvas, row + rows - 1, p->canvas->width - 4, LOOK_BAD, " ...");
	return rows;
}

/* Each gets a row, if there are as many, and the first ones what is left beside that. */
void block_warnings_draw(const struct place *p)
{
	const struct status *status = p->figures->now;
	u32 all = status->warnings, shown = all <= p->rows ? all : p->rows - 1;
	u32 spare = shown == all ? p->rows - all : 0, used = 0, rows;

	for (u32 i = 0; i < shown; i++) {
		rows = put_warning(p, p->row + used, 1 + spare, status->warning[i]);
		spare -= rows - 1;
		used += rows;
	}
	if (shown < all)
		canvas_put(p->canvas, p->row + used, 0, LOOK_BAD, "! %u %s: xdp-dedup status %s",
			   all - shown, shown ? "more" : "warnings", status->instance->name);
}

/* The columns of the table, of which a narrow screen has no place for some. */
static const struct column {
	const char *name;
	size_t at; /* in struct rates */
	u32 width, from;
} columns[] = {
	{ "received", offsetof(struct rates, received), 10, 0 },
	{ "distinct", offsetof(struct rates, distinct), 10, 54 },
	{ "duplicate", offsetof(struct rates, duplicate), 10, 0 },
	{ "bypassed", offsetof(struct rates, bypassed), 10, 64 },
	{ "copies", offsetof(struct rates, copies), 9, 44 },
	{ "bit/s", offsetof(struct rates, bits), 10, 76 },
};

#define NAME_WIDTH 15

/* The slots of interfaces that were not taken out. Returns their number. */
static u32 interfaces_of(const struct place *p, u32 slots[XDD_MAX_IFACES])
{
	const struct instance *in = p->figures->now->instance;
	u32 n = 0;

	for (u32 i = 0; i < in->ifaces_used; i++)
		if (in->ifaces[i].state != IFACE_REMOVED)
			slots[n++] = i;
	return n;
}

u32 block_traffic_wants(const struct place *p)
{
	u32 slots[XDD_MAX_IFACES], n = interfaces_of(p, slots);

	return 1 + n + (n != 1);
}

static void put_table_head(const struct place *p)
{
	u32 column =
		canvas_put(p->canvas, p->row, 0, LOOK_HEADING, "%-*s", NAME_WIDTH, "packets/s");

	for (size_t i = 0; i < XDD_ARRAY_SIZE(columns); i++)
		if (p->canvas->width >= columns[i].from)
			column = canvas_put(p->canvas, p->row, column, LOOK_HEADING, "%*s",
					    columns[i].width, columns[i].name);
}

static u32 put_cell(const struct place *p, u32 row, u32 column, const struct rates *rates,
		    const struct column *about)
{
	const double *value = (const void *)((const char *)rates + about->at);
	char text[UNITS_TEXT_MAX];

	if (about->at == offsetof(struct rates, copies) && !isnan(*value))
		snprintf(text, sizeof(text), "%.1f %%", 100 * *value);
	else
		block_rate(*value, text);
	return canvas_put(p->canvas, row, column, LOOK_PLAIN, "%*s", about->width, text);
}

static void put_rates(const struct place *p, u32 row, const char *name, const struct rates *rates)
{
	u32 column =
		canvas_put(p->canvas, row, 0, LOOK_PLAIN, "%-*.*s", NAME_WIDTH, NAME_WIDTH, name);

	for (size_t i = 0; i < XDD_ARRAY_SIZE(columns); i++)
		if (p->canvas->width >= columns[i].from)
			column = put_cell(p, row, column, rates, &columns[i]);
}

static void put_interface(const struct place *p, u32 row, u32 slot)
{
	const struct instance *in = p->figures->now->instance;
	const struct instance_iface *iface = &in->ifaces[slot];

	if (instance_counts_slot(in, slot))
		put_rates(p, row, iface->name, &p->figures->slot[slot]);
	else
		canvas_put(p->canvas, row, 0, LOOK_BAD, "%-*.*s  %s: %s", NAME_WIDTH, NAME_WIDTH,
			   iface->name, iface_state_names[iface->state],
			   iface->state == IFACE_MOVED
				   ? "its packets count as those of no interface"
				   : "nothing is de-duplicated");
}

/* Where there are too many interfaces, their sum is what counts. */
void block_traffic_draw(const struct place *p)
{
	u32 slots[XDD_MAX_IFACES], n = interfaces_of(p, slots), shown = n;
	char name[32];

	if (block_traffic_wants(p) > p->rows)
		shown = p->rows - 2;
	put_table_head(p);
	for (u32 i = 0; i < shown; i++)
		put_interface(p, p->row + 1 + i, slots[i]);
	snprintf(name, sizeof(name), "all %u", n);
	if (n != 1)
		put_rates(p, p->row + 1 + shown, name, &p->figures->total);
}

u32 block_copies_wants(const struct place *p)
{
	(void)p;
	return 1;
}

static const char *percent(double share, char text[UNITS_TEXT_MAX])
{
	if (isnan(share))
		snprintf(text, UNITS_TEXT_MAX, "none");
	else
		snprintf(text, UNITS_TEXT_MAX, "%.1f %%", 100 * share);
	return text;
}

void block_copies_draw(const struct place *p)
{
	const struct figures *f = p->figures;
	char now[UNITS_TEXT_MAX], since[UNITS_TEXT_MAX];
	u32 column, width = p->canvas->width;

	block_heading(p, 0, "copies");
	column = canvas_put(p->canvas, p->row, BLOCK_COLUMN, LOOK_PLAIN, "%s now, %s since load  ",
			    isnan(f->total.received) ? "-" : percent(f->total.copies, now),
			    percent(f->copies_since_load, since));
	if (column + 12 <= width)
		canvas_bar(p->canvas, p->row, column, width - column - 2, f->total.copies);
}

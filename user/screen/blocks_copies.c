/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the copies are: how far from the first packet, and of which keys. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "user/screen/blocks.h"
#include "xdd/audit.h"

/* Buckets from the first to the last that counted; 0: none did. What is nearer than a step of the clock is all
 * in the bucket of that.
 */
static u32 range_of(const struct status *status, u32 *first)
{
	const u64 *copies = status->distances.counts.copies;
	u32 last = XDD_DISTANCE_BUCKETS, least = xdd_distance_bucket(status->clock_step_ns);

	for (*first = 0; *first < XDD_DISTANCE_BUCKETS && !copies[*first];)
		++*first;
	while (last > *first && !copies[last - 1])
		last--;
	if (last == *first)
		return 0;
	if (*first < least)
		*first = least;
	return last > *first ? last - *first : 1;
}

u32 block_apart_wants(const struct place *p)
{
	u32 first;

	return 1 + range_of(p->figures->now, &first);
}

static void put_apart_head(const struct place *p)
{
	const struct status *status = p->figures->now;
	const struct distances *d = &status->distances;
	char copies[UNITS_TEXT_MAX], step[UNITS_TEXT_MAX];
	u32 column = BLOCK_COLUMN;

	block_heading(p, 0, "apart");
	if (!status->audit.share)
		canvas_put(p->canvas, p->row, column, LOOK_PLAIN,
			   "not known: loaded with --audit off");
	else if (!d->known)
		canvas_put(p->canvas, p->row, column, LOOK_PLAIN,
			   "not known: the engine has no window");
	else if (!d->copies)
		canvas_put(p->canvas, p->row, column, LOOK_PLAIN,
			   "no copy yet of one key in %.4g, the audit's sample",
			   1 / status->audit.share);
	else
		column = canvas_put(p->canvas, p->row, column, LOOK_PLAIN,
				    "after the first; %s copies, one key in %.4g",
				    units_count_text(d->copies, copies), 1 / status->audit.share);
	if (d->copies && status->clock_step_ns)
		canvas_put(p->canvas, p->row, column, LOOK_DOUBT, "; clock steps %s",
			   units_time_text(status->clock_step_ns, step));
}

/* Buckets @from to @to - 1 together. */
static u64 copies_in(const struct distances *d, u32 from, u32 to)
{
	u64 copies = 0;

	for (u32 i = from; i < to && i < XDD_DISTANCE_BUCKETS; i++)
		copies += d->counts.copies[i];
	return copies;
}

static void put_group(const struct place *p, u32 row, u32 first, u32 end, double share,
		      double largest)
{
	char text[UNITS_TEXT_MAX];
	u32 column;

	if (end < XDD_DISTANCE_BUCKETS)
		column = canvas_put(p->canvas, row, 2, LOOK_PLAIN, "up to %-10s",
				    distances_end_text(first, end - 1, p->figures->now->never_ns,
						       text));
	else
		column = canvas_put(p->canvas, row, 2, LOOK_PLAIN, "%-16s", "later");
	column = canvas_put(p->canvas, row, column, LOOK_PLAIN, "%6.1f %%  ", 100 * share);
	if (column + 5 > p->canvas->width)
		return;
	for (u32 i = lround(share / largest * (p->canvas->width - column - 1)); i; i--)
		column = canvas_put(p->canvas, row, column, LOOK_BAR, "#");
}

/* Where there are more buckets than rows, neighbours are put together. */
void block_apart_draw(const struct place *p)
{
	const struct distances *d = &p->figures->now->distances;
	u32 first, n = range_of(p->figures->now, &first), size = 1;
	double largest = 0;

	put_apart_head(p);
	if (!n || p->rows < 2)
		return;
	while ((n + size - 1) / size > p->rows - 1)
		size *= 2;
	for (u32 i = 0; i < n; i += size)
		largest = fmax(largest, copies_in(d, i ? first + i : 0, first + i + size));
	for (u32 i = 0; i < n; i += size) {
		u32 end = first + i + size;
		double copies = copies_in(d, i ? end - size : 0, end);

		put_group(p, p->row + 1 + i / size, end - size,
			  end < XDD_DISTANCE_BUCKETS ? end : XDD_DISTANCE_BUCKETS,
			  copies / d->copies, largest / d->copies);
	}
}

u32 block_keys_wants(const struct place *p)
{
	return 1 + p->figures->now->top.used;
}

void block_keys_draw(const struct place *p)
{
	const struct status *status = p->figures->now;
	const struct instance *in = status->instance;
	char text[TOP_TEXT_MAX], rate[UNITS_TEXT_MAX];

	if (!in->live.top || !status->top.used) {
		block_heading(p, 0, "suppressed");
		canvas_put(p->canvas, p->row, BLOCK_COLUMN + 1, LOOK_PLAIN, "%s",
			   in->live.top ? "no key twice yet" : "not listed: --top-suppressed off");
		return;
	}
	canvas_put(p->canvas, p->row, 0, LOOK_HEADING, "%10s %8s  %s", "suppressed", "now/s",
		   "of these keys most often; counts are at least so many");
	for (u32 i = 0; i < status->top.used && i + 1 < p->rows; i++)
		canvas_put(p->canvas, p->row + 1 + i, 0, LOOK_PLAIN, "%10" PRIu64 " %8s  %s",
			   (uint64_t)status->top.key[i].packets,
			   block_rate(p->figures->key[i], rate),
			   top_text(&status->top.key[i].about, in->fixed.key, text));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/accessors.h"
#include "user/store.h"
#include "xdd/engine_timer.h"

u64 sites_fingerprint(const struct xdd_fixed *fixed, u32 window_ticks)
{
	const u64 what[] = { fixed->engine,	   fixed->slicing,    fixed->slices,
			     xdd_subslices(fixed), xdd_lines(fixed),  fixed->hashes,
			     fixed->tick_ns,	   window_ticks,      fixed->seed,
			     fixed->hash,	   fixed->line_cells, fixed->slice_hashes };
	u64 mixed = XDD_GOLDEN;

	for (u32 i = 0; i < XDD_ARRAY_SIZE(what); i++)
		mixed = xdd_mix64(mixed ^ what[i]);
	return mixed;
}

u32 site_first(const struct xdd_fixed *fixed, u32 site, u32 sites)
{
	return (u64)xdd_slices_count(fixed) * site / sites;
}

const char *site_wrong(const struct xdd_fixed *fixed)
{
	if (fixed->engine != XDD_ENGINE_timer && fixed->engine != XDD_ENGINE_bloom)
		return "sites have slices of engines timer and bloom: give --engine bloom, or "
		       "timer "
		       "and a window";
	if (fixed->slicing == XDD_SLICING_none || xdd_slices_count(fixed) < 2)
		return "there is one slice, so there is nothing to spread: give --slicing vertical "
		       "and --slices 40";
	if (fixed->filters || fixed->equal > 1)
		return "--grow and --equal look at all of a key's cells at once: leave them out";
	return NULL;
}

int site_open(struct site *site, const struct xdd_fixed *fixed, u32 window_ticks, u32 slices,
	      u64 id, const struct wire_key *key)
{
	u64 lines = (u64)slices * xdd_slice_lines(fixed);

	*site = (struct site){
		.fixed = *fixed, .window_ticks = window_ticks, .id = id, .key = *key
	};
	site->cells = lines * xdd_line_cells(fixed);
	site->lines = calloc(lines + 1, sizeof(*site->lines));
	site->loads = calloc(slices, sizeof(*site->loads));
	site->claims = calloc(SITE_CLAIMS, sizeof(*site->claims));
	site->items = calloc(SITES_ITEMS, sizeof(*site->items));
	site->answers = calloc(SITES_ITEMS, sizeof(*site->answers));
	repeats_open(&site->repeats);
	return site->lines && site->loads && site->claims && site->items && site->answers ? 0
											  : -ENOMEM;
}

void site_close(struct site *site)
{
	repeats_close(&site->repeats);
	free(site->lines);
	free(site->loads);
	free(site->claims);
	free(site->items);
	free(site->answers);
}

static bool cell_is_set(const struct site *site, u64 cell, u64 tick)
{
	u32 each = xdd_line_cells(&site->fixed), at = cell % each;
	const struct xdd_line *line = &site->lines[cell / each];
	struct xdd_when when = xdd_when(tick, site->window_ticks);

	if (site->fixed.engine == XDD_ENGINE_bloom)
		return line->word[at / 64] >> at % 64 & 1;
	xdd_line_catch_up(xdd_line_age(line, &when), &when);
	return !xdd_line_is_stale(xdd_line_age(line, &when)) &&
	       xdd_timer_live(line->timer[at], &when);
}

/* A late event lives for what is left of its window (section 4): none, if its line is ahead by as much. */
static void cell_set(struct site *site, u64 cell, u64 tick)
{
	u32 each = xdd_line_cells(&site->fixed), at = cell % each;
	struct xdd_line *line = &site->lines[cell / each];
	struct xdd_when when = xdd_when(tick, site->window_ticks);
	s32 age = xdd_line_age(line, &when);

	if (site->fixed.engine == XDD_ENGINE_bloom) {
		line->word[at / 64] |= 1ULL << at % 64;
		return;
	}
	if (age < 0 && -(s64)age >= when.window_ticks && age > -(1 << 30))
		return;
	if (xdd_line_catch_up(age, &when))
		when.window_ticks += age;
	xdd_line_prepare(line, xdd_line_age(line, &when), false, &when);
	xdd_timer_set(&line->timer[at], &when);
}

static struct site_claim *claim_of(struct site *site, u32 tag)
{
	return &site->claims[tag % SITE_CLAIMS];
}

/* Whether the producer has the claim now. */
static bool claim_get(struct site *site, u32 tag, u64 producer, u64 now_ns)
{
	struct site_claim *claim = claim_of(site, tag);

	if (claim->held && claim->producer != producer && now_ns < claim->until_ns)
		return false;
	if (claim->producer != producer) {
		claim->held = 0;
		claim->turn = (claim->turn + 1) % SITES_TURNS;
	}
	claim->producer = producer;
	claim->until_ns = now_ns + SITE_CLAIM_NS;
	claim->held++;
	return true;
}

/* Give it back. Returns whether the producer had it all the time since that turn. */
static bool claim_give(struct site *site, u32 tag, u32 turn, u64 producer)
{
	struct site_claim *claim = claim_of(site, tag);

	if (claim->producer != producer || claim->turn != turn || !claim->held)
		return false;
	claim->held--;
	return true;
}

/* Of an item about a claim. Returns whether it may be done. */
static bool claim_allows(struct site *site, const struct sites_item *item, bool asks, u64 producer,
			 u64 now_ns)
{
	bool allows = asks ? claim_get(site, item->tag, producer, now_ns)
			   : claim_give(site, item->tag, item->turn, producer);

	site->counts.claimed += !allows;
	return allows;
}

static u64 slice_cells(const struct site *site)
{
	return (u64)xdd_slice_lines(&site->fixed) * xdd_line_cells(&site->fixed);
}

static struct sites_answer take(struct site *site, const struct sites_item *item, u64 producer,
				u64 now_ns)
{
	bool asks = item->kind == SITES_TEST || item->kind == SITES_ONE_PASS;
	struct sites_answer answer = { 0 };

	answer.claimed = item->claim && !claim_allows(site, item, asks, producer, now_ns);
	if (answer.claimed)
		return answer;
	answer.turn = claim_of(site, item->tag)->turn;
	for (u32 i = 0; i < item->n; i++)
		answer.set |= cell_is_set(site, item->cell[i], item->tick) << i;
	if (asks && item->claim && answer.set + 1 == 1 << item->n)
		claim_give(site, item->tag, answer.turn, producer);
	if (item->n && (asks || item->kind == SITES_SET))
		site->loads[item->cell[0] / slice_cells(site)]++;
	site->counts.tests += asks;
	site->counts.sets += item->kind == SITES_SET;
	if (item->kind == SITES_SET ||
	    (item->kind == SITES_ONE_PASS && answer.set + 1 != 1 << item->n))
		for (u32 i = 0; i < item->n; i++)
			cell_set(site, item->cell[i], item->tick);
	return answer;
}

static int check_cells(const struct site *site, const struct sites_item *item)
{
	for (u32 i = 0; i < item->n; i++)
		if (item->cell[i] >= site->cells)
			return -ERANGE;
	return 0;
}

/* Do what the payload of a question asks for. Returns the bytes of the answer's payload. */
static int answer_payload(struct site *site, u64 from, const u8 *payload, size_t n, u64 now_ns,
			  u8 *answer)
{
	int items = sites_get_question(payload, n, site->items), rc = 0;

	for (int i = 0; !rc && i < items; i++)
		rc = check_cells(site, &site->items[i]);
	if (rc || items < 0)
		return rc ?: items;
	for (int i = 0; i < items; i++)
		site->answers[i] = take(site, &site->items[i], from, now_ns);
	return sites_put_answer(site->items, site->answers, items, answer);
}

/* To a question that came the first time. */
static int answer_new(struct site *site, const struct call_head *head, const u8 *payload, size_t n,
		      u64 now_ns, u8 *answer)
{
	struct call_head back = { CALL_ANSWER, site->id, head->from, head->sequence };
	int bytes = answer_payload(site, head->from, payload, n, now_ns, answer + CALL_HEADER);

	if (bytes < 0)
		return bytes;
	bytes = call_seal(&site->key, &back, answer, bytes);
	repeats_keep(&site->repeats, answer, bytes);
	return bytes;
}

static int refuse_full(struct site *site, const struct call_head *head, u8 *answer)
{
	struct call_head back = { CALL_REFUSED, site->id, head->from, head->sequence };
	static const char why[] = "there is no room for one more producer";

	site->counts.refused++;
	memcpy(answer + CALL_HEADER, why, sizeof(why));
	return call_seal(&site->key, &back, answer, sizeof(why));
}

/* By who asks, and whether that came before. */
static int answer_call(struct site *site, const struct call_head *head, const u8 *payload, size_t n,
		       u64 now_ns, u8 *answer)
{
	switch (repeats_look(&site->repeats, head->from, head->sequence, now_ns)) {
	case REPEATS_NEW:
		return answer_new(site, head, payload, n, now_ns, answer);
	case REPEATS_AGAIN:
		site->counts.repeats++;
		memcpy(answer, site->repeats.now->answer, site->repeats.now->bytes);
		return site->repeats.now->bytes;
	case REPEATS_FULL:
		return refuse_full(site, head, answer);
	case REPEATS_OLD:
		break;
	}
	return -EALREADY;
}

int site_answer(struct site *site, const u8 *message, size_t size, u64 now_ns, u8 *answer, u64 *to)
{
	struct call_head head;
	const u8 *payload;
	size_t n;
	int rc = call_open(&site->key, message, size, &head, &payload, &n);

	if (!rc && (head.to != site->id || !head.from))
		rc = -ENOENT;
	if (!rc && head.kind != CALL_QUESTION)
		rc = -EBADMSG;
	if (!rc)
		rc = answer_call(site, &head, payload, n, now_ns, answer);
	if (rc == -EALREADY)
		site->counts.repeats++;
	else if (rc < 0)
		site->counts.refused++;
	if (rc < 0)
		return rc;
	*to = head.from;
	site->counts.questions++;
	site->counts.bytes_in += size;
	site->counts.bytes_out += rc;
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/sites/producer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_KNOWN (1u << 14) /* above PRODUCER_BATCH * XDD_MAX_HASHES: hash table of cells */
#define NOBODY (~0u)
#define BELIEVED 0ULL
#define FAILED (~0ULL)

#define PROTOCOL_NAME(name, word) word,
const char *const protocol_names[] = { SITES_PROTOCOLS(PROTOCOL_NAME) NULL };
const char *const primitive_names[] = { "first-test", "test-and-set", NULL };

enum part_state { PART_NEW, PART_ASKED, PART_KNOWN, PART_UNKNOWN };

/* A key's cells in one slice. */
struct part {
	u32 slice, site;
	u8 state, n, set; /* enum part_state; cells; how many were set */
	bool held;	  /* the producer has the claim there ... */
	u8 turn;	  /* ... since this turn */
	u64 cell[XDD_MAX_HASHES];
};

enum key_state { KEY_WAITING, KEY_TESTING, KEY_CLAIMED, KEY_DECIDED };

struct key {
	u64 tick;
	u32 tag;
	u32 after
		[XDD_MAX_HASHES]; /* keys before it that have to be decided first, of each cell, or NOBODY */
	u32 asked;		  /* parts that are asked now */
	u32 setting;		  /* ... and that are being set */
	u8 state, parts;
	bool seen, claimed; /* the verdict; another producer has or had a claim: ask again */
	bool behind;	    /* another one, or chance, had set all in a slice before this one did */
	struct part part[XDD_MAX_HASHES];
};

/* An item of a message: which part it is about. */
struct errand {
	u16 key;
	u8 part, kind;
};

struct link {
	struct producer_site site;
	u32 end; /* behind its last slice */
	u32 queued, sent;
	u64 sequence; /* of what was sent */
	struct errand
		*errands; /* those that are queued, in a ring; the first @sent have been sent */
	u32 at;
	struct sites_item *items; /* that were sent */
};

/* Errands of a batch that one link can have at once: a question and two that set or release. */
#define ERRANDS (4 * PRODUCER_BATCH * XDD_MAX_HASHES)

struct producer {
	struct producer_plan plan;
	struct producer_counts counts;
	u64 *visits;
	u64 *until_tick; /* of each slice: BELIEVED, FAILED, or when it is believed again ... */
	u64 until_last;	 /* ... and the latest of them */
	u64 sequence;
	u32 n, undecided, slices;
	struct key *keys;
	struct link *links; /* plan.sites */
	struct sites_answer *answers;
	struct {
		u64 cell;
		u32 batch, key;
	} * owner; /* of a cell: the last key of the batch that has it */
	u32 batch;
};

const char *producer_wrong(const struct producer_plan *plan)
{
	const struct xdd_fixed *fixed = &plan->fixed;
	bool at_once = plan->test_and_set || plan->protocol == SITES_one_pass;

	if (plan->test_and_set && fixed->engine != XDD_ENGINE_bloom)
		return "test-and-set would make timers younger before it is known whether the key "
		       "is a copy: give --primitive first-test, or --engine bloom";
	if (plan->test_and_set && plan->protocol != SITES_parallel)
		return "test-and-set is for --protocol parallel: one-pass sets what it tests by "
		       "itself";
	if (plan->test_and_set && plan->claims)
		return "test-and-set is for one producer: two at once could each find a cell of "
		       "the "
		       "same key empty";
	if (at_once && fixed->fault_policy == XDD_FAULTS_vote)
		return "a vote is known only when all slices have answered: give --protocol "
		       "parallel "
		       "or pipeline and --primitive first-test";
	if (!plan->sites || plan->sites > SITES_MAX || plan->sites > xdd_slices_count(fixed))
		return "each site has at least one slice: give more --slices, or fewer sites";
	return site_wrong(fixed);
}

static void links_close(struct producer *p)
{
	for (u32 i = 0; p->links && i < p->plan.sites; i++) {
		free(p->links[i].errands);
		free(p->links[i].items);
	}
	free(p->links);
	p->links = NULL;
}

void producer_close(struct producer *p)
{
	if (!p)
		return;
	links_close(p);
	free(p->visits);
	free(p->until_tick);
	free(p->keys);
	free(p->answers);
	free(p->owner);
	free(p);
}

static bool is_failed(const struct producer *p, u32 slice)
{
	return p->until_tick[slice] == FAILED;
}

static bool is_believed(const struct producer *p, u32 slice, u64 tick)
{
	return p->until_tick[slice] <= tick;
}

static void link_until(struct producer *p, const struct link *link, u64 tick)
{
	for (u32 i = link->site.first; i < link->end; i++)
		p->until_tick[i] = tick;
	p->until_last = 0;
	for (u32 i = 0; i < p->slices; i++)
		if (p->until_tick[i] > p->until_last)
			p->until_last = p->until_tick[i];
}

int producer_deal(struct producer *p, const struct producer_site *sites, u32 n)
{
	links_close(p);
	p->plan.sites = n;
	p->links = calloc(n, sizeof(*p->links));
	for (u32 i = 0; p->links && i < n; i++) {
		struct link *link = &p->links[i];

		link->site = sites[i];
		link->end = i + 1 < n ? sites[i + 1].first : p->slices;
		if (!link->site.id) {
			link_until(p, link, FAILED);
			continue;
		}
		link->errands = malloc(ERRANDS * sizeof(*link->errands));
		link->items = calloc(SITES_ITEMS, sizeof(*link->items));
		if (!link->errands || !link->items)
			return -ENOMEM;
	}
	return p->links ? 0 : -ENOMEM;
}

/* As many slices for each as for the others. */
static int deal_alike(struct producer *p)
{
	struct producer_site sites[SITES_MAX];

	for (u32 i = 0; i < p->plan.sites; i++)
		sites[i] = (struct producer_site){ site_first(&p->plan.fixed, i, p->plan.sites),
						   i + 1 };
	return producer_deal(p, sites, p->plan.sites);
}

struct producer *producer_open(const struct producer_plan *plan)
{
	struct producer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->plan = *plan;
	p->slices = xdd_slices_count(&plan->fixed);
	p->visits = calloc(p->slices, sizeof(*p->visits));
	p->until_tick = calloc(p->slices, sizeof(*p->until_tick));
	p->keys = calloc(PRODUCER_BATCH, sizeof(*p->keys));
	p->answers = calloc(SITES_ITEMS, sizeof(*p->answers));
	p->owner = calloc(CELLS_KNOWN, sizeof(*p->owner));
	if (p->visits && p->until_tick && p->keys && p->answers && p->owner && !deal_alike(p))
		return p;
	producer_close(p);
	return NULL;
}

u32 producer_site_of(const struct producer *p, u32 slice)
{
	u32 low = 0, high = p->plan.sites;

	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (p->links[middle].site.first <= slice)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void errand_put(struct producer *p, u32 key, u32 part, u32 kind)
{
	struct link *link = &p->links[p->keys[key].part[part].site];

	link->errands[(link->at + link->queued++) % ERRANDS] = (struct errand){ key, part, kind };
}

/* The last key before @key that has the cell too, or with timers the line: those are cleaned together, at the
 * tick of who sets one. Or NOBODY.
 */
static u32 owner_take(struct producer *p, u64 cell, u32 key)
{
	u32 at = xdd_mix64(cell) % CELLS_KNOWN, before;

	while (p->owner[at].batch == p->batch && p->owner[at].cell != cell)
		at = (at + 1) % CELLS_KNOWN;
	before = p->owner[at].batch == p->batch ? p->owner[at].key : NOBODY;
	p->owner[at].batch = p->batch;
	p->owner[at].cell = cell;
	p->owner[at].key = key;
	return before == key ? NOBODY : before;
}

static struct part *part_of(struct producer *p, struct key *key, u32 slice)
{
	u32 i = 0;

	while (i < key->parts && key->part[i].slice != slice)
		i++;
	if (i == key->parts) {
		key->part[i] = (struct part){ .slice = slice };
		key->part[i].site = producer_site_of(p, slice);
		key->parts++;
	}
	return &key->part[i];
}

/* Where two producers ask slices one after the other, they do so in one order. */
static int by_slice(const void *a, const void *b)
{
	return (int)((const struct part *)a)->slice - (int)((const struct part *)b)->slice;
}

/* A key by the places of its cells in the filter; producers of one filter have one tag for it. */
static void key_begin(struct producer *p, u32 i, const struct sites_item *item)
{
	const struct xdd_fixed *fixed = &p->plan.fixed;
	struct key *key = &p->keys[i];
	bool timers = xdd_engine_has_timers(fixed->engine);
	u32 each = xdd_line_cells(fixed);
	u64 slice_cells = (u64)xdd_slice_lines(fixed) * each, tag = XDD_GOLDEN;

	*key = (struct key){ .tick = item->tick };
	for (u32 c = 0; c < fixed->hashes; c++) {
		u64 cell = item->cell[c];
		struct part *part = part_of(p, key, cell / slice_cells);

		part->cell[part->n++] = cell - p->links[part->site].site.first * slice_cells;
		key->after[c] = owner_take(p, timers ? cell / each : cell, i);
		tag = xdd_mix64(tag ^ cell);
	}
	key->tag = tag % SITE_CLAIMS;
	qsort(key->part, key->parts, sizeof(*key->part), by_slice);
}

static struct sites_item locate(const struct producer *p, const struct xdd_digest *digest, u64 tick)
{
	const struct xdd_fixed *fixed = &p->plan.fixed;
	struct xdd_places places = xdd_places(fixed, digest);
	struct sites_item item = { .n = fixed->hashes, .tick = tick };
	u32 at;

	for (u32 c = 0; c < fixed->hashes; c++) {
		u32 line = xdd_place(fixed, &places, c, &at);

		item.cell[c] = (u64)line * xdd_line_cells(fixed) + at;
	}
	return item;
}

/* What is known of a key's cells, against what has to be. */
struct known {
	u32 set, open, unknown, enough;
};

static struct known key_known(const struct producer *p, const struct key *key)
{
	struct known known = { 0 };
	bool doubted = p->until_last > key->tick;

	for (u32 i = 0; i < key->parts; i++) {
		const struct part *part = &key->part[i];

		known.set += part->state == PART_KNOWN ? part->set : 0;
		known.unknown += part->state == PART_UNKNOWN ? part->n : 0;
		known.open += part->state < PART_KNOWN ? part->n : 0;
	}
	known.enough = p->plan.fixed.hashes;
	if (doubted || known.unknown)
		known.enough = xdd_enough(&p->plan.fixed, known.unknown);
	return known;
}

/* Give back the claims that are not needed for what is being set. */
static void key_release(struct producer *p, u32 i)
{
	struct key *key = &p->keys[i];

	for (u32 part = 0; part < key->parts; part++) {
		if (!key->part[part].held)
			continue;
		key->part[part].held = false;
		if (!is_failed(p, key->part[part].slice))
			errand_put(p, i, part, SITES_RELEASE);
	}
}

/* Of bloom nothing needs to be set where all is set, which the protocols that set as they test make use of. */
static bool part_needs_set(const struct producer *p, const struct part *part)
{
	bool bloom = p->plan.fixed.engine == XDD_ENGINE_bloom;
	bool known = part->state == PART_KNOWN;

	if (is_failed(p, part->slice))
		return false;
	if (known && p->plan.test_and_set)
		return false;
	if (known && p->plan.protocol == SITES_one_pass)
		return !bloom && part->set == part->n;
	return true;
}

/* Where a claim is held what is set gives it back. */
static bool sets_give(const struct producer *p)
{
	return p->plan.protocol != SITES_one_pass;
}

/* Set the parts of which the claim is held, or those of which it is not. */
static void key_set_parts(struct producer *p, u32 i, bool held)
{
	struct key *key = &p->keys[i];

	for (u32 part = 0; part < key->parts; part++) {
		if (key->part[part].held != held || !part_needs_set(p, &key->part[part]))
			continue;
		errand_put(p, i, part, SITES_SET);
		key->setting++;
		p->visits[key->part[part].slice]++;
		p->counts.visits++;
	}
}

/* With parallel all at once. Else who may ask next is kept waiting at the first slice that was empty, until
 * all others are set: that one is the last.
 */
static void key_set(struct producer *p, u32 i)
{
	struct key *key = &p->keys[i];

	key_set_parts(p, i, false);
	if (sets_give(p) && (p->plan.protocol == SITES_parallel || !key->setting))
		key_set_parts(p, i, true);
}

static void key_decide(struct producer *p, u32 i, bool seen)
{
	struct key *key = &p->keys[i];

	key->state = KEY_DECIDED;
	key->seen = seen;
	p->undecided--;
	p->counts.duplicates += seen;
	if (!seen)
		key_set(p, i);
	if (seen || !key->setting)
		key_release(p, i);
}

static void part_ask(struct producer *p, u32 i, u32 part)
{
	struct key *key = &p->keys[i];
	bool sets = p->plan.test_and_set || p->plan.protocol == SITES_one_pass;

	if (!is_believed(p, key->part[part].slice, key->tick)) {
		key->part[part].state = PART_UNKNOWN;
		p->counts.unknown++;
		return;
	}
	key->part[part].state = PART_ASKED;
	key->asked++;
	p->visits[key->part[part].slice]++;
	p->counts.visits++;
	errand_put(p, i, part, sets ? SITES_ONE_PASS : SITES_TEST);
}

/* Another producer had a claim: begin again, when all that was asked is answered. */
static void key_yield(struct producer *p, u32 i)
{
	struct key *key = &p->keys[i];

	key_release(p, i);
	for (u32 part = 0; part < key->parts; part++)
		key->part[part].state = PART_NEW;
	key->claimed = false;
	key->state = KEY_CLAIMED;
	p->counts.claimed++;
}

/* Ask what is to be asked next of a key, or decide. */
static void key_go_on(struct producer *p, u32 i)
{
	struct key *key = &p->keys[i];
	bool all = p->plan.protocol == SITES_parallel;
	struct known known;

	for (u32 part = 0; part < key->parts && !key->claimed; part++) {
		if (key->part[part].state != PART_NEW)
			continue;
		known = key_known(p, key);
		if (!all && (key->asked || known.set >= known.enough ||
			     known.set + known.open < known.enough))
			break;
		part_ask(p, i, part);
	}
	if (key->asked)
		return;
	known = key_known(p, key);
	if (key->claimed)
		key_yield(p, i);
	else
		key_decide(p, i, known.set >= known.enough);
}

/* Whether @key has not to wait for @before: with the same key until that is set, which may be refused, and with pipeline's
 * claims until all is sent.
 */
static bool is_over(const struct producer *p, const struct key *before, const struct key *key)
{
	bool waits =
		p->plan.claims && (before->tag == key->tag || p->plan.protocol == SITES_pipeline);

	return before->state == KEY_DECIDED && !(waits && before->setting);
}

static bool is_ready(const struct producer *p, const struct key *key)
{
	bool ready = key->state == KEY_WAITING;

	for (u32 c = 0; ready && c < p->plan.fixed.hashes; c++)
		ready = key->after[c] == NOBODY || is_over(p, &p->keys[key->after[c]], key);
	return ready;
}

static bool is_alike(const struct key *a, const struct key *b)
{
	bool alike = a->tag == b->tag && a->parts == b->parts;

	for (u32 i = 0; alike && i < a->parts; i++)
		alike = a->part[i].slice == b->part[i].slice && a->part[i].n == b->part[i].n &&
			!memcmp(a->part[i].cell, b->part[i].cell, a->part[i].n * sizeof(u64));
	return alike;
}

/* Whether @key, whose turn it is, is a copy by what is known of the same one just before it in the batch. A timer may be gone
 * at another tick, and is not even set where its line is ahead; and slices that are not believed answer for each by itself.
 */
static bool is_repeat(const struct producer *p, const struct key *key)
{
	const struct key *before = key->after[0] == NOBODY ? NULL : &p->keys[key->after[0]];

	if (!p->plan.claims || !before || before->setting || p->until_last > key->tick)
		return false;
	for (u32 c = 1; c < p->plan.fixed.hashes; c++)
		if (key->after[c] != NOBODY && key->after[c] != key->after[0])
			return false;
	if (xdd_engine_has_timers(p->plan.fixed.engine) &&
	    !(before->seen && before->tick == key->tick))
		return false;
	return is_alike(before, key);
}

/* Begin with the keys whose turn it is. A key waits for one with a lower number: one pass is enough. */
static void start_ready(struct producer *p)
{
	for (u32 i = 0; p->undecided && i < p->n; i++) {
		struct key *key = &p->keys[i];

		if (!is_ready(p, key))
			continue;
		key->state = KEY_TESTING;
		if (is_repeat(p, key))
			key_decide(p, i, true);
		else
			key_go_on(p, i);
	}
}

void producer_start_items(struct producer *p, const struct sites_item *items, u32 n)
{
	p->n = p->undecided = n;
	p->batch++;
	p->counts.keys += n;
	for (u32 i = 0; i < n; i++)
		key_begin(p, i, &items[i]);
	start_ready(p);
}

void producer_start(struct producer *p, const struct xdd_digest *digests, const u64 *ticks, u32 n)
{
	struct sites_item items[PRODUCER_BATCH];

	for (u32 i = 0; i < n; i++)
		items[i] = locate(p, &digests[i], ticks[i]);
	producer_start_items(p, items, n);
}

void producer_retry(struct producer *p)
{
	for (u32 i = 0; i < p->n; i++) {
		if (p->keys[i].state != KEY_CLAIMED)
			continue;
		p->keys[i].state = KEY_TESTING;
		key_go_on(p, i);
	}
	start_ready(p);
}

static struct errand *errand_at(struct link *link, u32 i)
{
	return &link->errands[(link->at + i) % ERRANDS];
}

static struct sites_item item_of(struct producer *p, const struct errand *errand)
{
	struct key *key = &p->keys[errand->key];
	struct part *part = &key->part[errand->part];
	struct sites_item item = { .kind = errand->kind, .tick = key->tick, .tag = key->tag };

	item.claim = p->plan.claims;
	item.turn = part->turn;
	if (errand->kind == SITES_SET) {
		item.claim = part->held && sets_give(p);
		part->held &= !item.claim;
	}
	if (errand->kind != SITES_RELEASE) {
		item.n = part->n;
		memcpy(item.cell, part->cell, sizeof(item.cell));
	}
	return item;
}

size_t producer_message(struct producer *p, u32 site, u8 *message)
{
	struct link *link = &p->links[site];
	struct call_head head = { CALL_QUESTION, p->plan.id, link->site.id, 0 };
	size_t bytes;

	if (link->sent || !link->queued)
		return 0;
	link->sent = link->queued < SITES_ITEMS ? link->queued : SITES_ITEMS;
	for (u32 i = 0; i < link->sent; i++)
		link->items[i] = item_of(p, errand_at(link, i));
	head.sequence = link->sequence = ++p->sequence;
	bytes = sites_put_question(link->items, link->sent, message + CALL_HEADER);
	bytes = call_seal(&p->plan.key, &head, message, bytes);
	p->counts.messages++;
	p->counts.bytes_out += bytes;
	return bytes;
}

/* All that was sent is set: then what is to be set last, or give the claims back; or another producer had one, and this one
 * asks again.
 */
static void key_is_set(struct producer *p, u32 i)
{
	struct key *key = &p->keys[i];

	if (key->claimed) {
		p->undecided++;
		key_yield(p, i);
		return;
	}
	if (sets_give(p))
		key_set_parts(p, i, true);
	if (!key->setting)
		key_release(p, i);
}

static void part_set(struct producer *p, u32 i, struct part *part,
		     const struct sites_answer *answer)
{
	struct key *key = &p->keys[i];

	part->held &= !!answer;
	if (answer) {
		key->claimed |= answer->claimed;
		key->behind |=
			part->state != PART_KNOWN && __builtin_popcount(answer->set) == part->n;
	}
	if (!--key->setting)
		key_is_set(p, i);
}

/* What one-pass has set by itself cannot be told from what another producer has, if that had the claim meanwhile. It passed
 * the key then if it came first to a slice behind.
 */
static void key_released(struct producer *p, struct key *key, const struct sites_answer *answer)
{
	if (!answer || !answer->claimed || key->state != KEY_DECIDED || key->seen || !key->behind)
		return;
	key->seen = true;
	p->counts.duplicates++;
}

/* @answer to an errand; NULL: there is none, the site has failed. */
static void errand_done(struct producer *p, const struct errand *errand,
			const struct sites_answer *answer)
{
	struct key *key = &p->keys[errand->key];
	struct part *part = &key->part[errand->part];

	if (errand->kind == SITES_RELEASE) {
		key_released(p, key, answer);
		return;
	}
	if (errand->kind == SITES_SET) {
		part_set(p, errand->key, part, answer);
		return;
	}
	key->asked--;
	part->state = answer ? PART_KNOWN : PART_UNKNOWN;
	p->counts.unknown += !answer;
	if (answer) {
		part->set = __builtin_popcount(answer->set);
		part->held = p->plan.claims && !answer->claimed && part->set < part->n;
		part->turn = answer->turn;
		key->claimed |= answer->claimed;
	}
	if (!key->asked)
		key_go_on(p, errand->key);
}

static void link_drop(struct link *link, u32 n)
{
	link->at = (link->at + n) % ERRANDS;
	link->queued -= n;
	link->sent = 0;
}

/* Whether @head is of the answer that @link waits for. */
static int check_head(const struct producer *p, const struct link *link,
		      const struct call_head *head)
{
	if (!link->sent || head->from != link->site.id || head->to != p->plan.id ||
	    head->sequence != link->sequence)
		return -ENOENT;
	if (head->kind == CALL_REFUSED)
		return -ECONNREFUSED;
	return head->kind == CALL_ANSWER ? 0 : -EBADMSG;
}

int producer_answer(struct producer *p, u32 site, const u8 *message, size_t size)
{
	struct link *link = &p->links[site];
	struct call_head head;
	const u8 *payload;
	size_t bytes;
	u32 n = link->sent;
	int rc = call_open(&p->plan.key, message, size, &head, &payload, &bytes);

	rc = rc ?: check_head(p, link, &head);
	rc = rc ?: sites_get_answer(payload, bytes, link->items, n, p->answers);
	if (rc) {
		p->counts.damaged += rc != -ENOENT;
		return rc;
	}
	p->counts.bytes_in += size;
	for (u32 i = 0; i < n; i++)
		errand_done(p, errand_at(link, i), &p->answers[i]);
	link_drop(link, n);
	start_ready(p);
	return 0;
}

void producer_fail(struct producer *p, u32 site)
{
	struct link *link = &p->links[site];

	if (is_failed(p, link->site.first))
		return;
	p->counts.failures++;
	link_until(p, link, FAILED);
	/* Those that come of it are for other sites. */
	for (u32 i = 0; i < link->queued; i++)
		errand_done(p, errand_at(link, i), NULL);
	link_drop(link, link->queued);
	start_ready(p);
}

void producer_recover(struct producer *p, u32 site, u64 tick)
{
	bool timers = xdd_engine_has_timers(p->plan.fixed.engine);

	link_until(p, &p->links[site], timers ? tick + p->plan.window_ticks + 1 : BELIEVED);
}

bool producer_is_claimed(const struct producer *p)
{
	for (u32 i = 0; p->undecided && i < p->n; i++)
		if (p->keys[i].state == KEY_CLAIMED)
			return true;
	return false;
}

bool producer_done(const struct producer *p)
{
	bool done = !p->undecided;

	for (u32 i = 0; done && i < p->plan.sites; i++)
		done = !p->links[i].queued;
	return done;
}

bool producer_seen(const struct producer *p, u32 i)
{
	return p->keys[i].seen;
}

const char *producer_site_state(const struct producer *p, u32 site, u64 tick)
{
	u32 slice = p->links[site].site.first;

	if (is_failed(p, slice))
		return "failed";
	return is_believed(p, slice, tick) ? "ok" : "recovering";
}

const struct producer_counts *producer_counts(const struct producer *p)
{
	return &p->counts;
}

const u64 *producer_visits(const struct producer *p)
{
	return p->visits;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A producer: from keys to questions for the sites of a filter, and from their answers to verdicts, which are
 * those of one filter (koloniari-2011 sections 3 and 4). It does no I/O: who calls it carries messages and says
 * which site does not answer.
 *
 * parallel  asks all slices of a key at once; then the cells of a distinct one are set.
 * pipeline  asks one slice after the other until the verdict is known; then the same.
 * one-pass  the same, but the slice that makes a key distinct is set there and then, and of bloom only those
 *           behind it later: no slice is visited twice.
 *
 * Batches: keys that share a cell, or a line of timers, are decided in their order, the others at once. What a key sets is sent
 * before what later keys ask there. With claims, what a batch has several times is asked about once, or with timers of one
 * tick twice.
 *
 * Claims (site.h), where several producers may ask about one key: each cell that is empty is under its
 * producer's claim. With parallel a producer that passes the key has had all of these at once, until they are
 * set: whoever asks there earlier keeps this one from passing, and whoever asks later finds them set. With the
 * others it has that of the first empty slice in an order that is the same for all, until all the others have
 * said that they are set; pipeline sets that slice last. Who was held up for so long that another producer got the
 * claim has what it sets refused, and asks again. One-pass has set before: it then takes the key for a duplicate if another one
 * was first in a slice behind, which by chance also a false positive may look like.
 */
#ifndef USER_SITES_PRODUCER_H
#define USER_SITES_PRODUCER_H

#include "user/sites/site.h"
#include "xdd/faults.h"

#define SITES_MAX 256
#define PRODUCER_BATCH 1024 /* keys at once, at most */

/* X(name, as --protocol takes it) */
#define SITES_PROTOCOLS(X)      \
	X(parallel, "parallel") \
	X(pipeline, "pipeline") \
	X(one_pass, "one-pass")

#define SITES_PROTOCOL(name, word) SITES_##name,
enum sites_protocol { SITES_PROTOCOLS(SITES_PROTOCOL) SITES_PROTOCOL_MAX };

/* How cells are set: SITES_first_test: when the verdict is known. */
enum sites_primitive { SITES_first_test, SITES_test_and_set };

extern const char *const protocol_names[], *const primitive_names[]; /* both end with NULL */

struct producer_plan {
	struct xdd_fixed fixed; /* with its fault_policy and vote */
	u32 window_ticks;
	u32 sites; /* 1 to SITES_MAX and to the slices: numbers 1, 2, ..., each with about as many */
	u32 protocol;	   /* enum sites_protocol */
	bool test_and_set; /* parallel, bloom: the question sets what is empty; without claims */
	bool claims;
	u64 id;		     /* its number in calls: no other producer has it; not 0 */
	struct wire_key key; /* of calls about this filter */
};

/* A site, as a producer sees it: it has the slices from @first on, up to the next one's. */
struct producer_site {
	u32 first;
	u64 id; /* its number in calls; 0: there is none, and the slices have failed */
};

struct producer_counts {
	u64 keys, duplicates;
	u64 visits;  /* of slices by questions and by what is set */
	u64 unknown; /* slices of keys that were not to be believed or did not answer */
	u64 claimed; /* times that a key waited for another producer */
	u64 messages, bytes_out, bytes_in;
	u64 failures, damaged; /* sites that failed; answers that were none */
};

struct producer;

/* Whether @plan contradicts itself. Returns NULL, or how. */
const char *producer_wrong(const struct producer_plan *plan);

/* A producer by @plan, of which producer_wrong() finds nothing; NULL: no memory. producer_close() frees. */
struct producer *producer_open(const struct producer_plan *plan);
void producer_close(struct producer *p);

/* When all is done: @n sites, as in plan.sites, in the order of their slices, of which the first has slice 0. What was
 * known of each slice stays.
 */
int producer_deal(struct producer *p, const struct producer_site *sites, u32 n);

/* Begin with @n keys (1 to PRODUCER_BATCH), when the last ones are done; @ticks do not step back far. */
void producer_start(struct producer *p, const struct xdd_digest *digests, const u64 *ticks, u32 n);

/* The same with keys by the places of their cells, all fixed.hashes of them, in the whole filter. */
void producer_start_items(struct producer *p, const struct sites_item *items, u32 n);

/* The next message for @site, to @message (room for SITES_MESSAGE_MAX). Returns its bytes; 0: there is none, or
 * the last one has no answer yet.
 */
size_t producer_message(struct producer *p, u32 site, u8 *message);

/* What @site answered, which may be anything. Returns 0 or, and then it still waits, what call_open() and
 * sites_get_answer() do; -ENOENT: it answers something else, or another process does; -ECONNREFUSED: it does not serve
 * this producer.
 */
int producer_answer(struct producer *p, u32 site, const u8 *message, size_t size);

/* @site does not answer: its slices have failed, and what was asked there is not known. */
void producer_fail(struct producer *p, u32 site);

/* @site is back, empty or without what was set meanwhile, at @tick: it is written, and believed a window later; of
 * bloom at once.
 */
void producer_recover(struct producer *p, u32 site, u64 tick);

/* Ask again what another producer had claimed; between two calls it should get time. */
void producer_retry(struct producer *p);

/* Whether a key waits for another producer. */
bool producer_is_claimed(const struct producer *p);

/* Whether all keys have a verdict and all that they set was answered; key @i: whether it is a duplicate. */
bool producer_done(const struct producer *p);
bool producer_seen(const struct producer *p, u32 i);

/* Of the slices of @site at @tick: "ok", "failed" or "recovering". */
const char *producer_site_state(const struct producer *p, u32 site, u64 tick);

/* The slice's number of the site that has it. */
u32 producer_site_of(const struct producer *p, u32 slice);

const struct producer_counts *producer_counts(const struct producer *p);

/* Visits of each slice. */
const u64 *producer_visits(const struct producer *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A site: it has the cells of some slices of a filter, engines timer and bloom, and answers questions about
 * them (koloniari-2011 section 3). It does no I/O: who calls it brings messages and the time.
 *
 * Claims. Of producers that ask about one key at once, one may pass it. A question whose cells here are not
 * all set also asks for the key's claim, which one producer has at a time, until it gives it back, with what it
 * sets or without, or SITE_CLAIM_NS are over, since it may have died. The others are told to ask again. What
 * is all set needs no claim. Who comes with what it sets when another producer has had the claim meanwhile, which may have passed
 * the key, is refused, and told to ask again, too. producer.h says why that is enough.
 *
 * Repeats. A question that comes again, since its answer was lost, gets that answer and does nothing: what it had set
 * would else be found set, and what it had claimed be claimed twice.
 */
#ifndef USER_SITES_SITE_H
#define USER_SITES_SITE_H

#include "user/sites/repeats.h"
#include "user/sites/wire.h"
#include "xdd/line.h"

#define SITE_CLAIMS (1u << 14)
#define SITE_CLAIM_NS 2000000000ULL

/* Claims whose tags end alike share one. */
struct site_claim {
	u64 producer, until_ns;
	u32 held; /* keys of the producer's */
	u8 turn;  /* see wire.h */
};

struct site_counts {
	u64 questions, bytes_in, bytes_out; /* messages that were answered, repeats included */
	u64 repeats;			    /* that came again */
	u64 refused;	 /* damaged, forged, of another filter, or there was no room */
	u64 tests, sets; /* of a key's cells here: visits */
	u64 claimed;	 /* told to ask again: another producer has, or had, the claim */
};

struct site {
	struct xdd_fixed fixed;
	u32 window_ticks;
	u64 id, cells;	     /* its number in calls; cells of its slices */
	struct wire_key key; /* of calls about this filter */
	u64 *loads;	     /* tests and sets of each slice */
	struct xdd_line *lines;
	struct site_claim *claims;
	struct sites_item *items;
	struct sites_answer *answers;
	struct repeats repeats;
	struct site_counts counts;
};

/* What producers and sites must have alike. @window_ticks: of engine timer. */
u64 sites_fingerprint(const struct xdd_fixed *fixed, u32 window_ticks);

/* The first slice of site @site of @sites, which have about as many each; of @sites: behind the last one. */
u32 site_first(const struct xdd_fixed *fixed, u32 site, u32 sites);

/* Whether filters of @fixed can be on sites. Returns NULL or, in words, why not. */
const char *site_wrong(const struct xdd_fixed *fixed);

/* Site @id of @slices slices, which talks under @key. Returns 0 or -ENOMEM; site_close() frees in either case. */
int site_open(struct site *site, const struct xdd_fixed *fixed, u32 window_ticks, u32 slices,
	      u64 id, const struct wire_key *key);
void site_close(struct site *site);

/*
 * Answer the @size bytes at @message, which may be anything, at @now_ns of any steady clock. Returns the bytes of
 * @answer (room for SITES_MESSAGE_MAX), which is for process *@to, or what call_open() and sites_get_question() do;
 * -ENOENT: for another process; -EALREADY: older than what was answered; -ERANGE: cells that it has not.
 */
int site_answer(struct site *site, const u8 *message, size_t size, u64 now_ns, u8 *answer, u64 *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A site: it has the cells of some slices of a filter, engines timer and bloom, and answers questions about
 * them (koloniari-2011 section 3). It does no I/O: who calls it brings messages and the time.
 *
 * Claims. Of producers that ask about one key at once, one may pass it. A question whose cells here are not
 * all set also asks for the key's claim, which one producer has at a time, until it gives it back, with what it
 * sets or without, or SITE_CLAIM_NS are over, since it may have died. The others are told to ask again. What
 * is all set needs no claim. producer.h says why that is enough.
 */
#ifndef USER_SITES_SITE_H
#define USER_SITES_SITE_H

#include "user/sites/wire.h"
#include "xdd/line.h"

#define SITE_CLAIMS (1u << 14)
#define SITE_CLAIM_NS 2000000000ULL

/* Claims whose tags end alike share one. */
struct site_claim {
	u64 producer, until_ns;
	u32 held; /* keys of the producer's */
};

struct site_counts {
	u64 questions, bytes_in, bytes_out; /* messages that were answered */
	u64 refused;			    /* damaged, or of another filter */
	u64 tests, sets;		    /* of a key's cells here: visits */
	u64 claimed;			    /* told to ask again */
};

struct site {
	struct xdd_fixed fixed;
	u32 window_ticks;
	u64 fingerprint, cells; /* sites_fingerprint(); cells of its slices */
	struct xdd_line *lines;
	struct site_claim *claims;
	struct sites_item *items;
	struct sites_answer *answers;
	struct site_counts counts;
};

/* What producers and sites must have alike. @window_ticks: of engine timer. */
u64 sites_fingerprint(const struct xdd_fixed *fixed, u32 window_ticks);

/* Lines @first to @first + @lines - 1 of the filter are site @site's of @sites: whole slices. */
void site_range(const struct xdd_fixed *fixed, u32 site, u32 sites, u32 *first, u32 *lines);

/* Whether filters of @fixed can be on sites. Returns NULL or, in words, why not. */
const char *site_wrong(const struct xdd_fixed *fixed);

/* A site of @lines lines. Returns 0 or -ENOMEM; site_close() frees in either case. */
int site_open(struct site *site, const struct xdd_fixed *fixed, u32 window_ticks, u32 lines);
void site_close(struct site *site);

/* Answer the @size bytes at @message, which may be anything, at @now_ns of any steady clock. Returns the bytes of
 * @answer (room for SITES_MESSAGE_MAX), or what sites_get_question() does; -ERANGE: cells that it has not.
 */
int site_answer(struct site *site, const u8 *message, size_t size, u64 now_ns, u8 *answer);

#endif

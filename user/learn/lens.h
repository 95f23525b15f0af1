/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sample looked at with several keys at once: as was asked for, and with options that copies may need
 * which changed on the way. What such an option finds more is told from what it would confuse by what
 * sample.h counts as sure.
 */
#ifndef USER_LEARN_LENS_H
#define USER_LEARN_LENS_H

#include "sample.h"

#define LENSES_MAX 9

struct lens {
	struct xdd_fixed fixed;
	struct learn learn;
};

struct lenses {
	u32 n;
	struct lens all[LENSES_MAX]; /* the first: as was asked for */
};

/* Start to count packets as @fixed keys them, and more, in about @memory_bytes: half of them for the
 * first lens. Returns 0 or -ENOMEM; lenses_close() frees.
 */
int lenses_open(struct lenses *lenses, const struct xdd_fixed *fixed, u64 memory_bytes);

/* As learn_take() and learn_skip(). */
void lenses_take(struct lenses *lenses, const struct xdd_packet *packet, u64 time_ns, u32 iface);
void lenses_skip(struct lenses *lenses, const struct xdd_packet *packet, u64 time_ns);

void lenses_close(struct lenses *lenses);

/* Copies within LEARN_COPY_NS that something tells from packets sent twice. */
u64 lens_sure(const struct lens *lens);

/* The first lens that surely finds all but one in LEARN_MISSED of the copies that any does; that which
 * was asked for, too, if what another finds more is below a thousandth of the packets.
 */
const struct lens *lenses_best(const struct lenses *lenses);

#endif

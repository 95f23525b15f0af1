// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The watch set of an instance: its size, in the memory of a counting filter (li-2013 section 3.2). */
#include <errno.h>

#include "user/derive_work.h"
#include "user/message.h"
#include "user/watch/acbf.h"

/* What says something about a watch set, and nothing without one. */
static int refuse_details(const struct work *w)
{
	static const enum option_id details[] = { OPT_watch_keys, OPT_l1, OPT_counters,
						  OPT_positions };
	char label[OPTION_LABEL_MAX];

	for (size_t i = 0; i < XDD_ARRAY_SIZE(details); i++)
		if (option_given(w->o, details[i]))
			return refuse(w->err, w->err_size, -EINVAL,
				      "%s is about the watch set: add --watch-action WHAT",
				      option_label(details[i], label));
	return 0;
}

static int too_large(const struct work *w, u64 bytes)
{
	char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];

	return refuse(w->err, w->err_size, -ENOMEM,
		      "the watch set would take %s beside the filter, but %s of memory are free: "
		      "give less --watch-keys or --counters",
		      units_size_text(bytes, needed), units_size_text(w->available, there));
}

int derive_watch(struct work *w)
{
	const struct options *o = w->o;
	struct xdd_fixed *f = &w->out->fixed;
	u64 counters = o->counters * o->watch_keys, bits;

	if (w->target != DERIVE_NIC)
		return 0;
	if (o->watch_action == OPTION_AUTO)
		return refuse_details(w);
	if (o->scope == SCOPE_INTERFACE)
		return refuse(w->err, w->err_size, -EINVAL,
			      "--scope interface makes a packet's key another one on each "
			      "interface, which a watch set cannot name: leave out one of them");
	if (o->watch_keys > ACBF_MAX_FIRST || counters > ACBF_MAX_FIRST)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--watch-keys %s with --counters %u: the set can have 4294967295 "
			      "counters in all",
			      o->text[OPT_watch_keys] ?: "100k", o->counters);
	bits = acbf_first_bits(o->l1, counters, o->watch_keys, o->positions);
	if (!bits || bits > ACBF_MAX_FIRST || 4 * counters < bits + o->positions)
		return refuse(w->err, w->err_size, -ERANGE,
			      "a watch set of %u counters a key has no level 1 of this size for %u "
			      "--positions: give more --counters, or less --positions",
			      o->counters, o->positions);
	if (!derive_room(w, counters / 2))
		return too_large(w, counters / 2);
	f->watch_bits = bits;
	f->watch_hashes = o->positions;
	w->out->watch_counters = counters;
	w->out->live.watch_action = o->watch_action;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What comes in, from a capture: every packet asked of the exact engine. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/capture/packet.h"
#include "user/capture/set.h"
#include "user/cmd/cmd.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/plan/plan.h"
#include "user/store.h"
#include "xdd/decide.h"

/* Times of the packets of the last window, oldest first, in a ring. */
struct recent {
	u64 *at_ns;
	size_t size, first, n; /* size is a power of two */
	size_t most;
};

struct measure {
	struct plan_demand *demand;
	struct xdd_store store;
	struct recent keys, packets;
	u64 distinct, duplicates, bytes, first_ns, last_ns;
	double live; /* sum over the packets of the keys live then */
	bool damaged;
};

static int grow(struct recent *r)
{
	size_t size = r->size ? 2 * r->size : 1024;
	u64 *at_ns = malloc(size * sizeof(*at_ns));

	if (!at_ns)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++)
		at_ns[i] = r->at_ns[(r->first + i) & (r->size - 1)];
	free(r->at_ns);
	r->at_ns = at_ns;
	r->size = size;
	r->first = 0;
	return 0;
}

/* Leave out what is older than the window; then, if @add, add @now_ns, no earlier than what came before. */
static int recent_step(struct recent *r, u64 now_ns, u64 window_ns, bool add)
{
	int err;

	while (r->n && now_ns - r->at_ns[r->first & (r->size - 1)] > window_ns) {
		r->first++;
		r->n--;
	}
	if (!add)
		return 0;
	err = r->n == r->size ? grow(r) : 0;
	if (err)
		return err;
	r->at_ns[(r->first + r->n++) & (r->size - 1)] = now_ns;
	r->most = r->n > r->most ? r->n : r->most;
	return 0;
}

/* A frame: its verdict, and what is live. Time that steps back counts as the latest. */
static int take_frame(struct measure *m, const struct capture_item *item)
{
	struct xdd_packet packet = capture_packet(item);
	u64 at_ns = item->time_ns, window_ns = m->demand->window_ns;
	struct xdd_verdict verdict = store_decide(&m->store, &packet, at_ns);
	bool seen = verdict.found & XDD_SEEN;
	int err;

	m->demand->frames++;
	if (verdict.bypass != XDD_BYPASS_MAX)
		return 0;
	m->first_ns = m->demand->compared++ ? m->first_ns : at_ns;
	m->last_ns = m->last_ns > at_ns ? m->last_ns : at_ns;
	m->bytes += packet.wire_len;
	m->distinct += !seen;
	m->duplicates += seen;
	err = recent_step(&m->packets, m->last_ns, window_ns, true);
	if (!err)
		err = recent_step(&m->keys, m->last_ns, window_ns, !seen);
	m->live += m->keys.n;
	return err;
}

static int take_all(struct measure *m, struct capture_set *set)
{
	const struct capture_item *item;
	int rc;

	while ((rc = capture_set_next(set, &item))) {
		if (rc < 0) {
			complain("%s", capture_set_error(set));
			m->damaged = true;
		} else if (item->kind == CAPTURE_FRAME) {
			rc = take_frame(m, item);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static void conclude(const struct measure *m)
{
	struct plan_demand *d = m->demand;
	double seconds = (m->last_ns - m->first_ns) / 1e9;

	d->keys = m->keys.most;
	d->mean_keys = m->live / d->compared;
	d->copies = (double)m->duplicates / m->distinct;
	d->packet_bytes = (double)m->bytes / d->compared;
	d->rate = seconds > 0 ? d->compared / seconds : 0;
	d->peak_rate = m->packets.most / (d->window_ns / 1e9);
}

/* The exact engine as pcap has it, with the plan's key and window. */
static int open_filter(const struct options *o, struct measure *m, char *err, size_t err_size)
{
	struct options exact = *o;
	struct derived derived;
	int rc;

	exact.engine = XDD_ENGINE_exact;
	exact.window = m->demand->window_ns;
	exact.given[OPT_window] = true;
	exact.given[OPT_memory] = exact.given[OPT_capacity] = exact.given[OPT_fpr_target] = false;
	exact.ticks = 0;
	rc = derive_config(&exact, DERIVE_FILE, 1, 1, 1, &derived, err, err_size);
	if (rc)
		return rc;
	rc = store_open(&m->store, &derived.fixed, &derived.live, derived.memory_bytes);
	if (rc)
		refuse(err, err_size, rc, "cannot make the filter: %s", strerror(-rc));
	return rc;
}

static int measure_set(const struct options *o, struct measure *m, struct capture_set *set)
{
	char err[MESSAGE_MAX];
	int rc = open_filter(o, m, err, sizeof(err));

	if (rc) {
		complain("plan: %s", err);
		return EXIT_FAILED;
	}
	rc = take_all(m, set);
	if (rc)
		complain("plan: %s: %s for what is live in a window: a shorter --window", o->from,
			 strerror(-rc));
	else if (!m->demand->compared)
		complain("plan: %s: no packet in it that could be compared", o->from);
	else
		conclude(m);
	return rc || m->damaged || !m->demand->compared ? EXIT_FAILED : EXIT_OK;
}

int plan_measure(const struct options *o, struct plan_demand *demand)
{
	struct measure m = { .demand = demand };
	char *path = (char *)o->from, err[MESSAGE_MAX];
	struct capture_set *set;
	int code;

	if (capture_set_open(&set, &path, 1, err, sizeof(err))) {
		complain("plan: %s", err);
		return EXIT_FAILED;
	}
	code = measure_set(o, &m, set);
	capture_set_close(set);
	store_close(&m.store);
	free(m.keys.at_ns);
	free(m.packets.at_ns);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/events/reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/loader/pins.h"
#include "user/loader/program.h"
#include "user/message.h"
#include "user/metrics/peers.h"
#include "user/metrics/counters.h"

#define CLOCK_SLACK_NS 1000000

static int read_counts(const struct event_reader *r, struct event_counts *counts)
{
	struct counters all;
	int err = counters_read(r->in.maps.counters, &all);

	if (err)
		return err;
	counts->sent = all.total.events_sent;
	counts->limited = all.total.events_limited;
	counts->lost = all.total.events_lost;
	counters_free(&all);
	return 0;
}

int event_reader_counts(const struct event_reader *r, struct event_counts *counts)
{
	int err = read_counts(r, counts);

	counts->sent -= r->before.sent;
	counts->limited -= r->before.limited;
	counts->lost -= r->before.lost;
	return err;
}

static int take_record(void *context, void *record, size_t size)
{
	struct event_reader *r = context;
	const struct xdd_event *event = record;
	const u8 *bytes = (const u8 *)(event + 1);

	if (size < sizeof(*event) || size - sizeof(*event) < event->cap_len ||
	    event->kind >= XDD_EVENT_MAX)
		return -EPROTO;
	if (!r->take)
		return 0;
	return r->take(r->context, event, event->time_ns + r->since_1970_ns, bytes);
}

/* Two clocks are never read at once: the difference is changed only if somebody set the time. */
static void set_clock(struct event_reader *r)
{
	u64 before = now_ns(), real = clock_ns(CLOCK_REALTIME), took = now_ns() - before;
	s64 since = real - before - took / 2;

	if (llabs(since - r->since_1970_ns) > (s64)took + CLOCK_SLACK_NS)
		r->since_1970_ns = since;
}

int event_reader_read(struct event_reader *r)
{
	int n;

	set_clock(r);
	n = ring_buffer__consume(r->ring);
	return n < 0 ? n : 0;
}

int event_reader_fd(const struct event_reader *r)
{
	return ring_buffer__epoll_fd(r->ring);
}

/* With the lock on the root held: `set` writes the same entry. */
static int write_want(struct instance *in, const struct event_want *want)
{
	int err = instance_read_live(in);

	in->live.event_kinds = want ? want->kinds : 0;
	if (want) {
		in->live.event_rate = want->rate;
		in->live.event_bytes = want->bytes;
	}
	return err ?: program_set_live(in->maps.config, &in->live);
}

/* What another reader was sent in this second is not taken from this one's rate. */
static int fresh_budget(const struct instance *in)
{
	u32 zero = 0;
	u64 none = 0;

	return bpf_map_update_elem(in->maps.event_budget, &zero, &none, BPF_ANY) ? -errno : 0;
}

/* The ring buffer may hold what a reader that was killed did not take. */
static int start(struct event_reader *r, const struct event_want *want)
{
	event_take *take = r->take;
	int err = write_want(&r->in, NULL);

	r->take = NULL;
	if (!err)
		err = event_reader_read(r);
	r->take = take;
	if (!err)
		err = read_counts(r, &r->before);
	if (!err)
		err = fresh_budget(&r->in);
	return err ?: write_want(&r->in, want);
}

static int open_ring(struct event_reader *r, const struct event_want *want, char *err,
		     size_t err_size)
{
	int code = instance_lock_events(&r->in);

	if (code)
		return refuse(
			err, err_size, code,
			"process %d reads the events of %s (events, or run --sample-dropped): "
			"one can at a time",
			instance_events_pid(&r->in), r->in.name);
	r->ring = ring_buffer__new(r->in.maps.events, take_record, r, NULL);
	code = r->ring ? start(r, want) : -errno;
	return code ? refuse(err, err_size, code, "%s: cannot read its events: %s", r->in.name,
			     strerror(-code))
		    : 0;
}

int event_reader_open(struct event_reader *r, const char *name, const struct event_want *want,
		      event_take *take, void *context, char *err, size_t err_size)
{
	int root, code;

	memset(r, 0, sizeof(*r));
	r->take = take;
	r->context = context;
	root = pins_lock(false, false, err, err_size);
	if (root == -ENOENT)
		return refuse(err, err_size, root, "%s: no instance is loaded", name);
	if (root < 0)
		return root;
	code = instance_open(&r->in, name, err, err_size);
	if (!code) {
		code = open_ring(r, want, err, err_size);
		if (code) {
			ring_buffer__free(r->ring);
			instance_close(&r->in);
		}
	}
	pins_unlock(root);
	return code;
}

/* The ring buffer is the same one, and what is wanted was carried over. */
int event_reader_follow(struct event_reader *r)
{
	char name[INSTANCE_NAME_MAX], err[MESSAGE_MAX];
	u64 loaded_s = r->in.meta.loaded_s;
	struct instance next;

	memcpy(name, r->in.name, sizeof(name));
	if (instance_open(&next, name, err, sizeof(err)))
		return -ENOENT;
	if (next.meta.loaded_s != loaded_s || instance_lock_events(&next)) {
		instance_close(&next);
		return -ENOENT;
	}
	instance_close(&r->in);
	r->in = next;
	return 0;
}

void event_reader_stop(struct event_reader *r)
{
	char err[MESSAGE_MAX];
	int root = pins_lock(false, false, err, sizeof(err));

	if (root < 0)
		return;
	if (!instance_is_gone(&r->in) || !event_reader_follow(r))
		write_want(&r->in, NULL);
	pins_unlock(root);
}

void event_reader_close(struct event_reader *r)
{
	ring_buffer__free(r->ring);
	instance_close(&r->in);
}

const char *event_interface(const struct instance *in, u32 ifindex, char name[XDD_META_IFNAME])
{
	snprintf(name, XDD_META_IFNAME, "if%u", ifindex);
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (in->live.ifaces[i].ifindex == ifindex)
			snprintf(name, XDD_META_IFNAME, "%s", in->ifaces[i].name);
	return name;
}

const char *event_peer(const struct instance *in, const struct xdd_event *event,
		       char name[XDD_PEER_NAME])
{
	return event->peer ? peer_name(in, event->peer - 1, name) : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/watch_owner.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "user/clock.h"

/* While more than this waits for the network, no part follows. */
#define BUSY_BYTES (4u << 20)
#define PART_PAUSE_NS (10 * MILLISECOND_NS)

/* Another owner that said nothing for so many beats has gone. */
#define TWIN_BEATS 3

/* So many DELTAs, and so many bytes of them or as many as the last FULL had, lie behind a FULL at most. */
#define DELTAS_KEPT 256
#define DELTA_BYTES_KEPT (64u << 10)

struct owner {
	struct owner_setup setup;
	struct owner_stats stats;
	struct watch_version version; /* seq 0: nothing was told */
	u64 opened_wall_ns, epoch_before;
	u64 wall_ns; /* of this step */
	bool up, need_full;
	u64 look_at_ns, beat_at_ns, full_at_ns;
	/* The FULL that is being sent, or was last: */
	u8 *deflated;
	struct watch_told told;
	u32 part, parts; /* equal: all was sent */
	int place;
	u32 deltas; /* since then */
	u64 delta_bytes;
	u8 message[WIRE_MAX];
};

struct owner *owner_open(const struct owner_setup *setup)
{
	struct owner *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->setup = *setup;
	o->version.epoch = setup->self->epoch;
	o->opened_wall_ns = clock_ns(CLOCK_REALTIME);
	o->told.shape = setup->shape;
	return o;
}

static void end_full(struct owner *o)
{
	free(o->deflated);
	o->deflated = NULL;
	o->part = o->parts = 0;
}

void owner_close(struct owner *o)
{
	if (o)
		end_full(o);
	free(o);
}

void owner_up(struct owner *o)
{
	o->up = o->need_full = true;
	o->look_at_ns = o->full_at_ns = 0;
}

/* What was published last may not have arrived. */
void owner_down(struct owner *o)
{
	o->up = false;
	end_full(o);
}

static int publish(struct owner *o, enum wire_type type, u32 part, size_t n)
{
	bool full = type == WIRE_WATCH_FULL, live = type == WIRE_WATCH_BEAT;
	struct wire_head head = { .type = type,
				  .seq = o->version.seq,
				  .part = part,
				  .parts = full ? o->parts : 1,
				  .keys = o->version.print.keys,
				  .time_ns = o->wall_ns,
				  .heartbeat_ns = o->setup.beat_ns };
	size_t size = watch_seal(o->setup.self, &head, &o->told, n, o->message);
	int rc = o->setup.ops.publish(o->setup.to, live ? -1 : o->place, full && !part, o->message,
				      size);

	o->stats.unsent += rc < 0;
	return rc;
}

static u8 *payload_of(struct owner *o)
{
	return o->message + WIRE_HEADER + sizeof(o->told);
}

/* As many parts as the network takes now. */
static void send_parts(struct owner *o)
{
	while (o->part < o->parts && o->setup.ops.pending(o->setup.to) < BUSY_BYTES) {
		u64 from = o->part * WATCH_PART, n = o->told.deflated - from;

		n = n < WATCH_PART ? n : WATCH_PART;
		memcpy(payload_of(o), o->deflated + from, n);
		if (publish(o, WIRE_WATCH_FULL, o->part, n) < 0) {
			o->need_full = true;
			end_full(o);
			return;
		}
		o->part++;
	}
	if (o->part < o->parts)
		return;
	o->stats.fulls++;
	end_full(o);
}

/* Returns 0 or a negative errno. */
static int begin_full(struct owner *o, const struct owner_set *set, struct wire_time now)
{
	uLongf room = compressBound(set->full_bytes);
	u8 *deflated = malloc(room);

	if (!deflated)
		return -ENOMEM;
	compress2(deflated, &room, set->full, set->full_bytes, Z_BEST_SPEED); /* there is room */
	end_full(o);
	o->deflated = deflated;
	o->told.bytes = set->full_bytes;
	o->told.deflated = room;
	o->told.before = (struct watch_print){};
	o->told.after = set->print;
	o->parts = (room + WATCH_PART - 1) / WATCH_PART;
	o->place = !o->place;
	o->deltas = o->delta_bytes = 0;
	o->need_full = false;
	o->full_at_ns = now.mono_ns + o->setup.full_least_ns;
	send_parts(o);
	return 0;
}

static void send_delta(struct owner *o, const struct owner_set *set)
{
	u64 full_bytes = o->told.deflated;

	o->told.before = o->told.after;
	o->told.after = set->print;
	if (publish(o, WIRE_WATCH_DELTA, 0, set->log_bytes) < 0)
		o->need_full = true;
	else
		o->stats.deltas++;
	o->delta_bytes += set->log_bytes;
	if (++o->deltas >= DELTAS_KEPT ||
	    (o->delta_bytes > DELTA_BYTES_KEPT && o->delta_bytes > full_bytes))
		o->need_full = true;
}

static void make_version(struct owner *o, const struct watch_print *print)
{
	if (o->version.seq && o->version.epoch == o->setup.self->epoch &&
	    watch_print_same(&o->version.print, print))
		return;
	if (o->version.epoch != o->setup.self->epoch)
		o->version.seq = 0;
	o->version.epoch = o->setup.self->epoch;
	o->version.seq++;
	o->version.print = *print;
	o->setup.ops.version(o->setup.to, &o->version);
}

/* Read the set, and tell what is new. */
static int look(struct owner *o, struct wire_time now)
{
	struct owner_set set = {};
	bool first = !o->version.seq || o->need_full;
	int rc = o->setup.ops.read(o->setup.to, first, &o->version.print, payload_of(o), &set);

	if (rc)
		return rc;
	if (!first && watch_print_same(&set.print, &o->version.print)) {
		free(set.full);
		return 0;
	}
	make_version(o, &set.print);
	if (set.full)
		rc = begin_full(o, &set, now);
	else
		send_delta(o, &set);
	o->need_full |= rc < 0;
	free(set.full);
	return rc;
}

static void look_if_due(struct owner *o, struct wire_time now)
{
	u64 start, rest;
	int rc;

	if (now.mono_ns < o->look_at_ns)
		return;
	o->look_at_ns = now.mono_ns + o->setup.look_ns;
	if (o->need_full ? now.mono_ns < o->full_at_ns : !o->setup.ops.changed(o->setup.to))
		return;
	start = now_ns();
	rc = look(o, now);
	/* Reading and deflating take memory's time for sets of many keys. */
	rest = rest_of(now_ns() - start);
	if (rest > o->setup.look_ns)
		o->look_at_ns = now.mono_ns + rest;
	o->stats.failed = rc == -EBUSY ? 0 : rc;
}

static void beat_if_due(struct owner *o, struct wire_time now)
{
	if (!o->version.seq || now.mono_ns < o->beat_at_ns)
		return;
	o->beat_at_ns = now.mono_ns + o->setup.beat_ns;
	if (publish(o, WIRE_WATCH_BEAT, 0, 0) >= 0)
		o->stats.beats++;
}

/* Two who tell of two sets in one name would have followers go from the one to the other: who came later is silent. */
static bool yields(struct owner *o, u64 now)
{
	if (!o->stats.yields)
		return false;
	if (now - o->stats.twin_ns < TWIN_BEATS * o->setup.beat_ns)
		return true;
	o->stats.yields = false;
	o->need_full = true;
	return false;
}

u64 owner_step(struct owner *o, struct wire_time now)
{
	o->wall_ns = now.wall_ns;
	if (!o->up)
		return UINT64_MAX;
	if (yields(o, now.mono_ns))
		return now.mono_ns + o->setup.beat_ns;
	if (o->parts)
		send_parts(o);
	if (!o->parts) {
		look_if_due(o, now);
		beat_if_due(o, now);
	}
	if (o->parts)
		return now.mono_ns + PART_PAUSE_NS;
	return earliest(o->look_at_ns, o->beat_at_ns);
}

/* An epoch is a time: what was sent before this one, in the run before or until a later epoch had to be told, is
 * the owner's own.
 */
int owner_heard(struct owner *o, const char *name, const u8 *message, size_t size,
		struct wire_time now)
{
	u64 epoch = o->setup.self->epoch;
	struct watch_heard heard;

	if (watch_unseal(&o->setup.group, name, message, size, &heard) ||
	    heard.head.epoch == epoch || heard.head.epoch == o->epoch_before ||
	    heard.head.time_ns <= o->opened_wall_ns)
		return 0;
	o->stats.refused++;
	o->stats.twin_ns = now.mono_ns;
	o->stats.yields = heard.head.epoch < epoch;
	if (o->stats.yields)
		end_full(o);
	else
		o->need_full = true; /* what is kept is the other's now */
	return -EEXIST;
}

/* One who holds what was told later than all of this, such as before the clock went back, must not refuse it. */
int owner_wanted(struct owner *o, const char *from, const u8 *message, size_t size)
{
	struct watch_heard heard;
	int rc = watch_unseal(&o->setup.group, from, message, size, &heard);

	if (!rc && (heard.head.type != WIRE_WATCH_WANT ||
		    watch_shape_differs(&heard.told.shape, &o->setup.shape)))
		rc = -EINVAL;
	if (rc) {
		o->stats.refused++;
		return rc;
	}
	if (heard.told.epoch > o->setup.self->epoch && heard.told.epoch < UINT64_MAX) {
		o->epoch_before = o->setup.self->epoch;
		o->setup.self->epoch = heard.told.epoch + 1;
	}
	o->stats.wanted++;
	o->need_full = true;
	return 0;
}

bool owner_has_told(const struct owner *o)
{
	return o->up && o->version.seq && !o->need_full && !o->parts && !o->stats.yields;
}

const struct watch_version *owner_version(const struct owner *o)
{
	return &o->version;
}

const struct owner_stats *owner_stats(const struct owner *o)
{
	return &o->stats;
}

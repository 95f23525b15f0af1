/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/watch_follower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "user/clock.h"
#include "user/cluster/epochs.h"
#include "user/watch/file.h"

#define BUSY_NS (100 * MILLISECOND_NS)

/* Of DELTAs that were not applied yet; what does not fit is wanted again. */
#define LOG_MAX (8u << 20)

/* Two owners that were heard this lately are both there. */
#define TWIN_SILENCES 20

/* A FULL whose parts come. */
struct gather {
	u64 epoch, seq; /* 0: none comes */
	struct watch_told told;
	u32 parts, left;
	u8 *deflated;
	bool *got;
};

struct follower {
	struct follower_setup setup;
	struct follower_stats stats;
	struct watch_version held; /* on disk */
	bool same;		   /* the set is `held` */
	/* What it will be when all that waits was applied; known: if it is, or something waits. */
	struct watch_version tip;
	bool known, adopted; /* adopted: the version, not the set, is to be another one */
	u8 *full, *log;
	size_t full_bytes, log_bytes, log_room;
	struct watch_version heard; /* the latest that was told of */
	struct epochs epochs;
	struct gather gather[FOLLOWER_PLACES];
	bool up;
	u64 opened_ns, apply_at_ns, want_at_ns, want_ns, part_ns;
	u32 asked; /* times, since it was not behind */
};

struct follower *follower_open(const struct follower_setup *setup)
{
	struct follower *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->setup = *setup;
	f->held = f->tip = setup->held;
	f->same = f->known = setup->same && setup->held.epoch;
	f->epochs.now = setup->held.epoch;
	f->want_ns = setup->want_least_ns;
	f->opened_ns = now_ns();
	return f;
}

static void drop_gather(struct gather *g)
{
	free(g->deflated);
	free(g->got);
	*g = (struct gather){};
}

static void drop_changes(struct follower *f)
{
	free(f->full);
	f->full = NULL;
	f->log_bytes = 0;
	f->adopted = false;
}

void follower_close(struct follower *f)
{
	if (!f)
		return;
	for (u32 i = 0; i < FOLLOWER_PLACES; i++)
		drop_gather(&f->gather[i]);
	drop_changes(f);
	free(f->log);
	free(f);
}

void follower_up(struct follower *f)
{
	f->up = true;
	f->asked = 0;
	f->want_at_ns = 0;
	f->want_ns = f->setup.want_least_ns;
}

void follower_down(struct follower *f)
{
	f->up = false;
}

static int refuse_it(struct follower *f, int rc)
{
	f->stats.refused++;
	return rc;
}

/* Whether it is no more than what is held, or waits. */
static bool is_old(struct follower *f, const struct watch_version *v)
{
	int order = watch_version_order(v, &f->tip);

	if (f->known ? order > 0 : order >= 0)
		return false;
	f->stats.old++;
	return true;
}

/* If @v is no other state than there is: it has another number. */
static bool adopt(struct follower *f, const struct watch_version *v)
{
	if (!f->known || !watch_print_same(&v->print, &f->tip.print))
		return false;
	f->tip = *v;
	f->adopted = true;
	return true;
}

static bool begins_another(const struct gather *g, const struct watch_heard *heard)
{
	return g->epoch != heard->head.epoch || g->seq != heard->head.seq ||
	       g->told.deflated != heard->told.deflated || g->told.bytes != heard->told.bytes ||
	       !watch_print_same(&g->told.after, &heard->told.after);
}

static int begin_gather(struct follower *f, struct gather *g, const struct watch_heard *heard)
{
	const struct watch_shape *shape = &f->setup.shape;
	const struct watch_told *told = &heard->told;

	if (told->bytes > watch_file_most(shape->counters, shape->bits) ||
	    told->deflated > compressBound(told->bytes))
		return refuse_it(f, -EINVAL);
	drop_gather(g);
	g->deflated = malloc(told->deflated);
	g->got = calloc(heard->head.parts, sizeof(*g->got));
	if (!g->deflated || !g->got) {
		drop_gather(g);
		return -ENOMEM;
	}
	g->epoch = heard->head.epoch;
	g->seq = heard->head.seq;
	g->told = *told;
	g->parts = g->left = heard->head.parts;
	return 0;
}

/* Returns the file, or NULL: it is not what was told. */
static u8 *inflate_full(const struct follower *f, const struct gather *g)
{
	const struct watch_shape *shape = &f->setup.shape;
	struct watch_header header;
	struct watch_print print;
	uLongf n = g->told.bytes;
	u8 *file = malloc(n ?: 1);

	if (file && uncompress(file, &n, g->deflated, g->told.deflated) == Z_OK &&
	    n == g->told.bytes && !watch_bytes_print(file, n, &print, &header) &&
	    watch_print_same(&print, &g->told.after) && header.counters == shape->counters &&
	    header.bits == shape->bits && header.hashes == shape->hashes)
		return file;
	free(file);
	return NULL;
}

/* It takes the place of all that waits. */
static int end_gather(struct follower *f, struct gather *g)
{
	u8 *file = inflate_full(f, g);
	size_t bytes = g->told.bytes;
	struct watch_version v = { g->epoch, g->seq, g->told.after };

	drop_gather(g);
	if (!file)
		return refuse_it(f, -EINVAL);
	drop_changes(f);
	f->full = file;
	f->full_bytes = bytes;
	f->tip = v;
	f->known = true;
	f->stats.fulls++;
	return 0;
}

static int take_full(struct follower *f, int place, const struct watch_heard *heard,
		     const struct watch_version *v, u64 now)
{
	struct gather *g = &f->gather[place];
	const struct watch_version comes = { .epoch = g->epoch, .seq = g->seq };
	u32 part = heard->head.part;
	int rc = 0;

	if (is_old(f, v) || adopt(f, v))
		return 0;
	if (watch_version_order(v, &comes) < 0) {
		f->stats.old++;
		return 0;
	}
	if (begins_another(g, heard))
		rc = begin_gather(f, g, heard);
	if (rc || g->got[part])
		return rc;
	memcpy(g->deflated + part * WATCH_PART, heard->at, heard->n);
	g->got[part] = true;
	f->part_ns = now;
	return --g->left ? 0 : end_gather(f, g);
}

static int put_log(struct follower *f, const u8 *at, size_t n)
{
	size_t need = f->log_bytes + n, room = f->log_room ?: 4096;
	u8 *log;

	if (need > LOG_MAX)
		return -ENOBUFS;
	while (room < need)
		room *= 2;
	log = room > f->log_room ? realloc(f->log, room) : f->log;
	if (!log)
		return -ENOMEM;
	f->log = log;
	f->log_room = room;
	memcpy(log + f->log_bytes, at, n);
	f->log_bytes = need;
	return 0;
}

static int take_delta(struct follower *f, const struct watch_heard *heard,
		      const struct watch_version *v)
{
	bool next = f->known && v->epoch == f->tip.epoch && v->seq == f->tip.seq + 1 &&
		    watch_print_same(&heard->told.before, &f->tip.print);

	if (is_old(f, v))
		return 0;
	if (!next || put_log(f, heard->at, heard->n)) {
		f->stats.gaps++;
		return 0;
	}
	f->tip = *v;
	f->stats.deltas++;
	return 0;
}

static int take_beat(struct follower *f, bool fresh, const struct watch_version *v)
{
	if (!fresh) {
		f->stats.old++;
		return 0;
	}
	if (watch_version_order(v, &f->tip) > 0)
		adopt(f, v);
	f->stats.beats++;
	return 0;
}

/* Whether it was not said before: by what came live in the same epoch, and before. */
static bool is_fresh(struct follower *f, bool stored, const struct wire_head *head, u64 now)
{
	bool fresh = !stored && head->order > f->epochs.order;

	if (fresh) {
		f->epochs.order = head->order;
		f->stats.heard_ns = now;
	}
	return fresh;
}

/* The owner that speaks from now on began earlier than the other one, whose set was taken: no version of it counts. */
static void forget_versions(struct follower *f)
{
	drop_changes(f);
	for (u32 i = 0; i < FOLLOWER_PLACES; i++)
		drop_gather(&f->gather[i]);
	f->held = f->tip = f->heard = (struct watch_version){};
	f->same = f->known = false;
	f->asked = 0;
	f->want_at_ns = 0;
	f->setup.ops.version(f->setup.to, &f->held);
}

/* Whose message it is. Returns 0; -EALREADY: it is ignored; -EEXIST. */
static int judge(struct follower *f, bool stored, const struct wire_head *head, u64 now)
{
	u64 epoch = f->epochs.now, silence = f->setup.silence_ns;
	bool alive = now - (f->stats.heard_ns ?: f->opened_ns) < silence;
	enum epochs_verdict verdict =
		epochs_judge(&f->epochs, head, stored, alive, now, TWIN_SILENCES * silence);

	if (f->epochs.twins)
		f->stats.twin_ns = f->epochs.twin_ns;
	f->stats.old += verdict == EPOCHS_OLD;
	if (verdict == EPOCHS_BEGIN && head->epoch < epoch)
		forget_versions(f);
	if (verdict == EPOCHS_OLD)
		return -EALREADY;
	return verdict == EPOCHS_TWIN ? refuse_it(f, -EEXIST) : 0;
}

int follower_take(struct follower *f, int place, bool stored, const u8 *message, size_t size,
		  struct wire_time now)
{
	struct watch_heard heard;
	int rc = watch_unseal(&f->setup.group, f->setup.owner, message, size, &heard);
	struct watch_version v;
	bool fresh;

	f->stats.bad += rc == -EBADMSG;
	if (rc)
		return rc == -EBADMSG ? rc : refuse_it(f, rc);
	rc = judge(f, stored, &heard.head, now.mono_ns);
	if (rc)
		return rc == -EALREADY ? 0 : rc;
	fresh = is_fresh(f, stored, &heard.head, now.mono_ns);
	if (fresh || !f->stats.heard_ns)
		f->stats.differs = watch_shape_differs(&heard.told.shape, &f->setup.shape);
	if (watch_shape_differs(&heard.told.shape, &f->setup.shape))
		return refuse_it(f, -EINVAL);
	v = (struct watch_version){ heard.head.epoch, heard.head.seq, heard.told.after };
	if (watch_version_order(&v, &f->heard) > 0)
		f->heard = v;
	if (heard.head.type == WIRE_WATCH_FULL && place >= 0 && place < FOLLOWER_PLACES)
		return take_full(f, place, &heard, &v, now.mono_ns);
	if (heard.head.type == WIRE_WATCH_DELTA)
		return take_delta(f, &heard, &v);
	if (heard.head.type == WIRE_WATCH_BEAT)
		return take_beat(f, fresh, &v);
	return refuse_it(f, -EINVAL);
}

/* What waits is not applied: what is held is what it was. */
static void give_up(struct follower *f)
{
	drop_changes(f);
	f->tip = f->held;
	f->known = f->same;
}

void follower_found(struct follower *f, const struct watch_print *print)
{
	if (!f->same || watch_print_same(print, &f->held.print))
		return;
	f->same = false;
	give_up(f);
}

static int apply_changes(struct follower *f, char *err, size_t err_size)
{
	const struct follower_change change = { f->full,      f->full_bytes, f->log,
						f->log_bytes, f->held.print, f->tip };

	if (f->full || f->log_bytes)
		return f->setup.ops.apply(f->setup.to, &change, err, err_size);
	f->setup.ops.version(f->setup.to, &f->tip);
	return 0;
}

static void apply_what_waits(struct follower *f, struct wire_time now, char *err, size_t err_size)
{
	u64 start = now_ns();
	int rc;

	if ((!f->full && !f->log_bytes && !f->adopted) || now.mono_ns < f->apply_at_ns)
		return;
	rc = apply_changes(f, err, err_size);
	f->apply_at_ns = now.mono_ns + (rc == -EBUSY ? BUSY_NS : rest_of(now_ns() - start));
	if (rc == -EBUSY) {
		*err = 0;
		return;
	}
	if (rc == -ESTALE)
		f->same = false;
	else if (rc)
		f->stats.refused++;
	else
		f->same = true;
	if (!rc)
		f->held = f->tip;
	give_up(f);
}

static bool is_behind(const struct follower *f, u64 now)
{
	return !f->known || !f->stats.heard_ns || now - f->stats.heard_ns > f->setup.silence_ns ||
	       watch_version_order(&f->heard, &f->tip) > 0;
}

static void ask(struct follower *f)
{
	struct wire_head head = { .type = WIRE_WATCH_WANT, .seq = f->held.seq, .parts = 1 };
	const struct watch_told told = { .shape = f->setup.shape, .epoch = f->held.epoch };
	u8 message[WIRE_HEADER + sizeof(told) + WIRE_TAG];
	size_t size;

	if (!f->asked++ && f->setup.ops.fetch(f->setup.to)) {
		f->stats.fetches++;
		return;
	}
	head.time_ns = clock_ns(CLOCK_REALTIME);
	size = watch_seal(f->setup.self, &head, &told, 0, message);
	f->setup.ops.want(f->setup.to, message, size);
	f->stats.wants++;
}

/* Nobody asks for more while parts come. */
static void ask_if_due(struct follower *f, u64 now)
{
	bool comes = f->part_ns && now - f->part_ns < f->setup.silence_ns &&
		     (f->gather[0].left || f->gather[1].left);

	if (!is_behind(f, now)) {
		f->asked = 0;
		f->want_ns = f->setup.want_least_ns;
		f->want_at_ns = 0;
		return;
	}
	if (!f->up || comes || now < f->want_at_ns)
		return;
	ask(f);
	f->want_at_ns = now + f->want_ns;
	f->want_ns = earliest(2 * f->want_ns, f->setup.want_most_ns);
}

static bool is_equal(const struct follower *f, u64 now)
{
	return !f->full && !f->log_bytes && f->same && !is_behind(f, now);
}

u64 follower_step(struct follower *f, struct wire_time now, char *err, size_t err_size)
{
	*err = 0;
	apply_what_waits(f, now, err, err_size);
	ask_if_due(f, now.mono_ns);
	if (is_equal(f, now.mono_ns))
		f->stats.equal_ns = f->stats.heard_ns;
	return now.mono_ns + BUSY_NS;
}

const struct watch_version *follower_held(const struct follower *f)
{
	return &f->held;
}

u64 follower_behind_since(const struct follower *f, u64 now_ns)
{
	if (is_equal(f, now_ns))
		return 0;
	return f->stats.equal_ns ?: f->opened_ns;
}

const struct follower_stats *follower_stats(const struct follower *f)
{
	return &f->stats;
}

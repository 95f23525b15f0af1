/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/sender.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/cluster/delta.h"
#include "user/model/replica.h"
#include "user/words.h"

/* Of the target: what a fresh replica may take of it, and what it takes at most after the filter has
 * been made smaller.
 */
#define MOST_FLOOR 0.75
#define SMALL_FLOOR 0.125

#define NS_PER_S 1e9

/* A range of bits that is sent as one message. */
struct part {
	u64 first, bits;
};

struct plan {
	struct part part[WIRE_PARTS_MAX];
	u32 n;
};

struct sender {
	struct sender_setup setup;
	struct sender_stats stats;
	u32 shift;
	u64 seq;
	u64 *sent;	/* what the others have */
	bool has_sent;	/* ... if anything */
	bool must_full; /* they may miss some of it */
	bool wanted;
	double looked_rate;    /* stats.rate of the last check, or of all that was told since, */
	u64 looked_ns;	       /* and when that was */
	u64 full_ns, spoke_ns; /* when last, CLOCK_MONOTONIC */
	u64 since_full;	       /* bytes of deltas */
	double credit;	       /* bytes; may be negative */
	u64 credit_ns;	       /* as of then; 0: nothing was sent yet */
	u64 small_ns;	       /* since when a smaller filter would do; 0: it would not */
	struct plan plan;
	u8 message[WIRE_MAX];
};

static u64 cells_of(u32 shift)
{
	return 1ULL << shift;
}

static size_t bytes_of(u32 shift)
{
	return cells_of(shift) / 8;
}

static bool is_valid(const struct sender_setup *setup)
{
	return setup->self && setup->emit && setup->hashes && setup->hashes <= UINT16_MAX &&
	       setup->shift >= WIRE_SHIFT_MIN && setup->shift <= WIRE_SHIFT_MAX &&
	       (!setup->resize ||
		(setup->shift_least >= WIRE_SHIFT_MIN && setup->shift_least <= setup->shift &&
		 setup->shift <= setup->shift_most && setup->shift_most <= WIRE_SHIFT_MAX));
}

struct sender *sender_open(const struct sender_setup *setup)
{
	struct sender *s;

	if (!is_valid(setup)) {
		errno = EINVAL;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->setup = *setup;
	s->shift = setup->shift;
	s->sent = calloc(1, bytes_of(s->shift));
	if (!s->sent) {
		free(s);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

void sender_close(struct sender *s)
{
	if (s)
		free(s->sent);
	free(s);
}

u32 sender_shift(const struct sender *s)
{
	return s->shift;
}

const u64 *sender_sent(const struct sender *s)
{
	return s->has_sent ? s->sent : NULL;
}

const struct sender_stats *sender_stats(const struct sender *s)
{
	return &s->stats;
}

void sender_lost(struct sender *s)
{
	s->must_full = s->has_sent;
}

void sender_policy(struct sender *s, const struct update_policy *policy)
{
	s->setup.policy = *policy;
}

/* How far what the others have is from @home, and what that errs; it grows until the next look as it did since the
 * last one, or since all was told.
 */
static void predict(struct sender *s, const struct sender_home *home, u64 now)
{
	struct sender_stats *stats = &s->stats;
	struct staleness *stale = &stats->stale;
	double sent;

	*stale = (struct staleness){ .hashes = s->setup.hashes,
				     .keys = home->keys,
				     .unpublished = home->unpublished,
				     .since = now - stats->push_ns };
	update_compare(stale, home->bits, s->sent, cells_of(s->shift));
	sent = model_replica_fill(stale->fill, stale->delta1, stale->delta0);
	stats->own = pow(stale->fill, stale->hashes);
	stats->fpr = model_replica_fpr(stale->fill, stale->delta1, stale->delta0, stale->hashes);
	stats->fnr = model_replica_fnr(stale->fill, stale->delta1, stale->hashes);
	stats->member =
		model_replica_member_fnr(stale->unpublished, stale->keys, sent, stale->hashes);
	stats->rate = update_rate(&s->setup.policy, stale);
	stats->floor = update_floor(&s->setup.policy, stale);
	stale->growth = now > s->looked_ns ? fmax(0, stats->rate - s->looked_rate) : 0;
	s->looked_rate = stats->rate;
	s->looked_ns = now;
	if (!stale->delta1 && !stale->delta0)
		stats->changed_ns = 0;
	else if (!stats->changed_ns)
		stats->changed_ns = now;
}

/* What no update can mend, if the same keys were in 2^shift bits. */
static double floor_at(const struct sender *s, u32 shift)
{
	const struct staleness *stale = &s->stats.stale;
	double keys = model_fill_keys(fmin(stale->fill, 1 - 1 / stale->cells), stale->cells,
				      stale->hashes);

	return s->setup.policy.fp_weight *
	       pow(model_fill(keys, cells_of(shift), stale->hashes), stale->hashes);
}

/* The shift that the target needs. A smaller one is not taken for a moment's lull. */
static u32 choose_shift(struct sender *s, u64 now)
{
	double target = s->setup.policy.target;
	u32 shift = s->shift;

	while (shift < s->setup.shift_most && floor_at(s, shift) > MOST_FLOOR * target)
		shift++;
	if (shift > s->shift || shift <= s->setup.shift_least ||
	    floor_at(s, shift - 1) > SMALL_FLOOR * target) {
		s->small_ns = 0;
		return shift;
	}
	if (!s->small_ns)
		s->small_ns = now;
	return now - s->small_ns >= s->setup.resize_ns ? shift - 1 : shift;
}

/* Returns whether the filter has another size now. */
static int resize(struct sender *s, u64 now)
{
	u32 shift = s->setup.resize ? choose_shift(s, now) : s->shift;
	u64 *sent;

	if (shift == s->shift)
		return 0;
	sent = calloc(1, bytes_of(shift));
	if (!sent)
		return -ENOMEM;
	free(s->sent);
	s->sent = sent;
	s->has_sent = false;
	s->shift = shift;
	s->small_ns = 0;
	s->stats.resizes++;
	return 1;
}

static bool passed(u64 since, u64 ns, u64 now)
{
	return !since || now - since >= ns;
}

/* More than a second's worth is not saved up. */
static double credit(const struct sender *s, u64 now)
{
	double per_s = s->setup.bytes_per_s;

	if (!s->credit_ns)
		return per_s;
	return fmin(per_s, s->credit + per_s * (now - s->credit_ns) / NS_PER_S);
}

bool sender_ready(const struct sender *s, struct wire_time now)
{
	return s->setup.policy.rule != UPDATE_never &&
	       passed(s->stats.push_ns, s->setup.interval_ns, now.mono_ns) &&
	       (!s->setup.bytes_per_s || credit(s, now.mono_ns) > 0);
}

static int hand_over(struct sender *s, struct wire_head *head, struct wire_time now)
{
	const struct sender_stats *stats = &s->stats;
	size_t size;
	int err;

	head->hashes = s->setup.hashes;
	head->shift = s->shift;
	head->seq = s->seq;
	head->keys = stats->stale.keys;
	head->window_ns = s->setup.window_ns;
	head->heartbeat_ns = s->setup.heartbeat_ns;
	head->time_ns = now.wall_ns;
	head->fpr_ppb = stats->fpr * WIRE_PPB;
	head->fnr_ppb = stats->fnr * WIRE_PPB;
	head->member_ppb = stats->member * WIRE_PPB;
	size = wire_seal(s->setup.self, head, s->message);
	s->credit = credit(s, now.mono_ns) - size;
	s->credit_ns = s->spoke_ns = now.mono_ns;
	s->stats.bytes += size;
	err = s->setup.emit(s->setup.to, head->type, s->message, size);
	s->stats.failed += !!err;
	return err;
}

/* Bytes that delta_encode() needs at most: log is concave, so gaps are longest in all when even. */
static u64 longest(u64 ones, u64 n)
{
	double sparse = ones ? 2 + ones * (1 + log2((double)n / ones) / 7) : 1;

	return fmin(sparse, delta_room(n));
}

/* Halve the range until its message is short enough. */
static void plan_range(struct plan *plan, const u64 *bits, u64 first, u64 n)
{
	if (longest(words_ones(bits + first / 64, n / 64), n) > WIRE_PAYLOAD_MAX) {
		plan_range(plan, bits, first, n / 2);
		plan_range(plan, bits, first + n / 2, n / 2);
		return;
	}
	plan->part[plan->n++] = (struct part){ first, n };
}

static int send_parts(struct sender *s, enum wire_type type, const u64 *bits, struct wire_time now)
{
	int err = 0;

	s->plan.n = 0;
	plan_range(&s->plan, bits, 0, cells_of(s->shift));
	for (u32 i = 0; !err && i < s->plan.n; i++) {
		struct part part = s->plan.part[i];
		struct wire_head head = { .type = type,
					  .part = i,
					  .parts = s->plan.n,
					  .first = part.first,
					  .bits = part.bits };

		head.payload_bytes =
			delta_encode(bits + part.first / 64, part.bits, s->message + WIRE_HEADER);
		err = hand_over(s, &head, now);
	}
	return err;
}

/* Whether all of @home is no longer than what has changed, which is in s->sent. They are measured only
 * where it may be so.
 */
static bool is_full_shorter(const struct sender *s, const u64 *home)
{
	const struct staleness *stale = &s->stats.stale;
	u64 n = cells_of(s->shift);
	u64 full = longest(stale->fill * n + .5, n);
	u64 delta = longest((stale->delta1 + stale->delta0) * n + .5, n);

	if (s->setup.full_after && s->since_full + delta > s->setup.full_after * full)
		return true;
	return delta >= full && delta_size(s->sent, n) >= delta_size(home, n);
}

static int push(struct sender *s, const struct sender_home *home, struct wire_time now)
{
	struct sender_stats *stats = &s->stats;
	u64 before = stats->bytes;
	bool full;
	int err;

	s->seq++;
	for (u64 i = 0; i < cells_of(s->shift) / 64; i++)
		s->sent[i] ^= home->bits[i];
	full = s->must_full || s->wanted || !s->has_sent || is_full_shorter(s, home->bits);
	err = send_parts(s, full ? WIRE_FULL : WIRE_DELTA, full ? home->bits : s->sent, now);
	memcpy(s->sent, home->bits, bytes_of(s->shift));
	s->has_sent = true;
	s->must_full = err;
	stats->push_ns = now.mono_ns;
	stats->changed_ns = 0;
	s->looked_rate = stats->floor;
	if (full) {
		s->wanted = false;
		s->full_ns = now.mono_ns;
		s->since_full = 0;
		stats->fulls++;
		stats->full_bytes += stats->bytes - before;
	} else {
		s->since_full += stats->bytes - before;
		stats->deltas++;
		stats->delta_bytes += stats->bytes - before;
	}
	return err;
}

static bool is_push_due(const struct sender *s, u64 now)
{
	const struct sender_stats *stats = &s->stats;

	if (!s->has_sent || s->must_full ||
	    (s->wanted && passed(s->full_ns, s->setup.want_ns, now)))
		return true;
	if (!stats->changed_ns)
		return false;
	return update_due(&s->setup.policy, &stats->stale) ||
	       (s->setup.untold_ns && now - stats->changed_ns >= s->setup.untold_ns);
}

u64 sender_beat_at(const struct sender *s)
{
	if (!s->seq || s->setup.policy.rule == UPDATE_never)
		return UINT64_MAX;
	return s->spoke_ns + s->setup.heartbeat_ns;
}

int sender_beat(struct sender *s, struct wire_time now)
{
	struct wire_head head = { .type = WIRE_HEARTBEAT };
	int err;

	if (now.mono_ns < sender_beat_at(s))
		return SENDER_NOTHING;
	s->stats.heartbeats++;
	err = hand_over(s, &head, now);
	return err ?: SENDER_BEAT;
}

int sender_check(struct sender *s, const struct sender_home *home, struct wire_time now)
{
	int err;

	predict(s, home, now.mono_ns);
	if (s->setup.policy.rule == UPDATE_never)
		return SENDER_NOTHING;
	err = resize(s, now.mono_ns);
	if (err)
		return err < 0 ? err : SENDER_AGAIN;
	if (is_push_due(s, now.mono_ns)) {
		if (sender_ready(s, now)) {
			err = push(s, home, now);
			return err ?: SENDER_PUSHED;
		}
		s->stats.suppressed++;
	}
	return sender_beat(s, now);
}

int sender_wanted(struct sender *s, const struct wire_key *group, const char *name,
		  const u8 *message, size_t size)
{
	struct wire_key key = wire_key_of(group, name);
	struct wire_head head;
	const u8 *payload;
	int err = wire_open(&key, message, size, &head, &payload);

	if (err)
		return err;
	if (head.type != WIRE_WANT)
		return -EINVAL;
	s->wanted = true;
	s->stats.wants++;
	return 0;
}

int sender_bye(struct sender *s, struct wire_time now)
{
	struct wire_head head = { .type = WIRE_BYE };

	return hand_over(s, &head, now);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/receiver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/cluster/delta.h"
#include "user/cluster/epochs.h"
#include "user/model/replica.h"
#include "user/words.h"

/* A FULL or DELTA of which parts have come. */
struct assembly {
	bool on, stored;
	enum wire_type type;
	u32 shift, parts, come;
	u64 seq, bits;		       /* version; bits that have come */
	u64 seen[WIRE_PARTS_MAX / 64]; /* parts that have come */
};

struct slot {
	struct receiver_peer peer;
	struct wire_key key;
	struct assembly assembly;
	struct epochs epochs;
	u64 seq;      /* the highest that was seen */
	u64 *bits;    /* the replica, if there is one: version peer.seq of peer.epoch */
	u64 *staging; /* of what is assembled, or NULL */
	u32 staging_shift;
	u64 ones;
	bool synced;	  /* the replica is the peer's last word */
	bool needs;	  /* a FULL */
	u64 want_ns;	  /* when to ask for it ... */
	u64 quiet_ns;	  /* ... but not before this: it was asked for lately */
	u64 want_wait_ns; /* and how long to wait for it then */
};

struct receiver {
	struct receiver_setup setup;
	struct receiver_stats stats;
	struct epochs own; /* others in this host's name */
	struct slot slots[RECEIVER_SLOTS];
};

/* A message that is being taken. */
struct taken {
	struct wire_head head;
	const u8 *payload;
	bool stored;
	struct wire_time now;
};

static u64 words_of(u32 shift)
{
	return (1ULL << shift) / 64;
}

static bool is_valid(const struct receiver_setup *setup)
{
	const struct receiver_ops *ops = &setup->ops;

	return setup->self && setup->name && ops->set && ops->flip && ops->clear && ops->believe &&
	       ops->want && setup->slots && setup->slots <= RECEIVER_SLOTS &&
	       setup->shift >= WIRE_SHIFT_MIN && setup->shift <= WIRE_SHIFT_MAX &&
	       setup->max_density > 0 && setup->max_density <= 1 && setup->want_least_ns &&
	       setup->want_most_ns >= setup->want_least_ns;
}

struct receiver *receiver_open(const struct receiver_setup *setup)
{
	struct receiver *r;

	if (!is_valid(setup)) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (r)
		r->setup = *setup;
	return r;
}

static void drop_replica(struct slot *slot)
{
	free(slot->bits);
	free(slot->staging);
	slot->bits = slot->staging = NULL;
	slot->assembly.on = slot->synced = false;
	slot->ones = 0;
	slot->peer.density = 0;
}

void receiver_close(struct receiver *r)
{
	for (u32 i = 0; r && i < r->setup.slots; i++)
		drop_replica(&r->slots[i]);
	free(r);
}

const struct receiver_peer *receiver_peer(const struct receiver *r, u32 i)
{
	return &r->slots[i].peer;
}

const u64 *receiver_replica(const struct receiver *r, u32 i)
{
	return r->slots[i].bits;
}

const struct receiver_stats *receiver_stats(const struct receiver *r)
{
	return &r->stats;
}

void receiver_limits(struct receiver *r, double max_density, u64 silence_ns)
{
	r->setup.max_density = max_density;
	r->setup.silence_ns = silence_ns;
}

u64 receiver_believed(const struct receiver *r)
{
	u64 mask = 0;

	for (u32 i = 0; i < r->setup.slots; i++)
		if (r->slots[i].peer.state == XDD_PEER_live)
			mask |= 1ULL << i;
	return mask;
}

struct receiver_rates receiver_rates(const struct receiver *r, double own_fpr, bool member)
{
	struct receiver_rates rates = { .fpr = own_fpr };

	for (u32 i = 0; i < r->setup.slots; i++) {
		const struct receiver_peer *peer = &r->slots[i].peer;
		double fnr = member ? peer->member : peer->fnr;

		if (peer->state != XDD_PEER_live)
			continue;
		rates.fpr = model_host_fpr(rates.fpr, peer->fpr, 1);
		rates.fnr = 1 - (1 - rates.fnr) * (1 - model_host_fnr(fnr, 1));
	}
	rates.rate = model_host_rate(rates.fpr, rates.fnr);
	return rates;
}

static u32 index_of(const struct receiver *r, const struct slot *slot)
{
	return slot - r->slots;
}

static void believe(struct receiver *r, u64 mask, u64 now)
{
	r->setup.ops.believe(r->setup.to, mask, now + r->setup.believe_ns);
}

/* Who is no longer believed is so before its column changes, and who is again, after. */
static void set_state(struct receiver *r, struct slot *slot, enum xdd_peer_state state, u64 now)
{
	enum xdd_peer_state before = slot->peer.state;

	if (state == before)
		return;
	slot->peer.state = state;
	slot->peer.changed_ns = now;
	if (state == XDD_PEER_live || before == XDD_PEER_live)
		believe(r, receiver_believed(r), now);
	if (r->setup.ops.state)
		r->setup.ops.state(r->setup.to, index_of(r, slot), &slot->peer, before);
}

/* Let go of the replica, in @state. */
static void end_replica(struct receiver *r, struct slot *slot, enum xdd_peer_state state, u64 now)
{
	bool had = slot->bits;

	set_state(r, slot, state, now);
	drop_replica(slot);
	slot->needs = false;
	if (had)
		r->setup.ops.clear(r->setup.to, index_of(r, slot));
}

static void free_slot(struct receiver *r, struct slot *slot, u64 now)
{
	end_replica(r, slot, XDD_PEER_none, now);
	*slot = (struct slot){};
}

static void ask(struct receiver *r, struct slot *slot, struct wire_time now)
{
	u8 message[WIRE_HEADER + WIRE_TAG];
	struct wire_head head = { .type = WIRE_WANT, .time_ns = now.wall_ns };
	size_t size = wire_seal(r->setup.self, &head, message);

	slot->peer.wants++;
	slot->want_ns = slot->quiet_ns = now.mono_ns + slot->want_wait_ns;
	slot->want_wait_ns *= 2;
	if (slot->want_wait_ns > r->setup.want_most_ns)
		slot->want_wait_ns = r->setup.want_most_ns;
	r->setup.ops.want(r->setup.to, slot->peer.name, message, size);
}

/* From @at on a FULL is asked for. It is not asked for more often because it is needed again. */
static void need(struct receiver *r, struct slot *slot, u64 at)
{
	if (slot->needs)
		return;
	slot->needs = true;
	if (!slot->want_wait_ns)
		slot->want_wait_ns = r->setup.want_least_ns;
	slot->want_ns = at > slot->quiet_ns ? at : slot->quiet_ns;
}

/* What is held is not the peer's last word. That may come by itself in the time @wait. */
static void await(struct receiver *r, struct slot *slot, u64 wait, struct wire_time now)
{
	if (slot->peer.state == XDD_PEER_distrusted)
		return;
	slot->synced = false;
	set_state(r, slot, slot->peer.updated_ns ? XDD_PEER_recovering : XDD_PEER_joining,
		  now.mono_ns);
	need(r, slot, now.mono_ns + wait);
	if (slot->want_ns <= now.mono_ns)
		ask(r, slot, now);
}

/* Something is missing. What is being assembled may still bring it. */
static void recover(struct receiver *r, struct slot *slot, struct wire_time now)
{
	slot->peer.gaps += slot->synced;
	await(r, slot, slot->assembly.on ? r->setup.want_least_ns : 0, now);
}

static void sync(struct receiver *r, struct slot *slot, u64 now)
{
	slot->synced = true;
	slot->needs = false;
	slot->want_wait_ns = 0;
	set_state(r, slot, XDD_PEER_live, now);
}

static void distrust(struct receiver *r, struct slot *slot, u64 now)
{
	double density = slot->peer.density;

	end_replica(r, slot, XDD_PEER_distrusted, now);
	slot->peer.density = density; /* why */
	slot->want_wait_ns = r->setup.want_most_ns;
	need(r, slot, now + r->setup.want_most_ns);
}

static struct slot *find(struct receiver *r, const char *name)
{
	for (u32 i = 0; i < r->setup.slots; i++)
		if (r->slots[i].peer.state != XDD_PEER_none && !strcmp(r->slots[i].peer.name, name))
			return &r->slots[i];
	return NULL;
}

/* A free slot, or that of the peer which left first. */
static struct slot *find_room(struct receiver *r)
{
	struct slot *oldest = NULL;

	for (u32 i = 0; i < r->setup.slots; i++) {
		struct slot *slot = &r->slots[i];

		if (slot->peer.state == XDD_PEER_none)
			return slot;
		if (slot->peer.state == XDD_PEER_left &&
		    (!oldest || slot->peer.changed_ns < oldest->peer.changed_ns))
			oldest = slot;
	}
	return oldest;
}

static struct slot *admit(struct receiver *r, const char *name, const struct wire_key *key, u64 now)
{
	struct slot *slot = find_room(r);

	if (!slot)
		return NULL;
	if (slot->peer.state != XDD_PEER_none)
		free_slot(r, slot, now);
	strcpy(slot->peer.name, name);
	slot->key = *key;
	slot->peer.heard_ns = now;
	set_state(r, slot, XDD_PEER_joining, now);
	return slot;
}

/* All bits have come: they are the replica, or change it. */
static void make_replica(struct slot *slot, const struct taken *t)
{
	u64 *bits = slot->bits;

	slot->bits = slot->staging;
	slot->staging = bits;
	slot->staging_shift = slot->peer.shift;
	slot->peer.shift = t->head.shift;
	slot->peer.hashes = t->head.hashes;
	slot->peer.epoch = t->head.epoch;
	slot->peer.fulls++;
	slot->ones = words_ones(slot->bits, words_of(slot->peer.shift));
}

static void change_replica(struct slot *slot)
{
	u64 words = words_of(slot->peer.shift);

	slot->peer.deltas++;
	for (u64 i = 0; i < words; i++)
		slot->bits[i] ^= slot->staging[i];
	slot->ones = words_ones(slot->bits, words);
}

/* Halfway through, the column would be neither the one filter nor the other. */
static void show(struct receiver *r, struct slot *slot, u64 now)
{
	u32 i = index_of(r, slot);

	if (slot->peer.state == XDD_PEER_live)
		believe(r, receiver_believed(r) & ~(1ULL << i), now);
	r->setup.ops.set(r->setup.to, i, slot->bits, slot->peer.shift);
	if (slot->peer.state == XDD_PEER_live)
		believe(r, receiver_believed(r), now);
}

static void complete(struct receiver *r, struct slot *slot, const struct taken *t)
{
	struct receiver_peer *peer = &slot->peer;
	bool full = slot->assembly.type == WIRE_FULL;
	u64 now = t->now.mono_ns;

	slot->assembly.on = false;
	if (full)
		make_replica(slot, t);
	else
		change_replica(slot);
	peer->seq = t->head.seq;
	peer->updated_ns = now;
	peer->sent_wall_ns = t->head.time_ns;
	peer->density = (double)slot->ones / (1ULL << peer->shift);
	if (peer->density > r->setup.max_density) {
		distrust(r, slot, now);
		return;
	}
	if (full)
		show(r, slot, now);
	else
		r->setup.ops.flip(r->setup.to, index_of(r, slot), slot->staging, peer->shift);
	if (!slot->assembly.stored && peer->seq >= slot->seq)
		sync(r, slot, now);
	else
		await(r, slot, r->setup.want_least_ns, t->now);
}

static int start(struct slot *slot, const struct taken *t)
{
	const struct wire_head *head = &t->head;
	u64 bytes = words_of(head->shift) * sizeof(u64);

	if (!slot->staging || slot->staging_shift != head->shift) {
		free(slot->staging);
		slot->staging = malloc(bytes);
		slot->staging_shift = head->shift;
	}
	if (!slot->staging)
		return -ENOMEM;
	memset(slot->staging, 0, bytes);
	slot->assembly = (struct assembly){ .on = true,
					    .type = head->type,
					    .shift = head->shift,
					    .parts = head->parts,
					    .seq = head->seq };
	return 0;
}

/* Put a part where it belongs, once. Returns 0; -EALREADY: it had come; -EBADMSG. */
static int put(struct slot *slot, const struct taken *t)
{
	const struct wire_head *head = &t->head;
	struct assembly *a = &slot->assembly;
	u64 *seen = &a->seen[head->part / 64], bit = 1ULL << head->part % 64;

	if (head->type != a->type || head->shift != a->shift || head->parts != a->parts)
		return -EBADMSG;
	if (*seen & bit)
		return -EALREADY;
	if (delta_decode(t->payload, head->payload_bytes, slot->staging + head->first / 64,
			 head->bits))
		return -EBADMSG;
	*seen |= bit;
	a->come++;
	a->bits += head->bits;
	a->stored |= t->stored;
	return a->come == a->parts && a->bits != 1ULL << a->shift ? -EBADMSG : 0;
}

/* Whether a FULL or DELTA can be used: newer than what is there, and for a DELTA the next one. */
static bool is_new(const struct slot *slot, const struct wire_head *head)
{
	if (slot->assembly.on && head->seq < slot->assembly.seq)
		return false;
	return !slot->bits || head->seq > slot->peer.seq;
}

static bool is_next(const struct slot *slot, const struct wire_head *head)
{
	return slot->bits && head->seq == slot->peer.seq + 1 && head->shift == slot->peer.shift;
}

static int take_filter(struct receiver *r, struct slot *slot, const struct taken *t)
{
	const struct wire_head *head = &t->head;
	int err = 0;

	if (!is_new(slot, head))
		return -EALREADY;
	if (head->type == WIRE_DELTA && !is_next(slot, head)) {
		recover(r, slot, t->now);
		return 0;
	}
	if (!slot->assembly.on || slot->assembly.seq != head->seq)
		err = start(slot, t);
	err = err ?: put(slot, t);
	if (err && err != -EALREADY) {
		slot->assembly.on = false;
		recover(r, slot, t->now);
	} else if (!err && slot->assembly.come == slot->assembly.parts) {
		complete(r, slot, t);
	}
	return err;
}

static int take_heartbeat(struct receiver *r, struct slot *slot, const struct taken *t)
{
	slot->peer.heartbeats++;
	if (slot->bits && t->head.seq == slot->peer.seq) {
		sync(r, slot, t->now.mono_ns);
	} else {
		recover(r, slot, t->now);
	}
	return 0;
}

/* The peer has begun anew: what is held is not its last word any more. */
static void begin_epoch(struct receiver *r, struct slot *slot, const struct taken *t)
{
	slot->seq = 0;
	if (slot->epochs.other)
		end_replica(r, slot, XDD_PEER_recovering, t->now.mono_ns);
	slot->want_wait_ns = 0;
}

static void note(struct slot *slot, const struct taken *t)
{
	struct receiver_peer *peer = &slot->peer;

	if (t->stored || t->head.order <= slot->epochs.order)
		return;
	slot->epochs.order = t->head.order;
	peer->heard_ns = t->now.mono_ns;
	peer->fingerprint = t->head.fingerprint;
	if (t->head.type == WIRE_BYE)
		return;
	peer->keys = t->head.keys;
	peer->window_ns = t->head.window_ns;
	peer->heartbeat_ns = t->head.heartbeat_ns;
	peer->fpr = t->head.fpr_ppb / WIRE_PPB;
	peer->fnr = t->head.fnr_ppb / WIRE_PPB;
	peer->member = t->head.member_ppb / WIRE_PPB;
}

/* A peer that is loaded otherwise has nothing to tell: its filter is of other keys, or of another time. */
static bool is_alike(const struct receiver *r, const struct wire_head *head)
{
	return head->fingerprint == r->setup.self->fingerprint && head->shift <= r->setup.shift &&
	       !xdd_peer_window_is_longer(head->window_ns, r->setup.window_ns);
}

static bool is_filter(const struct wire_head *head)
{
	return head->type == WIRE_FULL || head->type == WIRE_DELTA;
}

/* Parts may overtake each other, what is said once in a message may not, and nothing a farewell. */
static bool is_late(const struct slot *slot, const struct taken *t)
{
	if (is_filter(&t->head) && slot->peer.state != XDD_PEER_left)
		return false;
	return t->stored || t->head.order <= slot->epochs.order;
}

/* Whose message it is. Returns 0, -EALREADY or -EEXIST. */
static int judge(struct receiver *r, struct slot *slot, const struct taken *t)
{
	bool alive = slot->peer.state != XDD_PEER_left && slot->peer.state != XDD_PEER_failed;
	enum epochs_verdict verdict = epochs_judge(&slot->epochs, &t->head, t->stored, alive,
						   t->now.mono_ns, r->setup.forget_ns);

	if (slot->epochs.twins)
		slot->peer.twin_ns = slot->epochs.twin_ns;
	if (verdict == EPOCHS_BEGIN)
		begin_epoch(r, slot, t);
	if (verdict == EPOCHS_OLD)
		return -EALREADY;
	return verdict == EPOCHS_TWIN ? -EEXIST : 0;
}

/* Returns 0; -EALREADY if it is to be ignored; -EEXIST. */
static int apply(struct receiver *r, struct slot *slot, const struct taken *t)
{
	const struct wire_head *head = &t->head;
	int err = judge(r, slot, t);

	if (err)
		return err;
	if (is_late(slot, t))
		return -EALREADY;
	note(slot, t);
	if (head->type == WIRE_BYE) {
		end_replica(r, slot, XDD_PEER_left, t->now.mono_ns);
		return 0;
	}
	if (!is_alike(r, head)) {
		end_replica(r, slot, XDD_PEER_mismatched, t->now.mono_ns);
		return 0;
	}
	if (head->seq > slot->seq)
		slot->seq = head->seq;
	return is_filter(head) ? take_filter(r, slot, t) : take_heartbeat(r, slot, t);
}

static bool is_for_us(enum wire_type type)
{
	return type != WIRE_WANT && type != WIRE_AUDIT_ASK && type != WIRE_AUDIT_ANSWER;
}

static int refuse(struct receiver *r, int err)
{
	r->stats.bad += err == -EBADMSG;
	r->stats.versions += err == -EPROTONOSUPPORT;
	r->stats.types += err == -EOPNOTSUPP;
	r->stats.full += err == -ENOSPC;
	r->stats.skewed += err == -ESTALE;
	r->stats.twins += err == -EEXIST;
	return err;
}

static bool is_skewed(const struct receiver *r, const struct taken *t)
{
	u64 sent = t->head.time_ns, wall = t->now.wall_ns;

	return r->setup.skew_ns && !t->stored &&
	       (sent > wall ? sent - wall : wall - sent) > r->setup.skew_ns;
}

/* A message of a peer which may be known, as *@slot, or now is. */
static int take(struct receiver *r, struct slot **slot, const char *name, const u8 *message,
		size_t size, struct taken *t)
{
	struct wire_key key = *slot ? (*slot)->key : wire_key_of(&r->setup.group, name);
	int err = wire_open(&key, message, size, &t->head, &t->payload);

	if (err)
		return err;
	if (is_skewed(r, t))
		return -ESTALE;
	if (!is_for_us(t->head.type) || (!*slot && t->head.type == WIRE_BYE))
		return 0;
	if (!*slot)
		*slot = admit(r, name, &key, t->now.mono_ns);
	if (!*slot)
		return -ENOSPC;
	return apply(r, *slot, t);
}

/* What comes back is ignored, but not what another host says in this one's name. */
static int take_own(struct receiver *r, const u8 *message, size_t size, struct taken *t)
{
	const struct wire_self *self = r->setup.self;

	if (wire_open(&self->key, message, size, &t->head, &t->payload) ||
	    epochs_judge_own(&r->own, self->epoch, &t->head, t->stored, t->now.mono_ns) !=
		    EPOCHS_TWIN)
		return 0;
	r->stats.twin_ns = t->now.mono_ns;
	return refuse(r, -EEXIST);
}

int receiver_take(struct receiver *r, const char *name, const u8 *message, size_t size, bool stored,
		  struct wire_time now)
{
	struct taken t = { .stored = stored, .now = now };
	struct slot *slot;
	int err;

	if (!name[0] || strlen(name) >= WIRE_NAME)
		return -EINVAL;
	if (!strcmp(name, r->setup.name))
		return take_own(r, message, size, &t);
	slot = find(r, name);
	err = take(r, &slot, name, message, size, &t);
	if (slot) {
		slot->peer.messages++;
		slot->peer.bytes += size;
		slot->peer.old += err == -EALREADY;
		slot->peer.refused += err && err != -EALREADY;
	}
	r->stats.taken += !err;
	return err == -EALREADY ? 0 : refuse(r, err);
}

static void check_slot(struct receiver *r, struct slot *slot, struct wire_time now)
{
	enum xdd_peer_state state = slot->peer.state;
	u64 silent = now.mono_ns - slot->peer.heard_ns;

	if (state == XDD_PEER_none)
		return;
	if (silent >= r->setup.silence_ns && state != XDD_PEER_failed && state != XDD_PEER_left)
		set_state(r, slot, XDD_PEER_failed, now.mono_ns);
	state = slot->peer.state;
	if ((state == XDD_PEER_failed || state == XDD_PEER_left) && silent >= r->setup.forget_ns)
		free_slot(r, slot, now.mono_ns);
	else if (state != XDD_PEER_failed && slot->needs && now.mono_ns >= slot->want_ns)
		ask(r, slot, now);
}

void receiver_tick(struct receiver *r, struct wire_time now)
{
	for (u32 i = 0; i < r->setup.slots; i++)
		check_slot(r, &r->slots[i], now);
	believe(r, receiver_believed(r), now.mono_ns);
}

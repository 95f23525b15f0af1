/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/member.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/clock.h"
#include "user/cluster/columns.h"
#include "user/cluster/occupancy.h"
#include "user/cluster/questions.h"
#include "user/cluster/strangers.h"
#include "user/loader/program.h"
#include "user/message.h"
#include "user/options.h"
#include "user/peer_words.h"
#include "user/units.h"

/* Checks: 16 in a window, and as many times longer apart than one takes, which is a tenth of a CPU. */
#define CHECKS_IN_WINDOW 16
#define CHECK_LEAST_NS (10 * MILLISECOND_NS)
#define CHECK_MOST_NS XDD_SECOND_NS
#define CHECK_SHARE 10

/* A key whose window is over must not count as seen for long: that it has gone is told this much of a window
 * later at most, whatever the false rate.
 */
#define UNTOLD_IN_WINDOW 4

#define WANT_LEAST_NS (200 * MILLISECOND_NS)
#define WANT_MOST_NS (5 * XDD_SECOND_NS)
#define FORGET_SILENCES 20
#define RESIZE_NS (10 * XDD_SECOND_NS)
#define BEATS_IN_SILENCE 3
#define TICKS_IN_SILENCE 10
#define DESCRIBE_NS (250 * MILLISECOND_NS)
#define FETCH_NS (10 * XDD_SECOND_NS)

/* With more than this still to send, what has changed is looked at later. */
#define BUSY_BYTES (1u << 20)

/* Twins are told of again when they were not heard for so long. */
#define TWINS_OVER_NS (60 * XDD_SECOND_NS)

/* What JetStream kept of a peer is fetched first, and then the peer itself is asked. */
struct fetched {
	char name[WIRE_NAME];
	u64 at_ns;    /* 0: never */
	bool nothing; /* was kept */
};

struct member {
	struct member_setup setup;
	const struct instance *in;
	char name[WIRE_NAME];
	struct wire_self self;
	struct wire_key group;
	struct columns columns;
	bool has_columns;
	struct sender *sender;
	struct receiver *receiver;
	struct questions *questions; /* NULL: loaded without an audit */
	u64 *bits;
	u64 window_ns;
	bool up;
	u64 check_at_ns, checked_ns, check_ns;
	bool blind;	/* the last look failed: what others have may be old, so no heartbeat */
	bool told_slow; /* that a look takes longer than heartbeats may wait */
	u64 tick_at_ns, describe_at_ns;
	u64 skipped, fetches;
	struct fetched fetched[XDD_MAX_PEERS];
	enum xdd_peer_state told[XDD_MAX_PEERS];
	struct strangers strangers; /* by name */
	u64 twins_told_ns; /* when messages of twins were last heard, which are told of once; 0: never */
	u8 message[WIRE_MAX];
};

static struct wire_time clocks(void)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	return (struct wire_time){ now_ns(), wall.tv_sec * XDD_SECOND_NS + wall.tv_nsec };
}

static const char *subject_of(const struct member *m, const char *peer, const char *what,
			      const char *for_whom, char subject[BUS_SUBJECT_MAX])
{
	snprintf(subject, BUS_SUBJECT_MAX, "xdd.%s.%s.%s%s%s", m->setup.group, peer, what,
		 *for_whom ? "." : "", for_whom);
	return subject;
}

static int publish(struct member *m, const char *what, const char *for_whom, enum bus_keep keep,
		   const u8 *message, size_t size)
{
	char subject[BUS_SUBJECT_MAX];

	return bus_publish(m->setup.bus, subject_of(m, m->name, what, for_whom, subject), keep,
			   message, size);
}

/* Of the sender: FULL, DELTA, HEARTBEAT, BYE. */
static int emit(void *to, enum wire_type type, const u8 *message, size_t size)
{
	struct wire_head head;
	bool instead;

	memcpy(&head, message, sizeof(head));
	instead = type == WIRE_BYE || (type == WIRE_FULL && !head.part);
	return publish(to, type == WIRE_HEARTBEAT ? "live" : "state", "",
		       instead ? BUS_INSTEAD : BUS_KEEP, message, size);
}

static void set_column(void *to, u32 peer, const u64 *bits, u32 shift)
{
	columns_set(&((struct member *)to)->columns, peer, bits, shift);
}

static void flip_column(void *to, u32 peer, const u64 *changed, u32 shift)
{
	columns_flip(&((struct member *)to)->columns, peer, changed, shift);
}

static void clear_column(void *to, u32 peer)
{
	columns_clear(&((struct member *)to)->columns, peer);
}

static void believe(void *to, u64 mask, u64 until_ns)
{
	columns_believe(&((struct member *)to)->columns, mask, until_ns);
}

/* Where @name was fetched last, or the place of the one that was longest ago. */
static struct fetched *fetched_of(struct member *m, const char *name)
{
	struct fetched *oldest = &m->fetched[0];

	for (u32 i = 0; i < XDD_MAX_PEERS; i++) {
		if (!strcmp(m->fetched[i].name, name))
			return &m->fetched[i];
		if (m->fetched[i].at_ns < oldest->at_ns)
			oldest = &m->fetched[i];
	}
	snprintf(oldest->name, sizeof(oldest->name), "%s", name);
	oldest->at_ns = 0;
	return oldest;
}

static void want(void *to, const char *name, const u8 *message, size_t size)
{
	struct member *m = to;
	struct fetched *fetched = fetched_of(m, name);
	char subject[BUS_SUBJECT_MAX];

	u64 now = now_ns();

	if (!fetched->at_ns || now - fetched->at_ns >= FETCH_NS) {
		fetched->at_ns = now;
		fetched->nothing = false;
		subject_of(m, name, "state", "", subject);
		if (!bus_fetch(m->setup.bus, BUS_recent, subject)) {
			m->fetches++;
			return;
		}
	} else if (!fetched->nothing && now - fetched->at_ns < m->setup.o->silence) {
		return; /* its next heartbeat says whether that was all */
	}
	publish(m, "want", name, BUS_KEEP, message, size);
}

static u64 rate_of(double rate)
{
	return rate * XDD_RATE_ONE;
}

static void describe(struct member *m, u32 i)
{
	const struct receiver_peer *peer = receiver_peer(m->receiver, i);
	struct xdd_peer about = {
		.state = peer->state,
		.shift = peer->shift,
		.hashes = peer->hashes,
		.fingerprint = peer->fingerprint,
		.epoch = peer->epoch,
		.sequence = peer->seq,
		.keys = peer->keys,
		.window_ns = peer->window_ns,
		.heard_ns = peer->heard_ns,
		.updated_ns = peer->updated_ns,
		.messages = peer->messages,
		.bytes = peer->bytes,
		.fulls = peer->fulls,
		.deltas = peer->deltas,
		.gaps = peer->gaps,
		.refused = peer->refused + peer->old,
		.twins = peer_twins_lately(peer->twin_ns),
		.density = rate_of(peer->density),
		.predicted_fpr = rate_of(peer->fpr),
		.predicted_fnr =
			rate_of(m->setup.o->bound == BOUND_model ? peer->fnr : peer->member),
	};

	memcpy(about.name, peer->name, sizeof(about.name));
	if (m->questions) {
		const struct question_counts *counts = questions_counts(m->questions, i);

		about.audit_asked = counts->asked;
		about.audit_yes = counts->yes;
		about.audit_fp = counts->fp;
		about.audit_fn = counts->fn;
		about.audit_unknown = counts->unknown;
	}
	columns_describe(&m->columns, i, &about);
}

/* What passes by itself is not told. */
static bool is_passing(enum xdd_peer_state state)
{
	return state == XDD_PEER_none || state == XDD_PEER_joining || state == XDD_PEER_recovering;
}

static void tell(struct member *m, u32 i, const struct receiver_peer *peer)
{
	static const char *const words[] = {
		[XDD_PEER_live] = "is believed",
		[XDD_PEER_distrusted] = "is not believed: its filter is denser than --max-density",
		[XDD_PEER_mismatched] = "is not believed: it is loaded otherwise",
		[XDD_PEER_failed] = "is silent, and not believed",
		[XDD_PEER_left] = "has left",
	};
	char windows[PEER_WINDOWS_MAX];

	if (is_passing(peer->state) || m->told[i] == peer->state)
		return;
	m->told[i] = peer->state;
	if (peer->state == XDD_PEER_mismatched &&
	    xdd_peer_window_is_longer(peer->window_ns, m->window_ns))
		note("%s: %s: %s is not believed: %s", m->setup.who, m->in->name, peer->name,
		     peer_windows_text(peer->window_ns, m->window_ns, windows));
	else
		note("%s: %s: %s %s", m->setup.who, m->in->name, peer->name, words[peer->state]);
}

static void changed(void *to, u32 i, const struct receiver_peer *peer, enum xdd_peer_state before)
{
	struct member *m = to;

	if (before == XDD_PEER_none) {
		m->told[i] = XDD_PEER_none;
		if (m->questions)
			questions_forget(m->questions, i);
	}
	tell(m, i, peer);
	m->describe_at_ns = 0;
}

static u64 window_of(const struct instance *in)
{
	struct xdd_live live;

	return program_get_live(in->maps.config, &live) ? in->live.window_ns : live.window_ns;
}

static u64 beat_ns(const struct member *m)
{
	return m->setup.o->silence / BEATS_IN_SILENCE;
}

static int open_sender(struct member *m)
{
	const struct options *o = m->setup.o;
	const struct xdd_fixed *fixed = &m->in->fixed;
	struct sender_setup setup = {
		.self = &m->self,
		.emit = emit,
		.to = m,
		.policy = o->push,
		.hashes = fixed->replica_hashes,
		.shift = fixed->replica_shift,
		.resize = o->resize,
		.shift_least = XDD_REPLICA_SHIFT_MIN,
		.shift_most = fixed->replica_shift,
		.resize_ns = RESIZE_NS,
		.window_ns = m->window_ns,
		.heartbeat_ns = beat_ns(m),
		.bytes_per_s = o->push_rate,
		.want_ns = WANT_LEAST_NS,
		.untold_ns = o->push.rule == UPDATE_false_rate ? member_untold_ns(m->window_ns) : 0,
	};

	setup.policy.target = o->false_rate_target;
	setup.policy.bound = o->bound;
	setup.policy.fp_weight = o->weights[0];
	setup.policy.fn_weight = o->weights[1];
	m->sender = sender_open(&setup);
	return m->sender ? 0 : -errno;
}

static int open_receiver(struct member *m)
{
	const struct options *o = m->setup.o;
	struct receiver_setup setup = {
		.self = &m->self,
		.group = m->group,
		.name = m->name,
		.ops = { set_column, flip_column, clear_column, believe, want, changed },
		.to = m,
		.slots = m->in->fixed.peers,
		.window_ns = m->window_ns,
		.shift = m->in->fixed.replica_shift,
		.max_density = o->max_density,
		.silence_ns = o->silence,
		.forget_ns = FORGET_SILENCES * o->silence,
		.believe_ns = o->silence,
		.want_least_ns = WANT_LEAST_NS,
		.want_most_ns = WANT_MOST_NS,
	};

	m->receiver = receiver_open(&setup);
	return m->receiver ? 0 : -errno;
}

/* Keys of messages come from the secret that all hosts of the group were loaded with. */
static int open_keys(struct member *m)
{
	struct xdd_secret secret;
	int code = program_get_secret(m->in->maps.rodata, &secret);

	if (code)
		return code;
	m->group = wire_group_key(&secret, "xdp-dedup replicas");
	m->self.key = wire_key_of(&m->group, m->name);
	m->self.epoch = clocks().wall_ns;
	explicit_bzero(&secret, sizeof(secret));
	return occupancy_fingerprint(m->in, &m->self.fingerprint);
}

/* What another agent left in the places of peers is not ours to believe. */
static void clear_columns(struct member *m)
{
	columns_believe(&m->columns, 0, 0);
	for (u32 i = 0; i < m->in->fixed.peers; i++) {
		columns_clear(&m->columns, i);
		describe(m, i);
	}
}

static int prepare(struct member *m, char *err, size_t err_size)
{
	int code = columns_open(&m->columns, m->in, err, err_size);

	if (code)
		return code;
	m->has_columns = true;
	m->window_ns = window_of(m->in);
	m->bits = calloc(1, (1ull << m->in->fixed.replica_shift) / 8);
	code = m->bits ? 0 : -ENOMEM;
	code = code ?: open_keys(m) ?: open_sender(m) ?: open_receiver(m);
	m->questions = code ? NULL : questions_open(m->in);
	if (!code && !m->questions && errno != ENOENT)
		code = -errno;
	if (code)
		return refuse(err, err_size, code, "cannot share what it has seen: %s",
			      strerror(-code));
	clear_columns(m);
	return 0;
}

struct member *member_open(const struct member_setup *setup, const struct instance *in, char *err,
			   size_t err_size)
{
	struct member *m = calloc(1, sizeof(*m));

	if (!m) {
		refuse(err, err_size, -ENOMEM, "no memory for its replicas");
		return NULL;
	}
	m->setup = *setup;
	m->in = in;
	snprintf(m->name, sizeof(m->name), "%s.%s", setup->host, in->name);
	if (!prepare(m, err, err_size))
		return m;
	member_close(m, false);
	return NULL;
}

void member_close(struct member *m, bool bye)
{
	if (!m)
		return;
	if (bye && m->up)
		sender_bye(m->sender, clocks());
	if (m->receiver)
		columns_believe(&m->columns, 0, 0);
	questions_close(m->questions);
	receiver_close(m->receiver);
	sender_close(m->sender);
	if (m->has_columns)
		columns_close(&m->columns);
	free(m->bits);
	free(m);
}

const char *member_name(const struct member *m)
{
	return m->name;
}

const struct instance *member_instance(const struct member *m)
{
	return m->in;
}

bool member_is_stale(const struct member *m)
{
	return window_of(m->in) != m->window_ns;
}

void member_up(struct member *m)
{
	m->up = true;
	m->check_at_ns = 0;
}

/* What was sent last may be lost, and what the server kept as well. */
void member_down(struct member *m)
{
	m->up = false;
	sender_lost(m->sender);
	memset(m->fetched, 0, sizeof(m->fetched));
}

void member_fetched(struct member *m, const char *peer, u64 n)
{
	fetched_of(m, peer)->nothing = !n;
}

/* Of one who cannot be believed nothing is known but the name, which may be anybody's: no place is given to
 * it, and status shows only how many of such messages came.
 */
static void tell_refused(struct member *m, const char *peer)
{
	if (!strangers_tell(&m->strangers, strangers_id(peer), now_ns()))
		return;
	complain("%s: %s: a message of %s is refused: it is damaged, or who sent it was not loaded "
		 "with the same --secret-file",
		 m->setup.who, m->in->name, peer);
}

/* Once, until it has been over for long. */
static void tell_twins(struct member *m, const char *peer)
{
	u64 now = now_ns();
	bool told = m->twins_told_ns && now - m->twins_told_ns < TWINS_OVER_NS;
	bool own = !strcmp(peer, m->name);

	m->twins_told_ns = now;
	if (!told)
		complain("%s: %s: %s %s, and %s: give each host of the group a --host of its own",
			 m->setup.who, m->in->name,
			 own ? "another host speaks as" : "two hosts speak as", peer,
			 own ? "others believe only one of the two"
			     : "only the one that was believed first is");
}

void member_take(struct member *m, const char *peer, const struct bus_event *event, bool stored)
{
	int code = receiver_take(m->receiver, peer, event->bytes, event->length, stored, clocks());

	if (code == -EBADMSG)
		tell_refused(m, peer);
	else if (code == -EEXIST)
		tell_twins(m, peer);
}

void member_wanted(struct member *m, const char *peer, const struct bus_event *event)
{
	if (!sender_wanted(m->sender, &m->group, peer, event->bytes, event->length))
		m->check_at_ns = 0;
}

/* A message of @peer, HOST.INSTANCE, that the receiver does not take. Returns whether it is one of @type. */
static bool open_message(const struct member *m, const char *peer, const struct bus_event *event,
			 enum wire_type type, struct wire_head *head, const u8 **payload)
{
	struct wire_key key = wire_key_of(&m->group, peer);

	return strcmp(peer, m->name) &&
	       !wire_open(&key, event->bytes, event->length, head, payload) && head->type == type &&
	       head->fingerprint == m->self.fingerprint;
}

void member_asked(struct member *m, const char *peer, const struct bus_event *event)
{
	struct wire_head head;
	const u8 *payload;
	size_t size;

	if (!open_message(m, peer, event, WIRE_AUDIT_ASK, &head, &payload))
		return;
	size = questions_answer(m->in, m->window_ns, &head, payload, &m->self, clocks(),
				m->message);
	if (size)
		publish(m, "answer", peer, BUS_KEEP, m->message, size);
}

void member_answered(struct member *m, const char *peer, const struct bus_event *event)
{
	struct wire_head head;
	const u8 *payload;

	if (!m->questions || !open_message(m, peer, event, WIRE_AUDIT_ANSWER, &head, &payload))
		return;
	for (u32 i = 0; i < m->in->fixed.peers; i++)
		if (receiver_peer(m->receiver, i)->state != XDD_PEER_none &&
		    receiver_peer(m->receiver, i)->epoch == head.epoch &&
		    !strcmp(receiver_peer(m->receiver, i)->name, peer))
			questions_answered(m->questions, i, payload, head.payload_bytes, clocks());
}

u64 member_check_every(u64 window_ns)
{
	u64 every = window_ns / CHECKS_IN_WINDOW;

	if (every < CHECK_LEAST_NS)
		return CHECK_LEAST_NS;
	return every < CHECK_MOST_NS ? every : CHECK_MOST_NS;
}

u64 member_untold_ns(u64 window_ns)
{
	return window_ns / UNTOLD_IN_WINDOW;
}

static u64 check_every(const struct member *m)
{
	u64 every = m->setup.o->check_every ?: member_check_every(m->window_ns);

	return every > CHECK_SHARE * m->check_ns ? every : CHECK_SHARE * m->check_ns;
}

/* Read the filter, and send what is due of it. Returns an enum sender_result or a negative errno. */
static int look(struct member *m, struct wire_time now)
{
	struct occupancy about;
	int code = occupancy_read(m->in, sender_shift(m->sender), sender_sent(m->sender), m->bits,
				  &about);

	if (code)
		return code;
	return sender_check(m->sender,
			    &(struct sender_home){ m->bits, about.keys, about.unpublished }, now);
}

/* Heartbeats wait for the look that is under way. */
static void tell_slow(struct member *m, u64 took_ns)
{
	char took[UNITS_TEXT_MAX], silence[UNITS_TEXT_MAX];

	if (took_ns <= beat_ns(m) || m->told_slow)
		return;
	m->told_slow = true;
	units_time_text(took_ns, took);
	units_time_text(m->setup.o->silence, silence);
	complain("%s: %s: a look at its filter took %s, a third of --silence %s or more: other "
		 "hosts may take this one for failed: give them a longer --silence, or load it "
		 "with less --memory",
		 m->setup.who, m->in->name, took, silence);
}

static void check(struct member *m, struct wire_time now)
{
	u64 start = now_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int code;

	if (bus_pending(m->setup.bus) > BUSY_BYTES) {
		m->skipped++;
	} else if (sender_ready(m->sender, now) || start - m->checked_ns >= beat_ns(m) / 2) {
		code = look(m, now);
		if (code == SENDER_AGAIN)
			code = look(m, now);
		m->blind = code < 0;
		m->checked_ns = start;
		m->check_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		tell_slow(m, now_ns() - start);
	}
	m->check_at_ns = start + check_every(m);
}

static void describe_all(struct member *m)
{
	const struct receiver_stats *stats = receiver_stats(m->receiver);

	columns_refused(&m->columns, stats->bad, stats->twin_ns);
	for (u32 i = 0; i < m->in->fixed.peers; i++)
		if (receiver_peer(m->receiver, i)->state != XDD_PEER_none || m->told[i])
			describe(m, i);
}

/* Now and then: who is silent, for how long replicas are believed, and questions. */
static void tick(struct member *m, struct wire_time now)
{
	size_t size;

	receiver_tick(m->receiver, now);
	m->tick_at_ns = now.mono_ns + m->setup.o->silence / TICKS_IN_SILENCE;
	size = m->questions && m->up ? questions_ask(m->questions, &m->self, now, m->message) : 0;
	if (size)
		publish(m, "ask", "", BUS_KEEP, m->message, size);
}

u64 member_step(struct member *m)
{
	struct wire_time now = clocks();
	u64 due;

	if (now.mono_ns >= m->tick_at_ns)
		tick(m, now);
	if (m->up && now.mono_ns >= m->check_at_ns)
		check(m, now);
	if (m->up && !m->blind)
		sender_beat(m->sender, clocks());
	if (now.mono_ns >= m->describe_at_ns) {
		describe_all(m);
		m->describe_at_ns = now.mono_ns + DESCRIBE_NS;
	}
	due = earliest(m->tick_at_ns, m->describe_at_ns);
	due = m->up ? earliest(due, m->check_at_ns) : due;
	return m->up && !m->blind ? earliest(due, sender_beat_at(m->sender)) : due;
}

void member_report(const struct member *m, struct member_report *report)
{
	struct receiver_rates rates = receiver_rates(m->receiver, sender_stats(m->sender)->own,
						     m->setup.o->bound == BOUND_member);

	*report = (struct member_report){
		.sent = sender_stats(m->sender),
		.received = receiver_stats(m->receiver),
		.bus = bus_counts(m->setup.bus),
		.check_ns = m->check_ns,
		.check_every_ns = check_every(m),
		.fpr = rates.fpr,
		.fnr = rates.fnr,
		.skipped = m->skipped,
		.store_fetches = m->fetches,
	};
}

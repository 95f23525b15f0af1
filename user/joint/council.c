/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/council.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/message.h"

static void fail(struct council *c, const char *name, const char *why)
{
	if (c->phase != COUNCIL_FAILED && !c->failing)
		snprintf(c->err, sizeof(c->err), "monitor %.70s: %.400s", name, why);
	c->phase = COUNCIL_FAILED;
}

/* Of those that see to their watch sets each has its own fate: the others' is waited for. */
static void fail_member(struct council *c, struct council_member *m, const char *why)
{
	if (c->phase != COUNCIL_CHECKING && c->phase != COUNCIL_LOADING) {
		fail(c, m->name, why);
		return;
	}
	m->answered = true;
	snprintf(m->trouble, sizeof(m->trouble), "%.150s", why);
}

static void fail_memory(struct council *c)
{
	fail(c, c->member[0].name, "no memory here for what it says");
}

/* Ask member @i what is in its outbox. */
static void ask(struct council *c, u32 i, u64 now_ns)
{
	struct council_member *m = &c->member[i];

	m->asked = true;
	m->answered = false;
	m->heard_ns = now_ns;
	m->again_ns = now_ns + PART_AGAIN_NS;
	outbox_begin(&m->out, c->session, c->step);
	inbox_expect(&m->in, c->session, c->step);
}

static void ask_order(struct council *c, enum order order, const u64 *numbers, u32 n, u64 now_ns)
{
	for (u32 i = 0; i < c->plan.monitors; i++) {
		if (order_put(&c->member[i].out.message, order, numbers, n))
			fail_memory(c);
		ask(c, i, now_ns);
	}
}

void council_open(struct council *c, const struct joint_plan *plan, const char *const *names,
		  u64 session, u64 period_ns, u64 silence_ns, const char *watch, u64 now_ns)
{
	struct order_start start = { .plan = *plan, .period_ns = period_ns };

	c->plan = *plan;
	c->session = session;
	c->period_ns = period_ns;
	c->silence_ns = silence_ns;
	c->watch = watch;
	c->beat_ns = now_ns + PART_BEAT_NS;
	c->loading = c->failing = false;
	c->phase = COUNCIL_STARTING;
	c->step = c->exchanges = 0;
	c->common = 0;
	snprintf(start.watch, sizeof(start.watch), "%s", watch ?: "");
	joint_coordinator_open(&c->joint, &c->plan);
	for (start.id = 0; start.id < plan->monitors; start.id++) {
		struct council_member *m = &c->member[start.id];

		*m = (struct council_member){ .name = names[start.id] };
		if (order_put_start(&m->out.message, &start))
			fail_memory(c);
		ask(c, start.id, now_ns);
	}
}

void council_close(struct council *c)
{
	for (u32 i = 0; i < c->plan.monitors; i++) {
		inbox_free(&c->member[i].in);
		bytes_free(&c->member[i].out.message);
	}
	joint_set_free(&c->shown);
}

/* Keys of hosts that hash otherwise have nothing in common. */
static void check_alike(struct council *c)
{
	for (u32 i = 1; i < c->plan.monitors; i++)
		if (c->member[i].print != c->member[0].print)
			fail(c, c->member[i].name,
			     "its keys are others than those of the first monitor: load both with "
			     "the same --key, --hash and options of the key");
}

static void take_started(struct council *c, u64 now_ns)
{
	check_alike(c);
	if (c->phase == COUNCIL_FAILED)
		return;
	c->phase = COUNCIL_COLLECTING;
	c->end_ns = now_ns + c->period_ns;
	for (u32 i = 0; i < c->plan.monitors; i++)
		c->member[i].heard_ns = now_ns;
}

/* What they said goes through the coordinator of joint detection, whose words are the next questions. */
static void take_round(struct council *c, u64 now_ns)
{
	struct bytes *in = calloc(c->plan.monitors, sizeof(*in));
	struct bytes *out = calloc(c->plan.monitors, sizeof(*out));
	u32 whose = 0;
	int rc = in && out ? 0 : -ENOMEM;

	for (u32 i = 0; !rc && i < c->plan.monitors; i++) {
		in[i] = c->member[i].in.message; /* lent */
		c->member[i].up += in[i].n;
	}
	rc = rc ?: joint_coordinator_round(&c->joint, in, out, &whose);
	if (rc == -EBADMSG)
		fail(c, c->member[whose].name, "what it says is not what was agreed on");
	else if (rc)
		fail_memory(c);
	c->exchanges++;
	for (u32 i = 0; !rc && i < c->plan.monitors; i++) {
		struct council_member *m = &c->member[i];
		const struct bytes *said = &out[c->joint.multicast ? 0 : i];

		if (bytes_copy(&m->out.message, said))
			fail_memory(c);
		m->down += said->n;
		ask(c, i, now_ns);
	}
	for (u32 i = 0; out && i < c->plan.monitors; i++)
		bytes_free(&out[i]);
	free(in);
	free(out);
}

/* Keys that all have are the first monitor's to show that answers; else each shows its own. */
static void ask_show(struct council *c, u64 now_ns)
{
	u32 left = c->plan.at_least < c->plan.monitors ? c->plan.monitors : 1;

	c->phase = COUNCIL_SHOWING;
	for (u32 i = 0; i < c->plan.monitors; i++) {
		struct council_member *m = &c->member[i];

		m->asked = false;
		if (!left || (*m->trouble && !m->refused))
			continue;
		left--;
		if (order_put(&m->out.message, ORDER_SHOW, NULL, 0))
			fail_memory(c);
		ask(c, i, now_ns);
	}
}

static void take_left(struct council *c, u64 now_ns)
{
	for (u32 i = 0; i < c->plan.monitors; i++) {
		struct council_member *m = &c->member[i];
		u64 about[3];

		if (order_get(&m->in.message, ORDER_LEFT, about, 3) || about[0] > m->keys) {
			fail(c, m->name, "its result cannot be read");
			return;
		}
		m->left = about[0];
		m->hashes = about[1];
		m->lookups = about[2];
	}
	c->common = c->member[0].left;
	if (!c->watch) {
		ask_show(c, now_ns);
		return;
	}
	c->phase = COUNCIL_CHECKING;
	ask_order(c, ORDER_LOAD, &(u64){ 0 }, 1, now_ns);
}

/* Digests that are new, in the order of @m's keys: a line of each. Several monitors may show the same key. */
static int show_new(struct council *c, struct council_member *m)
{
	struct bytes_in in;
	char text[ORDER_TEXT_MAX];
	u64 n, *all, digest, used = c->shown.n;

	if (bytes_open(&in, &m->in.message, ORDER_SHOWN, 0) || bytes_get_number(&in, &n) ||
	    n != m->left)
		return -EBADMSG;
	all = malloc((used + n + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (used)
		memcpy(all, c->shown.at, used * sizeof(*all));
	for (u64 i = 0; i < n; i++) {
		if (bytes_get_word(&in, &digest) || order_get_text(&in, text, sizeof(text))) {
			free(all);
			return -EBADMSG;
		}
		if (joint_set_has(&c->shown, digest))
			continue;
		all[used++] = digest;
		c->show(c->to, text);
	}
	joint_set_free(&c->shown);
	return joint_set_make(&c->shown, 0, all, used);
}

static void take_shown(struct council *c)
{
	for (u32 i = 0; i < c->plan.monitors; i++) {
		int rc = c->member[i].asked ? show_new(c, &c->member[i]) : 0;

		if (rc)
			fail(c, c->member[i].name,
			     rc == -ENOMEM ? "no memory here for its keys"
					   : "its keys cannot be read");
	}
	c->common = c->shown.n;
	if (c->phase != COUNCIL_FAILED)
		c->phase = c->failing ? COUNCIL_FAILED : COUNCIL_DONE;
}

static void take_joined(struct council *c, u64 now_ns)
{
	if (c->joint.done)
		take_left(c, now_ns);
	else
		take_round(c, now_ns);
}

static void take_seen(struct council *c, u64 now_ns)
{
	c->phase = COUNCIL_JOINING;
	ask_order(c, ORDER_BEGIN, NULL, 0, now_ns);
}

/* Nobody asks for what came in this period again: the keys are shown where they were to be loaded. */
static void show_instead(struct council *c, u64 now_ns)
{
	c->failing = true;
	ask_show(c, now_ns);
}

/* All have seen whether they have room. */
static void take_checked(struct council *c, u64 now_ns)
{
	for (u32 i = 0; i < c->plan.monitors; i++) {
		const struct council_member *m = &c->member[i];

		if (!*m->trouble)
			continue;
		snprintf(c->err, sizeof(c->err),
			 "monitor %.70s: %s; so they are in no watch set, but printed, as watch "
			 "NAME load takes them",
			 m->name, m->trouble);
		show_instead(c, now_ns);
		return;
	}
	c->phase = COUNCIL_LOADING;
	c->loading = true;
	ask_order(c, ORDER_LOAD, &(u64){ 1 }, 1, now_ns);
}

/* All have tried to. */
static void take_loaded(struct council *c, u64 now_ns)
{
	u32 have = 0;

	for (u32 i = 0; i < c->plan.monitors; i++)
		have += !*c->member[i].trouble;
	if (have == c->plan.monitors) {
		c->phase = COUNCIL_DONE;
		return;
	}
	snprintf(c->err, sizeof(c->err),
		 "the common keys are in the watch set of %.40s at %u of %u monitors: load what is "
		 "printed at the others, or ask again; those stay as they are",
		 c->watch, have, c->plan.monitors);
	show_instead(c, now_ns);
}

const char *council_loaded(const struct council *c, u32 i, char text[ORDER_TEXT_MAX])
{
	const struct council_member *m = &c->member[i];

	if (!c->loading || !c->failing)
		return NULL;
	if (!*m->trouble)
		snprintf(text, ORDER_TEXT_MAX, "has them, %" PRIu64 " are new", (uint64_t)m->added);
	else
		snprintf(text, ORDER_TEXT_MAX, "%s them: %s",
			 m->refused ? "does not have" : "may have", m->trouble);
	return text;
}

/* All have answered. */
static void advance(struct council *c, u64 now_ns)
{
	c->step++;
	switch (c->phase) {
	case COUNCIL_STARTING:
		take_started(c, now_ns);
		break;
	case COUNCIL_ENDING:
		take_seen(c, now_ns);
		break;
	case COUNCIL_JOINING:
		take_joined(c, now_ns);
		break;
	case COUNCIL_CHECKING:
		take_checked(c, now_ns);
		break;
	case COUNCIL_LOADING:
		take_loaded(c, now_ns);
		break;
	case COUNCIL_SHOWING:
		take_shown(c);
		break;
	default:
		break;
	}
}

/* Numbers that an answer has, by phase. Returns 0 or -EBADMSG. */
static int read_answer(struct council *c, struct council_member *m)
{
	const struct bytes *message = &m->in.message;
	u64 about[2] = {};
	int rc = 0;

	if (c->phase == COUNCIL_STARTING) {
		rc = order_get(message, ORDER_STARTED, about, 2);
		m->print = about[0];
		m->room = about[1];
	} else if (c->phase == COUNCIL_ENDING) {
		rc = order_get(message, ORDER_SEEN, about, 2);
		m->keys = about[0];
		m->overflow = about[1];
	} else if (c->phase == COUNCIL_CHECKING || c->phase == COUNCIL_LOADING) {
		rc = order_get(message, ORDER_LOADED, &m->added, 1);
	}
	return rc;
}

void council_take(struct council *c, u32 i, const struct part *part, u64 epoch, u64 now_ns)
{
	struct council_member *m = &c->member[i];
	char why[ORDER_TEXT_MAX];
	int rc;

	if (c->phase >= COUNCIL_DONE || part->session != c->session)
		return;
	m->epoch = m->epoch ?: epoch;
	if (m->epoch != epoch) {
		fail(c, m->name,
		     "two agents answer as it: was it started again? Else give each host an agent "
		     "--host of its own");
		return;
	}
	if (part->step == STEP_BEAT && c->phase == COUNCIL_COLLECTING)
		m->heard_ns = now_ns;
	if (!m->asked || m->answered || part->step != c->step)
		return;
	rc = inbox_take(&m->in, part);
	if (rc == -ENOMEM)
		fail(c, m->name, "no memory here for what it says");
	if (rc < 0)
		return;
	m->heard_ns = now_ns;
	m->again_ns = now_ns + PART_AGAIN_NS;
	if (!rc)
		return;
	m->answered = true;
	if (!order_get_refused(&m->in.message, why)) {
		m->refused = true;
		fail_member(c, m, why);
	} else if (read_answer(c, m)) {
		fail_member(c, m, "its answer cannot be read: is it of another version?");
	}
}

static bool all_answered(const struct council *c)
{
	for (u32 i = 0; i < c->plan.monitors; i++)
		if (c->member[i].asked && !c->member[i].answered)
			return false;
	return true;
}

/* Send what is to be sent, again where nothing came. Returns when to come back. */
static u64 press(struct council *c, u32 i, u64 now_ns)
{
	struct council_member *m = &c->member[i];

	if (!m->asked || m->answered)
		return UINT64_MAX;
	if (now_ns - m->heard_ns >= c->silence_ns) {
		fail_member(
			c, m,
			c->phase == COUNCIL_STARTING
				? "does not answer: is its agent in this group, with --nats, its "
				  "instance loaded with --collect and the same --secret-file?"
				: "no longer answers");
		return now_ns;
	}
	if (now_ns >= m->again_ns) {
		outbox_begin(&m->out, c->session, c->step);
		m->again_ns = now_ns + PART_AGAIN_NS;
	}
	if (!outbox_send(&m->out, c->emit, c->to, i, now_ns))
		return now_ns + PART_FULL_NS;
	return m->again_ns;
}

static void say(struct council *c, u32 step)
{
	struct part part = { .session = c->session, .step = step, .parts = 1 };

	for (u32 i = 0; i < c->plan.monitors; i++)
		c->emit(c->to, i, &part);
}

/* Monitors that no longer hear of it are free for others. */
static u64 beat(struct council *c, u64 now_ns)
{
	if (now_ns >= c->beat_ns) {
		say(c, STEP_BEAT);
		c->beat_ns = now_ns + PART_BEAT_NS;
	}
	return c->beat_ns;
}

/* Nobody says anything while keys are collected, but that it is there. */
static void find_silent(struct council *c, u64 now_ns)
{
	for (u32 i = 0; i < c->plan.monitors; i++)
		if (now_ns - c->member[i].heard_ns >= c->silence_ns + 2 * PART_BEAT_NS)
			fail(c, c->member[i].name,
			     "no longer answers: has its agent ended, or been started again?");
}

u64 council_step(struct council *c, u64 now_ns)
{
	u64 due = beat(c, now_ns), next;

	if (c->phase < COUNCIL_DONE && c->phase != COUNCIL_COLLECTING && all_answered(c))
		advance(c, now_ns);
	if (c->phase == COUNCIL_COLLECTING)
		find_silent(c, now_ns);
	if (c->phase == COUNCIL_COLLECTING) {
		if (now_ns < c->end_ns)
			return due < c->end_ns ? due : c->end_ns;
		c->phase = COUNCIL_ENDING;
		ask_order(c, ORDER_END, NULL, 0, now_ns);
	}
	for (u32 i = 0; c->phase < COUNCIL_DONE && i < c->plan.monitors; i++) {
		next = press(c, i, now_ns);
		due = next < due ? next : due;
	}
	return due;
}

void council_stop(struct council *c)
{
	say(c, STEP_STOP);
}

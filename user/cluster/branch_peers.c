/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node's parent and children, as processes of the group. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/branch_work.h"
#include "user/message.h"

/* A child that was silent for so long gives way to another one, if there are too many. */
#define SILENT_NS (60 * XDD_SECOND_NS)

/* What no HELLO of this process asked for may be what a dead one once said. */
static void ask_again(struct branch *b)
{
	u64 now = now_ns();

	if (now < b->ask_ns)
		return;
	b->ask_ns = now + CALLS_ASK_NS;
	calls_say(b->calls, CALL_HELLO, NULL, NULL);
}

static void take_namesake(struct branch *b, const struct call_here *here, u64 from, bool answers)
{
	if (!calls_stays(b->calls, &b->here, here, from))
		calls_say(b->calls, CALL_HERE, &b->here, NULL);
	else if (!answers)
		ask_again(b);
	else
		b->rc = refuse(b->err, sizeof(b->err), -EEXIST,
			       "there is a site %s in group %s already: give another --name",
			       here->name, b->plan.o->group);
}

static void take_parent(struct branch *b, const struct call_here *here, u64 from)
{
	struct branch_peer *parent = &b->peers[NODE_PARENT];
	char differs[CALL_DIFFERS];

	call_differs(here->about, b->here.about, differs);
	if (here->fingerprint != b->here.fingerprint && !b->node) {
		b->rc = refuse(b->err, sizeof(b->err), -EEXIST,
			       "site %s of group %s has another tree (%s): give the same options",
			       here->name, b->plan.o->group, differs);
	} else if (here->fingerprint != b->here.fingerprint) {
		if (strangers_tell(&b->others, here->fingerprint, now_ns()))
			complain("%s: parent %s is back with another tree (%s): it is not asked",
				 b->plan.who, here->name, differs);
	} else if (here->serves && here->first + 1 < XDD_TREE_MAX_LEVELS &&
		   branch_fits(b, now_ns()) && (parent->id != from || parent->failed)) {
		b->above = here->first;
		branch_meet(b, from);
	}
}

static struct branch_peer *find_peer(struct branch *b, u64 id)
{
	for (u32 i = 0; i <= NODE_PARENT; i++)
		if (b->peers[i].id == id)
			return &b->peers[i];
	return NULL;
}

static struct branch_name *find_name(struct branch *b, u64 id)
{
	for (u32 i = 0; i < BRANCH_NAMES; i++)
		if (b->names[i].id == id)
			return &b->names[i];
	return NULL;
}

static const char *name_of(struct branch *b, u64 id)
{
	const struct branch_name *name = find_name(b, id);

	return name ? name->name : "";
}

/* Only what a HELLO of this process asked for is known to be so now. */
static void keep_name(struct branch *b, const struct call_here *here, u64 from, bool answers)
{
	struct branch_name *name = find_name(b, from);

	if (!name) {
		name = &b->names[b->next_name++ % BRANCH_NAMES];
		*name = (struct branch_name){ .id = from };
		memcpy(name->name, here->name, WIRE_NAME);
	}
	if (!answers)
		return;
	name->heard_ns = now_ns();
	name->since_ns = name->since_ns ?: name->heard_ns;
	memcpy(name->parent, here->parent, WIRE_NAME);
	name->level = here->first;
	name->serves = here->serves;
}

/* A root is told of when this one begins: a second one is a --parent that was forgotten. */
static bool is_second_root(const struct branch *b, const struct call_here *here)
{
	return !b->plan.bare && !b->plan.parent && !b->here.serves && !*here->parent &&
	       here->fingerprint == b->here.fingerprint;
}

static void take_root(struct branch *b, const struct call_here *here, u64 from, bool answers)
{
	if (!calls_stays(b->calls, &b->here, here, from))
		return;
	if (!answers)
		ask_again(b);
	else
		b->rc = refuse(b->err, sizeof(b->err), -EEXIST,
			       "there is a root %s of group %s already: give --parent, or another "
			       "--group",
			       here->name, b->plan.o->group);
}

static void take_here(struct branch *b, const struct call_here *here, u64 from, bool answers)
{
	keep_name(b, here, from, answers);
	if (!b->plan.bare && !strcmp(here->name, b->here.name))
		take_namesake(b, here, from, answers);
	else if (is_second_root(b, here))
		take_root(b, here, from, answers);
	else if (!b->plan.parent || strcmp(here->name, b->plan.parent))
		return;
	else if (answers)
		take_parent(b, here, from);
	else if (b->peers[NODE_PARENT].id != from || b->peers[NODE_PARENT].failed)
		ask_again(b);
}

static void fail_peer(struct branch *b, struct branch_peer *peer)
{
	u32 number = peer - b->peers;

	if (number == NODE_PARENT && !peer->failed)
		note("%s: parent %s does not answer: what is not found here is %s until it does",
		     b->plan.who, peer->name,
		     b->plan.d->fixed.fault_policy == XDD_FAULTS_duplicate ? "a duplicate"
									   : "distinct");
	peer->question.size = 0;
	peer->failed = true;
	node_fail(b->node, number);
}

/* A slot for a child that asks the first time: of the one that it was before it was started anew, a free one, or
 * that of the one that was silent for longest. NULL: there are too many.
 */
static struct branch_peer *new_child(struct branch *b, u64 id, u64 now)
{
	struct branch_peer *oldest = &b->peers[0];
	const char *name = name_of(b, id);

	for (u32 i = 0; i < NODE_CHILDREN; i++) {
		struct branch_peer *child = &b->peers[i];

		if (*name && !strcmp(child->name, name))
			return child;
		if (child->heard_ns < oldest->heard_ns)
			oldest = child;
	}
	return !oldest->id || now - oldest->heard_ns > SILENT_NS ? oldest : NULL;
}

/* Whom a message by @id is from, which has the tree's key. */
static struct branch_peer *peer_of(struct branch *b, u64 id, u64 now)
{
	struct branch_peer *peer = find_peer(b, id);

	if (peer || b->plan.bare)
		return peer;
	peer = new_child(b, id, now);
	if (!peer)
		return NULL;
	peer->id = id;
	peer->question.size = 0;
	snprintf(peer->name, WIRE_NAME, "%s", name_of(b, id));
	return peer;
}

static void refuse_child(struct branch *b, u64 id)
{
	static const char why[] = "there is no room for one more child";
	struct call_head head = { CALL_REFUSED, calls_number(b->calls), id, 0 };

	b->refused++;
	memcpy(b->message + CALL_HEADER, why, sizeof(why));
	calls_send(b->calls, id, b->message, call_seal(&b->key, &head, b->message, sizeof(why)));
}

static bool is_for_node(u8 kind)
{
	return kind == CALL_QUESTION || kind == CALL_ANSWER || kind == CALL_WAIT;
}

static void take_message(struct branch *b, const u8 *message, size_t size)
{
	u64 now = now_ns();
	struct branch_peer *peer;
	struct call_head head;
	const u8 *payload;
	size_t n;
	int rc = call_open(&b->key, message, size, &head, &payload, &n);

	if (rc || !b->node || !is_for_node(head.kind) || !head.from) {
		b->refused += b->node && (rc || head.kind != CALL_REFUSED);
		if (rc)
			calls_refuse(b->calls, message, size);
		return;
	}
	peer = peer_of(b, head.from, now);
	if (!peer) {
		refuse_child(b, head.from);
		return;
	}
	peer->heard_ns = now;
	rc = node_take(b->node, peer - b->peers, message, size);
	if (!rc && head.kind == CALL_WAIT)
		calls_heard(&peer->question, b->plan.o->site_timeout, now);
	if (!node_waits(b->node, peer - b->peers))
		peer->question.size = 0;
	peer->failed = node_failed(b->node, peer - b->peers);
}

static void take_bye(struct branch *b, u64 id)
{
	struct branch_peer *peer = find_peer(b, id);

	if (peer && b->node)
		fail_peer(b, peer);
}

void branch_take(struct branch *b, const struct calls_event *event)
{
	switch (event->kind) {
	case CALLS_UP:
		b->ask_ns = 0;
		if (b->here.serves)
			calls_say(b->calls, CALL_HERE, &b->here, NULL);
		break;
	case CALLS_DOWN:
		b->serves_ns = 0;
		break;
	case CALLS_HELLO:
		if (!b->plan.bare)
			calls_say(b->calls, CALL_HERE, &b->here, event);
		break;
	case CALLS_HERE:
		take_here(b, &event->here, event->from, event->answers);
		break;
	case CALLS_BYE:
		take_bye(b, event->from);
		break;
	case CALLS_MESSAGE:
		take_message(b, event->message, event->size);
		break;
	}
}

/* Send @peer what there is for it, again if it is due. Returns when to come back. */
static u64 send_to(struct branch *b, struct branch_peer *peer, u64 now)
{
	struct calls_question *q = &peer->question;
	u32 number = peer - b->peers;
	size_t bytes = node_answer(b->node, number, b->message);
	u64 due, repeats = q->repeats;

	if (bytes)
		calls_send(b->calls, peer->id, b->message, bytes);
	if (peer->failed)
		return UINT64_MAX;
	if (!q->message && (number == NODE_PARENT || b->here.first < b->plan.d->fixed.top_down))
		q->message = malloc(SITES_MESSAGE_MAX);
	if (!q->size && q->message) {
		q->size = node_question(b->node, number, q->message);
		q->to = peer->id;
		if (q->size)
			calls_ask(b->calls, q, now);
	}
	if (!q->size)
		return UINT64_MAX;
	due = calls_press(b->calls, q, b->plan.o->site_timeout, now);
	b->repeats += q->repeats - repeats;
	if (due)
		return due;
	fail_peer(b, peer);
	return now;
}

u64 branch_send(struct branch *b, u64 now)
{
	u64 due = UINT64_MAX;

	for (u32 i = 0; i <= NODE_PARENT; i++)
		if (b->peers[i].id)
			due = earliest(due, send_to(b, &b->peers[i], now));
	return due;
}

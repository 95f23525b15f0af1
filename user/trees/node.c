/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/trees/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/sites/site.h"
#include "user/sites/wire.h"
#include "user/trees/work.h"

u64 node_fingerprint(const struct xdd_fixed *fixed, u32 window_ticks)
{
	u64 tree = fixed->tree | (u64)fixed->top_down << 32;

	return xdd_mix64(sites_fingerprint(fixed, window_ticks) ^ xdd_mix64(~tree));
}

const char *node_root_wrong(const struct xdd_fixed *fixed)
{
	bool timers = xdd_engine_has_timers(fixed->engine);

	if (timers && fixed->tree == XDD_TREE_dense)
		return "sites do not say how long what they have will live, which a dense tree of "
		       "timers sets below: give --tree sparse";
	if (timers && fixed->top_down)
		return "what sites falsely have is not set anew, as --top-down needs of timers: "
		       "leave it out, or give --engine bloom";
	return site_wrong(fixed);
}

int outbox_put(struct outbox *out, struct job *job)
{
	u32 n = out->end - out->at, room = out->room ? 2 * out->room : 64;
	struct job **jobs;

	if (out->end == out->room && out->at) {
		memmove(out->jobs, out->jobs + out->at, n * sizeof(*out->jobs));
		out->at = 0;
		out->end = n;
	} else if (out->end == out->room) {
		jobs = realloc(out->jobs, room * sizeof(*jobs));
		if (!jobs)
			return -ENOMEM;
		out->jobs = jobs;
		out->room = room;
	}
	out->jobs[out->end++] = job;
	return 0;
}

void outbox_drop(struct outbox *out, u32 n)
{
	out->at += n;
	out->sent = 0;
	out->again = false;
}

/* Room for @n questions of a peer whose last ones all have verdicts: nothing points to them. */
static int inbox_fit(struct inbox *in, u32 n)
{
	struct job *jobs = n > in->room ? realloc(in->jobs, n * sizeof(*jobs)) : in->jobs;

	if (n > in->room && !jobs)
		return -ENOMEM;
	in->jobs = jobs;
	in->room = n > in->room ? n : in->room;
	return 0;
}

struct node *node_open(const struct node_plan *plan)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->plan = *plan;
	node->peers = calloc(plan->children + 2, sizeof(*node->peers));
	if (node->peers && !tree_filter_open(&node->filter, &plan->fixed, plan->window_ticks,
					     !plan->bare && !plan->root.ask))
		return node;
	node_close(node);
	return NULL;
}

void node_close(struct node *node)
{
	if (!node)
		return;
	for (u32 i = 0; node->peers && i <= node_parent(node); i++) {
		free(node->peers[i].in.jobs);
		free(node->peers[i].out.jobs);
	}
	free(node->sliced.jobs);
	free(node->peers);
	tree_filter_close(&node->filter);
	free(node);
}

static u64 key_of(const struct sites_item *item)
{
	u64 key = XDD_GOLDEN;

	for (u32 i = 0; i < item->n; i++)
		key = xdd_mix64(key ^ item->cell[i]);
	return key;
}

/* Take the @n items that @peer asks about. */
static void inbox_take(struct node *node, u32 peer, const struct sites_item *items, u32 n)
{
	struct inbox *in = &node->peers[peer].in;

	in->send = !n;
	in->wait = false;
	in->n = in->open = n;
	for (u32 i = 0; i < n; i++)
		in->jobs[i] = (struct job){ .item = items[i],
					    .key = key_of(&items[i]),
					    .from = peer,
					    .state = JOB_HELD,
					    .test = peer == node_parent(node) };
	for (u32 i = 0; i < n; i++)
		job_arrive(node, &in->jobs[i]);
	node_release(node);
}

int node_start(struct node *node, const struct xdd_digest *digests, const u64 *ticks, u32 n)
{
	struct sites_item items[NODE_BATCH];

	if (inbox_fit(&node->peers[node_own(node)].in, n))
		return -ENOMEM;
	for (u32 i = 0; i < n; i++)
		items[i] = tree_filter_item(&node->filter, &digests[i], ticks[i]);
	node->counts.keys += n;
	inbox_take(node, node_own(node), items, n);
	return 0;
}

bool node_done(const struct node *node)
{
	return !node->peers[node_own(node)].in.open;
}

bool node_seen(const struct node *node, u32 i)
{
	return node->peers[node_own(node)].in.jobs[i].seen;
}

/* Make a call of @message, whose @n bytes of payload are there. */
static size_t seal(struct node *node, u32 peer, u8 kind, u64 sequence, u8 *message, size_t n)
{
	struct call_head head = { kind, node->plan.id, node->peers[peer].id, sequence };

	return call_seal(&node->plan.key, &head, message, n);
}

static size_t put_answer(struct node *node, u32 peer, u8 *message)
{
	struct inbox *in = &node->peers[peer].in;

	for (u32 i = 0; i < in->n; i++) {
		const struct job *job = &in->jobs[i];

		message[CALL_HEADER + i] = job->test || !job->seen ? job->seen : 1 + job->left;
	}
	in->send = in->wait = false;
	node->counts.answers++;
	return seal(node, peer, CALL_ANSWER, in->sequence, message, in->n);
}

static size_t put_wait(struct node *node, u32 peer, u8 *message)
{
	struct inbox *in = &node->peers[peer].in;

	in->wait = false;
	return seal(node, peer, CALL_WAIT, in->sequence, message, 0);
}

static size_t put_question(struct node *node, u32 peer, u8 *message)
{
	struct outbox *out = &node->peers[peer].out;
	struct sites_item items[NODE_BATCH];
	u32 queued = out->end - out->at;

	if (!out->sent) {
		out->sent = queued < NODE_BATCH ? queued : NODE_BATCH;
		out->sequence++;
	}
	out->again = false;
	for (u32 i = 0; i < out->sent; i++)
		items[i] = out->jobs[out->at + i]->item;
	node->counts.questions++;
	return seal(node, peer, CALL_QUESTION, out->sequence, message,
		    sites_put_question(items, out->sent, message + CALL_HEADER));
}

/* Number of a peer. */
static u32 number_of(const struct node *node, u32 peer)
{
	return peer == NODE_PARENT ? node_parent(node) : peer;
}

size_t node_answer(struct node *node, u32 peer, u8 *message)
{
	u32 number = number_of(node, peer);
	size_t bytes = 0;

	if (node->peers[number].in.send)
		bytes = put_answer(node, number, message);
	else if (node->peers[number].in.wait)
		bytes = put_wait(node, number, message);
	node->counts.bytes_out += bytes;
	return bytes;
}

size_t node_question(struct node *node, u32 peer, u8 *message)
{
	u32 number = number_of(node, peer);
	const struct peer *to = &node->peers[number];
	size_t bytes = 0;

	if (to->id && (to->out.again || (!to->out.sent && to->out.at < to->out.end)))
		bytes = put_question(node, number, message);
	node->counts.bytes_out += bytes;
	return bytes;
}

bool node_waits(const struct node *node, u32 peer)
{
	return node->peers[number_of(node, peer)].out.sent;
}

void node_again(struct node *node, u32 peer)
{
	struct outbox *out = &node->peers[number_of(node, peer)].out;

	out->again = out->sent;
}

/* Whether @items, which may be anything, are questions about keys. */
static int check_items(const struct node *node, const struct sites_item *items, int n)
{
	for (int i = 0; i < n; i++) {
		if (items[i].kind != SITES_TEST || items[i].claim)
			return -EBADMSG;
		if (!tree_filter_takes(&node->filter, &items[i]))
			return -ERANGE;
	}
	return n < 0 ? n : 0;
}

static int take_question(struct node *node, u32 peer, const struct call_head *head,
			 const u8 *payload, size_t size)
{
	struct peer *from = &node->peers[peer];
	struct inbox *in = &from->in;
	struct sites_item items[NODE_BATCH];
	int n, rc;

	from->failed &= peer == node_parent(node);
	if (in->from == head->from && head->sequence <= in->sequence) {
		node->counts.repeated++;
		in->send |= head->sequence == in->sequence && !in->open;
		in->wait |= head->sequence == in->sequence && in->open;
		return head->sequence == in->sequence ? 0 : -EALREADY;
	}
	if (in->open)
		return -EBUSY;
	n = sites_get_question(payload, size, items);
	rc = check_items(node, items, n);
	if (!rc)
		rc = inbox_fit(in, n);
	if (rc)
		return rc;
	from->id = in->from = head->from;
	in->sequence = head->sequence;
	inbox_take(node, peer, items, n);
	return 0;
}

static int take_answer(struct node *node, u32 peer, const struct call_head *head, const u8 *answers,
		       size_t n)
{
	struct outbox *out = &node->peers[peer].out;

	if (!out->sent || head->sequence != out->sequence || head->from != node->peers[peer].id)
		return -EALREADY;
	if (n != out->sent)
		return -EBADMSG;
	for (u32 i = 0; i < n; i++)
		job_answered(node, out->jobs[out->at + i], peer, &answers[i]);
	outbox_drop(out, n);
	node_release(node);
	return 0;
}

/* What was asked last is on its way. */
static int take_wait(const struct node *node, u32 peer, const struct call_head *head)
{
	const struct peer *from = &node->peers[peer];
	bool asked = from->out.sent && head->sequence == from->out.sequence;

	return asked && head->from == from->id ? 0 : -EALREADY;
}

static int take(struct node *node, u32 peer, const u8 *message, size_t size)
{
	struct call_head head;
	const u8 *payload;
	size_t n;
	int rc = call_open(&node->plan.key, message, size, &head, &payload, &n);

	if (rc)
		return rc;
	if (head.to != node->plan.id || !head.from)
		return -ENOENT;
	if (head.kind == CALL_QUESTION)
		return take_question(node, peer, &head, payload, n);
	if (head.kind == CALL_ANSWER)
		return take_answer(node, peer, &head, payload, n);
	return head.kind == CALL_WAIT ? take_wait(node, peer, &head) : -EBADMSG;
}

int node_take(struct node *node, u32 peer, const u8 *message, size_t size)
{
	int rc = take(node, number_of(node, peer), message, size);

	if (rc)
		node->counts.refused += rc == -EBADMSG || rc == -EPROTONOSUPPORT || rc == -ERANGE;
	else
		node->counts.bytes_in += size;
	return rc;
}

void node_fail(struct node *node, u32 peer)
{
	u32 number = number_of(node, peer);
	struct outbox *out = &node->peers[number].out;
	u32 at = out->at, end = out->end;

	node->peers[number].failed = true;
	outbox_drop(out, end - at);
	for (; at < end; at++)
		job_answered(node, out->jobs[at], number, NULL);
	node_release(node);
}

bool node_failed(const struct node *node, u32 peer)
{
	return node->peers[number_of(node, peer)].failed;
}

void node_meet(struct node *node, u32 peer, u64 id)
{
	struct peer *to = &node->peers[number_of(node, peer)];

	to->id = id;
	to->failed = false;
	to->out.again = to->out.sent;
}

u64 node_id(const struct node *node)
{
	return node->plan.id;
}

const struct node_counts *node_counts(const struct node *node)
{
	return &node->counts;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Verdicts of a node of a tree. */
#include <string.h>

#include "user/trees/work.h"

static bool same_key(const struct job *a, const struct job *b)
{
	return a->key == b->key && !memcmp(a->item.cell, b->item.cell, sizeof(a->item.cell));
}

static u16 *busy_at(struct node *node, const struct job *job)
{
	return &node->busy[job->key % NODE_BUSY];
}

/* The same key that is on its way, or NULL. */
static const struct job *find_busy(struct node *node, const struct job *job)
{
	if (!*busy_at(node, job))
		return NULL;
	for (u32 peer = 0; peer <= node_own(node); peer++) {
		const struct inbox *in = &node->peers[peer].in;

		for (u32 i = 0; in->open && i < in->n; i++)
			if (in->jobs[i].busy && same_key(&in->jobs[i], job))
				return &in->jobs[i];
	}
	return NULL;
}

static void job_wait(struct node *node, struct job *job, u32 state)
{
	job->state = state;
	if (job->test || job->busy)
		return;
	job->busy = true;
	++*busy_at(node, job);
}

static void decide(struct node *node, struct job *job, bool seen)
{
	struct inbox *in = &node->peers[job->from].in;

	job->state = JOB_DECIDED;
	job->seen = seen;
	if (job->busy) {
		job->busy = false;
		--*busy_at(node, job);
		node->release = true;
	}
	if (job->from == node_own(node))
		node->counts.duplicates += seen;
	in->send |= !--in->open && job->from != node_own(node);
}

/* Counts a visit where xdd/tree.h does: of dense trees of bits testing and setting is one, as it is at the root. */
static void set(struct node *node, struct job *job, u32 left)
{
	const struct xdd_fixed *fixed = &node->plan.fixed;
	bool sparse = fixed->tree == XDD_TREE_sparse;
	bool apart = sparse || fixed->engine != XDD_ENGINE_bloom;

	if (node->plan.bare)
		return;
	if (node->filter.lines)
		tree_filter_set(&node->filter, &job->item, left);
	node->counts.level.accesses += node->plan.level ? apart : sparse;
}

/* There is nobody further up to be asked. */
static void pass(struct node *node, struct job *job)
{
	set(node, job, node->plan.window_ticks - 1);
	node->counts.distinct++;
	decide(node, job, false);
}

static void decide_alone(struct node *node, struct job *job)
{
	node->counts.alone++;
	if (node->plan.fixed.fault_policy != XDD_FAULTS_duplicate) {
		pass(node, job);
		return;
	}
	job->left = NODE_UNSET;
	decide(node, job, true);
}

static void climb(struct node *node, struct job *job)
{
	struct peer *parent = &node->peers[node_parent(node)];

	if (!node->plan.level)
		pass(node, job);
	else if (parent->failed || outbox_put(&parent->out, job))
		decide_alone(node, job);
	else
		job_wait(node, job, JOB_CLIMBING);
}

static void hit(struct node *node, struct job *job)
{
	node->counts.level.hits++;
	decide(node, job, true);
}

/* What comes of a match for which children were asked. */
static void end_match(struct node *node, struct job *job)
{
	if (job->test) {
		decide(node, job, job->found);
	} else if (job->found) {
		hit(node, job);
	} else {
		node->counts.level.refuted++;
		climb(node, job);
	}
}

/* Whether @job is a copy of @other, which was passed. */
static bool is_copy(const struct node *node, const struct job *job, const struct job *other)
{
	s64 age = job->item.tick - other->item.tick;

	if (other->state != JOB_DECIDED || other->seen || !same_key(other, job))
		return false;
	return !xdd_engine_has_timers(node->plan.fixed.engine) || age < node->plan.window_ticks;
}

/* Whether the key was passed to a peer that may not know of it yet. */
static bool has_passed(const struct node *node, const struct job *job)
{
	for (u32 peer = 0; peer <= node_own(node); peer++) {
		const struct inbox *in = &node->peers[peer].in;

		for (u32 i = 0; i < in->n; i++)
			if (is_copy(node, job, &in->jobs[i]))
				return true;
	}
	return false;
}

/* Look for the match below, but for where @job comes from; a child that never asked has nothing. */
static void confirm(struct node *node, struct job *job)
{
	job_wait(node, job, JOB_CONFIRMING);
	job->found = has_passed(node, job);
	for (u32 i = 0; i < node->plan.children && !job->found; i++) {
		struct peer *child = &node->peers[i];

		if (i == job->from || !child->in.from)
			continue;
		if (child->failed || outbox_put(&child->out, job)) {
			node->counts.unconfirmed++;
			job->found = true;
		} else {
			job->waiting++;
		}
	}
	if (!job->waiting)
		end_match(node, job);
}

/* What comes of whether the filter has the key. */
static void go_on(struct node *node, struct job *job, bool seen)
{
	if (seen && node->plan.level < node->plan.fixed.top_down)
		confirm(node, job);
	else if (job->test)
		decide(node, job, seen);
	else if (seen)
		hit(node, job);
	else
		climb(node, job);
}

/* Test the filter, and go on from there. */
static void look(struct node *node, struct job *job)
{
	if (node->plan.bare) {
		climb(node, job);
		return;
	}
	node->counts.level.accesses++;
	if (!node->plan.root.ask)
		go_on(node, job, tree_filter_has(&node->filter, &job->item, &job->left));
	else if (outbox_put(&node->sliced, job))
		decide_alone(node, job);
	else
		job_wait(node, job, JOB_CLIMBING);
}

/* What sites of a sliced root do not have they set, so that it is only passed here. */
static void ask_sliced(struct node *node)
{
	struct outbox *out = &node->sliced;
	struct sites_item items[NODE_BATCH];
	bool seen[NODE_BATCH];

	while (out->at < out->end) {
		u32 at = out->at, left = out->end - at, n = left < NODE_BATCH ? left : NODE_BATCH;
		int rc;

		for (u32 i = 0; i < n; i++)
			items[i] = out->jobs[at + i]->item;
		rc = node->plan.root.ask(node->plan.root.context, items, n, seen);
		for (u32 i = 0; i < n; i++) {
			if (rc)
				decide_alone(node, out->jobs[at + i]);
			else
				go_on(node, out->jobs[at + i], seen[i]);
		}
		outbox_drop(out, n);
	}
}

void job_arrive(struct node *node, struct job *job)
{
	job->before = job->test ? NULL : find_busy(node, job);
	if (!job->before) {
		look(node, job);
		return;
	}
	job->state = JOB_HELD;
	node->held++;
	node->counts.held++;
}

/* Whether @job is a copy of the one that it waited for, by what came of that: then *@left is what is left of it. */
static bool settles(const struct node *node, const struct job *job, u8 *left)
{
	const struct job *before = job->before;
	s64 age = job->item.tick - before->item.tick;

	*left = before->seen ? before->left : node->plan.window_ticks - 1;
	if (*left == NODE_UNSET || age < 0)
		return false;
	if (!xdd_engine_has_timers(node->plan.fixed.engine))
		age = 0;
	if (age > *left)
		return false;
	*left -= age;
	return true;
}

/* Go on with @job, which was held. */
static void resume(struct node *node, struct job *job)
{
	u8 left;

	node->held--;
	if (job->before->state != JOB_DECIDED || !settles(node, job, &left)) {
		job_arrive(node, job);
		return;
	}
	node->counts.level.accesses++;
	job->left = left;
	hit(node, job);
}

/* The parent's answer, see node.h. */
static void take_verdict(struct node *node, struct job *job, u8 verdict)
{
	job->left = verdict ? verdict - 1 : 0;
	if (!verdict)
		set(node, job, node->plan.window_ticks - 1);
	else if (node->plan.fixed.tree == XDD_TREE_dense && job->left != NODE_UNSET)
		set(node, job, job->left);
	decide(node, job, verdict);
}

void job_answered(struct node *node, struct job *job, u32 peer, const u8 *answer)
{
	if (peer != node_parent(node)) {
		node->counts.unconfirmed += !answer;
		job->found |= !answer || *answer;
		if (!--job->waiting)
			end_match(node, job);
	} else if (answer) {
		take_verdict(node, job, *answer);
	} else {
		decide_alone(node, job);
	}
}

/* Go on with all that are held. */
static void resume_all(struct node *node)
{
	for (u32 peer = 0; peer <= node_own(node); peer++) {
		struct inbox *in = &node->peers[peer].in;

		for (u32 i = 0; in->open && i < in->n; i++)
			if (in->jobs[i].state == JOB_HELD)
				resume(node, &in->jobs[i]);
	}
}

void node_release(struct node *node)
{
	ask_sliced(node);
	while (node->release && node->held) {
		node->release = false;
		resume_all(node);
		ask_sliced(node);
	}
}

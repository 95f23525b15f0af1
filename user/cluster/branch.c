/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/branch.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/branch_work.h"
#include "user/cluster/group.h"
#include "user/cluster/serve.h"
#include "user/message.h"
#include "user/names.h"
#include "user/service.h"

#define LOST_NS (1000 * MILLISECOND_NS) /* how often a parent that failed is looked for */

int branch_derive(const struct options *o, struct derived *d, char *err, size_t err_size)
{
	const char *wrong = tree_filter_wrong(&d->fixed);

	d->fixed.placement = XDD_PLACEMENT_tree;
	d->fixed.tree = o->tree;
	d->fixed.top_down = o->top_down;
	if (!wrong && o->sites)
		wrong = node_root_wrong(&d->fixed);
	if (!wrong && d->fixed.fault_policy == XDD_FAULTS_vote && !o->sites)
		wrong = "--fault-policy vote is about slices: a node whose parent has failed takes "
			"what it has not for distinct, or for duplicate";
	return wrong ? refuse(err, err_size, -EINVAL, "%s", wrong) : 0;
}

static u64 fingerprint_of(const struct branch *b)
{
	return node_fingerprint(&b->plan.d->fixed, b->plan.d->live.window_ticks);
}

static void describe(struct branch *b)
{
	const struct options *o = b->plan.o;
	const struct xdd_fixed *fixed = &b->plan.d->fixed;
	char host[GROUP_HOST_SIZE], filter[CALL_TEXT];

	b->here = (struct call_here){ .fingerprint = fingerprint_of(b),
				      .start_ns = clock_ns(CLOCK_REALTIME),
				      .n = 1,
				      .of = XDD_TREE_MAX_LEVELS };
	group_host(o, host);
	snprintf(b->here.name, WIRE_NAME, "%s", o->name ?: host);
	snprintf(b->here.parent, WIRE_NAME, "%s", b->plan.parent ?: "");
	serve_about(b->plan.d, filter);
	snprintf(b->here.about, CALL_TEXT, "tree %s, top-down %u, %.120s", tree_names[fixed->tree],
		 fixed->top_down, filter);
}

/* The filter of a root with --sites. */
static int ask_sites(void *context, const struct sites_item *items, u32 n, bool *seen)
{
	return remote_ask_items(context, items, n, seen);
}

/* A site is waited for so much shorter than a child waits for this root, which meanwhile cannot say that it waits: for
 * what it asks them, and for what it sets there then.
 */
#define SITES_SHARE 4

static int open_sites(struct branch *b, char *err, size_t err_size)
{
	const struct options *o = b->plan.o;
	const struct remote_setup setup = { o, b->plan.d, b->plan.who,
					    o->site_timeout / SITES_SHARE };

	return o->sites ? remote_open(&setup, &b->sites, err, err_size) : 0;
}

int branch_open(const struct branch_plan *plan, struct branch **to, char *err, size_t err_size)
{
	const struct calls_setup setup = { plan->o, plan->who, TREES_SERVICE, plan->o->sites };
	struct branch *b = calloc(1, sizeof(*b));
	int rc;

	*to = NULL;
	if (!b)
		return refuse(err, err_size, -ENOMEM, "no memory");
	b->plan = *plan;
	describe(b);
	if (!plan->bare && !strcmp(b->here.parent, b->here.name)) {
		free(b);
		return refuse(err, err_size, -EINVAL,
			      "--parent %s: is this site itself: give the name of another one",
			      plan->parent);
	}
	snprintf(b->peers[NODE_PARENT].name, WIRE_NAME, "%s", plan->parent ?: "");
	rc = open_sites(b, err, err_size) ?: calls_open(&setup, &b->calls, err, err_size);
	if (rc) {
		remote_close(b->sites);
		free(b);
		return rc;
	}
	b->key = calls_key(b->calls, b->here.fingerprint);
	*to = b;
	return 0;
}

void branch_close(struct branch *b)
{
	if (!b)
		return;
	calls_say(b->calls, CALL_BYE, NULL, NULL);
	calls_close(b->calls);
	remote_close(b->sites);
	node_close(b->node);
	for (u32 i = 0; i <= NODE_PARENT; i++)
		free(b->peers[i].question.message);
	free(b);
}

int branch_fd(const struct branch *b)
{
	return calls_fd(b->calls);
}

struct node *branch_node(struct branch *b)
{
	return b->node;
}

static void open_node(struct branch *b, u32 level)
{
	const struct node_plan plan = { .fixed = b->plan.d->fixed,
					.window_ticks = b->plan.d->live.window_ticks,
					.level = level,
					.children = b->plan.bare ? 0 : NODE_CHILDREN,
					.root = { b->sites ? ask_sites : NULL, b->sites },
					.bare = b->plan.bare,
					.id = calls_number(b->calls),
					.key = b->key };

	b->here.first = level;
	b->node = node_open(&plan);
	if (!b->node)
		b->rc = refuse(b->err, sizeof(b->err), -ENOMEM, "no memory for its filter");
}

void branch_meet(struct branch *b, u64 id)
{
	struct branch_peer *parent = &b->peers[NODE_PARENT];

	if (parent->failed)
		note("%s: parent %s is back", b->plan.who, parent->name);
	if (parent->id != id || parent->failed)
		parent->question.size = 0;
	parent->failed = false;
	parent->id = id;
	if (!b->node)
		open_node(b, b->above + 1);
	if (b->node)
		node_meet(b->node, NODE_PARENT, id);
}

static bool misses_parent(const struct branch *b)
{
	const struct branch_peer *parent = &b->peers[NODE_PARENT];

	return b->plan.parent && (!parent->id || parent->failed);
}

/* Ask who is there, while that is to be known. Returns when to come back. */
static u64 look_around(struct branch *b, u64 now)
{
	bool announces = !b->plan.bare && !b->here.serves;

	if (!calls_up(b->calls) || (!announces && !misses_parent(b)))
		return UINT64_MAX;
	if (now < b->ask_ns)
		return b->ask_ns;
	b->ask_ns = now + (b->node && !announces ? LOST_NS : CALLS_ASK_NS);
	if (!b->plan.bare)
		calls_say(b->calls, CALL_HERE, &b->here, NULL);
	calls_say(b->calls, CALL_HELLO, NULL, NULL);
	return b->ask_ns;
}

/* Be open to children when nobody has objected for long enough. Returns when to come back. */
static u64 begin(struct branch *b, u64 now)
{
	char text[CALL_TEXT];

	if (b->plan.bare || b->here.serves || !calls_up(b->calls))
		return UINT64_MAX;
	if (!b->serves_ns)
		b->serves_ns = now + CALLS_ASKING_NS;
	if (now < b->serves_ns || !b->node)
		return b->serves_ns > now ? b->serves_ns : UINT64_MAX;
	b->here.serves = true;
	calls_say(b->calls, CALL_HERE, &b->here, NULL);
	branch_name(b, text);
	note("%s: serving as %s, in group %s", b->plan.who, text, b->plan.o->group);
	service_ready(text);
	return UINT64_MAX;
}

int branch_turn(struct branch *b, u64 *due, char *err, size_t err_size)
{
	struct calls_event event;
	u64 now;

	if (!b->plan.parent && !b->node)
		open_node(b, 0);
	while (!b->rc && calls_next(b->calls, &event))
		branch_take(b, &event);
	now = now_ns();
	*due = earliest(look_around(b, now), begin(b, now));
	*due = earliest(*due, branch_tell_trouble(b, now));
	if (b->node)
		*due = earliest(*due, branch_send(b, now));
	return b->rc ? refuse(err, err_size, b->rc, "%s", b->err) : 0;
}

void branch_name(const struct branch *b, char text[CALL_TEXT])
{
	if (b->plan.parent && !b->node)
		snprintf(text, CALL_TEXT, "%s, which waits for its parent %s", b->here.name,
			 b->plan.parent);
	else if (b->plan.parent)
		snprintf(text, CALL_TEXT, "%s, level %u below %s", b->here.name, b->here.first,
			 b->plan.parent);
	else
		snprintf(text, CALL_TEXT, "%s, the root", b->here.name);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a node has no parent, in words: it may be that it never will. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/branch_work.h"
#include "user/message.h"

/* A parent that is not there for so long is told of. */
#define TROUBLE_NS (3 * XDD_SECOND_NS)

/* So long others may take to say who they are, before a parent whose own parents are not there is asked all the same. */
#define CHAIN_NS (2 * CALLS_ASK_NS)

/* What the one of this name, that was heard last, has said in answer to this process; NULL: there was none. */
static const struct branch_name *latest(const struct branch *b, const char *name)
{
	const struct branch_name *found = NULL;

	for (u32 i = 0; i < BRANCH_NAMES; i++) {
		const struct branch_name *one = &b->names[i];

		if (one->heard_ns && !strcmp(one->name, name) &&
		    (!found || one->heard_ns > found->heard_ns))
			found = one;
	}
	return found;
}

/* What is above: a root, somebody who is not known, or this node. */
enum chain { CHAIN_ROOT, CHAIN_OPEN, CHAIN_CIRCLE };

static enum chain chain_of(const struct branch *b)
{
	const char *name = b->plan.parent;

	for (u32 i = 0; i < BRANCH_NAMES; i++) {
		const struct branch_name *above = latest(b, name);

		if (!above)
			return CHAIN_OPEN;
		if (!*above->parent)
			return CHAIN_ROOT;
		if (!strcmp(above->parent, b->here.name))
			return CHAIN_CIRCLE;
		name = above->parent;
	}
	return CHAIN_OPEN; /* others go round */
}

bool branch_fits(const struct branch *b, u64 now)
{
	enum chain chain = b->plan.bare ? CHAIN_ROOT : chain_of(b);

	if (chain == CHAIN_OPEN)
		return now >= latest(b, b->plan.parent)->since_ns + CHAIN_NS;
	return chain == CHAIN_ROOT;
}

static enum branch_trouble trouble_of(const struct branch *b)
{
	const struct branch_name *parent = latest(b, b->plan.parent);

	if (!b->plan.bare && chain_of(b) == CHAIN_CIRCLE)
		return BRANCH_CIRCLE;
	if (b->peers[NODE_PARENT].failed)
		return BRANCH_FAILED;
	if (!parent)
		return BRANCH_NOBODY;
	if (parent->level + 1 >= XDD_TREE_MAX_LEVELS)
		return BRANCH_DEEP;
	return parent->serves || !*parent->parent ? BRANCH_OK : BRANCH_CLOSED;
}

void branch_trouble_text(const struct branch *b, char *text, size_t size)
{
	const char *parent = b->plan.parent, *group = b->plan.o->group;
	const struct branch_name *above = latest(b, parent);

	switch (trouble_of(b)) {
	case BRANCH_CIRCLE:
		snprintf(text, size,
			 "parent %s is itself below %s: no root is above them: start one of them "
			 "without --parent, or with another one",
			 parent, b->here.name);
		break;
	case BRANCH_DEEP:
		snprintf(text, size, "parent %s is at level %u, and a tree has at most %u levels",
			 parent, above->level, XDD_TREE_MAX_LEVELS);
		break;
	case BRANCH_CLOSED:
		snprintf(text, size, "site %s is there, but waits for its own parent %s", parent,
			 above->parent);
		break;
	default:
		snprintf(text, size,
			 "no site %s of group %s answers: start it with xdp-dedup site --tree, the "
			 "same options of the filter and the same --secret-file",
			 parent, group);
	}
}

u64 branch_tell_trouble(struct branch *b, u64 now)
{
	const struct branch_peer *parent = &b->peers[NODE_PARENT];
	enum branch_trouble before = b->trouble;
	char text[MESSAGE_MAX];

	if (!b->plan.parent || b->plan.bare || !calls_up(b->calls) ||
	    (parent->id && !parent->failed)) {
		b->missing_ns = 0;
		b->trouble = BRANCH_OK;
		return UINT64_MAX;
	}
	if (!b->missing_ns)
		b->missing_ns = now;
	if (now < b->missing_ns + TROUBLE_NS)
		return b->missing_ns + TROUBLE_NS;
	b->trouble = trouble_of(b);
	if (b->trouble == before || b->trouble == BRANCH_OK || b->trouble == BRANCH_FAILED)
		return UINT64_MAX;
	branch_trouble_text(b, text, sizeof(text));
	complain("%s: %s; it is looked for again and again", b->plan.who, text);
	return UINT64_MAX;
}

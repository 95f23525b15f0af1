/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/trees/local.h"

#include <errno.h>
#include <stdlib.h>

#define TREE_LOCAL_NODES (1u << 20)

static u32 level_of(const struct tree_local *l, u32 number)
{
	u32 level = 0;

	while (number >= l->first[level + 1])
		level++;
	return level;
}

/* A sliced root's filter. */
static int ask_sites(void *context, const struct sites_item *items, u32 n, bool *seen)
{
	struct tree_local *l = context;
	const struct producer_counts *counts = producer_counts(l->producer);

	producer_start_items(l->producer, items, n);
	local_finish(&l->sites, l->producer);
	for (u32 i = 0; i < n; i++)
		seen[i] = producer_seen(l->producer, i);
	l->traffic[0].messages = 2 * counts->messages;
	l->traffic[0].bytes = counts->bytes_out + counts->bytes_in;
	return 0;
}

static struct node *open_node(struct tree_local *l, u32 number)
{
	u32 level = level_of(l, number);
	u64 alike = node_fingerprint(&l->fixed, l->window_ticks);
	const struct node_plan plan = {
		.fixed = l->fixed,
		.window_ticks = l->window_ticks,
		.level = level,
		.children = level + 1 < l->fixed.levels ? l->fixed.tree_fan_out : 0,
		.root = { !level && l->producer ? ask_sites : NULL, l },
		.id = ++l->starts,
		.key = { { alike, ~alike } },
	};

	return node_open(&plan);
}

const char *tree_local_wrong(const struct xdd_fixed *fixed)
{
	u64 nodes = 0;

	for (u32 level = 0; level < fixed->levels; level++)
		nodes += xdd_tree_width(fixed, level);
	if (fixed->tree_fan_out > NODE_CHILDREN)
		return "a node has at most 256 children: give a smaller --fan-out";
	if (nodes > TREE_LOCAL_NODES)
		return "a tree of at most 1048576 nodes fits here: give a smaller --depth";
	return tree_filter_wrong(fixed);
}

int tree_local_slice(struct tree_local *l, const struct xdd_fixed *fixed, u32 window_ticks,
		     u32 sites, u32 protocol, const char **wrong)
{
	const struct producer_plan plan = { .fixed = *fixed,
					    .window_ticks = window_ticks,
					    .sites = sites,
					    .protocol = protocol,
					    .id = 1 };

	*wrong = node_root_wrong(fixed) ?: producer_wrong(&plan);
	if (*wrong)
		return -EINVAL;
	l->producer = producer_open(&plan);
	return l->producer ? local_open(&l->sites, fixed, window_ticks, sites, &plan.key) : -ENOMEM;
}

int tree_local_open(struct tree_local *l, const struct xdd_fixed *fixed, u32 window_ticks)
{
	l->fixed = *fixed;
	l->window_ticks = window_ticks;
	for (u32 level = 0; level < fixed->levels; level++)
		l->first[level + 1] = l->first[level] + xdd_tree_width(fixed, level);
	l->n = l->first[fixed->levels];
	l->nodes = calloc(l->n, sizeof(*l->nodes));
	l->down = calloc(l->n, sizeof(*l->down));
	l->message = malloc(SITES_MESSAGE_MAX);
	if (!l->nodes || !l->down || !l->message)
		return -ENOMEM;
	for (u32 i = l->n; i-- > 0;)
		if (tree_local_recover(l, i))
			return -ENOMEM;
	return 0;
}

void tree_local_close(struct tree_local *l)
{
	for (u32 i = 0; l->nodes && i < l->n; i++)
		node_close(l->nodes[i]);
	free(l->nodes);
	free(l->down);
	free(l->message);
	if (!l->producer)
		return;
	producer_close(l->producer);
	local_close(&l->sites);
}

u32 tree_local_number(const struct tree_local *l, u32 level, u32 site)
{
	return l->first[level] + site;
}

struct node *tree_local_node(const struct tree_local *l, u32 level, u32 site)
{
	return l->nodes[tree_local_number(l, level, site)];
}

/* The other end of a link: its number, and what it calls node @number, in *@back. */
static u32 other_end(const struct tree_local *l, u32 number, u32 peer, u32 *back)
{
	u32 level = level_of(l, number), fan_out = l->fixed.tree_fan_out;
	u32 site = number - l->first[level];

	*back = peer == NODE_PARENT ? site % fan_out : NODE_PARENT;
	if (peer == NODE_PARENT)
		return l->first[level - 1] + site / fan_out;
	return l->first[level + 1] + site * fan_out + peer;
}

bool tree_local_carry(struct tree_local *l, u32 number, u32 peer)
{
	u32 back, to = other_end(l, number, peer, &back);
	struct node *from = l->nodes[number];
	size_t bytes = 0;
	struct tree_traffic *traffic = &l->traffic[level_of(l, to > number ? to : number)];

	if (!l->down[number])
		bytes = node_answer(from, peer, l->message)
				?: node_question(from, peer, l->message);
	if (!bytes)
		return false;
	traffic->messages++;
	traffic->bytes += bytes;
	if (l->down[to])
		node_fail(from, peer);
	else
		node_take(l->nodes[to], back, l->message, bytes);
	return true;
}

/* What nodes above level D ask their children. */
static void carry_down(struct tree_local *l)
{
	u32 down = l->fixed.top_down, fan_out = l->fixed.tree_fan_out;

	for (u32 i = 0; i < l->first[down]; i++)
		for (u32 child = 0; child < fan_out; child++)
			tree_local_carry(l, i, child);
	for (u32 i = l->first[down + 1]; i-- > 1;)
		tree_local_carry(l, i, NODE_PARENT);
}

void tree_local_finish(struct tree_local *l, u32 leaf)
{
	u32 path[XDD_TREE_MAX_LEVELS], child[XDD_TREE_MAX_LEVELS], top = l->fixed.levels - 1;

	path[top] = tree_local_number(l, top, leaf);
	for (u32 level = top; level; level--)
		path[level - 1] = other_end(l, path[level], NODE_PARENT, &child[level - 1]);
	while (!node_done(l->nodes[path[top]])) {
		for (u32 level = top; level; level--)
			tree_local_carry(l, path[level], NODE_PARENT);
		if (l->fixed.top_down)
			carry_down(l);
		for (u32 level = 0; level < top; level++)
			tree_local_carry(l, path[level], child[level]);
	}
}

void tree_local_fail(struct tree_local *l, u32 number)
{
	l->down[number] = true;
}

int tree_local_recover(struct tree_local *l, u32 number)
{
	u32 level = level_of(l, number), back, to;
	struct node *fresh = open_node(l, number);

	if (!fresh)
		return -ENOMEM;
	node_close(l->nodes[number]);
	l->nodes[number] = fresh;
	l->down[number] = false;
	if (number && l->nodes[other_end(l, number, NODE_PARENT, &back)])
		node_meet(fresh, NODE_PARENT,
			  node_id(l->nodes[other_end(l, number, NODE_PARENT, &back)]));
	for (u32 child = 0; level + 1 < l->fixed.levels && child < l->fixed.tree_fan_out; child++) {
		to = other_end(l, number, child, &back);
		node_meet(l->nodes[to], back, l->starts);
	}
	return 0;
}

struct node_counts tree_local_counts(const struct tree_local *l, u32 level)
{
	struct node_counts sum = { 0 };

	for (u32 i = l->first[level]; i < l->first[level + 1]; i++) {
		const u64 *from = (const u64 *)node_counts(l->nodes[i]);

		for (u32 value = 0; value < sizeof(sum) / sizeof(u64); value++)
			((u64 *)&sum)[value] += from[value];
	}
	return sum;
}

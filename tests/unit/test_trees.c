// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees of filters between sites (koloniari-2011 section 6): verdicts are those of one filter, however messages go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/config.h"
#include "user/batch.h"
#include "user/trees/local.h"
#include "user/sites/wire.h"

#define KEYS 3000
#define WINDOW CONFIG_WINDOW_TICKS

static const u32 engines[] = { XDD_ENGINE_bloom, XDD_ENGINE_timer };

/* @blocks 16: a filter that errs. */
static struct xdd_fixed tree(u32 engine, u32 blocks, u32 kind, u32 levels, u32 top_down)
{
	struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);

	fixed.blocks = blocks;
	fixed.slices = 1;
	fixed.slicing = XDD_SLICING_none;
	fixed.placement = XDD_PLACEMENT_tree;
	fixed.tree = kind;
	fixed.levels = levels;
	fixed.tree_fan_out = 2;
	fixed.tree_leaves = 1u << (levels - 1);
	fixed.top_down = top_down;
	fixed.line_cells = engine == XDD_ENGINE_bloom ? 500 : 0;
	fixed.tick_ns = 1;
	return fixed;
}

static struct xdd_digest digest_of(u64 key)
{
	return (struct xdd_digest){ xdd_mix64(key + 1), 0 };
}

static void open_tree(struct tree_local *l, const struct xdd_fixed *fixed)
{
	const char *wrong;

	assert_null(tree_local_wrong(fixed));
	if (fixed->slicing != XDD_SLICING_none)
		assert_int_equal(tree_local_slice(l, fixed, WINDOW, 4, SITES_pipeline, &wrong), 0);
	assert_int_equal(tree_local_open(l, fixed, WINDOW), 0);
}

static void open_store(struct xdd_store *store, const struct xdd_fixed *fixed, u32 placement)
{
	const struct xdd_live live = config_live();
	struct xdd_fixed single = *fixed;

	single.placement = placement;
	assert_int_equal(store_open(store, &single, &live, 1 << 20), 0);
}

/* Steps of time: mostly none, at times past windows and horizons. */
static u64 step(u64 *seed)
{
	u32 pick = random_below(seed, 10000);

	if (pick < 9980)
		return pick % 50 == 0;
	return random_below(seed, pick < 9995 ? 20 : 600);
}

/* Ask @n keys at a leaf at once; and another filter one after the other. Returns how many differ. */
static u32 ask(struct tree_local *l, u32 leaf, const struct xdd_digest *digests, const u64 *ticks,
	       u32 n, struct xdd_store *other)
{
	struct node *node = tree_local_node(l, l->fixed.levels - 1, leaf);
	u32 differ = 0;

	assert_int_equal(node_start(node, digests, ticks, n), 0);
	tree_local_finish(l, leaf);
	for (u32 i = 0; i < n; i++) {
		bool seen;

		if (other->fixed.placement == XDD_PLACEMENT_tree)
			seen = store_tree_ask(other, &digests[i], ticks[i], leaf);
		else
			batch_ask_plain(other, &digests[i], &ticks[i], 1, &seen);
		differ += seen != node_seen(node, i);
	}
	return differ;
}

/* Random keys at random leaves, up to @batch at once, of a tree and of @placement. Returns how many verdicts differ. */
static u32 compare(const struct xdd_fixed *fixed, u32 placement, u32 batch, struct tree_local *l,
		   struct xdd_store *other)
{
	u64 seed = 7, tick = 1 << 20;
	u32 differ = 0;

	open_tree(l, fixed);
	open_store(other, fixed, placement);
	for (u32 round = 0; round < 20000 / batch; round++) {
		struct xdd_digest digests[64];
		u64 ticks[64];
		u32 leaf = random_below(&seed, fixed->tree_leaves), n;

		n = 1 + random_below(&seed, batch);
		for (u32 i = 0; i < n; i++) {
			digests[i] = digest_of(random_below(&seed, KEYS) *
					       random_below(&seed, KEYS) / KEYS);
			tick += fixed->engine == XDD_ENGINE_timer ? step(&seed) : 0;
			ticks[i] = tick;
		}
		differ += ask(l, leaf, digests, ticks, n, other);
	}
	return differ;
}

/* Sparse and dense trees of any depth decide as one filter (Prop. 3 and 4), with and without timers and batches. */
static void test_one_filter(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * XDD_TREE_MAX * 3 * 2; i++) {
		struct xdd_fixed fixed = tree(engines[i % 2], 16, i / 2 % 2, 2 + i / 4 % 3, 0);
		struct tree_local l = {};
		struct xdd_store one;
		u64 hits = 0;

		assert_int_equal(compare(&fixed, XDD_PLACEMENT_percpu, i < 12 ? 1 : 64, &l, &one),
				 0);
		for (u32 level = 0; level < fixed.levels; level++)
			hits += tree_local_counts(&l, level).level.hits;
		assert_true(hits > 2000);
		store_close(&one);
		tree_local_close(&l);
	}
}

/* One key at a time: hits and visits of each level are those of placement tree; root's are the closed forms. */
static void test_accesses(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * XDD_TREE_MAX; i++) {
		struct xdd_fixed fixed = tree(engines[i % 2], 16, i / 2, 4, 0);
		struct tree_local l = {};
		struct xdd_store nodes;
		struct node_counts root;
		u64 misses = 0;

		assert_int_equal(compare(&fixed, XDD_PLACEMENT_tree, 1, &l, &nodes), 0);
		for (u32 level = 0; level < fixed.levels; level++) {
			struct node_counts got = tree_local_counts(&l, level);

			assert_memory_equal(&got.level, &nodes.tree.level[level],
					    sizeof(got.level));
		}
		root = tree_local_counts(&l, 0);
		misses = 20000;
		for (u32 level = 1; level < fixed.levels; level++)
			misses -= tree_local_counts(&l, level).level.hits;
		assert_int_equal(root.level.accesses,
				 i / 2 == XDD_TREE_dense ? misses : misses + root.distinct);
		store_close(&nodes);
		tree_local_close(&l);
	}
}

/* Top-down testing decides as placement tree does, in batches, too: it refutes matches, and misses no copy. */
static void test_top_down(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * XDD_TREE_MAX * 3; i++) {
		struct xdd_fixed fixed = tree(engines[i % 2], 16, i / 2 % 2, 4, 1 + i / 4);
		struct tree_local l = {};
		struct xdd_store nodes;

		assert_int_equal(compare(&fixed, XDD_PLACEMENT_tree, 1, &l, &nodes), 0);
		assert_true(tree_local_counts(&l, 0).level.refuted > 10);
		assert_int_equal(tree_local_counts(&l, 0).unconfirmed, 0);
		store_close(&nodes);
		tree_local_close(&l);
	}
}

/* A root whose slices are on four sites decides as one filter, and with top-down testing as placement tree. */
static void test_sliced_root(void **state)
{
	(void)state;
	for (u32 i = 0; i < 8; i++) {
		u32 engine = i < 3 ? XDD_ENGINE_timer : XDD_ENGINE_bloom;
		u32 down = i > 5 ? i - 5 : 0, placement;
		struct xdd_fixed fixed = tree(engine, 16, i > 4 && i != 6, 3, down);
		struct tree_local l = {};
		struct xdd_store other;

		fixed.slices = 16;
		fixed.slicing = XDD_SLICING_vertical;
		placement = down ? XDD_PLACEMENT_tree : XDD_PLACEMENT_percpu;
		assert_int_equal(compare(&fixed, placement, down || i % 2 ? 1 : 64, &l, &other), 0);
		assert_true(tree_local_counts(&l, 0).level.hits > 400);
		assert_true(l.traffic[0].messages > 100);
		if (down)
			assert_true(tree_local_counts(&l, 0).level.refuted > 10);
		store_close(&other);
		tree_local_close(&l);
	}
}

/* What a sliced root cannot do is refused. */
static void test_sliced_wrong(void **state)
{
	struct xdd_fixed fixed = tree(XDD_ENGINE_timer, 16, XDD_TREE_dense, 3, 0);

	(void)state;
	fixed.slices = 16;
	fixed.slicing = XDD_SLICING_vertical;
	assert_non_null(node_root_wrong(&fixed));
	fixed.tree = XDD_TREE_sparse;
	assert_null(node_root_wrong(&fixed));
	fixed.top_down = 1;
	assert_non_null(node_root_wrong(&fixed));
	fixed = tree(XDD_ENGINE_bloom, 16, XDD_TREE_dense, 3, 1);
	assert_non_null(node_root_wrong(&fixed));
}

/* A leaf that is filled from the root forgets when the root does, not a window later. */
static void test_least_timer(void **state)
{
	struct xdd_fixed fixed = tree(XDD_ENGINE_timer, 256, XDD_TREE_dense, 2, 0);
	struct xdd_digest key = digest_of(5);
	u64 at = 1000, last = at + WINDOW - 1, past = at + WINDOW;
	struct tree_local l = {};
	struct node *leaf[2];

	(void)state;
	open_tree(&l, &fixed);
	for (u32 i = 0; i < 2; i++)
		leaf[i] = tree_local_node(&l, 1, i);
	node_start(leaf[0], &key, &at, 1);
	tree_local_finish(&l, 0);
	assert_false(node_seen(leaf[0], 0));
	for (u32 i = 0; i < 2; i++) {
		node_start(leaf[1], &key, &last, 1);
		tree_local_finish(&l, 1);
		assert_true(node_seen(leaf[1], 0));
	}
	assert_int_equal(tree_local_counts(&l, 0).level.hits, 1);
	assert_int_equal(tree_local_counts(&l, 1).level.hits, 1);
	node_start(leaf[1], &key, &past, 1);
	tree_local_finish(&l, 1);
	assert_false(node_seen(leaf[1], 0));
	tree_local_close(&l);
}

/* Messages under way, which are lost, come twice or in another order. */
#define UNDER_WAY 64

struct letter {
	u32 to, peer;
	size_t bytes;
	u8 *message;
};

struct post {
	struct tree_local l;
	struct letter letters[UNDER_WAY];
	u32 n;
	u64 seed, lost, twice;
};

static void post_send(struct post *post, u32 from, u32 peer, u32 to, u32 back)
{
	struct node *node = post->l.nodes[from];
	size_t bytes = node_answer(node, peer, post->l.message)
			       ?: node_question(node, peer, post->l.message);
	struct letter *letter = &post->letters[post->n];

	if (!bytes)
		return;
	if (post->n == UNDER_WAY || !random_below(&post->seed, 10)) {
		post->lost++;
		return;
	}
	*letter = (struct letter){ to, back, bytes, malloc(bytes) };
	memcpy(letter->message, post->l.message, bytes);
	post->n++;
}

static void post_deliver(struct post *post)
{
	u32 i = random_below(&post->seed, post->n);
	struct letter *letter = &post->letters[i];

	node_take(post->l.nodes[letter->to], letter->peer, letter->message, letter->bytes);
	if (!random_below(&post->seed, 10)) {
		post->twice++;
		return;
	}
	free(letter->message);
	*letter = post->letters[--post->n];
}

/* Something happens at a link: a message is sent, one arrives, or patience ends. */
static void post_step(struct post *post)
{
	u32 child = 1 + random_below(&post->seed, post->l.n - 1), parent = (child - 1) / 2;
	u32 number = (child - 1) % 2, pick = random_below(&post->seed, 20);

	if (post->n && pick < 8)
		post_deliver(post);
	else if (pick < 12)
		post_send(post, child, NODE_PARENT, parent, number);
	else if (pick < 18)
		post_send(post, parent, number, child, NODE_PARENT);
	else if (pick == 18)
		node_again(post->l.nodes[child], NODE_PARENT);
	else
		node_again(post->l.nodes[parent], number);
}

static bool all_done(const struct post *post)
{
	bool done = true;

	for (u32 leaf = 0; leaf < post->l.fixed.tree_leaves; leaf++)
		done &= node_done(tree_local_node(&post->l, post->l.fixed.levels - 1, leaf));
	return done;
}

/* All leaves show the same @n new keys at once: each is passed once. Returns how many nobody passed: the filter errs. */
static u32 all_at_once(struct post *post, u64 first, u64 tick, u32 n)
{
	const struct xdd_fixed *fixed = &post->l.fixed;
	struct xdd_digest digests[64];
	u32 nobody = 0;
	u64 ticks[64];

	for (u32 i = 0; i < n; i++) {
		digests[i] = digest_of(first + i);
		ticks[i] = tick;
	}
	for (u32 leaf = 0; leaf < fixed->tree_leaves; leaf++)
		node_start(tree_local_node(&post->l, fixed->levels - 1, leaf), digests, ticks, n);
	while (!all_done(post))
		post_step(post);
	for (u32 i = 0; i < n; i++) {
		u32 passed = 0;

		for (u32 leaf = 0; leaf < fixed->tree_leaves; leaf++)
			passed += !node_seen(tree_local_node(&post->l, fixed->levels - 1, leaf), i);
		assert_in_range(passed, 0, 1);
		nobody += !passed;
	}
	return nobody;
}

/* Of several leaves that show a key at once one passes it, whatever becomes of messages; with top-down testing, too,
 * though the root errs.
 */
static void test_at_once(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * XDD_TREE_MAX * 3; i++) {
		u32 top_down = i / 4;
		struct xdd_fixed fixed = tree(engines[i % 2], 16, i / 2 % 2, 3, top_down);
		struct post *post = calloc(1, sizeof(*post));
		u32 nobody = 0, keys = 0;

		open_tree(&post->l, &fixed);
		post->seed = i + 1;
		for (u32 round = 0; round < 150; round++) {
			u32 n = 1 + random_below(&post->seed, 30);

			nobody += all_at_once(post, keys, 1000 + round, n);
			keys += n;
		}
		assert_true(post->lost > 200 && post->twice > 200);
		assert_true(tree_local_counts(&post->l, 0).repeated > 50);
		assert_int_equal(tree_local_counts(&post->l, 0).refused, 0);
		assert_true(nobody < keys / 4 && (top_down || nobody > 100));
		if (top_down && fixed.tree == XDD_TREE_sparse)
			assert_true(tree_local_counts(&post->l, 0).level.refuted > 20);
		while (post->n)
			free(post->letters[--post->n].message);
		tree_local_close(&post->l);
		free(post);
	}
}

/* Ask one key at a leaf; whether it is a copy. */
static bool ask_one(struct tree_local *l, u32 leaf, u64 key, u64 tick)
{
	struct node *node = tree_local_node(l, l->fixed.levels - 1, leaf);
	struct xdd_digest digest = digest_of(key);

	node_start(node, &digest, &tick, 1);
	tree_local_finish(l, leaf);
	return node_seen(node, 0);
}

/* Without its parent a node decides by its own filter, or by policy; what it has passed its children know. */
static void test_failed_parent(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2 * XDD_TREE_MAX * 2; i++) {
		struct xdd_fixed fixed = tree(engines[i % 2], 256, i / 2 % 2, 3, 0);
		bool drop = i / 4;
		struct tree_local l = {};

		fixed.fault_policy = drop ? XDD_FAULTS_duplicate : XDD_FAULTS_distinct;
		open_tree(&l, &fixed);
		assert_false(ask_one(&l, 0, 1, 1000));
		assert_true(ask_one(&l, 3, 1, 1000));
		tree_local_fail(&l, 0);
		assert_int_equal(ask_one(&l, 0, 2, 1000), drop);
		assert_true(ask_one(&l, 0, 1, 1000)); /* the leaf has it */
		assert_int_equal(ask_one(&l, 0, 2, 1000), true);
		assert_int_equal(ask_one(&l, 1, 2, 1000), true);
		assert_int_equal(ask_one(&l, 3, 2, 1000), drop);
		assert_int_equal(tree_local_counts(&l, 1).alone, drop ? 4 : 2);
		assert_int_equal(tree_local_recover(&l, 0), 0);
		assert_false(ask_one(&l, 0, 3, 1000));
		assert_true(ask_one(&l, 3, 3, 1000));
		assert_int_equal(ask_one(&l, 2, 2, 1000), !drop);
		assert_int_equal(tree_local_counts(&l, 1).alone, drop ? 4 : 2);
		tree_local_close(&l);
	}
}

/* Who asks again what its parent is to hear from the root is told to wait, then, and only while that is so. */
static void test_wait(void **state)
{
	struct xdd_fixed fixed = tree(XDD_ENGINE_bloom, 256, XDD_TREE_dense, 3, 0);
	u8 asked[SITES_MESSAGE_MAX], said[SITES_MESSAGE_MAX];
	struct xdd_digest key = digest_of(1);
	struct node *leaf, *middle;
	struct tree_local l = {};
	size_t asks, says;
	u64 tick = 1000;

	(void)state;
	open_tree(&l, &fixed);
	leaf = tree_local_node(&l, 2, 0);
	middle = tree_local_node(&l, 1, 0);
	assert_int_equal(node_start(leaf, &key, &tick, 1), 0);
	asks = node_question(leaf, NODE_PARENT, asked);
	assert_int_equal(node_take(middle, 0, asked, asks), 0);
	assert_int_equal(node_answer(middle, 0, said), 0);
	assert_int_equal(node_take(middle, 0, asked, asks), 0);
	says = node_answer(middle, 0, said);
	assert_int_equal(says, CALL_HEADER + CALL_TAG);
	assert_int_equal(node_answer(middle, 0, l.message), 0);
	assert_int_equal(node_take(leaf, NODE_PARENT, said, says), 0);
	assert_true(node_waits(leaf, NODE_PARENT));
	assert_int_equal(node_take(middle, 0, said, says), -ENOENT);
	node_fail(middle, NODE_PARENT);
	tree_local_carry(&l, tree_local_number(&l, 1, 0), 0);
	assert_true(node_done(leaf));
	assert_false(node_seen(leaf, 0));
	assert_int_equal(node_take(leaf, NODE_PARENT, said, says), -EALREADY);
	assert_int_equal(node_counts(middle)->alone, 1);
	assert_int_equal(node_counts(leaf)->alone, 0);
	tree_local_close(&l);
}

/* What cannot be looked for below, since a child has failed, stands: no copy is passed. */
static void test_failed_child(void **state)
{
	struct xdd_fixed fixed = tree(XDD_ENGINE_bloom, 256, XDD_TREE_sparse, 3, 2);
	struct tree_local l = {};

	(void)state;
	open_tree(&l, &fixed);
	assert_false(ask_one(&l, 0, 1, 1000));
	assert_false(ask_one(&l, 0, 2, 1000)); /* now the root knows that 1 has arrived */
	assert_true(ask_one(&l, 3, 1, 1000));
	tree_local_fail(&l, tree_local_number(&l, 1, 0));
	assert_true(ask_one(&l, 3, 1, 1000));
	assert_true(ask_one(&l, 3, 1, 1000));
	assert_int_equal(tree_local_counts(&l, 0).unconfirmed, 2);
	assert_int_equal(tree_local_recover(&l, tree_local_number(&l, 1, 0)), 0);
	assert_false(ask_one(&l, 0, 3, 1000));
	assert_true(ask_one(&l, 3, 3, 1000));
	assert_int_equal(tree_local_counts(&l, 0).unconfirmed, 2);
	tree_local_close(&l);
}

/* Cut, changed, made-up and other trees' messages are refused, and a node goes on. */
static void test_damage(void **state)
{
	struct xdd_fixed fixed = tree(XDD_ENGINE_timer, 16, XDD_TREE_dense, 2, 1), others;
	struct xdd_digest digests[2] = { digest_of(1), digest_of(2) };
	u64 seed = 3, ticks[2] = { 1000, 999 };
	struct tree_local l = {}, other = {};
	struct node *root, *leaf;
	u8 message[512];
	size_t bytes;

	(void)state;
	open_tree(&l, &fixed);
	root = tree_local_node(&l, 0, 0);
	leaf = tree_local_node(&l, 1, 0);
	node_start(leaf, digests, ticks, 2);
	bytes = node_question(leaf, NODE_PARENT, message);
	assert_in_range(bytes, 50, sizeof(message));
	for (u32 i = 0; i < bytes; i++) {
		u8 old = message[i];

		assert_true(node_take(root, 0, message, i) < 0);
		message[i] ^= 1 + random_below(&seed, 255);
		assert_true(node_take(root, 0, message, bytes) < 0);
		message[i] = old;
	}
	assert_int_equal(node_counts(root)->refused, 2 * bytes);
	others = fixed;
	others.top_down = 0;
	open_tree(&other, &others);
	assert_int_equal(node_take(tree_local_node(&other, 0, 0), 0, message, bytes), -EBADMSG);
	tree_local_close(&other);
	assert_int_equal(node_take(leaf, NODE_PARENT, message, bytes), -ENOENT);
	assert_int_equal(node_counts(root)->level.accesses, 0);
	assert_int_equal(node_take(root, 0, message, bytes), 0);
	assert_int_equal(node_take(root, 0, message, bytes), 0);
	assert_int_equal(node_counts(root)->level.accesses, 2);
	tree_local_finish(&l, 0);
	assert_false(node_seen(leaf, 0) || node_seen(leaf, 1));
	assert_int_equal(node_take(root, 0, message, bytes), 0);
	assert_int_equal(node_counts(root)->level.accesses, 2);
	tree_local_close(&l);
}

/* Give the root of @l a question by @from about a key at @cells, of number @sequence. */
static int give(struct tree_local *l, u64 from, u64 sequence, const u64 *cells, u32 n)
{
	u64 alike = node_fingerprint(&l->fixed, WINDOW);
	struct wire_key key = { { alike, ~alike } };
	struct node *root = tree_local_node(l, 0, 0);
	struct call_head head = { CALL_QUESTION, from, node_id(root), sequence };
	struct sites_item item = { .n = n, .tick = 1000 };
	u8 message[512];
	size_t bytes;

	memcpy(item.cell, cells, sizeof(item.cell));
	bytes = sites_put_question(&item, 1, message + CALL_HEADER);
	return node_take(root, 0, message, call_seal(&key, &head, message, bytes));
}

/* Places that a filter has not are refused, also by who knows the key, and what is late does nothing. */
static void test_places(void **state)
{
	struct xdd_fixed fixed = tree(XDD_ENGINE_bloom, 16, XDD_TREE_dense, 2, 0);
	u64 within[XDD_MAX_HASHES] = { 1, 2, 3, 16 * 500 - 1 };
	u64 beyond[XDD_MAX_HASHES] = { 1, 2, 3, 16 * 500 };
	struct tree_local l = {};

	(void)state;
	open_tree(&l, &fixed);
	assert_int_equal(give(&l, 99, 1, beyond, 4), -ERANGE);
	assert_int_equal(give(&l, 99, 2, within, 4), 0);
	assert_int_equal(give(&l, 99, 3, within, 3), -ERANGE);
	assert_int_equal(give(&l, 99, 1, within, 4), -EALREADY);
	assert_int_equal(tree_local_counts(&l, 0).level.accesses, 1);
	assert_int_equal(give(&l, 98, 1, within, 4), 0);
	assert_int_equal(tree_local_counts(&l, 0).level.accesses, 2);
	assert_int_equal(tree_local_counts(&l, 0).level.hits, 1);
	tree_local_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_filter),   cmocka_unit_test(test_accesses),
		cmocka_unit_test(test_top_down),     cmocka_unit_test(test_least_timer),
		cmocka_unit_test(test_at_once),	     cmocka_unit_test(test_sliced_root),
		cmocka_unit_test(test_sliced_wrong), cmocka_unit_test(test_failed_parent),
		cmocka_unit_test(test_failed_child), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_places),	     cmocka_unit_test(test_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

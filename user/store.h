/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A filter in heap memory, asked by one thread: captures, streams, tests. */
#ifndef USER_STORE_H
#define USER_STORE_H

#include "xdd/age.h"
#include "xdd/audit.h"
#include "xdd/config.h"
#include "xdd/growth.h"
#include "xdd/hash.h"
#include "xdd/packet.h"
#include "xdd/replica.h"
#include "xdd/store.h"
#include "xdd/top.h"
#include "xdd/tree.h"

struct xdd_verdict;

/* Placement tree: the filters of all nodes lie in lines, level by level from the root. */
struct store_tree {
	u32 leaf;			    /* which one asks */
	u64 first[XDD_TREE_MAX_LEVELS + 1]; /* node of each level, and how many there are */
	struct xdd_tree_level level[XDD_TREE_MAX_LEVELS];
};

/* Exact engine: an entry is free while its time is STORE_FREE. */
#define STORE_FREE (~0ULL)
#define STORE_FIRST_SIZE (1u << 14) /* entries of the smallest table */
#define STORE_LEAST_BYTES (STORE_FIRST_SIZE * sizeof(struct store_entry))

struct store_entry {
	struct xdd_digest digest;
	u64 time_ns;
};

/* Of a chain: what is known without counting its live cells. */
struct store_growth {
	u64 inserted;	  /* since they were counted */
	u64 enough;	  /* insertions after which it may be full */
	u64 expires_tick; /* by then its oldest filter, but the newest, is empty; 0: it has none */
};

struct xdd_store {
	struct xdd_fixed fixed;
	struct xdd_live live;
	struct xdd_secret secret;
	u64 random; /* bit engines: the next question's, before it is mixed */
	struct xdd_loads loads;
	struct store_tree tree;
	struct xdd_health *health; /* xdd_healths() of them if there is a policy, else NULL */
	struct xdd_top *top;	   /* XDD_TOP_BUCKETS */
	struct xdd_line *lines; /* line engines: blocks x lines_per_block x filters, of each node */
	u32 filters;		/* xdd_filters() */
	struct xdd_chain *chains;    /* xdd_chains() of a filter that grows, behind its lines */
	struct store_growth *growth; /* ... and when to look at each of them again */
	u32 filters_most;	     /* ... that were live at once in one of them */
	struct store_entry *entries; /* exact: open addressing, size a power of two */
	u64 *suppressed; /* exact, with live.max_suppress at opening: of each entry, else NULL */
	size_t size;
	size_t used;
	size_t max_size; /* entries beyond which old ones are forgotten */
	u64 latest_ns;
	struct store_entry *log; /* exact: keys that left the table, in that order */
	size_t logged, log_room;
	u64 logged_ns; /* the latest time among them */
	bool keep_all; /* time stepped back once: no key leaves any more */
	bool in_order; /* set by who knows that time never steps back: none needs to be kept for it */
	u64 forgotten;			/* exact: live keys given up for want of memory */
	u64 evictions;			/* tagged, recovery: live cells, or streams, replaced */
	u64 rogue;			/* recovery: numbers outside their stream's history */
	u64 time_back;			/* look-ups behind their line's tick */
	struct xdd_audit_bucket *audit; /* fixed.audit_buckets of them, or NULL */
	struct xdd_audit_counts audit_counts;
	struct xdd_distances distances;
	u64 *replicas; /* with fixed.peers, the caller's: as map `replicas` */
	struct xdd_peer_gate peer_gate;
	u64 *watch;	/* level 1 of a watch set, which the caller owns (tests) */
	u64 unanswered; /* batches: questions that found no memory, taken for distinct */
};

/* A window without an end, for the exact engine; time, in any unit, stays below half of it. */
#define STORE_FOREVER_NS (1ULL << 62)

/*
 * Make the filter that @fixed and @live describe, with hash secrets drawn from fixed->seed.
 * @memory_bytes bounds the exact engine, which grows as needed (at least 1 MiB is used).
 *
 * Returns 0, -EINVAL for a configuration out of range, or -ENOMEM. store_close() frees.
 */
int store_open(struct xdd_store *store, const struct xdd_fixed *fixed, const struct xdd_live *live,
	       u64 memory_bytes);
void store_close(struct xdd_store *store);

/* The verdict on @packet at @now_ns, the packet's own time. */
struct xdd_verdict store_decide(struct xdd_store *store, const struct xdd_packet *packet,
				u64 now_ns);

/*
 * Let part @part (below xdd_parts()) of a store with a --fault-policy fail, or come back, empty, at
 * @now_ns, which health_recover() says more of.
 */
void store_fail(struct xdd_store *store, u32 part);
void store_recover(struct xdd_store *store, u32 part, u64 now_ns);

/* Let the parts that a file held damaged come back, empty, at @now_ns. */
void store_restored(struct xdd_store *store, u64 now_ns);

/* Count the cells of the line engines that are live at @now_ns into @fill. */
void store_fill(const struct xdd_store *store, u64 now_ns, struct xdd_fill *fill);

/* Bytes of the lines of a line engine of structure @fixed, and of the chains behind them with what
 * belongs to them.
 */
u64 store_lines_bytes(const struct xdd_fixed *fixed);

/*
 * Of a filter that grows: what the ager does on a NIC. store_grow() after each question about @digest
 * at @now_ns, of which @found was the answer: opens a filter where the newest is full, within a
 * hundredth of what it holds, and retires those that are empty. store_grow_all() does the latter for
 * chains that nobody asked lately.
 */
void store_grow(struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns, u32 found);
void store_grow_all(struct xdd_store *store, u64 now_ns);

/* Of a filter that grows: chain_fpr() at @now_ns, the mean over its chains. */
double store_growth_fpr(const struct xdd_store *store, u64 now_ns);

/* Filters that are live, the mean over the chains; 1 where none grows. */
double store_filters_live(const struct xdd_store *store);

/* The random number of the question @ahead questions after the next one: any two differ. */
XDD_INLINE u64 store_random_ahead(const struct xdd_store *store, u64 ahead)
{
	return xdd_mix64(store->random + ahead);
}

/* The random number of the next question. */
XDD_INLINE u64 store_random(struct xdd_store *store)
{
	return xdd_mix64(store->random++);
}

/* Share of the cells of each innermost slice that are live at @now_ns, engines timer and bloom:
 * xdd_slices_count() of them into @density.
 */
void store_densities(const struct xdd_store *store, u64 now_ns, double *density);

/*
 * Rebuild an exact engine's table as it was: room for @size entries and for @log_room of the log,
 * both powers of two of at least STORE_FIRST_SIZE, then each entry, in any order, and those of the
 * log in theirs. Return 0; -EINVAL for a size or an entry that no table has (one that is there
 * already, one too many); -ENOSPC for more than the store may take; -ENOMEM.
 */
int store_resize(struct xdd_store *store, u64 size, u64 log_room);
int store_put(struct xdd_store *store, const struct store_entry *entry);
int store_log(struct xdd_store *store, const struct store_entry *entry);

/* Share of the cells, bits or entries that are used at @now_ns. */
double store_load(struct xdd_store *store, u64 now_ns);

/* Cells of @cell_bits bits (1, 2, 4 or 8), in @n words of a bit engine, that are not 0. */
u64 store_cells_used(const u64 *words, u64 n, u32 cell_bits);

/*
 * Bits set in the part of filter @filter, 0..k-1, in @line of a bit engine whose k filters lie in line
 * (xdd_bits_in_line()).
 */
u32 store_part_ones(const struct xdd_fixed *fixed, const struct xdd_line *line, u32 filter);

/*
 * Add those of @n lines, one behind the other, to @ones of each of the k filters. Returns the sum over
 * the lines of the chance that a new key finds all its bits set there.
 */
double store_parts_ones(const struct xdd_fixed *fixed, const struct xdd_line *lines, u64 n,
			u64 ones[XDD_MAX_HASHES]);

/* Bytes of memory the filter holds now. */
u64 store_bytes(const struct xdd_store *store);

/* Fetch the memory that store_exact() will need. */
XDD_INLINE void store_exact_fetch(const struct xdd_store *store, const struct xdd_digest *digest)
{
	const struct store_entry *entry = &store->entries[digest->lo & (store->size - 1)];

	__builtin_prefetch(entry, 1);
	__builtin_prefetch(&entry->time_ns, 1);
}

/* Nodes of a tree of @fixed, or 1. 0: more than 2^32 - 1. */
u64 store_nodes(const struct xdd_fixed *fixed);

/* The node of @level above the leaf that asks. */
XDD_INLINE u32 store_tree_site(const struct xdd_store *store, u32 level)
{
	const u64 *first = store->tree.first;
	u32 leaves = store->fixed.tree_leaves;

	return store->tree.leaf * (first[level + 1] - first[level]) / leaves;
}

/* xdd_tree_confirmed(): as the paper goes down, a visit to each child of what has the key. */
bool store_tree_confirmed(struct xdd_store *store, const struct xdd_digest *digest,
			  const struct xdd_when *when, u32 level);

/* Whether the tree calls the key a duplicate when leaf @leaf asks at @now_ns. */
bool store_tree_ask(struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns, u32 leaf);

/* Share of the cells that are in use at @now_ns: of node @site of @level. */
double store_tree_load(const struct xdd_store *store, u64 now_ns, u32 level, u32 site);

/* xdd_exact_at() over the table. */
u64 *store_exact(struct xdd_store *store, const struct xdd_digest *digest, u64 now_ns, bool *fresh);

/* xdd_exact_count() of an entry, whose place in the table its time tells. */
XDD_INLINE u64 *store_exact_count(struct xdd_store *store, u64 *time)
{
	u64 bytes = (u8 *)time - (u8 *)store->entries;

	return store->suppressed ? &store->suppressed[bytes / sizeof(*store->entries)] : NULL;
}

/* xdd_exact_suppressed() over the table. */
u64 *store_exact_suppressed(struct xdd_store *store, const struct xdd_digest *digest);

#endif

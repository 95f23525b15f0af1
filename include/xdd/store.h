/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where filters live. The core reaches them only through these accessors, which the
 * includer defines: BPF over maps, the host over its heap.
 */
#ifndef XDD_STORE_H
#define XDD_STORE_H

#include "hash.h"
#include "key.h"
#include "line.h"

struct xdd_store;
struct xdd_lock;

/* Line @line of block @block, or NULL. */
extern struct xdd_line *xdd_line_at(struct xdd_store *store, u32 block, u32 line);

/* The lock of stripe @stripe (taken modulo their number), or NULL where there is none. */
extern struct xdd_lock *xdd_lock_at(struct xdd_store *store, u32 stripe);
extern void xdd_lock(struct xdd_lock *lock);
extern void xdd_unlock(struct xdd_lock *lock);

/* The exact engine's entry in the maps `digests` and `flows`. */
struct xdd_seen {
	u64 time_ns; /* when the key was last found distinct, the filter's clock */
};

/*
 * The exact engine's time of the key: last time it was found distinct, in nanoseconds.
 *
 * Returns NULL where there is no room; otherwise a pointer, with *@fresh true where the
 * entry was made by this call, with @now_ns in it, and by no other CPU.
 */
extern u64 *xdd_exact_at(struct xdd_store *store, const struct xdd_identity *identity, u64 now_ns,
			 bool *fresh);

/* What an engine is asked. */
struct xdd_question {
	const struct xdd_identity *identity;
	struct xdd_when when; /* line engines */
	u64 now_ns;	      /* exact engine */
	u64 window_ns;	      /* exact engine: inclusive */
};

#endif

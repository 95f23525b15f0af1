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
struct xdd_chain;
struct xdd_lock;
struct xdd_bits;

/* Line @line of block @block, or NULL. Where filters lie side by side, that of the first of them: the
 * others' follow.
 */
extern struct xdd_line *xdd_line_at(struct xdd_store *store, u32 block, u32 line);

/* Chain @part of the filter, or of this CPU's; or NULL (growth.h). */
extern struct xdd_chain *xdd_chain_at(struct xdd_store *store, u32 part);

/* The lock of stripe @stripe (taken modulo their number), or NULL where there is none. */
extern struct xdd_lock *xdd_lock_at(struct xdd_store *store, u32 stripe);
extern void xdd_lock(struct xdd_lock *lock);
extern void xdd_unlock(struct xdd_lock *lock);

/* The exact engine's entry in the maps `digests` and `flows`. */
struct xdd_seen {
	u64 time_ns;	/* when the key was last found distinct, the filter's clock */
	u64 suppressed; /* duplicates since then, with --max-suppress */
};

/*
 * The exact engine's time of the key: last time it was found distinct, in nanoseconds.
 *
 * Returns NULL where there is no room; otherwise a pointer, with *@fresh true where the
 * entry was made by this call, with @now_ns in it, and by no other CPU.
 */
extern u64 *xdd_exact_at(struct xdd_store *store, const struct xdd_identity *identity, u64 now_ns,
			 bool *fresh);

/* How many duplicates of the key were suppressed since that @time, which xdd_exact_at() returned, or
 * NULL where nobody asks for it (files without --max-suppress).
 */
extern u64 *xdd_exact_count(struct xdd_store *store, u64 *time);

/* What bit engines count beside their bits: of one CPU under per-CPU placement. */
struct xdd_loads {
	u64 ones[XDD_MAX_HASHES]; /* rlbsbf: bits set in each of the k filters */
	u64 events;		  /* rsbf: questions so far */
	u64 pad[7];
};

XDD_ASSERT(sizeof(struct xdd_loads) == 2 * XDD_LINE_BYTES, "xdd_loads has no holes");

/* The filter's, or this CPU's, entry in the maps `loads` and `cpu_loads`; or NULL. */
extern struct xdd_loads *xdd_loads_at(struct xdd_store *store);

/* @line / XDD_CPU_BLOCK_LINES of a line below 2^31 (128 GiB of one CPU), without the division that
 * BPF compilers leave in.
 */
XDD_INLINE u32 xdd_cpu_block(u32 line)
{
	const u64 inverse = (1ULL << 40) / XDD_CPU_BLOCK_LINES + 1;

	return line * inverse >> 40;
}

/* Line @number of the filter, counted through its blocks, or NULL. */
XDD_INLINE struct xdd_line *xdd_line_number(XDD_FIXED struct xdd_fixed *fixed,
					    struct xdd_store *store, u32 number)
{
	if (fixed->lines_per_block == 1)
		return xdd_line_at(store, number, 0);
	if (fixed->lines_per_block == XDD_CPU_BLOCK_LINES) {
		u32 block = xdd_cpu_block(number);

		return xdd_line_at(store, block, number - block * XDD_CPU_BLOCK_LINES);
	}
	return xdd_line_at(store, number / fixed->lines_per_block, number % fixed->lines_per_block);
}

/* The line that the key of @digest picks, for engines that keep all of it in one; its block in
 * *@block. NULL where it is missing.
 */
XDD_INLINE struct xdd_line *xdd_line_of(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
					const struct xdd_digest *digest, u32 *block)
{
	u32 rest, at;

	*block = xdd_range(digest->lo >> 32, fixed->blocks, &rest);
	at = xdd_range(rest, fixed->lines_per_block, &rest);
	return xdd_line_at(store, *block, at);
}

/* What an engine is asked. */
struct xdd_question {
	const struct xdd_identity *identity;
	const struct xdd_bits *own; /* bit engines: the key's */
	u64 random;		    /* bit engines: a new one for each question */
	struct xdd_when when;	    /* line engines */
	u64 now_ns;		    /* exact engine */
	u64 window_ns;		    /* exact engine: inclusive */
	bool doubted;		    /* some part of the filter is not to be believed (faults.h) */
};

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/batch.h"

#include "user/accessors.h"

/* How many events ahead the lines of the key are fetched, and those of the bits to be reset. */
#define AHEAD_OWN 32
#define AHEAD_RANDOM 16

struct batch {
	const struct xdd_digest *digests;
	u64 random[BATCH_MAX];
	u32 n;
	u64 now_ns;
	const u64 *times_ns; /* NULL: from now_ns on */
	bool *seen;
};

XDD_INLINE bool ask(const struct xdd_fixed *fixed, struct xdd_store *store,
		    const struct batch *batch, u32 i)
{
	u64 now_ns = batch->times_ns ? batch->times_ns[i] : batch->now_ns + i;
	struct xdd_identity identity;
	u32 found;

	/* No engine on the host looks at more of it. */
	identity.digest = batch->digests[i];
	found = xdd_ask(fixed, store, &identity, now_ns, store->live.window_ticks,
			store->live.window_ns, batch->random[i]);
	store->evictions += !!(found & XDD_EVICTED);
	store->time_back += !!(found & XDD_TIME_BACK);
	store->unanswered += !!(found & (XDD_MISSING | XDD_STALE));
	return found & XDD_SEEN;
}

XDD_INLINE void fetch(const struct xdd_bits *bits, u32 n)
{
	for (u32 i = 0; i < XDD_MAX_HASHES && i < n; i++)
		__builtin_prefetch(&bits->line[i]->word[bits->at[i] / 64], 1);
}

/* Where the engine will look. A wrong guess costs time, and changes no verdict. */
XDD_INLINE void locate(const struct xdd_fixed *fixed, struct xdd_store *store, u64 seed,
		       struct xdd_bits *bits)
{
	bool one_array = fixed->engine == XDD_ENGINE_bloom || fixed->engine == XDD_ENGINE_sbf;
	u32 lines = one_array ? xdd_bits_lines(fixed) : xdd_bits_filter_lines(fixed);

	xdd_bits_locate(fixed, store, seed, fixed->hashes, lines, one_array ? 0 : lines, bits);
}

XDD_INLINE void fetch_own(const struct xdd_fixed *fixed, struct xdd_store *store,
			  const struct batch *batch, u32 i)
{
	struct xdd_bits own;

	locate(fixed, store, batch->digests[i].lo, &own);
	fetch(&own, fixed->hashes);
}

/* What the event will reset: with most engines nothing, if the bits of its key are all set. */
XDD_INLINE void fetch_random(const struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct batch *batch, u32 i)
{
	bool always = fixed->engine == XDD_ENGINE_sbf || fixed->engine == XDD_ENGINE_rsbf;
	struct xdd_bits bits;

	if (fixed->engine == XDD_ENGINE_bloom)
		return;
	if (!always) {
		locate(fixed, store, batch->digests[i].lo, &bits);
		if (xdd_bits_all_set(fixed, &bits))
			return;
	}
	if (fixed->engine == XDD_ENGINE_sbf) {
		xdd_bits_locate(fixed, store, batch->random[i], 1, xdd_bits_lines(fixed), 0, &bits);
		fetch(&bits, 1);
	} else if (fixed->engine == XDD_ENGINE_bsbfsd) {
		xdd_bits_locate(fixed, store, batch->random[i], 1,
				xdd_bits_filter_lines(fixed) * fixed->hashes, 0, &bits);
		fetch(&bits, 1);
	} else {
		locate(fixed, store, batch->random[i], &bits);
		fetch(&bits, fixed->hashes);
	}
}

XDD_INLINE void ask_fetching(const struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct batch *batch)
{
	u32 n = batch->n;

	for (u32 i = 0; i < AHEAD_OWN && i < n; i++)
		fetch_own(fixed, store, batch, i);
	for (u32 i = 0; i < AHEAD_RANDOM && i < n; i++)
		fetch_random(fixed, store, batch, i);
	for (u32 i = 0; i < n; i++) {
		if (i + AHEAD_OWN < n)
			fetch_own(fixed, store, batch, i + AHEAD_OWN);
		if (i + AHEAD_RANDOM < n)
			fetch_random(fixed, store, batch, i + AHEAD_RANDOM);
		batch->seen[i] = ask(fixed, store, batch, i);
	}
}

/* The engine, and what it is mostly asked with, as constants. */
#define BATCH_ENGINE(name, memory, help)                                                    \
	static void ask_##name(struct xdd_store *store, const struct batch *batch)          \
	{                                                                                   \
		struct xdd_fixed fixed = store->fixed;                                      \
                                                                                            \
		fixed.engine = XDD_ENGINE_##name;                                           \
		if (XDD_MEMORY_##memory != XDD_MEMORY_bits || fixed.lines_per_block != 1 || \
		    fixed.placement != XDD_PLACEMENT_percpu) {                              \
			for (u32 i = 0; i < batch->n; i++)                                  \
				batch->seen[i] = ask(&fixed, store, batch, i);              \
			return;                                                             \
		}                                                                           \
		fixed.lines_per_block = 1;                                                  \
		fixed.placement = XDD_PLACEMENT_percpu;                                     \
		if (fixed.hashes == 2) {                                                    \
			fixed.hashes = 2;                                                   \
			ask_fetching(&fixed, store, batch);                                 \
		} else {                                                                    \
			ask_fetching(&fixed, store, batch);                                 \
		}                                                                           \
	}
XDD_ENGINES(BATCH_ENGINE)

#define BATCH_ROW(name, memory, help) ask_##name,
static void (*const asks[])(struct xdd_store *store,
			    const struct batch *batch) = { XDD_ENGINES(BATCH_ROW) };

static struct batch batch_make(struct xdd_store *store, const struct xdd_digest *digests, u32 n,
			       u64 now_ns, bool *seen)
{
	struct batch batch;

	batch.digests = digests;
	batch.n = n;
	batch.now_ns = now_ns;
	batch.times_ns = NULL;
	batch.seen = seen;
	for (u32 i = 0; i < n; i++)
		batch.random[i] = store_random(store);
	return batch;
}

void batch_ask(struct xdd_store *store, const struct xdd_digest *digests, u32 n, u64 now_ns,
	       bool *seen)
{
	struct batch batch = batch_make(store, digests, n, now_ns, seen);

	asks[store->fixed.engine](store, &batch);
}

void batch_ask_at(struct xdd_store *store, const struct xdd_digest *digests, const u64 *times_ns,
		  u32 n, bool *seen)
{
	struct batch batch = batch_make(store, digests, n, 0, seen);

	batch.times_ns = times_ns;
	asks[store->fixed.engine](store, &batch);
}

void batch_ask_plain(struct xdd_store *store, const struct xdd_digest *digests, u32 n, u64 now_ns,
		     bool *seen)
{
	struct batch batch = batch_make(store, digests, n, now_ns, seen);

	for (u32 i = 0; i < n; i++)
		seen[i] = ask(&store->fixed, store, &batch, i);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/batch.h"

#include "user/accessors.h"

/* How many events ahead the memory of the key is fetched, and that of the bits to be reset. */
#define AHEAD_OWN 48
#define AHEAD_NEAR 20
#define AHEAD_RANDOM 8
#define OWN_KEPT 64 /* a power of two above AHEAD_OWN */

struct batch {
	const struct xdd_digest *digests;
	const u64 *times_ns;
	u32 n;
	bool *seen;
	const struct batch_watch *watch; /* or NULL */
};

/* What is known beforehand about the events that come next. */
struct ahead {
	struct xdd_bits own[OWN_KEPT]; /* bit engines: of event i, at i % OWN_KEPT */
	u64 mark[OWN_KEPT];	       /* rlbsbf: the loads up to which it resets no bit */
};

XDD_INLINE bool count(struct xdd_store *store, u32 found)
{
	store->evictions += !!(found & XDD_EVICTED);
	store->time_back += !!(found & XDD_TIME_BACK);
	store->unanswered += !xdd_is_answer(found);
	return found & XDD_SEEN;
}

XDD_INLINE bool ask(const struct xdd_fixed *fixed, struct xdd_store *store,
		    const struct batch *batch, u32 i)
{
	struct xdd_identity identity;
	u32 found;

	/* No engine on the host looks at more of it. */
	identity.digest = batch->digests[i];
	found = xdd_ask(fixed, store, &identity, batch->times_ns[i], store->live.window_ticks,
			store->live.window_ns, store_random_ahead(store, i));
	if (xdd_grows(fixed))
		store_grow(store, &identity.digest, batch->times_ns[i], found);
	return count(store, found);
}

/* Whether rlbsbf may reset a bit for event @i; if not, it certainly does not. */
XDD_INLINE bool may_reset(const struct xdd_fixed *fixed, const struct xdd_store *store,
			  const struct ahead *ahead, u32 i)
{
	u64 most = 0;

	for (u32 k = 0; k < XDD_MAX_HASHES && k < fixed->hashes; k++)
		most = store->loads.ones[k] > most ? store->loads.ones[k] : most;
	return ahead->mark[i % OWN_KEPT] < most;
}

/* What rlbsbf does where it resets no bit. */
XDD_INLINE bool set_own(const struct xdd_fixed *fixed, struct xdd_store *store,
			const struct xdd_bits *own)
{
	if (xdd_bits_all_set(fixed, own))
		return true;
	for (u32 k = 0; k < XDD_MAX_HASHES && k < fixed->hashes; k++)
		store->loads.ones[k] += xdd_bits_set(fixed, own, k);
	return false;
}

/* ask() where the bits of the key are known. */
XDD_INLINE bool ask_located(const struct xdd_fixed *fixed, struct xdd_store *store,
			    const struct batch *batch, const struct ahead *ahead, u32 i)
{
	const struct xdd_bits *own = &ahead->own[i % OWN_KEPT];
	struct xdd_question question = { .own = own };
	struct xdd_identity identity;

	if (fixed->fault_policy) {
		identity.digest = batch->digests[i];
		question.identity = &identity;
		question.now_ns = batch->times_ns[i];
		question.doubted = xdd_doubted(fixed, store, question.now_ns);
	}
	if (fixed->engine == XDD_ENGINE_rlbsbf && !may_reset(fixed, store, ahead, i))
		return set_own(fixed, store, own);
	question.random = store_random_ahead(store, i);
	return count(store, xdd_answer(fixed, store, &question));
}

/* Into the second cache: of its misses, more are under way at once than of the first's. */
XDD_INLINE void fetch(const void *at)
{
	__builtin_prefetch(at, 0, 2);
}

XDD_INLINE void fetch_bits(const struct xdd_bits *bits, u32 n)
{
	for (u32 i = 0; i < XDD_MAX_HASHES && i < n; i++)
		fetch(&bits->line[i]->word[bits->at[i] / 64]);
}

XDD_INLINE void fetch_timers(const struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest)
{
	struct xdd_bits cells;
	u32 stripe;

	if (xdd_timer_locate(fixed, store, digest, &cells, &stripe))
		for (u32 i = 0; i < XDD_MAX_HASHES && i < fixed->hashes; i++)
			fetch(cells.line[i]);
}

/* The memory of the key of event @i. */
XDD_INLINE void fetch_own(const struct xdd_fixed *fixed, struct xdd_store *store,
			  const struct batch *batch, struct ahead *ahead, u32 i)
{
	const struct xdd_digest *digest = &batch->digests[i];
	struct xdd_bits *own = &ahead->own[i % OWN_KEPT];
	u32 block;

	if (xdd_engine_has_bits(fixed->engine)) {
		xdd_own_bits(fixed, store, digest, own);
		fetch_bits(own, fixed->hashes);
	} else if (fixed->engine == XDD_ENGINE_tagged) {
		fetch(xdd_line_of(fixed, store, digest, &block));
	} else if (fixed->engine == XDD_ENGINE_timer) {
		fetch_timers(fixed, store, digest);
	} else {
		store_exact_fetch(store, digest);
	}
}

/* Up to which loads rlbsbf resets no bit for an event with random number @random. */
XDD_INLINE u64 least_mark(const struct xdd_fixed *fixed, u64 random)
{
	u64 bits = xdd_bits_filter(fixed), least = ~0ULL;

	for (u32 k = 0; k < XDD_MAX_HASHES && k < fixed->hashes; k++) {
		u64 mark = xdd_rlbsbf_mark(bits, random, k);

		least = mark < least ? mark : least;
	}
	return least;
}

/* What event @i will reset. Guesses: a wrong one costs time, and changes no verdict. */
XDD_INLINE void fetch_random(const struct xdd_fixed *fixed, struct xdd_store *store,
			     struct ahead *ahead, u32 i)
{
	bool always = fixed->engine == XDD_ENGINE_sbf || fixed->engine == XDD_ENGINE_rsbf;
	u32 lines = xdd_bits_filter_lines(fixed), n = fixed->hashes, apart = lines;
	u64 random = store_random_ahead(store, i);
	struct xdd_bits bits;

	if (!xdd_engine_has_bits(fixed->engine) || fixed->engine == XDD_ENGINE_bloom)
		return;
	ahead->mark[i % OWN_KEPT] = 0; /* not drawn: copies need none */
	if (!always && xdd_bits_all_set(fixed, &ahead->own[i % OWN_KEPT]))
		return;
	if (fixed->engine == XDD_ENGINE_rlbsbf) {
		ahead->mark[i % OWN_KEPT] = least_mark(fixed, random);
		if (!may_reset(fixed, store, ahead, i))
			return;
	}
	if (xdd_bits_in_line(fixed)) /* those are the key's */
		return;
	if (fixed->engine == XDD_ENGINE_sbf || fixed->engine == XDD_ENGINE_bsbfsd) {
		lines = fixed->engine == XDD_ENGINE_sbf ? xdd_lines(fixed) : lines * n;
		n = 1;
	}
	xdd_bits_locate(fixed, store, random, n, lines, apart, &bits);
	fetch_bits(&bits, n);
}

/* From the second cache into the first, so that looking at them never waits behind the others. */
XDD_INLINE void fetch_near(const struct xdd_fixed *fixed, const struct ahead *ahead, u32 i)
{
	const struct xdd_bits *own = &ahead->own[i % OWN_KEPT];

	for (u32 k = 0; k < XDD_MAX_HASHES && k < fixed->hashes; k++)
		__builtin_prefetch(&own->line[k]->word[own->at[k] / 64], 0, 3);
}

XDD_INLINE void ask_fetching(const struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct batch *batch)
{
	const struct batch_watch *watch = batch->watch;
	bool bits = xdd_engine_has_bits(fixed->engine);
	struct ahead ahead;
	u32 n = batch->n;

	for (u32 i = 0; i < n + AHEAD_OWN; i++) {
		u32 random = i - (AHEAD_OWN - AHEAD_RANDOM), now = i - AHEAD_OWN;

		if (i < n)
			fetch_own(fixed, store, batch, &ahead, i);
		if (bits && i - (AHEAD_OWN - AHEAD_NEAR) < n)
			fetch_near(fixed, &ahead, i - (AHEAD_OWN - AHEAD_NEAR));
		if (random < n)
			fetch_random(fixed, store, &ahead, random);
		if (now < n && watch)
			watch->before(watch->context, store, &batch->digests[now],
				      batch->times_ns[now]);
		if (now < n)
			batch->seen[now] = bits ? ask_located(fixed, store, batch, &ahead, now)
						: ask(fixed, store, batch, now);
	}
}

/* The engine, and what it is mostly asked with, as constants; one thread needs no atomic writes. */
#define BATCH_ENGINE(name, memory, help)                                           \
	static void ask_##name(struct xdd_store *store, const struct batch *batch) \
	{                                                                          \
		struct xdd_fixed fixed = store->fixed;                             \
                                                                                   \
		fixed.engine = XDD_ENGINE_##name;                                  \
		fixed.placement = XDD_PLACEMENT_percpu;                            \
		if (fixed.lines_per_block != 1 || fixed.hashes != 2) {             \
			ask_fetching(&fixed, store, batch);                        \
			return;                                                    \
		}                                                                  \
		fixed.lines_per_block = 1;                                         \
		fixed.hashes = 2;                                                  \
		ask_fetching(&fixed, store, batch);                                \
	}
XDD_ENGINES(BATCH_ENGINE)

#define BATCH_ROW(name, memory, help) ask_##name,
static void (*const asks[])(struct xdd_store *store,
			    const struct batch *batch) = { XDD_ENGINES(BATCH_ROW) };

/* The verdicts on keys of the sample. */
static void batch_audit(struct xdd_store *store, const struct batch *batch)
{
	const struct xdd_live *live = &store->live;
	struct xdd_identity identity = {};

	for (u32 i = 0; i < batch->n; i++) {
		identity.digest = batch->digests[i];
		if (xdd_audit_samples(&store->fixed, &identity.digest))
			xdd_audit(&store->fixed, store, &identity, batch->times_ns[i],
				  live->window_ticks, live->window_ns,
				  batch->seen[i] ? XDD_SEEN : 0);
	}
}

void batch_ask_watched(struct xdd_store *store, const struct xdd_digest *digests,
		       const u64 *times_ns, u32 n, bool *seen, const struct batch_watch *watch)
{
	const struct batch batch = { digests, times_ns, n, seen, watch };

	asks[store->fixed.engine](store, &batch);
	store->random += n;
	if (store->audit)
		batch_audit(store, &batch);
}

void batch_ask(struct xdd_store *store, const struct xdd_digest *digests, const u64 *times_ns,
	       u32 n, bool *seen)
{
	batch_ask_watched(store, digests, times_ns, n, seen, NULL);
}

void batch_ask_plain(struct xdd_store *store, const struct xdd_digest *digests, const u64 *times_ns,
		     u32 n, bool *seen)
{
	const struct batch batch = { digests, times_ns, n, seen, NULL };

	for (u32 i = 0; i < n; i++)
		seen[i] = ask(&store->fixed, store, &batch, i);
	store->random += n;
	if (store->audit)
		batch_audit(store, &batch);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The audit: the engine's verdicts on a sample of keys, compared with the truth.
 *
 * A key is in the sample by a hash of its digest, so all of its packets are, or none. A shadow
 * keeps, for each, when its window began: bounded, in buckets of a few keys. What the shadow had to
 * forget it does not guess: a key that may have been there is left out, and counted `excluded`.
 *
 * The truth is what engine `exact` would say with memory without end: a copy is a packet at most
 * a window from the one that began it. Engines with timers have their window in ticks: a copy is a
 * packet before which fewer ticks began. Those that are in the window but not in its ticks
 * are at the `edge`: neither verdict on them is an error. Bit engines have no window: a copy is a
 * packet of any key that came before.
 */
#ifndef XDD_AUDIT_H
#define XDD_AUDIT_H

#include "distance.h"
#include "store.h"

/* Keys in a bucket. */
#define XDD_AUDIT_WAYS 12

/* Packets of a key that are counted as a cluster; then another one begins. So sums of their squares
 * do not overflow.
 */
#define XDD_AUDIT_CLUSTER (1u << 20)

/*
 * X(name, help). The last six are sums over keys, from which the intervals follow: of a key, p packets
 * were called distinct, l distinct ones lost, m copies missed.
 */
#define XDD_AUDIT_COUNTS(X)                                                          \
	X(sampled, "packets of keys in the sample, whichever count they are in")     \
	X(tp, "copies that were called duplicate")                                   \
	X(fp, "distinct packets that were called duplicate: lost")                   \
	X(tn, "distinct packets that were called distinct")                          \
	X(fn, "copies that were called distinct: missed")                            \
	X(edge, "copies in the window but beyond its ticks, where neither is wrong") \
	X(excluded, "packets whose truth the shadow no longer knew")                 \
	X(races, "of tp and tn: verdicts that came in the other order than packets") \
	X(keys, "keys that these are of")                                            \
	X(sum_pp, "sum of p * p")                                                    \
	X(sum_ll, "sum of l * l")                                                    \
	X(sum_mm, "sum of m * m")                                                    \
	X(sum_lp, "sum of l * p")                                                    \
	X(sum_mp, "sum of m * p")                                                    \
	X(sum_lm, "sum of l * m")

#define XDD_AUDIT_COUNT_FIELD(name, help) u64 name;
struct xdd_audit_counts {
	XDD_AUDIT_COUNTS(XDD_AUDIT_COUNT_FIELD)
};

/* A key. All zero: free. */
struct xdd_audit_entry {
	u64 print;	/* tells it from other keys; not 0 */
	u64 at;		/* when its window began; of bit engines its rank */
	u64 suspect_ns; /* when a distinct packet was called duplicate last; 0: since then one was not */
	u32 passed, lost, missed; /* its p, l and m */
	u32 unsure;		  /* 1: its window began by `at`, nobody knows when */
};

struct xdd_audit_bucket {
	u64 lost; /* behind the latest `at` that was forgotten; 0: none was */
	struct xdd_audit_entry entry[XDD_AUDIT_WAYS];
};

XDD_ASSERT(sizeof(struct xdd_audit_bucket) == 8 + 40 * XDD_AUDIT_WAYS, "buckets have no holes");

/* Accessors: bucket @number, below fixed->audit_buckets, the counts, and where distances are counted on this
 * CPU, or NULL; and a bucket's lock.
 */
extern struct xdd_audit_bucket *xdd_audit_bucket_at(struct xdd_store *store, u32 number);
extern struct xdd_audit_counts *xdd_audit_counts_at(struct xdd_store *store);
extern struct xdd_distances *xdd_distances_at(struct xdd_store *store);
extern void xdd_audit_lock(struct xdd_audit_bucket *bucket);
extern void xdd_audit_unlock(struct xdd_audit_bucket *bucket);

/* A packet of the sample. */
struct xdd_audit_event {
	u64 print;
	u64 at;	   /* its time, or of bit engines the key's rank, */
	u64 reach; /* and how far apart copies are at most */
	u64 now_ns;
	u32 window_ticks;
	bool seen; /* the verdict */
};

/* Of a packet that is no copy, or of which that is not known. */
#define XDD_NO_DISTANCE (~0ULL)

enum xdd_truth { XDD_TRUTH_DISTINCT, XDD_TRUTH_DUPLICATE, XDD_TRUTH_EDGE };

/* Whether the key of @digest is in the sample. A multiplication is enough of a hash, of what is one. */
XDD_INLINE bool xdd_audit_samples(XDD_FIXED struct xdd_fixed *fixed,
				  const struct xdd_digest *digest)
{
	return (digest->lo * XDD_GOLDEN) >> 32 < fixed->audit_threshold;
}

/* Whether the shadow knows when a key's window began: of bit engines, which have none, it holds ranks. */
XDD_INLINE bool xdd_audit_has_times(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->audit_threshold && !xdd_engine_has_bits(fixed->engine);
}

/* Digests of different keys may agree in what the engine looks at; heads seldom do as well. */
XDD_INLINE u64 xdd_audit_print(XDD_FIXED struct xdd_fixed *fixed,
			       const struct xdd_identity *identity)
{
	const u64 *head = (const u64 *)(const void *)&identity->key.head;
	u64 print = identity->digest.lo;

	if (xdd_digest_is_wide(fixed))
		print = xdd_mix64(print + identity->digest.hi);
	for (u32 i = 0; i < sizeof(struct xdd_head) / sizeof(u64); i++)
		print = xdd_mix64(print + XDD_GOLDEN + head[i]);
	return print | !print;
}

XDD_INLINE void xdd_audit_count(u64 *count, u64 n)
{
	if (n)
		xdd_fetch_add64(count, n);
}

XDD_INLINE u64 xdd_apart(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* What @event is, of a key whose window began @at. */
XDD_INLINE enum xdd_truth xdd_audit_truth(XDD_FIXED struct xdd_fixed *fixed,
					  const struct xdd_audit_event *event, u64 at)
{
	bool inside = xdd_apart(event->at, at) <= event->reach;
	const u64 tick_ns = fixed->tick_ns;

	if (!xdd_engine_has_timers(fixed->engine))
		return inside ? XDD_TRUTH_DUPLICATE : XDD_TRUTH_DISTINCT;
	if (xdd_apart(event->at / tick_ns, at / tick_ns) < event->window_ticks)
		return XDD_TRUTH_DUPLICATE;
	return inside ? XDD_TRUTH_EDGE : XDD_TRUTH_DISTINCT;
}

/* Count another packet of a key: @passed as distinct, @lost, @missed, each 0, 1 or less one. */
XDD_INLINE void xdd_audit_add(struct xdd_audit_entry *entry, struct xdd_audit_counts *counts,
			      u64 passed, u64 lost, u64 missed)
{
	u64 p, l, m;

	if (entry->passed >= XDD_AUDIT_CLUSTER || entry->lost >= XDD_AUDIT_CLUSTER)
		entry->passed = entry->lost = entry->missed = 0;
	p = entry->passed;
	l = entry->lost;
	m = entry->missed;
	xdd_audit_count(&counts->keys, !(p | l));
	xdd_audit_count(&counts->sum_pp, (2 * p + passed) * passed);
	xdd_audit_count(&counts->sum_ll, (2 * l + lost) * lost);
	xdd_audit_count(&counts->sum_mm, (2 * m + missed) * missed);
	xdd_audit_count(&counts->sum_lp, l * passed + lost * p + lost * passed);
	xdd_audit_count(&counts->sum_mp, m * passed + missed * p + missed * passed);
	xdd_audit_count(&counts->sum_lm, l * missed + lost * m + lost * missed);
	entry->passed += passed;
	entry->lost += lost;
	entry->missed += missed;
}

/* A distinct packet begins a window. */
XDD_INLINE void xdd_audit_distinct(const struct xdd_audit_event *event,
				   struct xdd_audit_entry *entry, struct xdd_audit_counts *counts)
{
	entry->at = event->at;
	entry->unsure = 0;
	entry->suspect_ns = event->seen ? event->now_ns : 0;
	xdd_audit_add(entry, counts, !event->seen, event->seen, 0);
	xdd_audit_count(event->seen ? &counts->fp : &counts->tn, 1);
}

/*
 * Whether @event, a copy that was called distinct, is the packet that the engine saw first: another
 * CPU asked the engine later and came here earlier, and was called a duplicate of nothing. If so,
 * that one is a copy rightly found. This one read the clock no later than the other, or a moment.
 */
XDD_INLINE bool xdd_audit_raced(XDD_FIXED struct xdd_fixed *fixed,
				const struct xdd_audit_event *event,
				const struct xdd_audit_entry *entry)
{
	return fixed->audit_race_ns && entry->suspect_ns && entry->lost &&
	       event->now_ns <= entry->suspect_ns + fixed->audit_race_ns;
}

XDD_INLINE void xdd_audit_duplicate(XDD_FIXED struct xdd_fixed *fixed,
				    const struct xdd_audit_event *event,
				    struct xdd_audit_entry *entry, struct xdd_audit_counts *counts)
{
	if (fixed->refresh)
		entry->at = event->at;
	if (event->seen) {
		xdd_audit_count(&counts->tp, 1);
	} else if (xdd_audit_raced(fixed, event, entry)) {
		entry->suspect_ns = 0;
		xdd_audit_add(entry, counts, 1, -1ULL, 0);
		xdd_audit_count(&counts->fp, -1ULL);
		xdd_audit_count(&counts->tn, 1);
		xdd_audit_count(&counts->tp, 1);
		xdd_audit_count(&counts->races, 1);
	} else {
		xdd_audit_add(entry, counts, 1, 0, 1);
		xdd_audit_count(&counts->fn, 1);
	}
}

/* A packet of a key that the shadow has. Returns how far it is from the packet that began the window, if it is
 * a copy.
 */
XDD_INLINE u64 xdd_audit_known(XDD_FIXED struct xdd_fixed *fixed,
			       const struct xdd_audit_event *event, struct xdd_audit_entry *entry,
			       struct xdd_audit_counts *counts)
{
	enum xdd_truth truth = xdd_audit_truth(fixed, event, entry->at);
	u64 apart = xdd_apart(event->at, entry->at);

	if (entry->unsure && event->at <= entry->at + event->reach) {
		if (event->at > entry->at)
			entry->at = event->at;
		xdd_audit_count(&counts->excluded, 1);
		apart = XDD_NO_DISTANCE;
	} else if (truth == XDD_TRUTH_DISTINCT) {
		xdd_audit_distinct(event, entry, counts);
		apart = XDD_NO_DISTANCE;
	} else if (truth == XDD_TRUTH_DUPLICATE) {
		xdd_audit_duplicate(fixed, event, entry, counts);
	} else {
		if (!event->seen)
			entry->at = event->at;
		xdd_audit_count(&counts->edge, 1);
	}
	return apart;
}

/* The key of @print, or XDD_AUDIT_WAYS. */
XDD_INLINE u32 xdd_audit_find(const struct xdd_audit_bucket *bucket, u64 print)
{
	for (u32 i = 0; i < XDD_AUDIT_WAYS; i++) {
		if (*(volatile const u64 *)&bucket->entry[i].print == print)
			return i;
	}
	return XDD_AUDIT_WAYS;
}

/* A free entry, or the key whose window began first. Masks instead of branches, as in
 * engine_tagged.h; times are below 2^63.
 */
XDD_INLINE u32 xdd_audit_oldest(const struct xdd_audit_bucket *bucket)
{
	s64 best = *(volatile const s64 *)&bucket->entry[0].at;
	u64 at = 0;

	for (u64 i = 1; i < XDD_AUDIT_WAYS; i++) {
		s64 time = *(volatile const s64 *)&bucket->entry[i].at, less;

		less = (time - best) >> 63;
		xdd_opaque(less);
		best += (time - best) & less;
		at += (i - at) & less;
	}
	return at;
}

/* The latest that was forgotten, of @at and what was before. */
XDD_INLINE void xdd_audit_forget(struct xdd_audit_bucket *bucket, u64 at)
{
	if (at >= bucket->lost)
		bucket->lost = at + 1;
}

/*
 * A packet of a key that the shadow does not have. It takes the place of the oldest one, which is
 * forgotten; or, where itself is older (time stepped back, or its rank is lower), it is. So bit
 * engines' buckets keep the keys of highest rank, and know all about them, for ever.
 */
XDD_INLINE void xdd_audit_new(const struct xdd_audit_event *event, struct xdd_audit_bucket *bucket,
			      struct xdd_audit_counts *counts)
{
	bool unsure = bucket->lost && event->at < bucket->lost + event->reach;
	struct xdd_audit_entry *entry;
	u32 at = xdd_audit_oldest(bucket);

	xdd_opaque(at);
	if (at >= XDD_AUDIT_WAYS)
		return;
	entry = &bucket->entry[at];
	if (unsure)
		xdd_audit_count(&counts->excluded, 1);
	if (entry->print && event->at < entry->at) {
		xdd_audit_forget(bucket, event->at);
		if (!unsure)
			xdd_audit_count(&counts->excluded, 1);
		return;
	}
	if (entry->print)
		xdd_audit_forget(bucket, entry->at);
	entry->print = event->print;
	entry->at = event->at;
	entry->suspect_ns = 0;
	entry->passed = entry->lost = entry->missed = 0;
	entry->unsure = unsure;
	if (!unsure)
		xdd_audit_distinct(event, entry, counts);
}

/* Returns as xdd_audit_known(). */
XDD_INLINE u64 xdd_audit_enter(XDD_FIXED struct xdd_fixed *fixed,
			       const struct xdd_audit_event *event, struct xdd_audit_bucket *bucket,
			       struct xdd_audit_counts *counts)
{
	u32 at = xdd_audit_find(bucket, event->print);

	xdd_audit_count(&counts->sampled, 1);
	xdd_opaque(at);
	if (at < XDD_AUDIT_WAYS)
		return xdd_audit_known(fixed, event, &bucket->entry[at], counts);
	xdd_audit_new(event, bucket, counts);
	return XDD_NO_DISTANCE;
}

/*
 * Compare the verdict @found (enum xdd_found) on @identity, which is in the sample, at @now_ns with
 * the truth. The window is as xdd_ask() had it.
 */
XDD_INLINE void xdd_audit(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			  const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
			  u64 window_ns, u32 found)
{
	struct xdd_audit_event event = {
		.print = xdd_audit_print(fixed, identity),
		.at = now_ns,
		.reach = window_ns,
		.now_ns = now_ns,
		.window_ticks = window_ticks,
		.seen = found & XDD_SEEN,
	};
	u64 mix = xdd_mix64(event.print);
	struct xdd_audit_counts *counts = xdd_audit_counts_at(store);
	struct xdd_distances *distances;
	struct xdd_audit_bucket *bucket;
	u64 apart;

	if (xdd_engine_has_bits(fixed->engine)) {
		event.at = mix >> 1 | 1;
		event.reach = 0;
	}
	bucket = xdd_audit_bucket_at(store, mix & (fixed->audit_buckets - 1));
	if (!bucket || !counts)
		return;
	xdd_audit_lock(bucket);
	apart = xdd_audit_enter(fixed, &event, bucket, counts);
	xdd_audit_unlock(bucket);
	if (!xdd_audit_has_times(fixed) || apart == XDD_NO_DISTANCE)
		return;
	distances = xdd_distances_at(store);
	if (distances)
		xdd_distance_count(distances, apart);
}

/* Accessor: xdd_audit(), in BPF a function. Where peers were asked it records what they said, too, and
 * where only they were, nothing else: the own filter gave no verdict.
 */
extern void xdd_store_audit(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			    const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
			    u64 window_ns, u32 found);

#endif

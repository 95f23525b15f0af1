/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verdict on a packet. A new engine is a header with xdd_<name>_ask() and a row in
 * XDD_ENGINES (config.h); its include goes below.
 */
#ifndef XDD_DECIDE_H
#define XDD_DECIDE_H

#include "audit.h"
#include "engine_bloom.h"
#include "engine_bsbf.h"
#include "engine_bsbfsd.h"
#include "engine_exact.h"
#include "engine_recovery.h"
#include "engine_rlbsbf.h"
#include "engine_rsbf.h"
#include "engine_sbf.h"
#include "engine_tagged.h"
#include "engine_timer.h"
#include "repeat.h"
#include "replica.h"
#include "tree.h"
#include "watch.h"

struct xdd_verdict {
	u32 bypass; /* enum xdd_bypass; XDD_BYPASS_MAX: the filter was asked */
	u32 found;  /* enum xdd_found bits: XDD_SEEN is a duplicate */
	u32 inner;  /* enum xdd_inner */
	u32 class;  /* enum xdd_class, of a duplicate */
};

/* Whether the packet is a duplicate that nothing keeps. */
XDD_INLINE bool xdd_is_suppressed(struct xdd_verdict verdict)
{
	return verdict.bypass == XDD_BYPASS_MAX &&
	       (verdict.found & (XDD_SEEN | XDD_PASSES | XDD_LET_THROUGH)) == XDD_SEEN;
}

/* Whether the packet is one that the watch set keeps from being passed on. */
XDD_INLINE bool xdd_is_unwanted(struct xdd_verdict verdict)
{
	return verdict.bypass == XDD_BYPASS_watch && verdict.found & XDD_UNWANTED;
}

#define XDD_ASK_ENGINE(name, memory, help) \
	case XDD_ENGINE_##name:            \
		return xdd_##name##_ask(fixed, store, question);

/* Where the bits of the key of @digest lie. Returns false where a line is missing. */
XDD_INLINE bool xdd_own_bits(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, struct xdd_bits *own)
{
	if (fixed->engine == XDD_ENGINE_bloom)
		return xdd_slices_locate(fixed, store, digest, own);
	if (fixed->engine == XDD_ENGINE_sbf)
		return xdd_bits_own_anywhere(fixed, store, digest, own);
	return xdd_bits_own(fixed, store, digest, own);
}

/* The engine's answer, as enum xdd_found bits. */
XDD_INLINE u32 xdd_answer(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			  struct xdd_question *question)
{
	switch (fixed->engine) {
		XDD_ENGINES(XDD_ASK_ENGINE)
	}
	return XDD_MISSING;
}

/* The answer of an engine whose slices may fail, while some have. Of those alone: the code of the others
 * would be in the program twice, and take stack there that kernel 6.1 has no room for.
 */
XDD_INLINE u32 xdd_answer_doubted(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				  struct xdd_question *question)
{
	switch (fixed->engine) {
	case XDD_ENGINE_tagged:
		return xdd_tagged_ask(fixed, store, question);
	case XDD_ENGINE_timer:
		return xdd_timer_ask(fixed, store, question);
	case XDD_ENGINE_bloom:
		return xdd_bloom_ask(fixed, store, question);
	}
	return XDD_MISSING;
}

/*
 * The engine's answer on @identity at @now_ns (any clock that does not jump; ticks are
 * @now_ns / fixed->tick_ns), as enum xdd_found bits. @random: any 64 bits that differ from question
 * to question, for the bit engines. @doubted: xdd_doubted() at @now_ns.
 */
XDD_INLINE u32 xdd_ask_as(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			  const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
			  u64 window_ns, u64 random, bool doubted)
{
	struct xdd_question about = {
		.identity = identity,
		.now_ns = now_ns,
		.window_ns = window_ns,
		.random = random,
		.doubted = doubted,
	};
	struct xdd_bits own;

	if (xdd_engine_has_timers(fixed->engine))
		about.when = xdd_when(now_ns / fixed->tick_ns, window_ticks);
	if (xdd_engine_has_bits(fixed->engine)) {
		if (!xdd_own_bits(fixed, store, &identity->digest, &own))
			return XDD_MISSING;
		about.own = &own;
	}
	return doubted ? xdd_answer_doubted(fixed, store, &about)
		       : xdd_answer(fixed, store, &about);
}

/* The same where that is not known yet. */
XDD_INLINE u32 xdd_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
		       const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
		       u64 window_ns, u64 random)
{
	return xdd_ask_as(fixed, store, identity, now_ns, window_ticks, window_ns, random,
			  xdd_doubted(fixed, store, now_ns));
}

/* The same where the filters are a tree. */
XDD_INLINE u32 xdd_ask_tree(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			    const struct xdd_digest *digest, u64 now_ns, u32 window_ticks)
{
	struct xdd_when when = {};

	if (xdd_engine_has_timers(fixed->engine))
		when = xdd_when(now_ns / fixed->tick_ns, window_ticks);
	return xdd_tree_ask(fixed, store, digest, &when);
}

/* Accessor: xdd_ask_peers(), and unless they have it xdd_ask() or xdd_ask_tree(), in BPF functions. */
extern u32 xdd_store_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			 const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
			 u64 window_ns, u64 random);

/* Whether @found is an answer, be it only the policy's on what a failed slice would have said. */
XDD_INLINE bool xdd_is_answer(u32 found)
{
	return !(found & (XDD_MISSING | XDD_STALE)) || found & XDD_FAULTED;
}

XDD_ASSERT(XDD_BYPASS_faulted == XDD_BYPASS_stale + 1, "which is computed without a branch");

/* Verdict on an event whose key and digest are known, at @now_ns; @random as in xdd_ask(). */
XDD_INLINE struct xdd_verdict xdd_judge(XDD_FIXED struct xdd_fixed *fixed,
					const struct xdd_live *live, struct xdd_store *store,
					const struct xdd_identity *identity, u64 now_ns, u64 random)
{
	struct xdd_verdict verdict = { .bypass = XDD_BYPASS_MAX };
	u32 window = live->window_ticks;

	if (live->abi != XDD_ABI || window - 1 >= XDD_MAX_WINDOW_TICKS) {
		verdict.bypass = XDD_BYPASS_stale;
		return verdict;
	}
	verdict.found =
		xdd_store_ask(fixed, store, identity, now_ns, window, live->window_ns, random);
	if (verdict.found & XDD_MISSING)
		verdict.bypass = XDD_BYPASS_internal;
	else if (verdict.found & XDD_STALE)
		verdict.bypass = XDD_BYPASS_stale + (verdict.found & XDD_FAULTED) / XDD_FAULTED;
	if (fixed->audit_threshold && xdd_is_answer(verdict.found) &&
	    xdd_audit_samples(fixed, &identity->digest))
		xdd_store_audit(fixed, store, identity, now_ns, window, live->window_ns,
				verdict.found);
	return verdict;
}

/* Accessor: xdd_repeat(), in BPF a function. */
extern u32 xdd_packet_repeat(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			     struct xdd_store *store, const struct xdd_packet *packet,
			     const struct xdd_identity *identity);

/* Accessor: xdd_watch(), in BPF a function. */
extern u32 xdd_store_watch(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			   struct xdd_store *store, const struct xdd_identity *identity);

/* Verdict on @packet, seen at @now_ns, of which xdd_identify() said @bypass and filled @identity. */
XDD_INLINE struct xdd_verdict xdd_conclude(XDD_FIXED struct xdd_fixed *fixed,
					   const struct xdd_live *live, struct xdd_store *store,
					   const struct xdd_packet *packet,
					   const struct xdd_identity *identity, u32 bypass,
					   u64 now_ns, u64 random)
{
	struct xdd_verdict verdict = {};

	if (fixed->watch_bits && bypass == XDD_BYPASS_MAX)
		bypass = xdd_store_watch(fixed, live, store, identity);
	verdict.bypass = bypass & XDD_WATCH_BYPASS;
	verdict.found = bypass & XDD_UNWANTED;
	if (bypass == XDD_BYPASS_MAX)
		verdict = xdd_judge(fixed, live, store, identity, now_ns, random);
	if (verdict.bypass == XDD_BYPASS_MAX && verdict.found & XDD_SEEN &&
	    xdd_repeat_matters(fixed, live, &identity->key)) {
		verdict.found |= xdd_packet_repeat(fixed, live, store, packet, identity);
		verdict.class = verdict.found >> XDD_CLASS_SHIFT;
		verdict.found &= (1u << XDD_CLASS_SHIFT) - 1;
	}
	if (fixed->inner)
		verdict.inner = identity->key.inner;
	return verdict;
}

/* Verdict on @packet, seen at @now_ns. */
XDD_INLINE struct xdd_verdict xdd_decide(XDD_FIXED struct xdd_fixed *fixed,
					 const struct xdd_live *live,
					 XDD_FIXED struct xdd_secret *secret,
					 struct xdd_store *store, const struct xdd_packet *packet,
					 u64 now_ns, u64 random)
{
	struct xdd_identity identity = {};
	u32 bypass = xdd_identify(fixed, secret, packet, &identity);

	return xdd_conclude(fixed, live, store, packet, &identity, bypass, now_ns, random);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watch sets: which packets the filter is asked about, by their keys. The set is an accurate counting
 * Bloom filter (li-2013), of which a packet needs the first level only: a key is in the set if all its
 * positions there are 1. User space keeps the levels above, so that keys can be deleted.
 */
#ifndef XDD_WATCH_H
#define XDD_WATCH_H

#include "counters.h"
#include "store.h"

#define XDD_WATCH_MAX_HASHES 32 /* positions of a key */

/* What xdd_watch() returns: a reason for bypassing or XDD_BYPASS_MAX, and maybe this. */
#define XDD_WATCH_BYPASS 0xff

/* Accessor: word @number of level 1, or NULL. */
extern u64 *xdd_watch_word(struct xdd_store *store, u32 number);

/* Position @i of the key of @digest in a level 1 of @bits, which are below 2^32. */
XDD_INLINE u64 xdd_watch_position(const struct xdd_digest *digest, u32 i, u64 bits)
{
	u64 draw = xdd_mix64(digest->lo + i * (digest->hi | 1));

	/* Both factors of the second product are below 2^32. */
	return ((draw >> 32) * bits + ((draw & 0xffffffff) * bits >> 32)) >> 32;
}

/* What a watch set knows a packet by: the same for engines with half and with whole digests. */
XDD_INLINE struct xdd_digest xdd_watch_key(const struct xdd_digest *digest)
{
	struct xdd_digest key = { .lo = digest->lo };

	return key;
}

/* Whether the key of @digest is in the set, as XDD_SEEN; XDD_MISSING where that is not known. */
XDD_INLINE u32 xdd_watch_has(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest)
{
	const struct xdd_digest key = xdd_watch_key(digest);

	for (u32 i = 0; i < XDD_WATCH_MAX_HASHES && i < fixed->watch_hashes; i++) {
		u64 at = xdd_watch_position(&key, i, fixed->watch_bits);
		u64 *word = xdd_watch_word(store, at / 64);

		if (!word)
			return XDD_MISSING;
		if (!(*(volatile u64 *)word >> at % 64 & 1))
			return 0;
	}
	return XDD_SEEN;
}

/*
 * What live->watch_action says of the packet of @identity: XDD_BYPASS_MAX where the filter is to be
 * asked; XDD_BYPASS_watch where it is not, with XDD_UNWANTED if the packet is then dropped; or
 * XDD_BYPASS_internal. In one number: the caller's stack frame in BPF has no room for more.
 */
XDD_INLINE u32 xdd_watch(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			 struct xdd_store *store, const struct xdd_identity *identity)
{
	u32 action = live->watch_action;
	u32 found = xdd_watch_has(fixed, store, &identity->digest);
	bool asks_members = action == XDD_WATCH_only || action == XDD_WATCH_select;

	if (found & XDD_MISSING)
		return XDD_BYPASS_internal;
	if (live->abi != XDD_ABI || action >= XDD_WATCH_MAX || !!found == asks_members)
		return XDD_BYPASS_MAX; /* of a configuration in doubt xdd_judge() makes an end */
	if (action == XDD_WATCH_drop || action == XDD_WATCH_select)
		return XDD_BYPASS_watch | XDD_UNWANTED;
	return XDD_BYPASS_watch;
}

XDD_ASSERT((XDD_UNWANTED & XDD_WATCH_BYPASS) == 0 && XDD_BYPASS_MAX <= XDD_WATCH_BYPASS,
	   "both fit in one number");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The core's accessors over heap memory. Include once in a file that uses the core.
 * Packets are linear; one thread asks, so there are no locks.
 */
#ifndef USER_ACCESSORS_H
#define USER_ACCESSORS_H

#include <string.h>

#include "user/store.h"
#include "xdd/decide.h"

XDD_INLINE int xdd_packet_copy(const struct xdd_packet *packet, u32 off, void *to, u32 n)
{
	if (off > packet->len || n > packet->len - off)
		return -1;
	memcpy(to, packet->data + off, n);
	return 0;
}

XDD_INLINE u32 xdd_packet_tags(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off)
{
	return xdd_skip_tags(packet, layers, off);
}

XDD_INLINE void xdd_packet_layers(XDD_FIXED struct xdd_fixed *fixed,
				  const struct xdd_packet *packet, struct xdd_layers *layers)
{
	xdd_parse_link(packet, layers);
	xdd_parse_ip(fixed, packet, layers);
}

XDD_INLINE void xdd_packet_ip(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_layers *layers)
{
	xdd_parse_ip(fixed, packet, layers);
}

XDD_INLINE void xdd_packet_step(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
				struct xdd_walk *walk, struct xdd_layers *layers,
				struct xdd_around *around)
{
	xdd_walk_step(fixed, packet, walk, layers, around);
}

XDD_INLINE void xdd_packet_inner(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
				 struct xdd_walk *walk, struct xdd_layers *layers,
				 struct xdd_around *around)
{
	xdd_walk_in(fixed, packet, walk, layers, around);
}

XDD_INLINE void xdd_packet_extensions(const struct xdd_packet *packet, struct xdd_layers *layers)
{
	xdd_skip_extensions(packet, layers);
}

XDD_INLINE u32 xdd_packet_trailer(const struct xdd_packet *packet, u32 l3)
{
	return xdd_find_trailer(packet, l3);
}

XDD_INLINE u32 xdd_packet_number(const struct xdd_packet *packet, struct xdd_number *number)
{
	return xdd_find_number(packet, number);
}

XDD_INLINE u64 xdd_packet_vids(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			       u32 off, u32 ethertype)
{
	return xdd_link_vids(fixed, packet, off, ethertype);
}

XDD_INLINE u32 xdd_packet_iface(const struct xdd_packet *packet)
{
	return packet->source ? *(const u32 *)packet->source : 0;
}

XDD_INLINE int xdd_packet_masked(XDD_FIXED struct xdd_fixed *fixed,
				 XDD_FIXED struct xdd_secret *secret,
				 const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
				 u32 n, const struct xdd_key *key)
{
	struct xdd_masks masks;
	u8 copy[XDD_BLOCK] = {};

	if (off > packet->len || n > packet->len - off || n > sizeof(copy))
		return -1;
	memcpy(copy, packet->data + off, n);
	xdd_key_masks(fixed, packet, key, &masks);
	for (u32 i = 0; i < XDD_MASKS; i++)
		xdd_mask_zero(copy, masks.part[i].off - off, masks.part[i].len);
	if (n < XDD_STRIPE)
		xdd_hash_rest(hash, copy, copy + sizeof(copy), 0, n);
	else
		xdd_hash_block(hash, fixed->hash, xdd_digest_is_wide(fixed), secret, copy,
			       copy + sizeof(copy), n);
	return 0;
}

XDD_INLINE int xdd_packet_block(XDD_FIXED struct xdd_fixed *fixed,
				XDD_FIXED struct xdd_secret *secret,
				const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
				u32 n)
{
	if (off > packet->len || n > packet->len - off)
		return -1;
	xdd_hash_block(hash, fixed->hash, xdd_digest_is_wide(fixed), secret, packet->data + off,
		       packet->end, n);
	return 0;
}

XDD_INLINE int xdd_packet_rest(const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
			       u32 n)
{
	if (off > packet->len || n > packet->len - off)
		return -1;
	xdd_hash_rest(hash, packet->data, packet->end, off, n);
	return 0;
}

XDD_INLINE int xdd_packet_blocks(XDD_FIXED struct xdd_fixed *fixed,
				 XDD_FIXED struct xdd_secret *secret,
				 const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
				 u32 blocks)
{
	return xdd_hash_blocks(fixed, secret, packet, hash, off, blocks);
}

XDD_INLINE struct xdd_line *xdd_line_at(struct xdd_store *store, u32 block, u32 line)
{
	size_t number = (size_t)block * store->fixed.lines_per_block + line;

	return store->lines + number * store->filters;
}

XDD_INLINE struct xdd_chain *xdd_chain_at(struct xdd_store *store, u32 part)
{
	return store->chains + part;
}

XDD_INLINE struct xdd_health *xdd_health_at(struct xdd_store *store, u32 entry)
{
	return &store->health[entry];
}

XDD_INLINE struct xdd_line *xdd_tree_line_at(struct xdd_store *store, u32 level, u32 site,
					     u32 number)
{
	u64 node = store->tree.first[level];

	node += site == XDD_TREE_OWN ? store_tree_site(store, level) : site;
	return store->lines + node * xdd_lines(&store->fixed) + number;
}

XDD_INLINE struct xdd_tree_level *xdd_tree_level_at(struct xdd_store *store, u32 level)
{
	return &store->tree.level[level];
}

XDD_INLINE u32 xdd_tree_look(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, const struct xdd_when *when,
			     u32 level)
{
	return xdd_tree_look_at(fixed, store, digest, when, level, XDD_TREE_OWN);
}

XDD_INLINE u32 xdd_tree_climb(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_digest *digest, const struct xdd_when *when,
			      bool set)
{
	return xdd_tree_climb_at(fixed, store, digest, when, set);
}

XDD_INLINE bool xdd_tree_clean(struct xdd_line *line, const struct xdd_when *when)
{
	return xdd_tree_clean_at(line, when);
}

XDD_INLINE u32 xdd_tree_prepare(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_digest *digest, const struct xdd_when *when,
				u32 level)
{
	return xdd_tree_prepare_at(fixed, store, digest, when, level);
}

XDD_INLINE void xdd_tree_put(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, const struct xdd_when *when,
			     u32 level, u32 left)
{
	xdd_tree_put_at(fixed, store, digest, when, level, left);
}

XDD_INLINE bool xdd_tree_confirmed(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				   const struct xdd_digest *digest, const struct xdd_when *when,
				   u32 level)
{
	(void)fixed;
	return store_tree_confirmed(store, digest, when, level);
}

XDD_INLINE struct xdd_loads *xdd_loads_at(struct xdd_store *store)
{
	return &store->loads;
}

/* A single thread needs no lock: any pointer will do. */
XDD_INLINE struct xdd_lock *xdd_lock_at(struct xdd_store *store, u32 stripe)
{
	(void)stripe;
	return (struct xdd_lock *)store;
}

XDD_INLINE void xdd_lock(struct xdd_lock *lock)
{
	(void)lock;
}

XDD_INLINE void xdd_unlock(struct xdd_lock *lock)
{
	(void)lock;
}

XDD_INLINE u64 *xdd_exact_at(struct xdd_store *store, const struct xdd_identity *identity,
			     u64 now_ns, bool *fresh)
{
	return store_exact(store, &identity->digest, now_ns, fresh);
}

XDD_INLINE u64 *xdd_exact_count(struct xdd_store *store, u64 *time)
{
	return store_exact_count(store, time);
}

XDD_INLINE u64 *xdd_exact_suppressed(struct xdd_store *store, const struct xdd_identity *identity)
{
	return store_exact_suppressed(store, &identity->digest);
}

XDD_INLINE struct xdd_top *xdd_top_at(struct xdd_store *store, u32 bucket)
{
	return &store->top[bucket];
}

XDD_INLINE u64 *xdd_watch_word(struct xdd_store *store, u32 number)
{
	return &store->watch[number];
}

XDD_INLINE u32 xdd_store_watch(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			       struct xdd_store *store, const struct xdd_identity *identity)
{
	return xdd_watch(fixed, live, store, identity);
}

XDD_INLINE u32 xdd_packet_repeat(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
				 struct xdd_store *store, const struct xdd_packet *packet,
				 const struct xdd_identity *identity)
{
	return xdd_repeat(fixed, live, store, packet, identity);
}

XDD_INLINE u32 xdd_packet_key(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_key *key)
{
	return xdd_key_build(fixed, packet, key);
}

XDD_INLINE int xdd_packet_digest(XDD_FIXED struct xdd_fixed *fixed,
				 XDD_FIXED struct xdd_secret *secret,
				 const struct xdd_packet *packet, const struct xdd_key *key,
				 struct xdd_digest *digest)
{
	return xdd_key_hash(fixed, secret, packet, key, digest);
}

XDD_INLINE const u64 *xdd_replica_word(struct xdd_store *store, u32 number)
{
	return store->replicas + number;
}

XDD_INLINE const struct xdd_peer_gate *xdd_peer_gate_at(struct xdd_store *store)
{
	return &store->peer_gate;
}

XDD_INLINE const struct xdd_live *xdd_live_at(struct xdd_store *store)
{
	return &store->live;
}

XDD_INLINE u32 xdd_store_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
			     u64 window_ns, u64 random)
{
	u32 found = 0;

	if (fixed->peers)
		found = xdd_ask_peers(fixed, store, &identity->digest, now_ns);
	if (found & XDD_UNASKED)
		return found;
	if (fixed->placement == XDD_PLACEMENT_tree)
		return xdd_ask_tree(fixed, store, &identity->digest, now_ns, window_ticks);
	return found | xdd_ask(fixed, store, identity, now_ns, window_ticks, window_ns, random);
}

XDD_INLINE struct xdd_audit_bucket *xdd_audit_bucket_at(struct xdd_store *store, u32 number)
{
	return store->audit + number;
}

XDD_INLINE struct xdd_audit_counts *xdd_audit_counts_at(struct xdd_store *store)
{
	return &store->audit_counts;
}

XDD_INLINE struct xdd_distances *xdd_distances_at(struct xdd_store *store)
{
	return &store->distances;
}

XDD_INLINE void xdd_audit_lock(struct xdd_audit_bucket *bucket)
{
	(void)bucket;
}

XDD_INLINE void xdd_audit_unlock(struct xdd_audit_bucket *bucket)
{
	(void)bucket;
}

XDD_INLINE void xdd_store_audit(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
				u64 window_ns, u32 found)
{
	if (!(found & XDD_UNASKED))
		xdd_audit(fixed, store, identity, now_ns, window_ticks, window_ns, found);
}

#endif

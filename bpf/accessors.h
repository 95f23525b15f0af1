/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The core's accessors over packets' contexts and maps. What would make the verifier walk
 * the rest of the program again for each of its outcomes is a global function: the verifier
 * checks it once, by itself.
 */
#ifndef BPF_ACCESSORS_H
#define BPF_ACCESSORS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "audit.h"
#include "collect.h"
#include "filter.h"
#include "config.h"
#include "replica.h"
#include "scratch.h"
#include "top.h"
#include "tree.h"
#include "watch.h"
#include "xdd/decide.h"

/* Helpers are static function pointers in libbpf's headers; the accessors are always inlined. */
#pragma clang diagnostic ignored "-Wstatic-in-inline"

const volatile struct xdd_secret xdd_secret = {};

/* @len: bytes in all, as bpf_xdp_get_buff_len() gives them. */
XDD_INLINE struct xdd_packet packet_open(struct xdp_md *ctx, u32 len)
{
	struct xdd_packet packet = {
		.data = (const u8 *)(long)ctx->data,
		.end = (const u8 *)(long)ctx->data_end,
		.source = ctx,
		.len = len,
		.wire_len = len,
		.link = xdd_fixed.link,
	};

	return packet;
}

XDD_INLINE int xdd_packet_copy(const struct xdd_packet *packet, u32 off, void *to, u32 n)
{
	return bpf_xdp_load_bytes(packet->source, off, to, n) ? -1 : 0;
}

__attribute__((noinline)) u32 skip_tags(struct xdp_md *ctx, struct xdd_layers *layers, u32 off)
{
	struct xdd_packet packet = packet_open(ctx, 0);

	if (!layers)
		return 0;
	return xdd_skip_tags(&packet, layers, off);
}

XDD_INLINE u32 xdd_packet_tags(const struct xdd_packet *packet, struct xdd_layers *layers, u32 off)
{
	return skip_tags(packet->source, layers, off);
}

__attribute__((noinline)) int parse_link(struct xdp_md *ctx, u32 len, struct xdd_layers *layers)
{
	struct xdd_packet packet = packet_open(ctx, len);

	if (!layers)
		return -1;
	xdd_parse_link(&packet, layers);
	return 0;
}

__attribute__((noinline)) int parse_ip(struct xdp_md *ctx, u32 len, struct xdd_layers *layers)
{
	struct xdd_packet packet = packet_open(ctx, len);

	if (!layers)
		return -1;
	xdd_parse_ip(&xdd_fixed, &packet, layers);
	return 0;
}

XDD_INLINE void xdd_packet_layers(XDD_FIXED struct xdd_fixed *fixed,
				  const struct xdd_packet *packet, struct xdd_layers *layers)
{
	(void)fixed;
	parse_link(packet->source, packet->len, layers);
	parse_ip(packet->source, packet->len, layers);
}

XDD_INLINE void xdd_packet_ip(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_layers *layers)
{
	(void)fixed;
	parse_ip(packet->source, packet->len, layers);
}

__attribute__((noinline)) int walk_step(struct xdp_md *ctx, struct xdd_walk *walk,
					struct xdd_layers *layers, struct xdd_around *around)
{
	struct xdd_packet packet;

	if (!walk || !layers || !around)
		return -1;
	packet = packet_open(ctx, walk->end);
	xdd_walk_step(&xdd_fixed, &packet, walk, layers, around);
	return 0;
}

XDD_INLINE void xdd_packet_step(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
				struct xdd_walk *walk, struct xdd_layers *layers,
				struct xdd_around *around)
{
	(void)fixed;
	walk_step(packet->source, walk, layers, around);
}

__attribute__((noinline)) int walk_in(struct xdp_md *ctx, u32 len, struct xdd_walk *walk,
				      struct xdd_layers *layers, struct xdd_around *around)
{
	struct xdd_packet packet = { .source = ctx, .len = len };

	if (!walk || !layers || !around)
		return -1;
	xdd_walk_in(&xdd_fixed, &packet, walk, layers, around);
	return 0;
}

XDD_INLINE void xdd_packet_inner(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
				 struct xdd_walk *walk, struct xdd_layers *layers,
				 struct xdd_around *around)
{
	(void)fixed;
	walk_in(packet->source, packet->len, walk, layers, around);
}

__attribute__((noinline)) u32 find_trailer(struct xdp_md *ctx, u32 len, u32 l3)
{
	struct xdd_packet packet = packet_open(ctx, len);

	return xdd_find_trailer(&packet, l3);
}

XDD_INLINE u32 xdd_packet_trailer(const struct xdd_packet *packet, u32 l3)
{
	return find_trailer(packet->source, packet->len, l3);
}

__attribute__((noinline)) u32 find_number(struct xdp_md *ctx, u32 len, struct xdd_number *number)
{
	struct xdd_packet packet = packet_open(ctx, len);

	if (!number)
		return XDD_BYPASS_internal;
	return xdd_find_number(&packet, number);
}

XDD_INLINE u32 xdd_packet_number(const struct xdd_packet *packet, struct xdd_number *number)
{
	return find_number(packet->source, packet->len, number);
}

__attribute__((noinline)) u64 link_vids(struct xdp_md *ctx, u32 off, u32 ethertype)
{
	struct xdd_packet packet = packet_open(ctx, 0);

	return xdd_link_vids(&xdd_fixed, &packet, off, ethertype);
}

XDD_INLINE u64 xdd_packet_vids(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			       u32 off, u32 ethertype)
{
	(void)fixed;
	return link_vids(packet->source, off, ethertype);
}

XDD_INLINE u32 xdd_packet_iface(const struct xdd_packet *packet)
{
	return ((const struct xdp_md *)packet->source)->ingress_ifindex;
}

/* @n, which is 1..@max (a power of two): kernels before 6.18 do not see it through n - 1. */
XDD_INLINE u32 bounded(u32 n, const u32 max)
{
	u32 less = (n - 1) & (max - 1);

	xdd_opaque(less);
	return less + 1;
}

/* The linear part is read directly; what reaches into fragments from a copy. */
__attribute__((noinline)) int hash_block(struct xdp_md *ctx, struct xdd_hash *hash, u32 off, u32 n)
{
	bool wide = xdd_digest_is_wide(&xdd_fixed);
	const u8 *at = (const u8 *)(long)ctx->data;
	const u8 *end = (const u8 *)(long)ctx->data_end;
	struct xdd_scratch *copy;
	u32 zero = 0;

	if (!hash || n - 1 >= XDD_BLOCK)
		return -1;
	if (off <= XDD_MAX_OFFSET && at + off + n <= end) {
		at += off;
	} else {
		copy = bpf_map_lookup_elem(&scratch, &zero);
		n = bounded(n, XDD_BLOCK);
		if (!copy || bpf_xdp_load_bytes(ctx, off, copy->block, n))
			return -1;
		at = copy->block;
		end = copy->block + XDD_BLOCK;
	}
	xdd_hash_block(hash, xdd_fixed.hash, wide, &xdd_secret, at, end, n);
	return 0;
}

__attribute__((noinline)) int hash_rest(struct xdp_md *ctx, struct xdd_hash *hash, u32 off, u32 n)
{
	const u8 *at = (const u8 *)(long)ctx->data;
	const u8 *end = (const u8 *)(long)ctx->data_end;
	struct xdd_scratch *copy;
	u32 zero = 0;

	if (!hash || n - 1 >= XDD_STRIPE - 1)
		return -1;
	if (off <= XDD_MAX_OFFSET && at + off + n <= end) {
		xdd_hash_rest(hash, at, end, off, n);
		return 0;
	}
	copy = bpf_map_lookup_elem(&scratch, &zero);
	n = bounded(n, XDD_STRIPE);
	if (!copy || bpf_xdp_load_bytes(ctx, off, copy->block, n))
		return -1;
	xdd_hash_rest(hash, copy->lead, copy->block + XDD_BLOCK, SCRATCH_LEAD, n);
	return 0;
}

__attribute__((noinline)) int skip_extensions(struct xdp_md *ctx, struct xdd_layers *layers)
{
	struct xdd_packet packet = packet_open(ctx, 0);

	if (!layers)
		return -1;
	xdd_skip_extensions(&packet, layers);
	return 0;
}

XDD_INLINE void xdd_packet_extensions(const struct xdd_packet *packet, struct xdd_layers *layers)
{
	skip_extensions(packet->source, layers);
}

__attribute__((noinline)) int key_masks(struct xdp_md *ctx, const struct xdd_key *key,
					struct xdd_masks *masks)
{
	struct xdd_packet packet = packet_open(ctx, 0);

	if (!key || !masks)
		return -1;
	xdd_key_masks(&xdd_fixed, &packet, key, masks);
	return 0;
}

__attribute__((noinline)) int mask_zero(struct xdd_scratch *copy, u32 from, u32 len)
{
	if (!copy)
		return -1;
	xdd_mask_zero(copy->block, from, len);
	return 0;
}

__attribute__((noinline)) int hash_masked(struct xdp_md *ctx, struct xdd_hash *hash, u32 off, u32 n,
					  const struct xdd_key *key)
{
	bool wide = xdd_digest_is_wide(&xdd_fixed);
	struct xdd_scratch *copy;
	u32 zero = 0;

	if (!hash || n - 1 >= XDD_BLOCK)
		return -1;
	copy = bpf_map_lookup_elem(&scratch, &zero);
	n = bounded(n, XDD_BLOCK);
	if (!copy || bpf_xdp_load_bytes(ctx, off, copy->block, n))
		return -1;
	key_masks(ctx, key, &copy->masks);
	for (u32 i = 0; i < XDD_MASKS; i++)
		mask_zero(copy, copy->masks.part[i].off - off, copy->masks.part[i].len);
	if (n < XDD_STRIPE)
		xdd_hash_rest(hash, copy->lead, copy->block + XDD_BLOCK, SCRATCH_LEAD, n);
	else
		xdd_hash_block(hash, xdd_fixed.hash, wide, &xdd_secret, copy->block,
			       copy->block + XDD_BLOCK, n);
	return 0;
}

XDD_INLINE int xdd_packet_masked(XDD_FIXED struct xdd_fixed *fixed,
				 XDD_FIXED struct xdd_secret *secret,
				 const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
				 u32 n, const struct xdd_key *key)
{
	(void)fixed;
	(void)secret;
	return hash_masked(packet->source, hash, off, n, key);
}

XDD_INLINE int xdd_packet_block(XDD_FIXED struct xdd_fixed *fixed,
				XDD_FIXED struct xdd_secret *secret,
				const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
				u32 n)
{
	(void)fixed;
	(void)secret;
	return hash_block(packet->source, hash, off, n);
}

XDD_INLINE int xdd_packet_rest(const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
			       u32 n)
{
	return hash_rest(packet->source, hash, off, n);
}

__attribute__((noinline)) int hash_blocks(struct xdp_md *ctx, struct xdd_hash *hash, u32 off,
					  u32 blocks)
{
	struct xdd_packet packet = { .source = ctx };

	if (!hash)
		return -1;
	return xdd_hash_blocks(&xdd_fixed, &xdd_secret, &packet, hash, off, blocks);
}

XDD_INLINE int xdd_packet_blocks(XDD_FIXED struct xdd_fixed *fixed,
				 XDD_FIXED struct xdd_secret *secret,
				 const struct xdd_packet *packet, struct xdd_hash *hash, u32 off,
				 u32 blocks)
{
	(void)fixed;
	(void)secret;
	return hash_blocks(packet->source, hash, off, blocks);
}

/* The first whole line of a per-CPU block lies at the first 64-byte boundary in it. @n lines follow
 * each other there.
 */
XDD_INLINE struct xdd_line *block_line(struct xdd_block *block, u32 line, u32 n)
{
	u32 skip = -(u32)(long)block & (XDD_LINE_BYTES - 8);
	u32 at = skip + line * n * XDD_LINE_BYTES;

	xdd_opaque(at);
	if (at > XDD_CPU_BLOCK_BYTES - n * XDD_LINE_BYTES)
		return NULL;
	xdd_opaque(at);
	/* Its alignment, which atomics demand, 6.1 forgot where it was spilled. */
	return (struct xdd_line *)((u8 *)block + (at & -8u));
}

XDD_INLINE struct xdd_line *xdd_line_at(struct xdd_store *store, u32 block, u32 line)
{
	struct xdd_block *cpu_block;

	(void)store;
	if (xdd_fixed.placement == XDD_PLACEMENT_shared)
		return bpf_map_lookup_elem(&lines, &block);
	cpu_block = bpf_map_lookup_elem(&cpu_blocks, &block);
	if (!cpu_block)
		return NULL;
	if (xdd_grows(&xdd_fixed))
		return block_line(cpu_block, line, xdd_fixed.filters);
	return block_line(cpu_block, line, 1);
}

XDD_INLINE struct xdd_chain *xdd_chain_at(struct xdd_store *store, u32 part)
{
	(void)store;
	if (xdd_fixed.placement != XDD_PLACEMENT_shared)
		part += bpf_get_smp_processor_id() * xdd_chains(&xdd_fixed);
	return bpf_map_lookup_elem(&chains, &part);
}

XDD_INLINE struct xdd_health *xdd_health_at(struct xdd_store *store, u32 entry)
{
	(void)store;
	if (xdd_fixed.placement != XDD_PLACEMENT_shared)
		entry += bpf_get_smp_processor_id() * xdd_healths(&xdd_fixed);
	return bpf_map_lookup_elem(&health, &entry);
}

XDD_INLINE struct xdd_loads *xdd_loads_at(struct xdd_store *store)
{
	struct xdd_loads *found;
	u32 zero = 0;

	(void)store;
	if (xdd_fixed.placement != XDD_PLACEMENT_shared)
		return bpf_map_lookup_elem(&cpu_loads, &zero);
	found = bpf_map_lookup_elem(&loads, &zero);
	/* Else one call would serve both, and name the map that is not there. */
	xdd_opaque(found);
	return found;
}

/*
 * A number for the engines that ask for random ones, else 0: a secret, and what differs from packet
 * to packet, the @n-th of interface slot @slot on this CPU. The engines mix it, and only where they
 * need it: a quarter of what the helper costs (xdp-dedup bench). Who knows neither the secret nor,
 * by it, any position can neither foretell nor choose what is reset.
 */
XDD_INLINE u64 random_at(u64 n, u32 slot)
{
	if (!xdd_engine_has_bits(xdd_fixed.engine))
		return 0;
	return xdd_secret.sip[0] + (n * XDD_MAX_IFACES + slot) +
	       ((u64)bpf_get_smp_processor_id() << 48);
}

XDD_INLINE struct xdd_lock *xdd_lock_at(struct xdd_store *store, u32 stripe)
{
	u32 at = stripe & (xdd_fixed.stripes - 1);

	(void)store;
	return bpf_map_lookup_elem(&locks, &at);
}

XDD_INLINE void xdd_lock(struct xdd_lock *lock)
{
	bpf_spin_lock(&lock->lock);
}

XDD_INLINE void xdd_unlock(struct xdd_lock *lock)
{
	bpf_spin_unlock(&lock->lock);
}

XDD_INLINE u64 *exact_entry(void *map, const void *key, u64 now_ns, bool *fresh)
{
	struct xdd_seen first = { .time_ns = now_ns }, *seen;

	seen = bpf_map_lookup_elem(map, key);
	if (seen)
		return &seen->time_ns;
	/* Only one CPU's insertion succeeds; the others find its entry. */
	*fresh = !bpf_map_update_elem(map, key, &first, BPF_NOEXIST);
	seen = bpf_map_lookup_elem(map, key);
	return seen ? &seen->time_ns : NULL;
}

/* Kernel 6.1 takes no map key from a function's argument: it has to lie on the stack. */
XDD_INLINE u64 *xdd_exact_at(struct xdd_store *store, const struct xdd_identity *identity,
			     u64 now_ns, bool *fresh)
{
	struct xdd_digest digest = identity->digest;
	struct xdd_head head = identity->key.head;

	(void)store;
	if (xdd_key_is_flow(xdd_fixed.key))
		return exact_entry(&flows, &head, now_ns, fresh);
	return exact_entry(&digests, &digest, now_ns, fresh);
}

XDD_INLINE u64 *xdd_exact_count(struct xdd_store *store, u64 *time)
{
	(void)store;
	return &((struct xdd_seen *)time)->suppressed;
}

XDD_INLINE u64 *xdd_exact_suppressed(struct xdd_store *store, const struct xdd_identity *identity)
{
	struct xdd_digest digest = identity->digest;
	struct xdd_head head = identity->key.head;
	struct xdd_seen *seen;

	(void)store;
	if (xdd_key_is_flow(xdd_fixed.key))
		seen = bpf_map_lookup_elem(&flows, &head);
	else
		seen = bpf_map_lookup_elem(&digests, &digest);
	return seen ? &seen->suppressed : NULL;
}

XDD_INLINE struct xdd_top *xdd_top_at(struct xdd_store *store, u32 bucket)
{
	(void)store;
	return bpf_map_lookup_elem(&top, &bucket);
}

__attribute__((noinline)) u32 build_key(struct xdp_md *ctx, u32 len, struct xdd_key *key)
{
	struct xdd_packet packet = packet_open(ctx, len);

	if (!key)
		return XDD_BYPASS_internal;
	return xdd_key_build(&xdd_fixed, &packet, key);
}

XDD_INLINE u32 xdd_packet_key(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			      struct xdd_key *key)
{
	(void)fixed;
	return build_key(packet->source, packet->len, key);
}

__attribute__((noinline)) int hash_key(struct xdp_md *ctx, const struct xdd_key *key,
				       struct xdd_digest *digest)
{
	struct xdd_packet packet = { .source = ctx };

	if (!key || !digest)
		return -1;
	return xdd_key_hash(&xdd_fixed, &xdd_secret, &packet, key, digest);
}

XDD_INLINE int xdd_packet_digest(XDD_FIXED struct xdd_fixed *fixed,
				 XDD_FIXED struct xdd_secret *secret,
				 const struct xdd_packet *packet, const struct xdd_key *key,
				 struct xdd_digest *digest)
{
	(void)fixed;
	(void)secret;
	return hash_key(packet->source, key, digest);
}

/* The filters that CPUs share lie one behind the other: the root, then those of NUMA nodes. */
XDD_INLINE struct xdd_line *xdd_tree_line_at(struct xdd_store *store, u32 level, u32 site,
					     u32 number)
{
	u32 block = xdd_cpu_block(number);
	struct xdd_block *cpu_block;

	(void)store;
	if (level + 1 < xdd_fixed.levels) {
		if (level)
			number += (1 + (site == XDD_TREE_OWN ? bpf_get_numa_node_id() : site)) *
				  xdd_lines(&xdd_fixed);
		return bpf_map_lookup_elem(&lines, &number);
	}
	if (site == XDD_TREE_OWN)
		cpu_block = bpf_map_lookup_elem(&cpu_blocks, &block);
	else
		cpu_block = bpf_map_lookup_percpu_elem(&cpu_blocks, &block, site);
	return cpu_block ? block_line(cpu_block, number - block * XDD_CPU_BLOCK_LINES, 1) : NULL;
}

XDD_INLINE struct xdd_tree_level *xdd_tree_level_at(struct xdd_store *store, u32 level)
{
	(void)store;
	return bpf_map_lookup_elem(&tree, &level);
}

XDD_INLINE bool is_tree(void)
{
	return xdd_fixed.placement == XDD_PLACEMENT_tree;
}

__attribute__((noinline)) u32 tree_look(const struct xdd_digest *digest,
					const struct xdd_when *when, u32 level)
{
	if (!digest || !when || !is_tree())
		return XDD_MISSING;
	return xdd_tree_look_at(&xdd_fixed, NULL, digest, when, level, XDD_TREE_OWN);
}

XDD_INLINE u32 xdd_tree_look(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, const struct xdd_when *when,
			     u32 level)
{
	(void)fixed;
	(void)store;
	return tree_look(digest, when, level);
}

__attribute__((noinline)) u32 tree_climb(const struct xdd_digest *digest,
					 const struct xdd_when *when, bool set)
{
	if (!digest || !when || !is_tree())
		return XDD_MISSING;
	return xdd_tree_climb_at(&xdd_fixed, NULL, digest, when, set);
}

XDD_INLINE u32 xdd_tree_climb(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			      const struct xdd_digest *digest, const struct xdd_when *when,
			      bool set)
{
	(void)fixed;
	(void)store;
	return tree_climb(digest, when, set);
}

__attribute__((noinline)) bool tree_clean(struct xdd_line *line, const struct xdd_when *when)
{
	if (!line || !when || !is_tree() || xdd_fixed.engine != XDD_ENGINE_timer)
		return false;
	return xdd_tree_clean_at(line, when);
}

XDD_INLINE bool xdd_tree_clean(struct xdd_line *line, const struct xdd_when *when)
{
	return tree_clean(line, when);
}

__attribute__((noinline)) u32 tree_prepare(const struct xdd_digest *digest,
					   const struct xdd_when *when, u32 level)
{
	if (!digest || !when || !is_tree() || xdd_fixed.engine != XDD_ENGINE_timer)
		return XDD_STALE;
	return xdd_tree_prepare_at(&xdd_fixed, NULL, digest, when, level);
}

XDD_INLINE u32 xdd_tree_prepare(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_digest *digest, const struct xdd_when *when,
				u32 level)
{
	(void)fixed;
	(void)store;
	return tree_prepare(digest, when, level);
}

__attribute__((noinline)) int tree_put(const struct xdd_digest *digest, const struct xdd_when *when,
				       u32 level, u32 left)
{
	if (!digest || !when || !is_tree())
		return -1;
	xdd_tree_put_at(&xdd_fixed, NULL, digest, when, level, left);
	return 0;
}

XDD_INLINE void xdd_tree_put(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_digest *digest, const struct xdd_when *when,
			     u32 level, u32 left)
{
	(void)fixed;
	(void)store;
	tree_put(digest, when, level, left);
}

/* Whether node @site of @level has the key. */
__attribute__((noinline)) u32 tree_has(const struct xdd_digest *digest, const struct xdd_when *when,
				       u32 level, u32 site)
{
	if (!digest || !when || !is_tree() || !xdd_fixed.top_down)
		return 0;
	return xdd_tree_look_at(&xdd_fixed, NULL, digest, when, level, site) & XDD_SEEN;
}

/*
 * A node holds what its children do, so a way down from the match to level D has the key on all of
 * it where its end has, and another node of that level has it only if the root has: all of them are
 * asked, whichever are below the match. The own leaf missed on the way up; the own node of a level
 * above, too, but another CPU may have set it since.
 */
__attribute__((noinline)) int tree_confirmed(const struct xdd_digest *digest,
					     const struct xdd_when *when)
{
	u32 level = xdd_fixed.top_down, width = xdd_tree_width(&xdd_fixed, level), visits = 0;
	bool confirmed = false;
	u32 own = width;

	if (!digest || !when || !is_tree() || !level)
		return 0;
	if (level + 1 == xdd_fixed.levels)
		own = bpf_get_smp_processor_id();
	for (u32 site = 0; site < width && !confirmed; site++) {
		if (site == own)
			continue;
		confirmed = tree_has(digest, when, level, site);
		visits++;
	}
	xdd_tree_count(NULL, level, 0, visits, 0);
	return confirmed;
}

XDD_INLINE bool xdd_tree_confirmed(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				   const struct xdd_digest *digest, const struct xdd_when *when,
				   u32 level)
{
	(void)fixed;
	(void)store;
	(void)level;
	return tree_confirmed(digest, when);
}

__attribute__((noinline)) u32 ask_tree(const struct xdd_digest *digest, u64 now_ns,
				       u32 window_ticks)
{
	if (!digest || !is_tree())
		return XDD_MISSING;
	return xdd_ask_tree(&xdd_fixed, NULL, digest, now_ns, window_ticks);
}

__attribute__((noinline)) u32 ask(const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
				  u64 window_ns, u64 random)
{
	if (!identity)
		return XDD_MISSING;
	return xdd_ask_as(&xdd_fixed, NULL, identity, now_ns, window_ticks, window_ns, random,
			  false);
}

__attribute__((noinline)) u32 ask_doubted(const struct xdd_identity *identity, u64 now_ns,
					  u32 window_ticks, u64 window_ns, u64 random)
{
	if (!identity || !xdd_fixed.fault_policy)
		return XDD_MISSING;
	return xdd_ask_as(&xdd_fixed, NULL, identity, now_ns, window_ticks, window_ns, random,
			  true);
}

XDD_INLINE const u64 *xdd_replica_word(struct xdd_store *store, u32 number)
{
	(void)store;
	return bpf_map_lookup_elem(&replicas, &number);
}

XDD_INLINE const struct xdd_peer_gate *xdd_peer_gate_at(struct xdd_store *store)
{
	u32 zero = 0;

	(void)store;
	return bpf_map_lookup_elem(&peer_gate, &zero);
}

XDD_INLINE const struct xdd_live *xdd_live_at(struct xdd_store *store)
{
	u32 zero = 0;

	(void)store;
	return bpf_map_lookup_elem(&config, &zero);
}

__attribute__((noinline)) u32 ask_peers(const struct xdd_digest *digest, u64 now_ns)
{
	if (!digest || !xdd_fixed.peers)
		return 0;
	return xdd_ask_peers(&xdd_fixed, NULL, digest, now_ns);
}

/* A frame of its own, as small as can be: in the program's there is no room for what outlives the
 * look-up of the filter's state, or the question to the peers.
 */
__attribute__((noinline)) u32 ask_either(const struct xdd_identity *identity, u64 now_ns,
					 u32 window_ticks, u64 window_ns, u64 random)
{
	u32 found = 0;

	if (!identity)
		return XDD_MISSING;
	if (xdd_fixed.peers)
		found = ask_peers(&identity->digest, now_ns);
	if (found & XDD_UNASKED)
		return found;
	if (xdd_doubted(&xdd_fixed, NULL, now_ns))
		return found | ask_doubted(identity, now_ns, window_ticks, window_ns, random);
	return found | ask(identity, now_ns, window_ticks, window_ns, random);
}

XDD_INLINE u32 xdd_store_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
			     const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
			     u64 window_ns, u64 random)
{
	(void)fixed;
	(void)store;
	if (xdd_fixed.fault_policy || xdd_fixed.peers)
		return ask_either(identity, now_ns, window_ticks, window_ns, random);
	if (is_tree())
		return ask_tree(&identity->digest, now_ns, window_ticks);
	return ask(identity, now_ns, window_ticks, window_ns, random);
}

XDD_INLINE struct xdd_audit_bucket *xdd_audit_bucket_at(struct xdd_store *store, u32 number)
{
	struct xdd_audit_slot *slot;

	(void)store;
	slot = bpf_map_lookup_elem(&audit, &number);
	return slot ? &slot->bucket : NULL;
}

XDD_INLINE struct xdd_audit_counts *xdd_audit_counts_at(struct xdd_store *store)
{
	u32 zero = 0;

	(void)store;
	return bpf_map_lookup_elem(&audit_counts, &zero);
}

XDD_INLINE struct xdd_distances *xdd_distances_at(struct xdd_store *store)
{
	u32 zero = 0;

	(void)store;
	return bpf_map_lookup_elem(&distances, &zero);
}

XDD_INLINE struct bpf_spin_lock *audit_lock_of(struct xdd_audit_bucket *bucket)
{
	u8 *slot = (u8 *)bucket - offsetof(struct xdd_audit_slot, bucket);

	return &((struct xdd_audit_slot *)slot)->lock;
}

XDD_INLINE void xdd_audit_lock(struct xdd_audit_bucket *bucket)
{
	bpf_spin_lock(audit_lock_of(bucket));
}

XDD_INLINE void xdd_audit_unlock(struct xdd_audit_bucket *bucket)
{
	bpf_spin_unlock(audit_lock_of(bucket));
}

__attribute__((noinline)) int audit_key(const struct xdd_identity *identity, u64 now_ns,
					u32 window_ticks, u64 window_ns, u32 found)
{
	if (!identity || !xdd_fixed.audit_threshold)
		return -1;
	xdd_audit(&xdd_fixed, NULL, identity, now_ns, window_ticks, window_ns, found);
	return 0;
}

__attribute__((noinline)) int audit_peers(const struct xdd_identity *identity, u64 now_ns,
					  u32 found)
{
	struct xdd_peer_audit record;

	if (!identity || !xdd_fixed.audit_threshold || !xdd_fixed.peers)
		return -1;
	if (!xdd_peer_audit(&xdd_fixed, NULL, identity, now_ns, found, &record))
		return 0;
	return bpf_ringbuf_output(&peer_audit, &record, sizeof(record), 0);
}

/* A frame of its own, as ask_either(). */
__attribute__((noinline)) int audit_either(const struct xdd_identity *identity, u64 now_ns,
					   u32 window_ticks, u64 window_ns, u32 found)
{
	if (!identity || !xdd_fixed.peers)
		return -1;
	audit_peers(identity, now_ns, found);
	if (found & XDD_UNASKED)
		return 0;
	return audit_key(identity, now_ns, window_ticks, window_ns, found);
}

XDD_INLINE void xdd_store_audit(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				const struct xdd_identity *identity, u64 now_ns, u32 window_ticks,
				u64 window_ns, u32 found)
{
	(void)fixed;
	(void)store;
	if (xdd_fixed.peers)
		audit_either(identity, now_ns, window_ticks, window_ns, found);
	else
		audit_key(identity, now_ns, window_ticks, window_ns, found);
}

XDD_INLINE u64 *xdd_watch_word(struct xdd_store *store, u32 number)
{
	(void)store;
	return bpf_map_lookup_elem(&watch, &number);
}

__attribute__((noinline)) u32 ask_watch(const struct xdd_live *live,
					const struct xdd_identity *identity)
{
	if (!live || !identity || !xdd_fixed.watch_bits)
		return XDD_BYPASS_internal;
	return xdd_watch(&xdd_fixed, live, NULL, identity);
}

XDD_INLINE u32 xdd_store_watch(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
			       struct xdd_store *store, const struct xdd_identity *identity)
{
	(void)fixed;
	(void)store;
	return ask_watch(live, identity);
}

/* Note a key that is new in @period, or was left by another one. Returns 0, or -1 where there is no room. */
__attribute__((noinline)) int collect_new(struct xdp_md *ctx, const struct xdd_identity *identity,
					  u64 period)
{
	struct xdd_packet packet = packet_open(ctx, 0);
	struct xdd_collected value = { .period = period };
	u64 key;

	if (!identity || !xdd_fixed.collect_keys)
		return -1;
	key = identity->digest.lo;
	xdd_about(&xdd_fixed, &packet, &identity->key, &value.about);
	return bpf_map_update_elem(&collected, &key, &value, BPF_ANY) ? -1 : 0;
}

/* A frame of its own, for what only a key that is noted needs. A packet without a key has no digest: the
 * caller has no room on its stack to remember that it had none.
 */
__attribute__((noinline)) int collect(struct xdp_md *ctx, const struct xdd_identity *identity)
{
	const struct xdd_collected *known;
	struct xdd_collecting *now;
	u32 zero = 0;
	u64 key, period;

	if (!identity || !xdd_fixed.collect_keys)
		return -1;
	now = bpf_map_lookup_elem(&collecting, &zero);
	if (!now)
		return -1;
	period = *(volatile u64 *)&now->period;
	if (!period)
		return 0;
	key = identity->digest.lo;
	if (!key)
		return 0;
	known = bpf_map_lookup_elem(&collected, &key);
	if (known && known->period == period)
		return 0;
	if (collect_new(ctx, identity, period))
		__sync_fetch_and_add(&now->overflow, 1);
	return 0;
}

__attribute__((noinline)) u32 repeat(struct xdp_md *ctx, const struct xdd_live *live,
				     const struct xdd_identity *identity)
{
	struct xdd_packet packet = packet_open(ctx, 0);

	if (!live || !identity)
		return 0;
	return xdd_repeat(&xdd_fixed, live, NULL, &packet, identity);
}

XDD_INLINE u32 xdd_packet_repeat(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_live *live,
				 struct xdd_store *store, const struct xdd_packet *packet,
				 const struct xdd_identity *identity)
{
	(void)fixed;
	(void)store;
	return repeat(packet->source, live, identity);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `xdp-dedup bench` times by BPF_PROG_RUN. Every program first writes the addresses and the
 * identification of the next key into the packet; bench_base does only that.
 *
 * The clock is read, since its cost counts, but time is made from the packet's number, so that
 * the number of live keys does not depend on how fast a program is.
 *
 * bench_random draws BENCH_DRAWS numbers of 64 bits from what random_at() (accessors.h) could use.
 */
#include "dedup.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BENCH_STEP_NS 100
#define BENCH_DRAWS 8

/* Filled before load. */
const volatile u32 bench_keys = 1; /* live keys */
const volatile u32 bench_new = 0;  /* 1: every second packet is new, else all are hits */

enum bench_source {
	BENCH_HELPER, /* bpf_get_prandom_u32(), widened by the time */
	BENCH_STATE,  /* splitmix64, its state in a per-CPU map */
	BENCH_COUNT,  /* the same from a secret and a count that is kept anyway */
};
const volatile u32 bench_source;

u64 bench_packets; /* number of the next packet; one CPU runs */

/* The peer: an LRU hash of whole keys, as one would write it without this project. */
struct peer_key {
	u32 src;
	u32 dst;
	u32 ports;
	u16 id;
	u8 proto;
	u8 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct peer_key);
	__type(value, struct xdd_seen);
} peer SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} random_state SEC(".maps");

volatile u64 bench_random_sum;

/* The number of the key of packet @n. Hits on @bench_keys keys in turn, or new keys with hits
 * on the younger 7/8 of the live ones between them.
 */
XDD_INLINE u32 key_number(u64 n)
{
	u32 rest;

	if (!bench_new)
		return n % bench_keys;
	if (!(n & 1))
		return n / 2;
	return n / 2 - xdd_range(xdd_mix64(n), bench_keys - bench_keys / 8, &rest);
}

/* Write key @number into the IPv4 header; the sum over the header stays what it is. */
XDD_INLINE int rewrite(struct xdp_md *ctx, u32 number)
{
	struct xdd_ipv4 *ip = (void *)(long)ctx->data + 14;
	u32 src = number * 0x9E3779B1u;
	u32 low;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return -1;
	ip->id = number;
	ip->src = src;
	low = (src & 0xffff) + (u16)number;
	low = (low & 0xffff) + (low >> 16);
	ip->dst = (~src & 0xffff0000) | (~low & 0xffff);
	return 0;
}

/* The next packet. Returns the made-up time. */
XDD_INLINE u64 bench_next(struct xdp_md *ctx)
{
	u64 n = bench_packets++;

	rewrite(ctx, key_number(n));
	return (n + (1ULL << 40)) * BENCH_STEP_NS;
}

SEC("xdp")
int bench_base(struct xdp_md *ctx)
{
	bench_next(ctx);
	return XDP_PASS;
}

SEC("xdp")
int bench_dedup(struct xdp_md *ctx)
{
	u64 now = bench_next(ctx);

	return dedup(ctx, now + (clock_ns() == 1));
}

SEC("xdp")
int bench_peer(struct xdp_md *ctx)
{
	u64 now = bench_next(ctx) + (clock_ns() == 1);
	const u8 *data = (const u8 *)(long)ctx->data;
	const struct xdd_ipv4 *ip = (const struct xdd_ipv4 *)(data + 14);
	struct xdd_seen *seen, first = { .time_ns = now };
	struct peer_key key = {};

	if (data + 14 + 24 > (const u8 *)(long)ctx->data_end || xdd_load16(data + 12) != 0x0008)
		return XDP_PASS;
	key.src = ip->src;
	key.dst = ip->dst;
	key.id = ip->id;
	key.proto = ip->proto;
	key.ports = *(const u32 *)(ip + 1);
	seen = bpf_map_lookup_elem(&peer, &key);
	if (seen && now - seen->time_ns <= (u64)bench_keys * (1 + bench_new) * BENCH_STEP_NS)
		return XDP_DROP;
	bpf_map_update_elem(&peer, &key, &first, BPF_ANY);
	return XDP_PASS;
}

XDD_INLINE u64 random_draw(u64 n)
{
	u32 zero = 0;
	u64 *state;

	if (bench_source == BENCH_HELPER)
		return xdd_mix64((u64)bpf_get_prandom_u32() << 32 ^ n);
	if (bench_source == BENCH_COUNT)
		return xdd_mix64(xdd_secret.sip[0] + n);
	state = bpf_map_lookup_elem(&random_state, &zero);
	if (!state)
		return 0;
	*(volatile u64 *)state += XDD_GOLDEN;
	return xdd_mix64(*state);
}

SEC("xdp")
int bench_random(struct xdp_md *ctx)
{
	u64 n = bench_next(ctx);

	for (u32 i = 0; i < BENCH_DRAWS; i++)
		bench_random_sum += random_draw(n + i);
	return XDP_PASS;
}

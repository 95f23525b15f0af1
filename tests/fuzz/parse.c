/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For libFuzzer: any bytes as a frame, under any configuration, through the native filter. Three
 * bytes choose the configuration. Beside what the sanitizers find, the verdict must be a valid
 * one, the same frame again must get the same reason or be a duplicate, and one that differs
 * in its Ethernet addresses too, unless the key has them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/store.h"
#include "xdd/counters.h"
#include "xdd/decide.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const u32 links[] = { XDD_LINK_ETHERNET, XDD_LINK_ETHERNET, XDD_LINK_SLL,  XDD_LINK_SLL2,
			     XDD_LINK_NULL,	XDD_LINK_RAW,	   XDD_LINK_LOOP, 127 };

/* All but the addresses, which the checks below change. */
#define FIELDS (((1u << XDD_FIELD_MAX) - 1) & ~(1u << XDD_FIELD_macs))

static struct xdd_fixed fixed_of(u8 first, u8 second, u8 third)
{
	struct xdd_fixed fixed = {
		.engine = XDD_ENGINE_exact,
		.key = first % XDD_KEY_MAX,
		.hash = (first >> 3) % XDD_HASH_MAX,
		.hashes = 1,
		.slices = 1,
		.blocks = 1,
		.lines_per_block = 1,
		.offset_len = 1 + (first >> 3),
		.offset_pos = second >> 3,
		.verify_checksum = second >> 3 & 1,
		.zero_checksum_ok = second >> 4 & 1,
		.zero_length_ok = second >> 5 & 1,
		.short_capture_ok = second >> 6 & 1,
		.non_ip_frame = second >> 7,
		.tick_ns = 1,
		.inner = third & 1,
		.vni_key = third >> 1 & 1,
		.vlan_key = third >> 2 & 1,
		.vlan_maps = third >> 3 & 1,
		.vlan_from = { 100 },
		.changed_fields = third >> 4 & 1 ? FIELDS : 0,
		.payload_bytes = third >> 5 & 1 ? third : 0,
		.tunnel_port = { 4789, 6081, 2152, 6635 },
		.tunnel_kind = { XDD_TUNNEL_vxlan, XDD_TUNNEL_geneve, XDD_TUNNEL_gtpu,
				 XDD_TUNNEL_mpls },
	};

	return fixed;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct xdd_verdict decide(struct xdd_store *store, const u8 *at, u32 len, u32 link)
{
	struct xdd_packet packet = { at, at + len, NULL, len, len, link };

	return store_decide(store, &packet, 1);
}

static void check(struct xdd_store *store, u8 *frame, u32 len, u32 link)
{
	struct xdd_verdict first = decide(store, frame, len, link), again;

	require(first.bypass <= XDD_BYPASS_MAX && first.bypass != XDD_BYPASS_internal);
	require(!first.found);
	again = decide(store, frame, len, link);
	require(again.bypass == first.bypass);
	require(again.found == (first.bypass == XDD_BYPASS_MAX ? XDD_SEEN : 0));
	if (link != XDD_LINK_ETHERNET || len < 14 || store->fixed.key == XDD_KEY_frame ||
	    store->fixed.key == XDD_KEY_offset || store->fixed.non_ip_frame)
		return;
	frame[3] ^= 1;
	again = decide(store, frame, len, link);
	require(again.bypass == first.bypass);
	require(again.found == (first.bypass == XDD_BYPASS_MAX ? XDD_SEEN : 0));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct xdd_store store;
	struct xdd_live live = { .abi = XDD_ABI, .window_ticks = 1 };
	struct xdd_fixed fixed;
	u8 *frame;

	if (size < 3)
		return 0;
	fixed = fixed_of(data[0], data[1], data[2]);
	if (!store.entries && store_open(&store, &fixed, &live, 1 << 20))
		abort();
	store.fixed = fixed;
	frame = malloc(size - 3);
	memcpy(frame, data + 3, size - 3);
	check(&store, frame, size - 3, links[data[1] % XDD_ARRAY_SIZE(links)]);
	free(frame);
	/* An empty filter for the next one: forget what this one left. */
	for (size_t i = 0; store.used && i < store.size; i++)
		store.entries[i].time_ns = STORE_FREE;
	store.used = 0;
	return 0;
}

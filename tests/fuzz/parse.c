/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For libFuzzer: any bytes as a frame, under any configuration, through all that makes its key.
 * Three bytes choose the configuration. Beside what the sanitizers find, the reason must be a
 * valid one, the same frame again must get the same reason and digest, and one that differs in
 * its Ethernet addresses too, unless the key has them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/identity.h"
#include "xdd/counters.h"

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

static u32 identify(const struct xdd_fixed *fixed, const u8 *at, u32 len, u32 link,
		    struct xdd_identity *identity)
{
	static const struct xdd_secret secret = { { 1, 2, 3 } };
	struct xdd_packet packet = { at, at + len, NULL, len, len, link };

	*identity = (struct xdd_identity){};
	return identity_of(fixed, &secret, &packet, identity);
}

static void check(const struct xdd_fixed *fixed, u8 *frame, u32 len, u32 link)
{
	struct xdd_identity first, again;
	u32 bypass = identify(fixed, frame, len, link, &first);

	require(bypass <= XDD_BYPASS_MAX && bypass != XDD_BYPASS_internal);
	require(identify(fixed, frame, len, link, &again) == bypass);
	require(!memcmp(&first, &again, sizeof(first)));
	if (link != XDD_LINK_ETHERNET || len < 14 || fixed->key == XDD_KEY_frame ||
	    fixed->key == XDD_KEY_offset || fixed->key == XDD_KEY_redundancy || fixed->non_ip_frame)
		return;
	frame[3] ^= 1;
	require(identify(fixed, frame, len, link, &again) == bypass);
	require(bypass != XDD_BYPASS_MAX || digest_equal(&first.digest, &again.digest));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct xdd_fixed fixed;
	u8 *frame;

	if (size < 3)
		return 0;
	fixed = fixed_of(data[0], data[1], data[2]);
	frame = malloc(size - 3);
	memcpy(frame, data + 3, size - 3);
	check(&fixed, frame, size - 3, links[data[1] % XDD_ARRAY_SIZE(links)]);
	free(frame);
	return 0;
}

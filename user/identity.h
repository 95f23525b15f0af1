/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a packet is known by, asked without a filter. */
#ifndef USER_IDENTITY_H
#define USER_IDENTITY_H

#include <xdd/key.h>

/*
 * Key and 128-bit digest of @packet under @fixed, whatever engine that names: equal digests are
 * equal keys, but for a chance of 2^-62.
 *
 * Returns XDD_BYPASS_MAX with @identity filled, or the enum xdd_bypass that says why it has no key.
 */
u32 identity_of(const struct xdd_fixed *fixed, const struct xdd_secret *secret,
		const struct xdd_packet *packet, struct xdd_identity *identity);

/* Where the headers of @packet lie, transport included; as far as they could be read. */
struct xdd_layers identity_layers(const struct xdd_fixed *fixed, const struct xdd_packet *packet);

/* The same from the IP header at @l3 on. */
struct xdd_layers identity_layers_at(const struct xdd_fixed *fixed, const struct xdd_packet *packet,
				     u32 l3);

/* Offset of the IP header that the key of @packet is made of; 0 where it is made of none. */
u32 identity_l3(const struct xdd_fixed *fixed, const struct xdd_packet *packet);

/* Offset of the trailer of PRP in an Ethernet frame; 0: it has none. */
u32 identity_trailer(const struct xdd_packet *packet);

static inline bool digest_equal(const struct xdd_digest *a, const struct xdd_digest *b)
{
	return a->lo == b->lo && a->hi == b->hi;
}

#endif

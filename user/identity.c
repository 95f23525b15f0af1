// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/identity.h"

#include "user/accessors.h"

u32 identity_of(const struct xdd_fixed *fixed, const struct xdd_secret *secret,
		const struct xdd_packet *packet, struct xdd_identity *identity)
{
	struct xdd_fixed wide = *fixed;

	wide.engine = XDD_ENGINE_exact;
	return xdd_identify(&wide, secret, packet, identity);
}

struct xdd_layers identity_layers_at(const struct xdd_fixed *fixed, const struct xdd_packet *packet,
				     u32 l3)
{
	struct xdd_layers layers = { .l3 = l3, .bypass = XDD_BYPASS_MAX };
	struct xdd_fixed whole = *fixed;

	/* Only flow keys have transport headers read; a wrong checksum is none of ours. */
	whole.key = XDD_KEY_flow;
	whole.verify_checksum = 0;
	if (!xdd_guess_ip(packet, &layers, l3))
		xdd_parse_ip(&whole, packet, &layers);
	return layers;
}

struct xdd_layers identity_layers(const struct xdd_fixed *fixed, const struct xdd_packet *packet)
{
	struct xdd_layers layers;
	struct xdd_fixed whole = *fixed;

	whole.key = XDD_KEY_flow;
	whole.verify_checksum = 0;
	xdd_packet_layers(&whole, packet, &layers);
	return layers;
}

u32 identity_l3(const struct xdd_fixed *fixed, const struct xdd_packet *packet)
{
	struct xdd_around around = {};
	struct xdd_layers layers;
	struct xdd_walk walk;

	if (fixed->key == XDD_KEY_frame || fixed->key == XDD_KEY_offset ||
	    fixed->key == XDD_KEY_redundancy)
		return 0;
	xdd_packet_layers(fixed, packet, &layers);
	if (fixed->inner)
		xdd_packet_inner(fixed, packet, &walk, &layers, &around);
	return layers.bypass == XDD_BYPASS_MAX ? layers.l3 : 0;
}

u32 identity_trailer(const struct xdd_packet *packet)
{
	struct xdd_layers layers;

	xdd_parse_link(packet, &layers);
	if (packet->link != XDD_LINK_ETHERNET || layers.bypass != XDD_BYPASS_MAX)
		return 0;
	return xdd_packet_trailer(packet, layers.l3);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Site policy: what tells packets apart beside their own bytes. VLANs, addresses of Ethernet,
 * tunnels and interfaces are mixed into one word of the key, which two packets that differ in
 * them share with a chance of 2^-64.
 */
#ifndef XDD_SITE_H
#define XDD_SITE_H

#include "hash.h"
#include "tunnel.h"

/* Accessor: xdd_link_vids(), in BPF a function. */
extern u64 xdd_packet_vids(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			   u32 off, u32 ethertype);

/* Whether anything but the packet's bytes is in the key. */
XDD_INLINE bool xdd_has_site(XDD_FIXED struct xdd_fixed *fixed)
{
	return fixed->vni_key || fixed->vlan_key || fixed->scope_iface ||
	       (fixed->changed_fields && xdd_field_in(fixed, XDD_FIELD_macs));
}

XDD_INLINE u64 xdd_mix_macs(const struct xdd_packet *packet, u32 eth, u64 site)
{
	u32 macs[3];

	/* Else it is the 16 bits as loaded that are read from, not those that were compared. */
	xdd_opaque(eth);
	/* Links of another kind have no such addresses. */
	if ((!eth && packet->link != XDD_LINK_ETHERNET) ||
	    xdd_packet_read(packet, eth, macs, sizeof(macs)))
		return site;
	site = xdd_mix64(site ^ (macs[0] | (u64)macs[1] << 32));
	return xdd_mix64(site ^ macs[2]);
}

/* The word, of a packet that @around is around. */
XDD_INLINE u64 xdd_site(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_packet *packet,
			const struct xdd_around *around)
{
	u64 site = XDD_GOLDEN;

	if (fixed->vni_key)
		site = xdd_mix64(site ^ ((u64)around->tunnel << 32 | around->id));
	if (fixed->vlan_key)
		site = xdd_mix64(site ^ around->vids);
	if (fixed->scope_iface)
		site = xdd_mix64(site ^ xdd_packet_iface(packet));
	if (xdd_field_in(fixed, XDD_FIELD_macs))
		site = xdd_mix_macs(packet, around->eth, site);
	return site;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of tunnels, by the words of frame.h, and configurations that look into them. In each the
 * innermost IP packet is the last one.
 */
#ifndef TESTS_TUNNELS_H
#define TESTS_TUNNELS_H

#include "tests/common/config.h"
#include "tests/common/frame.h"

static const char *const tunnel_specs[] = {
	"eth ip4 ip4 udp pay:9",
	"eth ip4 ip6 tcp pay:9",
	"eth ip6 ip4 udp pay:9",
	"eth ip6 ip6 udp pay:9",
	"eth ip6 hop dst ip6 udp pay:9",
	"eth ip4:3 ip4:2 udp pay:9",
	"eth ip6 ah:4 frag ip4 udp pay:9",
	"eth ip4 ah:4 ip4 udp pay:9",

	"eth ip4 gre ip4 tcp pay:9",
	"eth ip6 gre ip6 tcp pay:9",
	"eth ip4 gre:0x8000 ip4 tcp pay:9",
	"eth ip4 gre:0x4000 ip4 tcp pay:9",
	"eth ip4 gre:0x2000 ip4 tcp pay:9",
	"eth ip4 gre:0x1000 ip6 tcp pay:9",
	"eth ip4 gre:0xc000 ip4 tcp pay:9",
	"eth ip4 gre:0xa000 ip4 tcp pay:9",
	"eth ip4 gre:0x9000 ip4 tcp pay:9",
	"eth ip4 gre:0x6000 ip4 tcp pay:9",
	"eth ip4 gre:0x5000 ip4 tcp pay:9",
	"eth ip4 gre:0x3000 ip4 tcp pay:9",
	"eth ip4 gre:0xe000 ip4 tcp pay:9",
	"eth ip4 gre:0xd000 ip4 tcp pay:9",
	"eth ip4 gre:0xb000 ip4 tcp pay:9",
	"eth ip4 gre:0x7000 ip4 tcp pay:9",
	"eth ip4 gre:0xf000 ip4 tcp pay:9",
	"eth ip4 gre mpls mpls ip4 tcp pay:9",
	"eth ip4 gre:0x2000 eth ip4 tcp pay:9",
	"eth ip4 gre:0x2000 eth qinq vlan ip6 tcp pay:9",
	"eth ip4 gre:0x3001 ppp ip4 udp pay:9",
	"eth ip4 gre:0x3081 ppp ip6 udp pay:9",
	"eth ip4 gre erspan1 eth ip4 udp pay:9",
	"eth ip4 gre:0x1000 erspan2 eth vlan ip4 udp pay:9",
	"eth ip4 gre:0x1000 erspan3 eth ip4 udp pay:9",
	"eth ip4 gre:0x1000 erspan3:0x100 eth ip6 udp pay:9",
	"eth ip4 gre:0x1000 erspan3:0x002 ip4 udp pay:9",
	"eth ip6 gre:0x1000 erspan3:0x102 ip6 udp pay:9",

	"eth ip4 udp:4789 vxlan:77 eth ip4 tcp pay:9",
	"eth ip6 udp:8472 vxlan:77 eth vlan ip6 tcp pay:9",
	"eth ip4 udp:4790 gpe ip4 tcp pay:9",
	"eth ip4 udp:4790 gpe ip6 tcp pay:9",
	"eth ip4 udp:4790 gpe eth ip4 tcp pay:9",
	"eth ip4 udp:4789 gpe mpls mpls ip6 tcp pay:9",
	"eth ip4 udp:6081 geneve eth ip4 tcp pay:9",
	"eth ip4 udp:6081 geneve:3 ip4 tcp pay:9",
	"eth ip6 udp:6081 geneve:63 ip6 tcp pay:9",
	"eth ip4 udp:2152 gtpu ip4 tcp pay:9",
	"eth ip4 udp:2152 gtpu:1 ip6 tcp pay:9",
	"eth ip4 udp:2152 gtpu:2 ip4 tcp pay:9",
	"eth ip4 udp:2152 gtpu:4 ip4 tcp pay:9",
	"eth ip6 udp:2152 gtpu:7 ip6 tcp pay:9",
	"eth ip4 udp:6635 mpls ip4 tcp pay:9",
	"eth ip4 mpls mpls ip4 tcp pay:9",
	"eth ip4 udp:6635 mpls cw eth ip4 tcp pay:9",
	"eth ip4 udp:6635 mpls eth ip6 tcp pay:9",

	"eth mpls mpls cw eth vlan ip4 tcp pay:9",
	"eth mpls eth ip6 tcp pay:9",
	"eth pppoe ip4 tcp pay:9 pad:4",
	"eth qinq vlan pppoe ip6 tcp pay:9",
	"eth pppoe mpls ip4 tcp pay:9",
	"eth vntag vlan ip4 tcp pay:9",
	"eth etag ip6 tcp pay:9",
	"eth qinq pbb eth vlan ip4 tcp pay:9",
	"eth stamp vlan pppoe ip4 tcp pay:9",
	"eth ip4 gre:0x2000 eth stamp:0x120 vlan ip4 tcp pay:9",
	"eth ip4 udp:4789 vxlan eth stamp:0x11 ip6 tcp pay:9",
	"eth fabricpath eth vlan ip4 tcp pay:9",
	"eth vlan trill eth ip4 tcp pay:9",
	"eth vlan ip4 udp:4789 vxlan eth vlan etag pppoe ip4 udp pay:9",

	"eth ip4 ip4 ip4 ip4 ip4 udp pay:9",
	"eth qinq vlan ip4 gre:0x1000 erspan2 eth vlan ip4 udp:4789 vxlan eth ip6 gre ip4 udp:2152 "
	"gtpu:4 ip4 tcp pay:9",
	"eth mpls ip6 udp:6081 geneve:4 eth mpls ip4 udp:4789 vxlan eth vlan ip4 ip6 udp pay:9",
	"sll vlan ip4 udp:4789 vxlan eth ip4 tcp pay:9",
	"raw ip4 ip6 tcp pay:9",
};

/* What carries packets of its own, or nothing that can be read: the key stays where it is. */
static const char *const no_tunnel_specs[] = {
	"eth ip4 tcp pay:40",
	"eth ip4 udp pay:40",
	"eth ip6 hop udp pay:40",
	"eth ip4first gre ip4 tcp pay:9",
	"eth ip4later gre ip4 tcp pay:9",
	"eth ip6 frag:1 gre ip4 tcp pay:9",
	"eth ip6 frag:2 gre ip4 tcp pay:9",
	"eth ip4 udp:4788 vxlan eth ip4 tcp pay:9",
	"eth ip4 udp:4789 vxlan eth arp",
	"eth ip4 udp:4789 pay:40",
	"eth ip4 gre arp",
	"eth ip4 gre:0x2000 eth macsec",
	"eth ip4 gre:0x2000 eth stamp:0x40 ip4 tcp pay:9",
	"eth ip4 gre:0x1002 ip4 tcp pay:9",
	"eth ip4 gre:0x2081 ppp",
	"eth ip4 gre:0x1000 erspan3:0x001 eth ip4 tcp pay:9",
	"eth ip4 proto:50 pay:40",
	"eth ip4 udp pay:3",
	"eth ip4 udp:4789 pay:0",
};

static inline struct xdd_fixed tunnel_fixed(u32 engine, u32 key)
{
	static const struct {
		u16 port;
		u8 kind;
	} ports[] = { { 4789, XDD_TUNNEL_vxlan }, { 8472, XDD_TUNNEL_vxlan },
		      { 4790, XDD_TUNNEL_vxlan }, { 6081, XDD_TUNNEL_geneve },
		      { 2152, XDD_TUNNEL_gtpu },  { 6635, XDD_TUNNEL_mpls } };
	struct xdd_fixed fixed = config_fixed(engine, key);

	fixed.inner = 1;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(ports); i++) {
		fixed.tunnel_port[i] = ports[i].port;
		fixed.tunnel_kind[i] = ports[i].kind;
	}
	return fixed;
}

/* Cut @frame to @len bytes, where the outermost @ips packets end, as if they had carried no more. */
static inline void frame_cut(struct frame *frame, u32 ips, u32 len)
{
	frame_set_end(frame, ips, len);
	frame->len = len;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/links.h"

#include <bpf/bpf.h>
#include <net/if.h>
#include <linux/if.h>
#include <stdio.h>
#include <string.h>

#include "user/loader/instance.h"
#include "user/loader/netns.h"
#include "user/nic/facts.h"

static const char *const operstates[] = {
	[IF_OPER_UNKNOWN] = "unknown", [IF_OPER_NOTPRESENT] = "notpresent",
	[IF_OPER_DOWN] = "down",       [IF_OPER_LOWERLAYERDOWN] = "lowerlayerdown",
	[IF_OPER_TESTING] = "testing", [IF_OPER_DORMANT] = "dormant",
	[IF_OPER_UP] = "up",
};

/* Some drivers do not say: then it is taken as well. */
static bool has_carrier(const struct link_facts *facts)
{
	return facts->flags & IFF_UP && facts->operstate != IF_OPER_NOTPRESENT &&
	       facts->operstate != IF_OPER_DOWN && facts->operstate != IF_OPER_LOWERLAYERDOWN;
}

static void read_link(const struct instance_iface *iface, struct link_view *link)
{
	struct link_facts facts;

	if (iface->state != IFACE_ATTACHED || link_facts(NULL, iface->ifindex, &facts))
		return;
	link->known = true;
	link->up = facts.flags & IFF_UP;
	link->carrier = has_carrier(&facts);
	link->operstate = facts.operstate;
}

/* The kernel takes one that is deleted out of the map, and leaves one that is renamed there. */
static void read_target(const struct instance *in, u32 dev, struct target_view *target)
{
	struct link_facts facts;
	u64 features, lost;
	u32 ifindex;

	if (!*in->meta.targets[dev])
		return;
	target->known = true;
	snprintf(target->name, sizeof(target->name), "%s", in->meta.targets[dev]);
	if (bpf_map_lookup_elem(in->maps.targets, &dev, &ifindex) || !ifindex ||
	    link_facts(NULL, ifindex, &facts))
		return;
	snprintf(target->name, sizeof(target->name), "%s", facts.name);
	target->ifindex = ifindex;
	target->up = facts.flags & IFF_UP;
	target->takes = xdp_features(ifindex, &features) || features & FACTS_XDP_TARGET;
	target->veth = !strcmp(facts.kind, "veth");
	target->dropped = facts.tx_dropped;
	if (!ethtool_sum(facts.name, "xdp_xmit_errors", &lost))
		target->dropped += lost;
}

void links_read(const struct instance *in, struct links *links)
{
	int home;

	memset(links, 0, sizeof(*links));
	if (netns_enter_inode(in->meta.netns_inode, in->meta.netns, &home))
		return;
	for (u32 i = 0; i < in->ifaces_used; i++)
		read_link(&in->ifaces[i], &links->iface[i]);
	for (u32 i = 0; i < XDD_DEV_MAX; i++)
		read_target(in, i, &links->target[i]);
	netns_leave(home);
}

const char *link_operstate(const struct link_view *link)
{
	return operstates[link->operstate < XDD_ARRAY_SIZE(operstates) ? link->operstate : 0];
}

const char *link_fault(const struct link_view *link)
{
	if (!link->known || link->carrier)
		return NULL;
	return link->up ? "no carrier" : "down";
}

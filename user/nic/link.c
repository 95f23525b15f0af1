/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts by rtnetlink and, of XDP, by the generic netlink family "netdev". */
#include "user/nic/facts.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "user/nic/netlink.h"

/* linux/netdev.h, since Linux 6.3. */
#define NETDEV_FAMILY "netdev"
#define NETDEV_CMD_DEV_GET 1
#define NETDEV_A_DEV_IFINDEX 1
#define NETDEV_A_DEV_XDP_FEATURES 3

static void read_kinds(const struct nlattr *info, struct link_facts *facts)
{
	const struct nlattr *inner[IFLA_INFO_SLAVE_KIND + 1];

	if (!info)
		return;
	netlink_attributes(netlink_data(info), netlink_size(info), inner, XDD_ARRAY_SIZE(inner));
	netlink_text(inner[IFLA_INFO_KIND], facts->kind, sizeof(facts->kind));
	netlink_text(inner[IFLA_INFO_SLAVE_KIND], facts->slave, sizeof(facts->slave));
}

/* One program is named by IFLA_XDP_PROG_ID and its mode; several by an attribute each. */
static void read_xdp(const struct nlattr *xdp, struct link_facts *facts)
{
	const struct nlattr *inner[IFLA_XDP_HW_PROG_ID + 1];
	u32 id;

	if (!xdp)
		return;
	netlink_attributes(netlink_data(xdp), netlink_size(xdp), inner, XDD_ARRAY_SIZE(inner));
	id = netlink_u32(inner[IFLA_XDP_PROG_ID]);
	facts->xdp_native = netlink_u32(inner[IFLA_XDP_DRV_PROG_ID]);
	facts->xdp_generic = netlink_u32(inner[IFLA_XDP_SKB_PROG_ID]);
	facts->xdp_offloaded = netlink_u32(inner[IFLA_XDP_HW_PROG_ID]);
	if (!facts->xdp_native && !facts->xdp_generic && !facts->xdp_offloaded)
		facts->xdp_native = id;
}

static void read_statistics(const struct nlattr *attribute, struct link_facts *facts)
{
	struct rtnl_link_stats64 stats = { 0 };
	size_t size;

	if (!attribute)
		return;
	size = netlink_size(attribute);
	memcpy(&stats, netlink_data(attribute), size < sizeof(stats) ? size : sizeof(stats));
	facts->rx_dropped = stats.rx_dropped;
	facts->tx_dropped = stats.tx_dropped;
	facts->tx_errors = stats.tx_errors;
}

static void read_link(const struct nlmsghdr *answer, struct link_facts *facts)
{
	const struct ifinfomsg *info = NLMSG_DATA(answer);
	const struct nlattr *found[IFLA_MAX + 1];

	netlink_attributes((const char *)info + NLMSG_ALIGN(sizeof(*info)),
			   answer->nlmsg_len - NLMSG_SPACE(sizeof(*info)), found,
			   XDD_ARRAY_SIZE(found));
	facts->ifindex = info->ifi_index;
	facts->flags = info->ifi_flags;
	netlink_text(found[IFLA_IFNAME], facts->name, sizeof(facts->name));
	facts->mtu = netlink_u32(found[IFLA_MTU]);
	facts->promiscuity = netlink_u32(found[IFLA_PROMISCUITY]);
	facts->master = netlink_u32(found[IFLA_MASTER]);
	facts->lower = netlink_u32(found[IFLA_LINK]);
	facts->lower_elsewhere = found[IFLA_LINK_NETNSID] != NULL;
	if (found[IFLA_OPERSTATE])
		facts->operstate = *(const u8 *)netlink_data(found[IFLA_OPERSTATE]);
	read_kinds(found[IFLA_LINKINFO], facts);
	read_xdp(found[IFLA_XDP], facts);
	read_statistics(found[IFLA_STATS64], facts);
}

int link_facts(const char *name, int ifindex, struct link_facts *facts)
{
	u32 answer[NETLINK_ANSWER_MAX / 4];
	struct netlink_request request;
	struct ifinfomsg *info;
	int err;

	memset(facts, 0, sizeof(*facts));
	info = netlink_begin(&request, RTM_GETLINK, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	if (name && strlen(name) >= IF_NAMESIZE)
		return -ENODEV;
	if (name)
		netlink_add(&request, IFLA_IFNAME, name, strlen(name) + 1);
	else
		info->ifi_index = ifindex;
	err = netlink_ask(NETLINK_ROUTE, &request, answer);
	if (err)
		return err;
	read_link((const struct nlmsghdr *)answer, facts);
	return 0;
}

static const void *generic_payload(const void *answer, int *size)
{
	const struct nlmsghdr *header = answer;

	*size = header->nlmsg_len - NLMSG_SPACE(GENL_HDRLEN);
	return (const char *)header + NLMSG_SPACE(GENL_HDRLEN);
}

/* The number of family "netdev", or a negative errno. */
static int netdev_family(void *answer)
{
	const struct nlattr *found[CTRL_ATTR_FAMILY_ID + 1];
	struct netlink_request request;
	struct genlmsghdr *generic;
	const void *payload;
	int err, size;

	generic = netlink_begin(&request, GENL_ID_CTRL, sizeof(*generic));
	generic->cmd = CTRL_CMD_GETFAMILY;
	generic->version = 1;
	netlink_add(&request, CTRL_ATTR_FAMILY_NAME, NETDEV_FAMILY, sizeof(NETDEV_FAMILY));
	err = netlink_ask(NETLINK_GENERIC, &request, answer);
	if (err)
		return err == -ENOENT ? -EOPNOTSUPP : err;
	payload = generic_payload(answer, &size);
	netlink_attributes(payload, size, found, XDD_ARRAY_SIZE(found));
	if (!found[CTRL_ATTR_FAMILY_ID])
		return -EOPNOTSUPP;
	return *(const u16 *)netlink_data(found[CTRL_ATTR_FAMILY_ID]);
}

int xdp_features(int ifindex, u64 *features)
{
	const struct nlattr *found[NETDEV_A_DEV_XDP_FEATURES + 1];
	u32 answer[NETLINK_ANSWER_MAX / 4];
	struct netlink_request request;
	struct genlmsghdr *generic;
	int family, err, size;
	const void *payload;

	*features = 0;
	family = netdev_family(answer);
	if (family < 0)
		return family;
	generic = netlink_begin(&request, family, sizeof(*generic));
	generic->cmd = NETDEV_CMD_DEV_GET;
	generic->version = 1;
	netlink_add(&request, NETDEV_A_DEV_IFINDEX, &ifindex, sizeof(ifindex));
	err = netlink_ask(NETLINK_GENERIC, &request, answer);
	if (err)
		return err;
	payload = generic_payload(answer, &size);
	netlink_attributes(payload, size, found, XDD_ARRAY_SIZE(found));
	*features = netlink_u64(found[NETDEV_A_DEV_XDP_FEATURES]);
	return 0;
}

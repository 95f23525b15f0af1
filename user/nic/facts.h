/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts about an interface of the network namespace that the thread is in.
 */
#ifndef USER_NIC_FACTS_H
#define USER_NIC_FACTS_H

#include <net/if.h>
#include <stdbool.h>

#include <xdd/types.h>

#define FACTS_NAME_MAX 32

/* What one page leaves of an MTU: less headroom, tail room and the Ethernet header. */
#define ONE_PAGE_MTU 3506

/* The name of libxdp's program, which calls several others. */
#define XDP_DISPATCHER "xdp_dispatcher"

/* By rtnetlink. */
struct link_facts {
	int ifindex;
	char name[IF_NAMESIZE];
	u32 flags; /* IFF_ */
	u32 mtu;
	u32 promiscuity;	   /* how many want it */
	int master;		   /* ifindex, or 0 */
	int lower;		   /* ifindex of the device below, or of a veth's other end; or 0 */
	bool lower_elsewhere;	   /* ... which is in another network namespace */
	char kind[FACTS_NAME_MAX]; /* veth, bond, dummy, ...; empty: hardware */
	char slave[FACTS_NAME_MAX];		    /* kind of the master, or empty */
	u8 operstate;				    /* IF_OPER_ */
	u32 xdp_native, xdp_generic, xdp_offloaded; /* program ids, or 0 */
	u64 rx_dropped, tx_dropped, tx_errors;
};

/* Of the interface @name or, where that is NULL, of number @ifindex. Returns 0, -ENODEV, or what
 * netlink returned.
 */
int link_facts(const char *name, int ifindex, struct link_facts *facts);

/* Bits of the kernel's enum netdev_xdp_act. */
#define FACTS_XDP_BASIC 1
#define FACTS_XDP_REDIRECT 2
#define FACTS_XDP_TARGET 4
#define FACTS_XDP_FRAGS 32

/* What the driver says of XDP. Returns 0, or -EOPNOTSUPP: the kernel (before 6.3) cannot say, or
 * what netlink returned; *@features is 0 then.
 */
int xdp_features(int ifindex, u64 *features);

/* By ethtool. Each returns 0 or a negative errno: -EOPNOTSUPP where the driver cannot say. */
int ethtool_driver(const char *ifname, char driver[FACTS_NAME_MAX]);

/* Receive queues in use: combined and receive-only channels. */
int ethtool_rx_queues(const char *ifname, unsigned int *queues);

enum ethtool_offload { OFFLOAD_GRO, OFFLOAD_LRO, OFFLOAD_GRO_HW, OFFLOAD_RXVLAN, OFFLOAD_MAX };

/* Bits 1 << enum ethtool_offload of what is on, and of what can be switched. */
int ethtool_offloads(const char *ifname, u32 *on, u32 *changeable);

/* The name of an offload as ethtool -K takes it. */
extern const char *const offload_names[];

/* Sum of the driver's statistics whose names contain @part, as ethtool -S shows them. */
int ethtool_sum(const char *ifname, const char *part, u64 *sum);

#endif

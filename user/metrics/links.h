/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interfaces of an instance, and those that it redirects packets to, as rtnetlink shows them. */
#ifndef USER_METRICS_LINKS_H
#define USER_METRICS_LINKS_H

#include <stdbool.h>

#include <xdd/config.h>
#include <xdd/meta.h>

struct instance;

struct link_view {
	bool known;   /* it is attached, and in a network namespace that can be entered */
	bool up;      /* it was switched on */
	bool carrier; /* ... and the other end is there */
	u8 operstate; /* IF_OPER_ (RFC 2863) */
};

/* Of an instance without this target all is zero. */
struct target_view {
	bool known;		    /* it is used, and its network namespace can be entered */
	char name[XDD_META_IFNAME]; /* now; as it was given where it is gone */
	u32 ifindex;		    /* 0: it is gone */
	bool up;
	bool takes; /* redirected packets, as far as the kernel says */
	bool veth;
	u64 dropped; /* packets that it was to send */
};

struct links {
	struct link_view iface[XDD_MAX_IFACES]; /* by slot */
	struct target_view target[XDD_DEV_MAX];
};

/* What cannot be found out is not known. */
void links_read(const struct instance *in, struct links *links);

/* "up", "lowerlayerdown", ... as /sys/class/net/IFACE/operstate has it. */
const char *link_operstate(const struct link_view *link);

/* What is wrong with it: "down", "no carrier", or NULL: nothing that is known. */
const char *link_fault(const struct link_view *link);

#endif

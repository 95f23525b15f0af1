/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/nic/check.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/nic/facts.h"
#include "user/utf8.h"

#define OUR_PROGRAM "xdp_dedup"

struct check {
	const struct options *o;
	struct check_report *report;
	struct link_facts link;
	char driver[FACTS_NAME_MAX];
};

/* Add a finding; @code is 0 unless it is a problem. Returns it, for the cure. */
__attribute__((format(printf, 5, 6))) static struct check_finding *
find(struct check *c, enum check_severity severity, const char *about, int code, const char *format,
     ...)
{
	struct check_finding *f = &c->report->finding[c->report->n];
	va_list args;

	if (c->report->n < CHECK_MAX_FINDINGS - 1)
		c->report->n++;
	*f = (struct check_finding){ .severity = severity, .about = about, .code = code };
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
	utf8_mask(f->text);
	return f;
}

__attribute__((format(printf, 2, 3))) static void mend(struct check_finding *f, const char *format,
						       ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->cure, sizeof(f->cure), format, args);
	va_end(args);
	utf8_mask(f->cure);
}

#define good(c, about, ...) find(c, CHECK_OK, about, 0, __VA_ARGS__)
#define remark(c, about, ...) find(c, CHECK_NOTE, about, 0, __VA_ARGS__)
#define problem(c, about, code, ...) find(c, CHECK_PROBLEM, about, code, __VA_ARGS__)

static bool is_kind(const struct check *c, const char *kind)
{
	return !strcmp(c->link.kind, kind);
}

static const char *name_of(int ifindex, char name[IF_NAMESIZE])
{
	struct link_facts facts;

	if (link_facts(NULL, ifindex, &facts))
		snprintf(name, IF_NAMESIZE, "#%d", ifindex);
	else
		memcpy(name, facts.name, IF_NAMESIZE);
	return name;
}

/* Devices that receive nothing worth de-duplicating, or where XDP is not at the driver. */
static void check_device(struct check *c)
{
	const char *ifname = c->report->ifname;
	char lower[IF_NAMESIZE];

	if (c->link.flags & IFF_LOOPBACK)
		problem(c, "device", -EOPNOTSUPP,
			"%s is the loopback: it carries what this host says to itself, and no "
			"driver runs XDP there",
			ifname);
	else if (is_kind(c, "dummy") || is_kind(c, "ifb"))
		problem(c, "device", -EOPNOTSUPP, "%s is a %s device: no packet ever arrives on it",
			ifname, c->link.kind);
	else if ((is_kind(c, "vlan") || is_kind(c, "macvlan") || is_kind(c, "ipvlan")) &&
		 c->link.lower)
		mend(problem(c, "device", -EOPNOTSUPP,
			     "%s is a %s on another device, whose driver runs XDP", ifname,
			     c->link.kind),
		     "xdp-dedup check %s", name_of(c->link.lower, lower));
	else
		good(c, "device", "%s", *c->link.kind ? c->link.kind : "network card");
}

static void check_generic(struct check *c)
{
	mend(remark(c, "driver",
		    "generic mode works with every driver, but later and slower than native"),
	     "--mode native");
}

static void check_driver(struct check *c)
{
	int err;
	u64 features;

	if (c->o->mode == MODE_GENERIC) {
		check_generic(c);
		return;
	}
	err = xdp_features(c->link.ifindex, &features);
	c->report->has_frags = features & FACTS_XDP_FRAGS;
	if (err)
		remark(c, "driver",
		       "%s: this kernel does not say which drivers run XDP natively; loading will "
		       "tell",
		       c->driver);
	else if (features & FACTS_XDP_BASIC)
		good(c, "driver", "%s runs XDP natively%s", c->driver,
		     c->report->has_frags ? ", packets in fragments too" : "");
	else if (c->o->mode == MODE_AUTO)
		remark(c, "driver", "%s does not run XDP natively: it will be generic, slower",
		       c->driver);
	else
		mend(problem(c, "driver", -EOPNOTSUPP, "driver %s does not run XDP natively",
			     c->driver),
		     "--mode generic");
}

/* A packet must fit into one page, unless the program and the driver take fragments. */
static void check_mtu(struct check *c)
{
	u32 mtu = c->link.mtu;
	struct check_finding *f;

	if (mtu <= ONE_PAGE_MTU || c->o->mode == MODE_GENERIC)
		good(c, "mtu", "%u", mtu);
	else if (c->report->has_frags && c->o->frags != FRAGS_OFF)
		good(c, "mtu", "%u: packets over a page come in fragments, which are read whole",
		     mtu);
	else {
		f = problem(
			c, "mtu", -EINVAL,
			"MTU %u: without fragments a packet must fit into a page, MTU %u at most",
			mtu, ONE_PAGE_MTU);
		if (c->report->has_frags)
			mend(f, "--frags auto");
		else
			mend(f, "ip link set dev %s mtu %u", c->report->ifname, ONE_PAGE_MTU);
	}
}

static void merged(struct check *c, u32 on, enum ethtool_offload offload)
{
	struct check_finding *f;

	if (!(on & 1 << offload))
		return;
	if (c->o->mode == MODE_GENERIC)
		f = problem(c, offload_names[offload], -EINVAL,
			    "%s is on: it merges packets before generic XDP sees them",
			    offload_names[offload]);
	else if (offload == OFFLOAD_GRO)
		return; /* it comes after native XDP */
	else
		f = remark(c, offload_names[offload],
			   "%s is on: the card merges packets; most drivers refuse XDP then",
			   offload_names[offload]);
	mend(f, "ethtool -K %s %s off", c->report->ifname, offload_names[offload]);
}

/* check does not know yet what the key will be. */
static bool rxvlan_matters(const struct options *o)
{
	return !strcmp(o->command, "check") || o->key == XDD_KEY_frame ||
	       o->key == XDD_KEY_offset || o->key == XDD_KEY_redundancy || o->vlan.key;
}

static void check_offloads(struct check *c)
{
	struct check_finding *f;
	u32 on, changeable;
	int before = c->report->n;

	if (ethtool_offloads(c->report->ifname, &on, &changeable)) {
		remark(c, "offloads", "the driver does not tell which offloads are on");
		return;
	}
	merged(c, on, OFFLOAD_GRO);
	merged(c, on, OFFLOAD_LRO);
	merged(c, on, OFFLOAD_GRO_HW);
	if (c->report->n == before)
		good(c, "offloads", "nothing merges packets before XDP");
	if (!(on & 1 << OFFLOAD_RXVLAN)) {
		good(c, "rxvlan", "VLAN tags stay in the packet");
		return;
	}
	if (!rxvlan_matters(c->o)) {
		good(c, "rxvlan",
		     "the outer VLAN tag is taken off before XDP; the key ignores tags");
		return;
	}
	f = remark(c, "rxvlan",
		   "the outer VLAN tag is taken off before XDP: --vlan key, keys frame, offset and "
		   "redundancy, and counters of bytes do not see it");
	if (changeable & 1 << OFFLOAD_RXVLAN)
		mend(f, "ethtool -K %s rxvlan off", c->report->ifname);
}

static void check_promiscuity(struct check *c)
{
	if (c->link.promiscuity || c->link.flags & IFF_PROMISC)
		good(c, "promisc", "%s takes packets for every address", c->report->ifname);
	else if (c->o->promisc)
		good(c, "promisc", "off now; loading switches it on, and unloading back");
	else
		mend(remark(c, "promisc",
			    "off: mirrored packets for other addresses will not be seen"),
		     "--promisc on");
}

static void check_queues(struct check *c)
{
	unsigned int queues;

	if (ethtool_rx_queues(c->report->ifname, &queues) || !queues)
		queues = 1;
	c->report->rx_queues = queues;
	if (queues == 1)
		good(c, "queues", "one receive queue: every packet comes on the same CPU");
	else if (c->o->placement == XDD_PLACEMENT_percpu)
		mend(remark(c, "queues",
			    "%u receive queues: a copy that RSS puts on another queue than the "
			    "first "
			    "one will not be found with --placement percpu",
			    queues),
		     "--placement shared, or ethtool -L %s combined 1", c->report->ifname);
	else
		good(c, "queues", "%u receive queues: one filter for all CPUs (placement shared)",
		     queues);
}

static void check_master(struct check *c)
{
	char master[IF_NAMESIZE];

	if (is_kind(c, "bond") || is_kind(c, "team"))
		remark(c, "bond",
		       "%s is a %s: native XDP on it needs members whose drivers all run it",
		       c->report->ifname, c->link.kind);
	if (!c->link.master)
		return;
	name_of(c->link.master, master);
	if (!strcmp(c->link.slave, "bond") || !strcmp(c->link.slave, "team"))
		mend(remark(c, "bond",
			    "%s is a leg of %s: copies that arrive on other legs are found only if "
			    "these are in the same instance",
			    c->report->ifname, master),
		     "name all legs of %s in one load", master);
	else
		remark(c, "master", "%s belongs to %s (%s), which gets what is left",
		       c->report->ifname, master, *c->link.slave ? c->link.slave : "a master");
}

static void program_name(u32 id, char name[BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = {};
	u32 size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	*name = 0;
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	close(fd);
}

static void check_program(struct check *c, u32 id, const char *mode)
{
	const char *ifname = c->report->ifname;
	char name[BPF_OBJ_NAME_LEN];

	program_name(id, name);
	if (!strcmp(name, XDP_DISPATCHER))
		mend(problem(c, "program", -EBUSY,
			     "program %u (%s, %s mode) is there: a dispatcher of libxdp, which "
			     "serves "
			     "several programs and is never replaced",
			     id, name, mode),
		     "xdp-loader unload %s --all", ifname);
	else if (!strcmp(name, OUR_PROGRAM))
		mend(problem(c, "program", -EBUSY,
			     "program %u (%s, %s mode) is there: it is loaded", id, name, mode),
		     "xdp-dedup unload %s", ifname);
	else if (c->o->force)
		remark(c, "program", "program %u (%s, %s mode) will be replaced", id,
		       *name ? name : "without a name", mode);
	else
		mend(problem(c, "program", -EBUSY, "another XDP program is there: %u (%s, %s mode)",
			     id, *name ? name : "without a name", mode),
		     "ip link set dev %s xdp off", ifname);
}

static void check_programs(struct check *c)
{
	const struct link_facts *link = &c->link;

	if (link->xdp_native)
		check_program(c, link->xdp_native, "native");
	if (link->xdp_generic)
		check_program(c, link->xdp_generic, "generic");
	if (link->xdp_offloaded)
		check_program(c, link->xdp_offloaded, "offloaded");
	if (!link->xdp_native && !link->xdp_generic && !link->xdp_offloaded)
		good(c, "program", "no XDP program is there");
}

static void check_state(struct check *c)
{
	if (!(c->link.flags & IFF_UP))
		mend(remark(c, "state", "%s is down: nothing arrives", c->report->ifname),
		     "ip link set dev %s up", c->report->ifname);
	else if (c->link.operstate == IF_OPER_DOWN || c->link.operstate == IF_OPER_LOWERLAYERDOWN)
		remark(c, "state", "%s has no carrier: the cable, or the other end, is down",
		       c->report->ifname);
	else
		good(c, "state", "up");
}

static void missing(struct check *c, const char *ifname, int err)
{
	if (err == -ENODEV)
		mend(problem(c, "device", err, "there is no interface %s in this network namespace",
			     ifname),
		     "ip link, or --netns NAME");
	else
		problem(c, "device", err, "%s: the kernel does not describe it: %s", ifname,
			strerror(-err));
}

int check_interface(const char *ifname, const struct options *o, struct check_report *report)
{
	struct check c = { .o = o, .report = report };
	int err;

	memset(report, 0, sizeof(*report));
	snprintf(report->ifname, sizeof(report->ifname), "%s", ifname);
	report->rx_queues = 1;
	err = link_facts(ifname, 0, &c.link);
	if (err) {
		missing(&c, ifname, err);
		return err;
	}
	report->ifindex = c.link.ifindex;
	if (ethtool_driver(ifname, c.driver) || !*c.driver)
		snprintf(c.driver, sizeof(c.driver), "%s", *c.link.kind ? c.link.kind : "unknown");
	check_device(&c);
	if (!check_problem(report)) {
		check_driver(&c);
		check_mtu(&c);
		check_offloads(&c);
		check_promiscuity(&c);
		check_queues(&c);
		check_master(&c);
		check_state(&c);
	}
	check_programs(&c);
	return check_problem(report) ? check_problem(report)->code : 0;
}

const struct check_finding *check_problem(const struct check_report *report)
{
	for (int i = 0; i < report->n; i++)
		if (report->finding[i].severity == CHECK_PROBLEM)
			return &report->finding[i];
	return NULL;
}

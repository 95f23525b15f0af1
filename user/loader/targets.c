/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/message.h"
#include "user/nic/facts.h"

#define CURE_MAX 160

static bool is_veth(const struct link_facts *facts)
{
	return !strcmp(facts->kind, "veth");
}

/* A kernel that does not tell what a device can: look at the veth's other end, if it is here. */
static bool peer_receives(const struct link_facts *facts)
{
	struct link_facts peer;
	u32 on = 0, changeable;

	if (!is_veth(facts) || facts->lower_elsewhere || link_facts(NULL, facts->lower, &peer))
		return true;
	ethtool_offloads(peer.name, &on, &changeable);
	return peer.xdp_native || on & 1u << OFFLOAD_GRO;
}

static bool sends(const struct link_facts *facts)
{
	u64 features;
	int code = xdp_features(facts->ifindex, &features);

	return code ? peer_receives(facts) : features & FACTS_XDP_TARGET;
}

static void cure(const struct link_facts *facts, char text[CURE_MAX])
{
	struct link_facts peer;

	if (!is_veth(facts))
		snprintf(text, CURE_MAX,
			 "its driver does not send redirected frames, or only while it has an XDP "
			 "program of its own: use another interface, or --mode generic");
	else if (facts->lower_elsewhere || link_facts(NULL, facts->lower, &peer))
		snprintf(text, CURE_MAX,
			 "the veth's other end drops them: in its network namespace, "
			 "`ethtool -K PEER gro on`");
	else
		snprintf(text, CURE_MAX, "the veth's other end drops them: `ethtool -K %s gro on`",
			 peer.name);
}

int target_find(const char *name, bool generic, bool force, u32 *ifindex, char *err,
		size_t err_size)
{
	struct link_facts facts;
	char text[CURE_MAX];
	int code = link_facts(name, 0, &facts);

	if (code == -ENODEV)
		return refuse(err, err_size, code,
			      "%s: there is no such interface to send to: ip link shows those that "
			      "there are",
			      name);
	errno = -code;
	if (code)
		return refuse(err, err_size, code, "%s: %m", name);
	*ifindex = facts.ifindex;
	if (!(facts.flags & IFF_UP))
		note("%s is down, so what is sent to it is lost: ip link set dev %s up", name,
		     name);
	if (generic || sends(&facts))
		return 0;
	cure(&facts, text);
	if (!force)
		return refuse(err, err_size, -EOPNOTSUPP,
			      "%s: all frames redirected to it would be lost: %s", name, text);
	note("%s: all frames redirected to it will be lost: %s", name, text);
	return 0;
}

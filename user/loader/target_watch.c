/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target_watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "netns.h"
#include "program.h"
#include "targets.h"
#include "user/message.h"

enum target_state {
	TARGET_NONE,	/* nothing is redirected there */
	TARGET_THERE,	/* under the name that is known */
	TARGET_RENAMED, /* under another one */
	TARGET_GONE,	/* the kernel took it out of the map */
	TARGET_BACK,	/* ... and there is one of its name again */
};

/* In the interfaces' network namespace. Where it is there, its name goes to @name. */
static enum target_state find(const struct instance *in, u32 dev, char name[IF_NAMESIZE])
{
	const char *known = in->meta.targets[dev];
	u32 ifindex = 0;

	if (!*known)
		return TARGET_NONE;
	if (bpf_map_lookup_elem(in->maps.targets, &dev, &ifindex) || !ifindex ||
	    !if_indextoname(ifindex, name))
		return if_nametoindex(known) ? TARGET_BACK : TARGET_GONE;
	return strcmp(known, name) ? TARGET_RENAMED : TARGET_THERE;
}

/* Returns whether it is to be mended. */
static bool look_at(struct target_watch *watch, const struct instance *in, u32 dev, const char *who)
{
	char name[IF_NAMESIZE];
	enum target_state state = find(in, dev, name);

	if (state == TARGET_GONE && !watch->was[dev].gone)
		complain("%s: %s: %s, which packets are redirected to, is gone: they pass to this "
			 "host "
			 "until it is back",
			 who, in->name, in->meta.targets[dev]);
	watch->was[dev].gone = state == TARGET_GONE;
	if (state != TARGET_BACK)
		watch->was[dev].refused = false;
	return state == TARGET_BACK || state == TARGET_RENAMED;
}

bool target_watch_look(struct target_watch *watch, const struct instance *in, const char *who)
{
	bool mend = false;
	int home;

	if (netns_enter_inode(in->meta.netns_inode, in->meta.netns, &home))
		return false;
	for (u32 i = 0; i < XDD_DEV_MAX; i++)
		mend |= look_at(watch, in, i, who);
	netns_leave(home);
	return mend;
}

/* A reason why it cannot be is told once, and it is tried again. */
static void send_again(struct target_watch *watch, const struct instance *in, u32 dev,
		       const char *who)
{
	const char *name = in->meta.targets[dev];
	char err[MESSAGE_MAX];
	u32 ifindex;
	int code = target_find(name, instance_all_generic(in), false, &ifindex, err, sizeof(err));

	if (!code && bpf_map_update_elem(in->maps.targets, &dev, &ifindex, BPF_ANY))
		code = refuse(err, sizeof(err), -errno, "%s: cannot be redirected to: %m", name);
	if (!code)
		note_always("%s: %s: %s is back, packets are redirected to it again", who, in->name,
			    name);
	else if (!watch->was[dev].refused)
		complain("%s: %s: %s is back, but not redirected to, which is tried again: %s", who,
			 in->name, name, err);
	watch->was[dev].refused = code;
}

static void rename_to(struct instance *in, u32 dev, const char *name, const char *who)
{
	char before[XDD_META_IFNAME];

	memcpy(before, in->meta.targets[dev], sizeof(before));
	snprintf(in->meta.targets[dev], sizeof(in->meta.targets[dev]), "%s", name);
	if (!program_set_meta(in->maps.meta, &in->meta))
		note_always("%s: %s: %s, which packets are redirected to, is called %s now", who,
			    in->name, before, name);
}

void target_watch_mend(struct target_watch *watch, struct instance *in, const char *who)
{
	char name[IF_NAMESIZE];

	for (u32 i = 0; i < XDD_DEV_MAX; i++) {
		enum target_state state = find(in, i, name);

		if (state == TARGET_BACK)
			send_again(watch, in, i, who);
		else if (state == TARGET_RENAMED)
			rename_to(in, i, name, who);
	}
}

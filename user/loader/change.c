/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "change.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "caps.h"
#include "netns.h"
#include "pins.h"
#include "program.h"
#include "slots.h"
#include "targets.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/units.h"

struct change {
	const struct options *o;
	struct instance *in;
	struct xdd_live live; /* as it is to be */
	struct xdd_meta meta;
	bool restart; /* the window needs another tick */
	char *err;
	size_t err_size;
};

static int out_of_range(const struct change *c)
{
	char window[UNITS_TEXT_MAX], least[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];
	u64 tick_ns = c->in->fixed.tick_ns;

	return refuse(c->err, c->err_size, -ERANGE,
		      "--window %s: with the tick that %s was loaded with, %s to %s are possible; "
		      "--restart takes another tick and empties the filter",
		      units_time_text(c->o->window, window), c->in->name,
		      units_time_text(tick_ns, least),
		      units_time_text(tick_ns * XDD_MAX_WINDOW_TICKS, most));
}

static int plan_window(struct change *c)
{
	const struct xdd_fixed *fixed = &c->in->fixed;

	if (!option_given(c->o, OPT_window))
		return 0;
	if (xdd_engine_has_bits(fixed->engine))
		return refuse(c->err, c->err_size, -ERANGE,
			      "--window: the engine of %s has no window", c->in->name);
	c->live.window_ns = c->o->window;
	if (!xdd_engine_has_timers(fixed->engine) ||
	    !derive_window_ticks(c->o->window, fixed->tick_ns, &c->live.window_ticks))
		return 0;
	c->restart = c->o->restart;
	return c->restart ? 0 : out_of_range(c);
}

static int set_target(struct change *c, const char *name, u32 dev)
{
	u32 ifindex;
	int code;

	code = target_find(name, instance_all_generic(c->in), false, &ifindex, c->err, c->err_size);
	if (code)
		return code;
	snprintf(c->meta.targets[dev], sizeof(c->meta.targets[dev]), "%s", name);
	if (!bpf_map_update_elem(c->in->maps.targets, &dev, &ifindex, BPF_ANY))
		return 0;
	return refuse(c->err, c->err_size, -errno, "%s: cannot be redirected to: %m", name);
}

/* In the interfaces' network namespace. A target is there before the action that uses it. */
static int set_targets(struct change *c)
{
	int code = 0;

	if (c->o->redirect)
		code = set_target(c, c->o->redirect, XDD_DEV_DUPLICATES);
	if (!code && c->o->forward)
		code = set_target(c, c->o->forward, XDD_DEV_FORWARD);
	else if (!code && option_given(c->o, OPT_forward))
		c->meta.targets[XDD_DEV_FORWARD][0] = 0;
	return code;
}

static void plan_action(struct change *c)
{
	if (option_given(c->o, OPT_action)) {
		c->live.action = c->o->action;
		c->live.mark_dscp = c->o->mark_dscp;
		c->live.mark_meta = c->o->mark_meta;
	}
	if (option_given(c->o, OPT_forward))
		c->live.forward = c->o->forward != NULL;
	derive_repeats(c->o, &c->live);
	if (option_given(c->o, OPT_replica_action))
		c->live.replica_action = derive_replica_action(c->o, &c->live);
}

static int check_replicas(const struct change *c)
{
	if (!option_given(c->o, OPT_replica_action))
		return 0;
	if (!c->in->fixed.peers)
		return refuse(c->err, c->err_size, -ERANGE,
			      "--replica-action: %s holds no replicas of other hosts: load it with "
			      "--peers",
			      c->in->name);
	return derive_replica_check(&c->in->fixed, derive_replica_action(c->o, &c->live), c->err,
				    c->err_size);
}

static int check_key(const struct change *c)
{
	if (!option_given(c->o, OPT_ambiguous) || c->in->fixed.key == XDD_KEY_packet)
		return 0;
	return refuse(c->err, c->err_size, -ERANGE,
		      "--ambiguous is about the packet key: that of %s is another one",
		      c->in->name);
}

static int plan_watch(struct change *c)
{
	if (!option_given(c->o, OPT_watch_action))
		return 0;
	if (!c->in->fixed.watch_bits || c->o->watch_action == OPTION_AUTO)
		return refuse(
			c->err, c->err_size, -ERANGE,
			"--watch-action: %s was loaded with%s a watch set, which only loading it "
			"again changes",
			c->in->name, c->in->fixed.watch_bits ? "" : "out");
	c->live.watch_action = c->o->watch_action;
	return 0;
}

static int write_live(struct change *c)
{
	int code = program_set_meta(c->in->maps.meta, &c->meta);

	if (!code)
		code = program_set_live(c->in->maps.config, &c->live);
	errno = -code;
	return code ? refuse(c->err, c->err_size, code, "%s: cannot write the configuration: %m",
			     c->in->name)
		    : 0;
}

/* Ticks and clock for the new window, as load would choose them. */
static int plan_restart(struct change *c, struct build_plan *plan)
{
	struct derived derived;
	struct options o;
	int code;

	options_init(&o, "set");
	o.window = c->o->window;
	o.given[OPT_window] = true;
	code = derive_config(&o, DERIVE_NIC, c->in->ifaces_used, 2, 1, &derived, c->err,
			     c->err_size);
	if (code)
		return code;
	plan->fixed = c->in->fixed;
	plan->fixed.tick_ns = derived.fixed.tick_ns;
	plan->fixed.clock = derived.fixed.clock;
	plan->live = c->live;
	plan->live.window_ticks = derived.live.window_ticks;
	plan->meta = c->meta;
	plan->kept = &c->in->maps;
	for (u32 i = 0; i < XDD_DEV_MAX; i++)
		if (bpf_map_lookup_elem(c->in->maps.targets, &i, &plan->targets[i]))
			plan->targets[i] = 0;
	code = program_get_secret(c->in->maps.rodata, &plan->secret);
	return code ? refuse(c->err, c->err_size, code, "%s: cannot read its secret", c->in->name)
		    : 0;
}

/* Let the link of slot @i run @program, and pin it beside that. An interface that is gone has a link
 * without a device: nothing to do.
 */
static int move_link(const struct change *c, u32 i, int program)
{
	u32 ifindex = c->in->meta.ifaces[i].ifindex;
	char path[PATH_MAX];
	int link, code = 0;

	pins_link_path(path, c->in->name, PINS_COMPLETE, ifindex);
	link = bpf_obj_get(path);
	if (link < 0)
		return errno == ENOENT ? 0 : -errno;
	pins_link_path(path, c->in->name, PINS_NEW, ifindex);
	if (bpf_obj_pin(link, path) || (bpf_link_update(link, program, NULL) && errno != ENOLINK))
		code = -errno;
	close(link);
	return code;
}

/* Where that fails half-way, dropping the new folder gives the links back to the old program. */
static int take_over(struct change *c, const struct dedup *skel)
{
	int code = 0;

	for (u32 i = 0; !code && i < c->in->ifaces_used; i++)
		code = move_link(c, i, build_program(skel));
	if (!code)
		code = pins_exchange(c->in->name);
	errno = -code;
	return code ? refuse(c->err, c->err_size, code, "%s: the new program cannot take over: %m",
			     c->in->name)
		    : 0;
}

/* In the interfaces' network namespace. */
static int restart(struct change *c)
{
	struct build_plan plan = {};
	struct dedup *skel;
	int code;

	code = plan_restart(c, &plan);
	if (!code)
		code = build(&plan, c->in->name, &skel, c->err, c->err_size);
	if (!code) {
		code = take_over(c, skel);
		build_free(skel);
	}
	pins_drop(c->in->name, PINS_NEW);
	return code;
}

static int change_interfaces(struct change *c)
{
	int code = slots_change(c->in, c->o, c->err, c->err_size);

	memcpy(c->live.ifaces, c->in->live.ifaces, sizeof(c->live.ifaces));
	memcpy(c->meta.ifaces, c->in->meta.ifaces, sizeof(c->meta.ifaces));
	c->meta.ifaces_used = c->in->meta.ifaces_used;
	return code;
}

static int inside(struct change *c)
{
	int code = plan_window(c);

	if (!code)
		code = check_key(c);
	if (!code)
		code = check_replicas(c);
	if (!code)
		code = plan_watch(c);
	if (!code)
		code = set_targets(c);
	if (!code)
		code = change_interfaces(c);
	if (code)
		return code;
	plan_action(c);
	return c->restart ? restart(c) : write_live(c);
}

static int change_opened(struct change *c)
{
	int home, code;

	c->live = c->in->live;
	c->meta = c->in->meta;
	if (netns_enter_inode(c->in->meta.netns_inode, c->in->meta.netns, &home))
		return refuse(c->err, c->err_size, -ENOENT,
			      "%s: the network namespace of its interfaces cannot be found: run "
			      "this inside it",
			      c->in->name);
	code = inside(c);
	netns_leave(home);
	return code;
}

/* With the lock held. */
static int change_locked(struct change *c)
{
	char name[INSTANCE_NAME_MAX];
	int code = instance_open(c->in, c->o->args[0], c->err, c->err_size);

	if (code)
		return code;
	code = change_opened(c);
	snprintf(name, sizeof(name), "%s", c->in->name);
	instance_close(c->in);
	return code ?: instance_open(c->in, name, c->err, c->err_size);
}

int change_instance(const struct options *o, struct instance *in, char *err, size_t err_size)
{
	struct change c = { .o = o, .in = in, .err = err, .err_size = err_size };
	int root, code = caps_check(err, err_size);

	if (code)
		return code;
	root = pins_lock(false, false, err, err_size);
	if (root == -ENOENT)
		return refuse(err, err_size, root, "%s: no instance is loaded", o->args[0]);
	if (root < 0)
		return root;
	code = change_locked(&c);
	pins_unlock(root);
	return code;
}

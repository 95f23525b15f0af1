/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "slots.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "examine.h"
#include "pins.h"
#include "program.h"
#include "promisc.h"
#include "user/message.h"
#include "xdd/counters.h"

struct adding {
	struct attachment a;
	u32 slot;
};

static bool is_named(const struct instance *in, u32 slot, const char *name)
{
	return !strcmp(in->ifaces[slot].name, name) || !strcmp(in->meta.ifaces[slot].name, name);
}

static bool holds_link(const struct instance *in, u32 slot)
{
	return in->ifaces[slot].ifindex != 0;
}

/* The slot of an interface that is part of the instance, attached or not, or XDD_MAX_IFACES. */
static u32 slot_of(const struct instance *in, const char *name)
{
	u32 found = XDD_MAX_IFACES;

	for (u32 i = 0; i < in->ifaces_used; i++)
		if (in->ifaces[i].state != IFACE_REMOVED && is_named(in, i, name) &&
		    (found == XDD_MAX_IFACES || holds_link(in, i)))
			found = i;
	return found;
}

/* Is one of @adding, which are @n, about to get it? */
static bool is_claimed(const struct adding *adding, u32 n, u32 slot)
{
	for (u32 i = 0; i < n; i++)
		if (adding[i].slot == slot)
			return true;
	return false;
}

/* The one that @name had, or else one that nobody had, or that of one that was removed: but not where the slot is in
 * the key, since what the other interface has seen would make packets of @name copies.
 */
static u32 free_slot(const struct instance *in, const char *name, const struct adding *adding,
		     u32 n)
{
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (!holds_link(in, i) && is_named(in, i, name) && !is_claimed(adding, n, i))
			return i;
	for (u32 i = in->ifaces_used; i < XDD_MAX_IFACES; i++)
		if (!is_claimed(adding, n, i))
			return i;
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (in->ifaces[i].state == IFACE_REMOVED && !in->fixed.scope_iface &&
		    !is_claimed(adding, n, i))
			return i;
	return XDD_MAX_IFACES;
}

/* The counts of @slot, of each CPU, to those of @to; nobody else writes either now. */
static int move_counts(const struct instance *in, u32 slot, u32 to)
{
	int cpus = libbpf_num_possible_cpus();
	size_t size = cpus > 0 ? cpus * sizeof(struct xdd_counters) : 0;
	u64 *from = calloc(1, size), *sum = calloc(1, size);
	int code = from && sum ? 0 : -ENOMEM;

	if (!code && (bpf_map_lookup_elem(in->maps.counters, &slot, from) ||
		      bpf_map_lookup_elem(in->maps.counters, &to, sum)))
		code = -errno;
	for (size_t i = 0; !code && i < size / sizeof(u64); i++)
		sum[i] += from[i];
	if (!code && bpf_map_update_elem(in->maps.counters, &to, sum, BPF_ANY))
		code = -errno;
	if (from)
		memset(from, 0, size);
	if (!code && bpf_map_update_elem(in->maps.counters, &slot, from, BPF_ANY))
		code = -errno;
	free(from);
	free(sum);
	return code;
}

/* What was counted in it by an interface of another name, which was removed, stays in the sums. */
static int empty_slot(struct instance *in, const struct adding *adding, char *err, size_t err_size)
{
	u32 slot = adding->slot;
	int code;

	if (slot >= in->ifaces_used || is_named(in, slot, adding->a.name))
		return 0;
	in->meta.ifaces[slot].returns = 0;
	code = move_counts(in, slot, XDD_SLOT_FORMER);
	errno = -code;
	return code ? refuse(err, err_size, code, "%s: cannot move what %s counted: %m", in->name,
			     in->ifaces[slot].name)
		    : 0;
}

static int write_both(struct instance *in, const char *name, char *err, size_t err_size)
{
	int code = program_set_live(in->maps.config, &in->live);

	if (!code)
		code = program_set_meta(in->maps.meta, &in->meta);
	errno = -code;
	return code ? refuse(err, err_size, code, "%s: cannot write the configuration: %m", name)
		    : 0;
}

/* The pin may be there: what wrote it was killed before it could say so. Returns whether its link holds the
 * interface; else it is removed.
 */
static bool adopt(const struct instance *in, struct attachment *a)
{
	struct bpf_link_info info = {};
	u32 size = sizeof(info);
	char path[PATH_MAX];

	pins_link_path(path, in->name, PINS_COMPLETE, a->ifindex);
	a->link = bpf_obj_get(path);
	if (a->link < 0)
		return false;
	if (!bpf_obj_get_info_by_fd(a->link, &info, &size) && info.xdp.ifindex == a->ifindex)
		return true;
	close(a->link);
	a->link = -1;
	unlink(path);
	return false;
}

static void forget_pin(const struct instance *in, u32 ifindex)
{
	char path[PATH_MAX];

	pins_link_path(path, in->name, PINS_COMPLETE, ifindex);
	unlink(path);
}

/* Before it is attached: killed in between, it is part of the instance, and `detached` or attached. What the slot held
 * before is gone or removed, and its pin can go. The index is in the map: no packet is counted elsewhere.
 */
static int announce(struct instance *in, u32 slot, const struct attachment *a, char *err,
		    size_t err_size)
{
	struct xdd_meta_iface *iface = &in->meta.ifaces[slot];

	if (iface->ifindex != a->ifindex) {
		if (iface->ifindex)
			forget_pin(in, iface->ifindex);
		iface->promisc = false;
	}
	memcpy(iface->name, a->name, sizeof(iface->name));
	iface->ifindex = a->ifindex;
	iface->generic = a->mode == MODE_GENERIC;
	in->live.ifaces[slot].ifindex = a->ifindex;
	if (slot >= in->meta.ifaces_used)
		in->meta.ifaces_used = slot + 1;
	return write_both(in, in->name, err, err_size);
}

/* As load does: the flag is recorded before it is set. */
static int record(struct instance *in, u32 slot, const struct attachment *a, bool promisc,
		  char *err, size_t err_size)
{
	struct xdd_meta_iface *iface = &in->meta.ifaces[slot];
	bool on = true;
	int code;

	iface->generic = a->generic;
	iface->promisc |= promisc && !promisc_get(a->ifindex, &on) && !on;
	code = write_both(in, in->name, err, err_size);
	if (code)
		return code;
	if (iface->promisc && promisc_set(a->ifindex, true))
		note("%s: cannot make it promiscuous: frames to other addresses may not arrive: ip "
		     "link set dev %s promisc on",
		     a->name, a->name);
	return 0;
}

static int join(struct instance *in, u32 slot, struct attachment *a, bool promisc, char *err,
		size_t err_size)
{
	const struct xdd_live live = in->live;
	const struct xdd_meta meta = in->meta;
	int code = announce(in, slot, a, err, err_size);

	if (!code && !adopt(in, a)) {
		code = attach_room(a, in->name, true, err, err_size);
		if (!code)
			code = attach(a, in->program, err, err_size);
		if (!code)
			code = attachment_pin(a, in->name, PINS_COMPLETE, err, err_size);
	}
	if (!code)
		code = record(in, slot, a, promisc, err, err_size);
	if (a->link >= 0)
		close(a->link);
	a->link = -1;
	if (!code)
		return 0;
	if (code == -ERANGE) /* veth, of an MTU: it is not the command line that is wrong */
		code = -EINVAL;
	in->live = live;
	in->meta = meta;
	write_both(in, in->name, (char[MESSAGE_MAX]){ 0 }, MESSAGE_MAX);
	forget_pin(in, a->ifindex);
	return code;
}

/* Restore what was changed about an interface that is being left, if it can be reached. */
static void restore_promisc(const struct instance *in, u32 slot)
{
	const struct instance_iface *iface = &in->ifaces[slot];

	if (!in->meta.ifaces[slot].promisc || !iface->ifindex)
		return;
	if (iface->state != IFACE_ATTACHED || promisc_set(iface->ifindex, false))
		note("%s has left its network namespace and is still promiscuous: ip link set dev "
		     "%s promisc off",
		     iface->name, iface->name);
}

/* Detached at once; killed in between, the interface is `detached`, and can be removed again. */
static int leave(struct instance *in, u32 slot, char *err, size_t err_size)
{
	struct xdd_meta_iface *iface = &in->meta.ifaces[slot];
	char path[PATH_MAX];
	u32 before = iface->ifindex;
	int link, code;

	pins_link_path(path, in->name, PINS_COMPLETE, before);
	link = bpf_obj_get(path);
	restore_promisc(in, slot);
	if (link >= 0) {
		bpf_link_detach(link);
		close(link);
	}
	memcpy(iface->name, in->ifaces[slot].name, sizeof(iface->name));
	iface->ifindex = 0;
	iface->promisc = 0;
	in->live.ifaces[slot].ifindex = 0;
	code = write_both(in, in->name, err, err_size);
	if (!code)
		forget_pin(in, before);
	return code;
}

/* In generic mode if that is how the others are, unless --mode says something. */
static int mode_of(const struct instance *in, const struct options *o)
{
	if (option_given(o, OPT_mode))
		return o->mode;
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (in->ifaces[i].state != IFACE_REMOVED && !in->ifaces[i].generic)
			return MODE_NATIVE;
	return MODE_GENERIC;
}

static int no_slot(const struct instance *in, const char *name, char *err, size_t err_size)
{
	if (in->fixed.scope_iface)
		return refuse(
			err, err_size, -ERANGE,
			"--add %s: %s, with --scope interface, has had %d interfaces, removed "
			"ones included, and can have no more: load %s under another --name",
			name, in->name, XDD_MAX_IFACES, name);
	return refuse(err, err_size, -ERANGE,
		      "--add %s: %s has %d interfaces, and can have no more: xdp-dedup set %s "
		      "--remove one of them, also if it is gone, or load %s under another --name",
		      name, in->name, XDD_MAX_IFACES, in->name, name);
}

/* What can be known of the one that is added as number @n before anything is touched. */
static int prepare(const struct instance *in, const struct options *o, struct adding *all, u32 n,
		   char *err, size_t err_size)
{
	struct attachment *a = &all[n].a;
	const char *name = o->add.name[n];
	unsigned int queues = 0;
	int code = attachment_find(a, name, *in->meta.netns, err, err_size);

	if (code)
		return code;
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (in->ifaces[i].state == IFACE_ATTACHED && in->ifaces[i].ifindex == a->ifindex)
			return refuse(err, err_size, -ERANGE, "--add %s: it is a part of %s", name,
				      in->name);
	all[n].slot = free_slot(in, name, all, n);
	if (all[n].slot == XDD_MAX_IFACES)
		return no_slot(in, name, err, err_size);
	a->force = o->force;
	a->mode = mode_of(in, o);
	a->frags = in->meta.frags;
	code = attach_room(a, in->name, false, err, err_size);
	return code ?: examine(a, o, a->mode, true, &queues, err, err_size);
}

static void tell_placement(const struct instance *in)
{
	if (in->fixed.engine != XDD_ENGINE_exact && in->fixed.placement == XDD_PLACEMENT_percpu)
		note("%s: each CPU has a filter of its own, so a copy that another CPU sees on the "
		     "other interface will not be found; loaded with --placement shared it would "
		     "be",
		     in->name);
}

static int add_all(struct instance *in, const struct options *o, char *err, size_t err_size)
{
	struct adding adding[XDD_MAX_IFACES];
	const struct option_ifaces *add = &o->add;
	u32 done = 0;
	int code = 0;

	for (u32 i = 0; !code && i < add->used; i++)
		code = prepare(in, o, adding, i, err, err_size);
	while (!code && done < add->used) {
		code = empty_slot(in, &adding[done], err, err_size);
		if (code)
			break;
		code = join(in, adding[done].slot, &adding[done].a, o->promisc, err, err_size);
		done += !code;
	}
	if (instance_read_ifaces(in) && !code)
		code = refuse(err, err_size, -EIO, "%s: its interfaces cannot be read", in->name);
	while (code && done)
		leave(in, adding[--done].slot, (char[MESSAGE_MAX]){ 0 }, MESSAGE_MAX);
	if (!code && add->used)
		tell_placement(in);
	return code;
}

static bool listed(const struct option_ifaces *list, const char *name)
{
	for (u32 i = 0; i < list->used; i++)
		if (!strcmp(list->name[i], name))
			return true;
	return false;
}

static u32 parts(const struct instance *in)
{
	u32 n = 0;

	for (u32 i = 0; i < in->ifaces_used; i++)
		n += in->ifaces[i].state != IFACE_REMOVED;
	return n;
}

static int check_removal(const struct instance *in, const struct options *o, char *err,
			 size_t err_size)
{
	for (u32 i = 0; i < o->remove.used; i++) {
		if (listed(&o->add, o->remove.name[i]))
			return refuse(err, err_size, -ERANGE, "%s: --add and --remove contradict",
				      o->remove.name[i]);
		if (slot_of(in, o->remove.name[i]) == XDD_MAX_IFACES)
			return refuse(err, err_size, -ERANGE,
				      "--remove %s: it is no part of %s: xdp-dedup status %s",
				      o->remove.name[i], in->name, in->name);
	}
	if (o->remove.used && parts(in) + o->add.used <= o->remove.used)
		return refuse(err, err_size, -ERANGE,
			      "--remove: %s would have no interface left: xdp-dedup unload %s "
			      "ends it",
			      in->name, in->name);
	return 0;
}

int slots_change(struct instance *in, const struct options *o, char *err, size_t err_size)
{
	int code = check_removal(in, o, err, err_size);

	if (!code)
		code = add_all(in, o, err, err_size);
	for (u32 i = 0; !code && i < o->remove.used; i++)
		code = leave(in, slot_of(in, o->remove.name[i]), err, err_size);
	if (!code && instance_read_ifaces(in))
		code = refuse(err, err_size, -EIO, "%s: its interfaces cannot be read", in->name);
	return code;
}

int slots_return(struct instance *in, u32 slot, char *err, size_t err_size)
{
	struct xdd_meta_iface *iface = &in->meta.ifaces[slot];
	struct attachment a = { .link = -1,
				.ifindex = in->ifaces[slot].returned,
				.mode = iface->generic ? MODE_GENERIC : MODE_NATIVE,
				.frags = in->meta.frags };
	unsigned int queues = 0;
	struct options o;
	int code;

	memcpy(a.name, in->ifaces[slot].name, sizeof(a.name));
	options_init(&o, "set");
	code = attach_room(&a, in->name, false, err, err_size);
	if (!code)
		code = examine(&a, &o, a.mode, false, &queues, err, err_size);
	if (code)
		return code;
	code = join(in, slot, &a, iface->promisc, err, err_size);
	if (code)
		return code;
	iface->returns += iface->returns < UINT16_MAX;
	return write_both(in, in->name, err, err_size);
}

int slots_follow(struct instance *in, u32 slot)
{
	struct xdd_meta_iface *iface = &in->meta.ifaces[slot];
	char err[MESSAGE_MAX];

	memcpy(iface->name, in->ifaces[slot].name, sizeof(iface->name));
	in->live.ifaces[slot].ifindex = in->ifaces[slot].ifindex;
	return write_both(in, in->name, err, sizeof(err));
}

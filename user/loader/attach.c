/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instance.h"
#include "kernel_log.h"
#include "user/message.h"
#include "user/nic/facts.h"
#include "user/options.h"

/* What a packet in one page leaves to the frame: headroom, tail and Ethernet header taken off. */
/* A program on an interface. */
struct occupant {
	u32 id;
	u32 flags; /* XDP_FLAGS_*_MODE */
	char name[BPF_OBJ_NAME_LEN];
};

static const char *mode_text(u32 flags)
{
	if (flags == XDP_FLAGS_SKB_MODE)
		return "generic";
	return flags == XDP_FLAGS_HW_MODE ? "offloaded" : "native";
}

static void occupant_name(struct occupant *occupant)
{
	struct bpf_prog_info info = {};
	u32 size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(occupant->id);

	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		memcpy(occupant->name, info.name, sizeof(occupant->name));
	close(fd);
}

/* The programs on the interface: up to one in each mode. Returns their number. */
static int occupants(u32 ifindex, struct occupant out[3])
{
	LIBBPF_OPTS(bpf_xdp_query_opts, found);
	int n = 0;

	if (bpf_xdp_query(ifindex, 0, &found))
		return 0;
	memset(out, 0, 3 * sizeof(*out));
	if (found.drv_prog_id)
		out[n++] = (struct occupant){ found.drv_prog_id, XDP_FLAGS_DRV_MODE, "" };
	if (found.skb_prog_id)
		out[n++] = (struct occupant){ found.skb_prog_id, XDP_FLAGS_SKB_MODE, "" };
	if (found.hw_prog_id)
		out[n++] = (struct occupant){ found.hw_prog_id, XDP_FLAGS_HW_MODE, "" };
	for (int i = 0; i < n; i++)
		occupant_name(&out[i]);
	return n;
}

/* The name of our instance whose program has @id, or an empty string. */
static void owner(u32 id, char name[INSTANCE_NAME_MAX])
{
	char(*names)[INSTANCE_NAME_MAX], err[MESSAGE_MAX];
	int n = instance_list(&names, err, sizeof(err));
	struct instance in;

	*name = 0;
	for (int i = 0; i < n && !*name; i++) {
		if (instance_open(&in, names[i], err, sizeof(err)))
			continue;
		if (in.program_id == id)
			strcpy(name, in.name);
		instance_close(&in);
	}
	if (n > 0)
		free(names);
}

/* Detach the link that holds program @id on the interface. Returns 0 or a negative errno. */
static int detach_link(u32 ifindex, u32 id)
{
	for (u32 at = 0; !bpf_link_get_next_id(at, &at);) {
		struct bpf_link_info info = {};
		u32 size = sizeof(info);
		int fd = bpf_link_get_fd_by_id(at), err = -ENOENT;

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == BPF_LINK_TYPE_XDP &&
		    info.prog_id == id && info.xdp.ifindex == ifindex)
			err = bpf_link_detach(fd) ? -errno : 0;
		close(fd);
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

static int put_off(const struct attachment *a, const struct occupant *other, char *err,
		   size_t err_size)
{
	int code = detach_link(a->ifindex, other->id);

	if (code == -ENOENT)
		code = bpf_xdp_detach(a->ifindex, other->flags, NULL);
	if (!code) {
		note("%s: took program %u (%s, %s mode) off", a->name, other->id, other->name,
		     mode_text(other->flags));
		return 0;
	}
	errno = -code;
	return refuse(err, err_size, code, "%s: cannot take program %u (%s, %s mode) off: %m",
		      a->name, other->id, other->name, mode_text(other->flags));
}

/* What about the program @other? */
static int room(const struct attachment *a, const struct occupant *other, const char *ours,
		bool clear, char *err, size_t err_size)
{
	const char *mode = mode_text(other->flags);
	char name[INSTANCE_NAME_MAX];

	owner(other->id, name);
	if (*name && !strcmp(name, ours))
		return 0;
	if (*name)
		return refuse(err, err_size, -EBUSY,
			      "%s belongs to instance %s: xdp-dedup unload %s first", a->name, name,
			      name);
	if (!strcmp(other->name, XDP_DISPATCHER))
		return refuse(err, err_size, -EBUSY,
			      "%s: an xdp dispatcher (program %u, %s mode) serves other programs "
			      "there and is never replaced: xdp-loader status shows them, "
			      "xdp-loader unload %s -a removes them",
			      a->name, other->id, mode, a->name);
	if (a->force)
		return clear ? put_off(a, other, err, err_size) : 0;
	return refuse(err, err_size, -EBUSY,
		      "%s: another XDP program is attached: id %u, name %s, %s mode: --force "
		      "replaces it, `ip link set dev %s xdp off` removes it",
		      a->name, other->id, *other->name ? other->name : "(none)", mode, a->name);
}

int attachment_find(struct attachment *a, const char *name, bool chosen, char *err, size_t err_size)
{
	*a = (struct attachment){ .link = -1 };
	snprintf(a->name, sizeof(a->name), "%s", name);
	a->ifindex = strlen(name) < sizeof(a->name) ? if_nametoindex(name) : 0;
	return a->ifindex ? 0
			  : refuse(err, err_size, -ENODEV,
				   "%s: there is no such interface%s: ip link shows those that "
				   "there are",
				   name, chosen ? " in that namespace" : "");
}

int attach_room(const struct attachment *a, const char *ours, bool clear, char *err,
		size_t err_size)
{
	struct occupant others[3];
	int n = occupants(a->ifindex, others), code = 0;

	for (int i = 0; !code && i < n; i++)
		code = room(a, &others[i], ours, clear, err, err_size);
	return code;
}

/* A link tells only an errno. Attaching the same way by netlink makes the driver say why. */
static const char *driver_words(const struct attachment *a, int program, u32 flags)
{
	kernel_log_start();
	if (!bpf_xdp_attach(a->ifindex, program, flags | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL))
		bpf_xdp_detach(a->ifindex, flags, NULL);
	return kernel_log_driver();
}

static void cure(const struct attachment *a, int code, char *text, size_t size)
{
	struct link_facts facts;
	u32 mtu = link_facts(NULL, a->ifindex, &facts) ? 0 : facts.mtu;

	*text = 0;
	if (code == -EPERM)
		snprintf(text, size, ": needs CAP_NET_ADMIN and CAP_BPF: run this as root");
	else if (code == -EBUSY || code == -EEXIST)
		snprintf(text, size, ": `bpftool net show dev %s` names what is there", a->name);
	else if (mtu > ONE_PAGE_MTU && !a->frags)
		snprintf(text, size,
			 ": the MTU is %u, and without fragments a packet has to fit in a page: "
			 "--frags on, or `ip link set dev %s mtu %d` (and its peer, if it is a "
			 "veth)",
			 mtu, a->name, ONE_PAGE_MTU);
	else if (code == -EOPNOTSUPP && a->mode == MODE_NATIVE)
		snprintf(text, size, ": --mode generic works with every driver, but slower");
}

static int attach_as(struct attachment *a, int program, u32 flags, char *err, size_t err_size)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);
	char help[256];
	const char *words;
	int code;

	a->link = bpf_link_create(program, a->ifindex, BPF_XDP, &options);
	a->generic = flags == XDP_FLAGS_SKB_MODE;
	if (a->link >= 0)
		return 0;
	code = -errno;
	a->link = -1;
	words = driver_words(a, program, flags);
	cure(a, code, help, sizeof(help));
	errno = -code;
	return refuse(err, err_size, code, "%s: cannot attach in %s mode: %m%s%s%s%s", a->name,
		      mode_text(flags), words ? " (" : "", words ?: "", words ? ")" : "", help);
}

int attach(struct attachment *a, int program, char *err, size_t err_size)
{
	int code;

	if (a->mode == MODE_GENERIC)
		return attach_as(a, program, XDP_FLAGS_SKB_MODE, err, err_size);
	code = attach_as(a, program, XDP_FLAGS_DRV_MODE, err, err_size);
	if (code && a->mode == MODE_AUTO && code != -EPERM && code != -EBUSY)
		return attach_as(a, program, XDP_FLAGS_SKB_MODE, err, err_size);
	return code;
}

int attachment_pin(const struct attachment *a, const char *name, enum pins_place place, char *err,
		   size_t err_size)
{
	char path[PATH_MAX];

	pins_link_path(path, name, place, a->ifindex);
	return bpf_obj_pin(a->link, path)
		       ? refuse(err, err_size, -errno, "%s: cannot pin the link in %s: %m", a->name,
				path)
		       : 0;
}

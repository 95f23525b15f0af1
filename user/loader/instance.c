/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "instance.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "netns.h"
#include "pins.h"
#include "program.h"
#include "remains.h"
#include "user/open_files.h"
#include "user/message.h"
#include "user/options.h"
#include "user/utf8.h"

const char *const iface_state_names[] = {
	[IFACE_ATTACHED] = "attached", [IFACE_HIDDEN] = "hidden", [IFACE_MOVED] = "moved",
	[IFACE_DETACHED] = "detached", [IFACE_GONE] = "gone",	  [IFACE_REMOVED] = "removed",
};

void instance_name_of(const char *name, char out[INSTANCE_NAME_MAX])
{
	snprintf(out, INSTANCE_NAME_MAX, "%s", name);
	for (char *c = out; *c; c++)
		if (*c == '.')
			*c = '_';
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* @name is a valid one, so it fits. */
static int add_name(char (**names)[INSTANCE_NAME_MAX], int n, const char *name)
{
	void *more = realloc(*names, (n + 1) * INSTANCE_NAME_MAX);

	if (!more)
		return -ENOMEM;
	*names = more;
	strcpy((*names)[n], name);
	return 0;
}

int instance_list(char (**names)[INSTANCE_NAME_MAX], char *err, size_t err_size)
{
	DIR *root = opendir(INSTANCE_ROOT);
	struct dirent *entry;
	int n = 0;

	*names = NULL;
	if (!root && errno == ENOENT)
		return 0;
	if (!root)
		return refuse(err, err_size, -errno, INSTANCE_ROOT ": %m%s",
			      errno == EACCES ? ": run this as root" : "");
	while (n >= 0 && (entry = readdir(root))) {
		if (!option_name_valid(entry->d_name) || !pins_are_instance(entry->d_name))
			continue;
		n = add_name(names, n, entry->d_name) ? -ENOMEM : n + 1;
	}
	closedir(root);
	if (n < 0) {
		free(*names);
		*names = NULL;
		return refuse(err, err_size, n, "no memory for the names of the instances");
	}
	if (n)
		qsort(*names, n, INSTANCE_NAME_MAX, by_name);
	return n;
}

static int get_pin(const struct instance *in, const char *file)
{
	char path[PATH_MAX];
	int fd;

	pins_path(path, in->name, PINS_COMPLETE, file);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* A map that the engine may not use. */
static int get_map(const struct instance *in, const char *file, int *fd)
{
	int got = get_pin(in, file);

	*fd = got < 0 ? -1 : got;
	return got < 0 && got != -ENOENT ? got : 0;
}

static int read_program_id(struct instance *in)
{
	struct bpf_prog_info info = {};
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(in->program, &info, &size))
		return -errno;
	in->program_id = info.id;
	return 0;
}

static int open_pins(struct instance *in)
{
	int err = 0;

#define OPEN_MAP(name) \
	if (!err)      \
		err = get_map(in, #name, &in->maps.name);
	INSTANCE_MAPS(OPEN_MAP)
	if (err)
		return err;
	if (in->maps.config < 0 || in->maps.meta < 0 || in->maps.rodata < 0)
		return -EPROTO;
	in->program = get_pin(in, PINS_PROGRAM);
	if (in->program < 0)
		return in->program;
	in->ager_program = get_pin(in, PINS_AGER);
	return in->ager_program < 0 ? in->ager_program : read_program_id(in);
}

static int read_all(struct instance *in)
{
	int err = open_pins(in);

	if (!err)
		err = instance_read_live(in);
	if (!err)
		err = program_get_fixed(in->maps.rodata, &in->fixed);
	return err ?: instance_read_ifaces(in);
}

static int open_error(const struct instance *in, int code, char *err, size_t err_size)
{
	char files[OPEN_FILES_TEXT_MAX];

	if (code == -EPROTO)
		return refuse(err, err_size, code,
			      "%s was loaded by another version of xdp-dedup: xdp-dedup unload %s, "
			      "then load it again",
			      in->name, in->name);
	if (code == -EPERM || code == -EACCES)
		return refuse(err, err_size, code,
			      "%s: its pins need CAP_BPF and root's files: run this as root",
			      in->path);
	if (open_files_are_short(code))
		return refuse(err, err_size, code, "%s: %s", in->path, open_files_text(files));
	errno = -code;
	if (code == -EROFS)
		return refuse(err, err_size, code, "%s: %m: " PINS_WRITABLE, in->path);
	return refuse(err, err_size, code, "%s: %m: xdp-dedup unload %s, then load it again",
		      in->path, in->name);
}

/* Open the instance whose pin directory is called @name. */
static int open_named(struct instance *in, const char *name, char *err, size_t err_size)
{
	int code;

	memset(in, 0, sizeof(*in));
	in->program = in->ager_program = in->reader = in->owner = -1;
#define NO_MAP(name) in->maps.name = -1;
	INSTANCE_MAPS(NO_MAP)
	snprintf(in->name, sizeof(in->name), "%s", name);
	pins_path(in->path, name, PINS_COMPLETE, NULL);
	in->dir = open(in->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	code = in->dir < 0 ? -errno : read_all(in);
	if (!code) {
		in->reader = openat(in->dir, PINS_READER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		in->owner = openat(in->dir, PINS_OWNER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return 0;
	}
	instance_close(in);
	return open_error(in, code, err, err_size);
}

bool instance_counts_slot(const struct instance *in, u32 slot)
{
	const struct instance_iface *iface = &in->ifaces[slot];

	return iface->state == IFACE_ATTACHED || iface->state == IFACE_HIDDEN ||
	       (iface->state == IFACE_MOVED && iface->ifindex == in->live.ifaces[slot].ifindex);
}

bool instance_all_generic(const struct instance *in)
{
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (!in->ifaces[i].generic)
			return false;
	return true;
}

bool instance_has_interface(const struct instance *in, const char *name)
{
	for (u32 i = 0; i < in->ifaces_used; i++)
		if (in->ifaces[i].state != IFACE_REMOVED &&
		    (!strcmp(in->ifaces[i].name, name) || !strcmp(in->meta.ifaces[i].name, name)))
			return true;
	return false;
}

static int no_such(const char *name, char (*names)[INSTANCE_NAME_MAX], int n, char *err,
		   size_t err_size)
{
	char list[256] = "", text[MESSAGE_MAX];
	struct remains left;
	size_t used = 0;

	if (remains_find(name, &left))
		return refuse(err, err_size, -ENOENT, "%s",
			      remains_text(&left, text, sizeof(text)));
	for (int i = 0; i < n && used < sizeof(list); i++)
		used += snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
	if (!n)
		return refuse(err, err_size, -ENOENT, "%s: no instance is loaded", name);
	return refuse(err, err_size, -ENOENT, "%s: no such instance; loaded: %s", name, list);
}

/* The instance that has an interface called @name. */
static int open_by_interface(struct instance *in, const char *name, char *err, size_t err_size)
{
	char(*names)[INSTANCE_NAME_MAX];
	int n = instance_list(&names, err, err_size), code = -ENOENT;

	if (n < 0)
		return n;
	for (int i = 0; code && i < n; i++) {
		if (open_named(in, names[i], err, err_size))
			continue;
		code = instance_has_interface(in, name) ? 0 : -ENOENT;
		if (code)
			instance_close(in);
	}
	if (code)
		no_such(name, names, n, err, err_size);
	free(names);
	return code;
}

int instance_open(struct instance *in, const char *name, char *err, size_t err_size)
{
	char wanted[INSTANCE_NAME_MAX];

	instance_name_of(name, wanted);
	if (option_name_valid(wanted) && pins_are_instance(wanted))
		return open_named(in, wanted, err, err_size);
	return open_by_interface(in, name, err, err_size);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void instance_close(struct instance *in)
{
#define CLOSE_MAP(name) close_fd(&in->maps.name);
	INSTANCE_MAPS(CLOSE_MAP)
	close_fd(&in->program);
	close_fd(&in->ager_program);
	close_fd(&in->reader);
	close_fd(&in->owner);
	close_fd(&in->dir);
}

int instance_read_live(struct instance *in)
{
	return program_get_live(in->maps.config, &in->live);
}

/* The interface's index by its link: 0 if the link is gone or holds no interface. */
static void read_link(const struct instance *in, u32 slot, struct instance_iface *iface)
{
	struct bpf_link_info info = {};
	u32 size = sizeof(info);
	char path[PATH_MAX];
	int fd;

	pins_link_path(path, in->name, PINS_COMPLETE, in->meta.ifaces[slot].ifindex);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size)) {
		iface->link_id = info.id;
		iface->ifindex = info.xdp.ifindex;
	}
	close(fd);
}

static bool runs_our_program(const struct instance *in, u32 ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, found);

	if (bpf_xdp_query(ifindex, 0, &found))
		return false;
	return found.prog_id == in->program_id || found.drv_prog_id == in->program_id ||
	       found.skb_prog_id == in->program_id;
}

/* The interface is not there: someone detached the program, or it is gone, and maybe there again. */
static void find_lost(const struct xdd_meta_iface *known, bool inside, struct instance_iface *iface)
{
	char name[IF_NAMESIZE];

	iface->state = inside && if_indextoname(known->ifindex, name) ? IFACE_DETACHED : IFACE_GONE;
	if (inside && iface->state == IFACE_GONE)
		iface->returned = if_nametoindex(known->name);
}

/* @inside: the thread is in the interface's network namespace, as far as that is known. */
static void find_iface(const struct instance *in, u32 slot, bool inside,
		       struct instance_iface *iface)
{
	const struct xdd_meta_iface *known = &in->meta.ifaces[slot];
	char name[IF_NAMESIZE];

	memset(iface, 0, sizeof(*iface));
	memcpy(iface->name, known->name, sizeof(iface->name));
	iface->generic = known->generic;
	iface->promisc = known->promisc;
	iface->returns = known->returns;
	iface->state = IFACE_REMOVED;
	if (!known->ifindex)
		return;
	read_link(in, slot, iface);
	if (!iface->ifindex) {
		find_lost(known, inside, iface);
	} else if (!inside) {
		iface->state = IFACE_HIDDEN;
	} else if (runs_our_program(in, iface->ifindex) && if_indextoname(iface->ifindex, name)) {
		memcpy(iface->name, name, sizeof(name));
		iface->state = IFACE_ATTACHED;
	} else {
		iface->state = IFACE_MOVED;
	}
}

int instance_read_ifaces(struct instance *in)
{
	int home, err = program_get_meta(in->maps.meta, &in->meta);
	bool inside;

	if (err)
		return err;
	if (in->meta.ifaces_used > XDD_MAX_IFACES)
		return -EPROTO;
	inside = !netns_enter_inode(in->meta.netns_inode, in->meta.netns, &home);
	in->ifaces_used = in->meta.ifaces_used;
	for (u32 i = 0; i < in->ifaces_used; i++)
		find_iface(in, i, inside, &in->ifaces[i]);
	netns_leave(home);
	return 0;
}

const char *instance_iface_text(const struct instance_iface *iface, char text[XDD_META_IFNAME])
{
	snprintf(text, XDD_META_IFNAME, "%s", iface->name);
	return utf8_mask(text);
}

bool instance_is_gone(const struct instance *in)
{
	struct stat st;

	return fstat(in->dir, &st) || !st.st_nlink;
}

int instance_lock_ageing(struct instance *in)
{
	return flock(in->dir, LOCK_EX | LOCK_NB) ? -EBUSY : 0;
}

int instance_lock_events(struct instance *in)
{
	return flock(in->reader, LOCK_EX | LOCK_NB) ? -errno : 0;
}

int instance_lock_owner(struct instance *in)
{
	return flock(in->owner, LOCK_EX | LOCK_NB) ? -errno : 0;
}

/* The process that holds the lock on @folder, or 0. */
static pid_t lock_holder(int folder)
{
	FILE *locks = fopen("/proc/locks", "re");
	unsigned int dev_major, dev_minor;
	unsigned long inode;
	struct stat st;
	char line[256];
	pid_t pid = 0, holder;

	if (!locks || fstat(folder, &st))
		st.st_ino = 0;
	while (locks && !pid && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*s FLOCK %*s WRITE %d %x:%x:%lu", &holder, &dev_major,
			   &dev_minor, &inode) == 4 &&
		    inode == st.st_ino && makedev(dev_major, dev_minor) == st.st_dev)
			pid = holder;
	if (locks)
		fclose(locks);
	return pid;
}

pid_t instance_ageing_pid(const struct instance *in)
{
	return lock_holder(in->dir);
}

pid_t instance_events_pid(const struct instance *in)
{
	return lock_holder(in->reader);
}

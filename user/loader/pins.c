/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "netns.h"
#include "program.h"
#include "promisc.h"
#include "remains.h"
#include "user/message.h"

#define BPFFS "/sys/fs/bpf"
#define LOCK_WAIT_MS 10000
#define LOCK_POLL_MS 20

static sigset_t signals_before; /* while the lock is held, signals that end us wait */

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* Does the mount table of process 1 show the file system that we see as bpffs? If not, ours is
 * private to this command or to its parent, as it is inside `ip netns exec`.
 */
static bool outlives_us(void)
{
	FILE *mounts = fopen("/proc/1/mountinfo", "re");
	bool found = !mounts;
	char line[1024], wanted[32];
	struct stat st;

	if (stat(BPFFS, &st))
		st.st_dev = 0;
	snprintf(wanted, sizeof(wanted), " %u:%u ", major(st.st_dev), minor(st.st_dev));
	while (!found && mounts && fgets(line, sizeof(line), mounts))
		found = strstr(line, wanted) && strstr(line, " - bpf ");
	if (mounts)
		fclose(mounts);
	return found;
}

static int private_mount(char *err, size_t err_size)
{
	return refuse(err, err_size, -EXDEV,
		      BPFFS
		      " is mounted for this command alone, as inside `ip netns exec`, and its "
		      "pins would go with it: run xdp-dedup outside, with --netns NAME");
}

static int bpffs_ready(bool force, char *err, size_t err_size)
{
	bool mounted = !is_bpffs(BPFFS);

	if (mounted && mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return refuse(err, err_size, -errno, "cannot mount bpffs on " BPFFS ": %m%s",
			      errno == EPERM ? ": needs CAP_SYS_ADMIN, run this as root" : "");
	if (force || outlives_us())
		return 0;
	if (mounted)
		umount2(BPFFS, MNT_DETACH);
	return private_mount(err, err_size);
}

static int root_error(int code, char *err, size_t err_size)
{
	errno = -code;
	if (code == -EACCES || code == -EPERM)
		return refuse(err, err_size, code, INSTANCE_ROOT ": %m: run this as root");
	if (code == -EROFS)
		return refuse(err, err_size, code, INSTANCE_ROOT ": %m: " PINS_WRITABLE);
	return refuse(err, err_size, code, INSTANCE_ROOT ": %m");
}

/* Wait for the lock, for @most_ms. Returns 0 or a negative errno. */
static int lock(int root, int most_ms)
{
	for (int waited = 0; flock(root, LOCK_EX | LOCK_NB); waited += LOCK_POLL_MS) {
		if (errno != EWOULDBLOCK || waited >= most_ms)
			return errno == EWOULDBLOCK ? -EBUSY : -errno;
		usleep(LOCK_POLL_MS * 1000);
	}
	return 0;
}

/* Open and lock the root. -EAGAIN: it was removed meanwhile. */
static int lock_root(bool create, int most_ms)
{
	struct stat st;
	int root, err;

	if (create && mkdir(INSTANCE_ROOT, 0700) && errno != EEXIST)
		return -errno;
	root = open(INSTANCE_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	err = lock(root, most_ms);
	if (!err && (fstat(root, &st) || !st.st_nlink))
		err = -EAGAIN;
	if (!err)
		return root;
	close(root);
	return err;
}

static bool clear_one(const char *name, enum pins_place place)
{
	const char *of = remains_of(place, pins_are_instance(name));

	if (pins_drop(name, place))
		return false;
	note("removed what a killed %s left of %s", of, name);
	return true;
}

static void clear_leftovers(void)
{
	DIR *folder = opendir(INSTANCE_ROOT);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char place = *entry->d_name;

		if ((place == PINS_NEW || place == PINS_OLD) && clear_one(entry->d_name + 1, place))
			rewinddir(folder);
	}
	if (folder)
		closedir(folder);
}

static void hold_signals_back(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGPIPE);
	sigprocmask(SIG_BLOCK, &ends, &signals_before);
}

static int take_lock(bool create, int most_ms, char *err, size_t err_size)
{
	int root;

	do
		root = lock_root(create, most_ms);
	while (root == -EAGAIN);
	if (root == -EBUSY)
		return refuse(err, err_size, -EBUSY,
			      "another xdp-dedup is loading or unloading and does not end: see "
			      "which by fuser -v " INSTANCE_ROOT);
	if (root < 0)
		return root_error(root, err, err_size);
	hold_signals_back();
	clear_leftovers();
	return root;
}

int pins_lock(bool create, bool force, char *err, size_t err_size)
{
	return (create ? bpffs_ready(force, err, err_size) : 0)
		       ?: take_lock(create, LOCK_WAIT_MS, err, err_size);
}

int pins_try_lock(char *err, size_t err_size)
{
	return take_lock(false, 0, err, err_size);
}

void pins_unlock(int root)
{
	rmdir(INSTANCE_ROOT);
	close(root);
	sigprocmask(SIG_SETMASK, &signals_before, NULL);
}

void pins_path(char path[PATH_MAX], const char *name, enum pins_place place, const char *file)
{
	const char mark[] = { place, 0 };

	snprintf(path, PATH_MAX, INSTANCE_ROOT "/%s%s%s%s", mark, name, file ? "/" : "",
		 file ?: "");
}

void pins_link_path(char path[PATH_MAX], const char *name, enum pins_place place, u32 ifindex)
{
	char file[32];

	snprintf(file, sizeof(file), PINS_LINK "%u", ifindex);
	pins_path(path, name, place, file);
}

bool pins_exist(const char *name)
{
	char path[PATH_MAX];

	pins_path(path, name, PINS_COMPLETE, NULL);
	return !access(path, F_OK);
}

/* Every version pins its program. */
bool pins_are_instance(const char *name)
{
	char path[PATH_MAX];

	pins_path(path, name, PINS_COMPLETE, PINS_PROGRAM);
	return !access(path, F_OK);
}

int pins_begin(const char *name)
{
	char path[PATH_MAX];

	pins_path(path, name, PINS_NEW, NULL);
	if (mkdir(path, 0700))
		return -errno;
	pins_path(path, name, PINS_NEW, PINS_READER);
	if (mkdir(path, 0700))
		return -errno;
	pins_path(path, name, PINS_NEW, PINS_OWNER);
	return mkdir(path, 0700) ? -errno : 0;
}

static int move(const char *name, enum pins_place from, enum pins_place to, unsigned int flags)
{
	char from_path[PATH_MAX], to_path[PATH_MAX];

	pins_path(from_path, name, from, NULL);
	pins_path(to_path, name, to, NULL);
	return renameat2(AT_FDCWD, from_path, AT_FDCWD, to_path, flags) ? -errno : 0;
}

int pins_publish(const char *name)
{
	return move(name, PINS_NEW, PINS_COMPLETE, RENAME_NOREPLACE);
}

int pins_exchange(const char *name)
{
	return move(name, PINS_NEW, PINS_COMPLETE, RENAME_EXCHANGE);
}

/* Id of the link pinned in the instance, or 0; its file descriptor in *@fd if that is wanted. */
static u32 link_id(const char *name, enum pins_place place, const char *file, int *fd)
{
	struct bpf_link_info info = {};
	u32 size = sizeof(info);
	char path[PATH_MAX];
	int link;

	pins_path(path, name, place, file);
	link = bpf_obj_get(path);
	if (link < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(link, &info, &size))
		info.id = 0;
	if (fd)
		*fd = link;
	else
		close(link);
	return info.id;
}

/* The link stays with the instance @name, whose program it is to run. */
static void keep_link(const char *name, int link)
{
	char path[PATH_MAX];
	int program;

	pins_path(path, name, PINS_COMPLETE, PINS_PROGRAM);
	program = bpf_obj_get(path);
	if (program < 0)
		return;
	bpf_link_update(link, program, NULL);
	close(program);
}

/* Detaching at once rather than when the kernel has collected the pin. */
static void drop_link(const char *name, enum pins_place place, const char *file)
{
	int fd = -1;
	u32 id = link_id(name, place, file, &fd);

	if (id && id == link_id(name, PINS_COMPLETE, file, NULL))
		keep_link(name, fd);
	else if (id)
		bpf_link_detach(fd);
	if (fd >= 0)
		close(fd);
}

static void drop_files(const char *name, enum pins_place place, DIR *folder, bool links)
{
	size_t prefix = strlen(PINS_LINK);
	struct dirent *entry;

	rewinddir(folder);
	while ((entry = readdir(folder))) {
		bool link = !strncmp(entry->d_name, PINS_LINK, prefix);

		if (*entry->d_name == '.' || link != links)
			continue;
		if (link)
			drop_link(name, place, entry->d_name);
		if (!unlinkat(dirfd(folder), entry->d_name, 0) ||
		    !unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR))
			rewinddir(folder);
	}
}

/* An interface that has left its network namespace cannot be reached: the user is told. What was restored is no longer
 * recorded.
 */
static void restore_promisc_of(const char *name, enum pins_place place,
			       struct xdd_meta_iface *iface)
{
	struct bpf_link_info info = {};
	u32 size = sizeof(info);
	char file[32];
	int fd = -1;

	snprintf(file, sizeof(file), PINS_LINK "%u", iface->ifindex);
	if (link_id(name, PINS_COMPLETE, file, NULL))
		return;
	iface->promisc = promisc_set(iface->ifindex, false) != 0;
	if (!iface->promisc)
		return;
	if (link_id(name, place, file, &fd) && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
	    info.xdp.ifindex)
		note("%s has left its network namespace and is still promiscuous: ip link set dev "
		     "%s promisc off",
		     iface->name, iface->name);
	if (fd >= 0)
		close(fd);
}

static void restore_promisc(const char *name, enum pins_place place, struct xdd_meta *meta)
{
	int home;

	if (netns_enter_inode(meta->netns_inode, meta->netns, &home))
		return;
	for (u32 i = 0; i < meta->ifaces_used && i < XDD_MAX_IFACES; i++)
		if (meta->ifaces[i].promisc)
			restore_promisc_of(name, place, &meta->ifaces[i]);
	netns_leave(home);
}

/* The record is brought up to date for a `run` that still has it open. */
static void restore_recorded(const char *name, enum pins_place place)
{
	char path[PATH_MAX];
	struct xdd_meta meta;
	int fd;

	pins_path(path, name, place, "meta");
	fd = bpf_obj_get(path);
	if (fd < 0)
		return;
	if (!program_get_meta(fd, &meta)) {
		restore_promisc(name, place, &meta);
		program_set_meta(fd, &meta);
	}
	close(fd);
}

/* A program that is not of @in: someone else is using the interface by now. */
static bool is_taken(const struct instance *in, u32 ifindex)
{
	u32 id = 0;

	return !bpf_xdp_query_id(ifindex, 0, &id) && id && id != in->program_id;
}

void pins_restore_lost(const struct instance *in)
{
	struct xdd_meta meta;
	int home;

	if (pins_exist(in->name) || program_get_meta(in->maps.meta, &meta) ||
	    netns_enter_inode(meta.netns_inode, meta.netns, &home))
		return;
	for (u32 i = 0; i < meta.ifaces_used && i < XDD_MAX_IFACES; i++)
		if (meta.ifaces[i].promisc && !is_taken(in, meta.ifaces[i].ifindex))
			promisc_set(meta.ifaces[i].ifindex, false);
	netns_leave(home);
}

int pins_drop(const char *name, enum pins_place place)
{
	char path[PATH_MAX];
	DIR *folder;

	pins_path(path, name, place, NULL);
	folder = opendir(path);
	if (!folder)
		return errno == ENOENT ? 0 : -errno;
	restore_recorded(name, place);
	drop_files(name, place, folder, true);
	drop_files(name, place, folder, false);
	closedir(folder);
	pins_path(path, name, place, NULL);
	return rmdir(path) ? -errno : 0;
}

int pins_remove(const char *name)
{
	int err = move(name, PINS_COMPLETE, PINS_OLD, RENAME_NOREPLACE);

	return err ?: pins_drop(name, PINS_OLD);
}

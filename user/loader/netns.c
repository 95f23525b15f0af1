/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/message.h"

#define NETNS_FOLDER "/run/netns"
#define NETNS_SELF "/proc/thread-self/ns/net"

static u64 inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

u64 netns_inode(void)
{
	return inode_of(NETNS_SELF);
}

/* Returns the present namespace's file descriptor, or a negative errno. */
static int enter(const char *path)
{
	int home = open(NETNS_SELF, O_RDONLY | O_CLOEXEC);
	int there = open(path, O_RDONLY | O_CLOEXEC);
	int err = home < 0 || there < 0 || setns(there, CLONE_NEWNET) ? -errno : 0;

	if (there >= 0)
		close(there);
	if (err && home >= 0)
		close(home);
	return err ?: home;
}

int netns_enter(const char *name, int *home, char *err, size_t err_size)
{
	char path[PATH_MAX];

	*home = -1;
	if (!name)
		return 0;
	snprintf(path, sizeof(path), NETNS_FOLDER "/%s", name);
	*home = enter(path);
	if (*home >= 0)
		return 0;
	if (*home == -ENOENT)
		return refuse(err, err_size, -ENOENT,
			      "--netns %s: there is no such network namespace: ip netns list shows "
			      "those that there are",
			      name);
	if (*home == -EPERM)
		return refuse(err, err_size, -EPERM,
			      "--netns %s: entering it needs CAP_SYS_ADMIN: run this as root",
			      name);
	errno = -*home;
	return refuse(err, err_size, *home, "--netns %s: cannot enter %s: %m", name, path);
}

static int enter_if(const char *path, u64 inode)
{
	return inode_of(path) == inode ? enter(path) : -ENOENT;
}

static int enter_any_named(u64 inode)
{
	DIR *folder = opendir(NETNS_FOLDER);
	char path[PATH_MAX];
	struct dirent *entry;
	int home = -ENOENT;

	while (folder && home < 0 && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), NETNS_FOLDER "/%s", entry->d_name);
		home = enter_if(path, inode);
	}
	if (folder)
		closedir(folder);
	return home;
}

int netns_enter_inode(u64 inode, const char *name, int *home)
{
	char path[PATH_MAX];

	*home = -1;
	if (inode == netns_inode())
		return 0;
	if (*name) {
		snprintf(path, sizeof(path), NETNS_FOLDER "/%s", name);
		*home = enter_if(path, inode);
	}
	if (*home < 0)
		*home = enter_any_named(inode);
	if (*home < 0)
		*home = enter_if("/proc/1/ns/net", inode);
	return *home < 0 ? -ENOENT : 0;
}

void netns_leave(int home)
{
	if (home < 0)
		return;
	/* Fails only without the right to, which entering proved. */
	setns(home, CLONE_NEWNET);
	close(home);
}

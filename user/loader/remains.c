/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "remains.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "netns.h"
#include "program.h"
#include "user/options.h"
#include "user/utf8.h"

static bool is_remains(const char *entry)
{
	return (*entry == PINS_NEW || *entry == PINS_OLD) && option_name_valid(entry + 1);
}

/* The interface that the link pinned as @file holds now, or 0. */
static u32 held_by(const struct remains *r, const char *file)
{
	struct bpf_link_info info = {};
	u32 size = sizeof(info), ifindex = 0;
	char path[PATH_MAX];
	int link;

	pins_path(path, r->name, r->place, file);
	link = bpf_obj_get(path);
	if (link < 0)
		return 0;
	if (!bpf_obj_get_info_by_fd(link, &info, &size))
		ifindex = info.xdp.ifindex;
	close(link);
	return ifindex;
}

static void add_interface(struct remains *r, u32 ifindex)
{
	char *name = r->ifaces[r->n++];

	if (if_indextoname(ifindex, name))
		utf8_mask(name);
	else
		snprintf(name, XDD_META_IFNAME, "ifindex %u", ifindex % 10000000);
}

/* Their names are those of the network namespace in which they were attached. */
static int enter(const struct remains *r, int *home)
{
	char path[PATH_MAX];
	struct xdd_meta meta;
	int fd, code;

	pins_path(path, r->name, r->place, "meta");
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd;
	code = program_get_meta(fd, &meta);
	close(fd);
	return code ?: netns_enter_inode(meta.netns_inode, meta.netns, home);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void find_interfaces(struct remains *r)
{
	char path[PATH_MAX];
	int home, entered = enter(r, &home);
	struct dirent *entry;
	DIR *folder;
	u32 ifindex;

	pins_path(path, r->name, r->place, NULL);
	folder = opendir(path);
	while (folder && r->n < XDD_MAX_IFACES && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, PINS_LINK, strlen(PINS_LINK)))
			continue;
		ifindex = held_by(r, entry->d_name);
		if (ifindex)
			add_interface(r, ifindex);
	}
	if (folder)
		closedir(folder);
	if (!entered)
		netns_leave(home);
	qsort(r->ifaces, r->n, sizeof(*r->ifaces), by_name);
}

static int add(struct remains **all, int n, const char *entry)
{
	struct remains *more = realloc(*all, (n + 1) * sizeof(*more)), *r;

	if (!more)
		return -ENOMEM;
	*all = more;
	r = &more[n];
	memset(r, 0, sizeof(*r));
	r->place = *entry;
	strcpy(r->name, entry + 1);
	r->beside = pins_are_instance(r->name);
	if (!r->beside)
		find_interfaces(r);
	return n + 1;
}

/* Another's lock says that what is there is being made or removed. Nobody waits for ours, which is shared and short. */
static int list(DIR *root, struct remains **all)
{
	struct dirent *entry;
	bool locked = false;
	int n = 0;

	while (n >= 0 && (entry = readdir(root))) {
		if (!is_remains(entry->d_name))
			continue;
		if (!locked && flock(dirfd(root), LOCK_SH | LOCK_NB))
			return -EBUSY;
		if (locked) {
			n = add(all, n, entry->d_name);
			continue;
		}
		locked = true;
		rewinddir(root); /* what was seen before may be done with by now */
	}
	return n;
}

static int by_their_name(const void *a, const void *b)
{
	return strcmp(((const struct remains *)a)->name, ((const struct remains *)b)->name);
}

int remains_list(struct remains **all)
{
	DIR *root = opendir(INSTANCE_ROOT);
	int n;

	*all = NULL;
	if (!root)
		return errno == ENOENT ? 0 : -errno;
	n = list(root, all);
	closedir(root);
	if (n < 0) {
		free(*all);
		*all = NULL;
	}
	if (n > 0)
		qsort(*all, n, sizeof(**all), by_their_name);
	return n;
}

static bool holds(const struct remains *r, const char *name)
{
	for (u32 i = 0; i < r->n; i++)
		if (!strcmp(r->ifaces[i], name))
			return true;
	return false;
}

bool remains_find(const char *name, struct remains *found)
{
	char wanted[INSTANCE_NAME_MAX];
	struct remains *all;
	int n = remains_list(&all);
	bool any = false;

	instance_name_of(name, wanted);
	for (int i = 0; i < n && !any; i++) {
		any = !strcmp(all[i].name, wanted) || holds(&all[i], name);
		if (any)
			*found = all[i];
	}
	free(all);
	return any;
}

const char *remains_of(enum pins_place place, bool beside)
{
	if (place == PINS_OLD)
		return "unload";
	return beside ? "load or set" : "load";
}

const char *remains_text(const struct remains *r, char *text, size_t size)
{
	size_t used;

	if (r->beside) {
		snprintf(text, size,
			 "%s: a killed %s left a second set of its maps: the next load, set or "
			 "unload removes that",
			 r->name, remains_of(r->place, true));
		return text;
	}
	used = snprintf(text, size, "%s: a killed %s left it half %s, ", r->name,
			remains_of(r->place, false), r->place == PINS_OLD ? "removed" : "made");
	used += snprintf(text + used, size - used,
			 r->n ? "and it still filters" : "attached to no interface");
	for (u32 i = 0; i < r->n && used < size; i++)
		used += snprintf(text + used, size - used, "%s %s", i ? "," : "", r->ifaces[i]);
	if (used < size)
		snprintf(text + used, size - used, ": xdp-dedup unload %s removes it", r->name);
	return text;
}

int remains_append(char (**names)[INSTANCE_NAME_MAX], int n)
{
	struct remains *all;
	int found = remains_list(&all);
	void *more;

	for (int i = 0; i < found && n >= 0; i++) {
		if (all[i].beside)
			continue;
		more = realloc(*names, (n + 1) * INSTANCE_NAME_MAX);
		if (!more) {
			n = -ENOMEM;
			break;
		}
		*names = more;
		memcpy((*names)[n++], all[i].name, INSTANCE_NAME_MAX);
	}
	free(all);
	return n;
}

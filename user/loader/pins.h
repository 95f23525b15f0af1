/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folders of pins under INSTANCE_ROOT: making, naming and removing them. See instance.h for
 * what is in one.
 */
#ifndef USER_LOADER_PINS_H
#define USER_LOADER_PINS_H

#include <stdbool.h>
#include <stddef.h>

#include "instance.h"

#define PINS_PROGRAM "program"
#define PINS_AGER "ager_program"
#define PINS_LINK "link_"    /* and the interface's index at load */
#define PINS_READER "reader" /* a folder, for its lock */
#define PINS_OWNER "owner"   /* another */

/* What to do about -EROFS. */
#define PINS_WRITABLE "mount -o remount,rw /sys/fs/bpf"

/*
 * Take the lock on the root, and clear what killed loaders and unloaders left behind. SIGINT,
 * SIGTERM, SIGHUP and SIGPIPE wait until pins_unlock(). With
 * @create, mount bpffs and make the root where they are missing; @force: also where the mount is
 * private and its pins end with this command.
 *
 * Returns the root's file descriptor for pins_unlock(), or with one line in @err: -ENOENT: there
 * is no root, so no instance; -EPERM, -EACCES; -EBUSY: another process keeps the lock; -EXDEV:
 * the mount is private; or what the system calls returned.
 */
int pins_lock(bool create, bool force, char *err, size_t err_size);

/* The same, but an instance was loaded, and nobody waits: -EBUSY. */
int pins_try_lock(char *err, size_t err_size);

/* Remove the root if nothing is left in it, and give the lock back. */
void pins_unlock(int root);

/* Where an instance's folder can be, by the mark before its name: no instance's name has one, and
 * bpffs forbids dots.
 */
enum pins_place { PINS_COMPLETE = 0, PINS_NEW = '~', PINS_OLD = '+' };

/* Write the path of @file in a folder of instance @name to @path; @file NULL: of the folder. */
void pins_path(char path[PATH_MAX], const char *name, enum pins_place place, const char *file);

/* The same of the link to the interface that had index @ifindex when it was attached. */
void pins_link_path(char path[PATH_MAX], const char *name, enum pins_place place, u32 ifindex);

/* Whether there is a folder of that name; and whether it is an instance's, of whichever version: xdp-dedup may not have
 * made it.
 */
bool pins_exist(const char *name);
bool pins_are_instance(const char *name);

/* Make the new folder, and PINS_READER and PINS_OWNER in it. Returns 0 or a negative errno. */
int pins_begin(const char *name);

/* The new folder becomes the instance. */
int pins_publish(const char *name);

/* The new folder becomes the instance, which becomes the new folder, at once. */
int pins_exchange(const char *name);

/* Detach the interfaces of a folder and restore their promiscuous mode; remove the folder. A link that
 * the instance @name holds, too, is one of an exchange: it runs that instance's program from then
 * on. Nothing there is no error.
 */
int pins_drop(const char *name, enum pins_place place);

/* Restore the promiscuous mode of the interfaces of @in, whose folder someone removed by hand rather than by
 * pins_remove(), and which is still open. Nothing if there is an instance of that name.
 */
void pins_restore_lost(const struct instance *in);

/* Remove instance @name: it becomes the old folder, which is dropped. */
int pins_remove(const char *name);

#endif

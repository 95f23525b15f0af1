/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "caps.h"
#include "load.h"
#include "pins.h"
#include "remains.h"
#include "user/message.h"
#include "user/watch/set.h"

int unload_named(const char *name, char *err, size_t err_size)
{
	char path[PATH_MAX];
	int code = pins_remove(name);

	if (!code) {
		watch_set_forget(name);
		return 0;
	}
	pins_path(path, name, PINS_COMPLETE, NULL);
	errno = -code;
	return refuse(err, err_size, code, "cannot remove %s: %m%s", path,
		      code == -EROFS ? ": " PINS_WRITABLE : "");
}

/* Find what the user calls @wanted: a folder of that name, of whichever version, or the instance
 * of an interface.
 */
static int find(const char *wanted, char name[INSTANCE_NAME_MAX], char *err, size_t err_size)
{
	struct instance in;
	int code;

	instance_name_of(wanted, name);
	if (option_name_valid(name) && pins_are_instance(name))
		return 0;
	code = instance_open(&in, wanted, err, err_size);
	if (code)
		return code;
	memcpy(name, in.name, sizeof(in.name));
	instance_close(&in);
	return 0;
}

/* What @left was is cleared by now: there is nothing else to do, unless it is there still. */
static bool is_cleared(const struct remains *left)
{
	char path[PATH_MAX];

	pins_path(path, left->name, left->place, NULL);
	return access(path, F_OK) != 0;
}

int unload_instance(const char *wanted, char *err, size_t err_size)
{
	char name[INSTANCE_NAME_MAX];
	struct remains left;
	bool half = remains_find(wanted, &left);
	int root, code;

	code = caps_check(err, err_size);
	if (code)
		return code;
	root = pins_lock(false, false, err, err_size);
	if (root == -ENOENT && half)
		return 0;
	if (root == -ENOENT)
		return refuse(err, err_size, -ENOENT, "%s: no instance is loaded", wanted);
	if (root < 0)
		return root;
	code = find(wanted, name, err, err_size);
	if (!code)
		code = unload_named(name, err, err_size);
	else if (code == -ENOENT && half && is_cleared(&left))
		code = 0;
	pins_unlock(root);
	return code;
}

int unload_leftovers(char *err, size_t err_size)
{
	int root, code = caps_check(err, err_size);

	if (code)
		return code;
	root = pins_lock(false, false, err, err_size);
	if (root >= 0)
		pins_unlock(root);
	return root < 0 && root != -ENOENT ? root : 0;
}

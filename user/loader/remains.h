/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a killed loader or unloader left half made or half removed: its program may still be attached. Whoever
 * changes something next clears it, see pins_lock(); who only looks tells of it.
 */
#ifndef USER_LOADER_REMAINS_H
#define USER_LOADER_REMAINS_H

#include "instance.h"
#include "pins.h"

struct remains {
	char name[INSTANCE_NAME_MAX];
	enum pins_place place; /* PINS_NEW or PINS_OLD */
	bool beside; /* of the complete instance of that name, which holds the interfaces */
	u32 n;	     /* interfaces to which the program is attached */
	char ifaces[XDD_MAX_IFACES][XDD_META_IFNAME]; /* "ifindex N" where its name is not known */
};

/*
 * Returns their number and an array to free() in *@all (NULL if there are none), or a negative errno: -EBUSY: another
 * process is making or removing an instance, so that nothing can be said.
 */
int remains_list(struct remains **all);

/* Those that are called @name, or hold an interface called so. Returns whether there are such. */
bool remains_find(const char *name, struct remains *found);

/* What a user is told of them: what there is, and what clears it. Returns @text. */
const char *remains_text(const struct remains *r, char *text, size_t size);

/* What the killed command was to do: "load", ... */
const char *remains_of(enum pins_place place, bool beside);

/*
 * Append the names of those that are no complete instance to @names, an array of @n as instance_list() returns one.
 * Returns the new number, or -ENOMEM.
 */
int remains_append(char (**names)[INSTANCE_NAME_MAX], int n);

#endif

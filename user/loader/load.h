/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Load an instance: what `load` and `run` do. */
#ifndef USER_LOADER_LOAD_H
#define USER_LOADER_LOAD_H

#include "instance.h"
#include "user/options.h"

struct load_result {
	char name[INSTANCE_NAME_MAX];
	bool usage; /* on failure: the options contradict each other or are out of range */
	int owner; /* of `run`: the file descriptor that has the owner's lock, to keep open; else -1 */
};

/*
 * Attach the program to the interfaces @o->args as one instance, and pin it. Everything that was
 * made is undone on failure; only a program of someone else's that --force took off stays off.
 * An instance of that name is replaced with --force, or if it is what a `run` of the same interfaces left
 * that was killed; what `load` made is meant to live alone, and stays.
 *
 * Returns 0 or a negative errno with one line in @err.
 */
int load_instance(const struct options *o, struct load_result *result, char *err, size_t err_size);

/* Detach and remove the instance called @name, or that interface @name belongs to, whichever
 * version loaded it; or what a killed loader or unloader left of it. Returns 0 or a negative errno with one line in @err.
 */
int unload_instance(const char *name, char *err, size_t err_size);

/* The same while the lock of pins_lock() is held, by the name of the folder. */
int unload_named(const char *name, char *err, size_t err_size);

/* Remove what killed loaders and unloaders left behind. Returns 0 or a negative errno with one line
 * in @err.
 */
int unload_leftovers(char *err, size_t err_size);

#endif

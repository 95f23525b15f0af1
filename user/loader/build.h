/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program and its maps loaded, configured and pinned in an instance's new folder (pins.h):
 * all of an instance but the links.
 */
#ifndef USER_LOADER_BUILD_H
#define USER_LOADER_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "instance.h"
#include "xdd/hash.h"

struct dedup; /* the skeleton */

struct build_plan {
	struct xdd_fixed fixed;
	struct xdd_live live;
	struct xdd_meta meta; /* meta.frags: load with xdp.frags */
	struct xdd_secret secret;
	u32 exact_entries;		  /* see derive.h */
	u32 targets[XDD_DEV_MAX];	  /* interfaces of map `targets`, in the thread's network
				   * namespace; 0: none */
	const struct instance_maps *kept; /* of an instance that this one replaces and whose
					   * counts, lists and events it carries on, or NULL */
};

/*
 * The caller holds the lock of pins_lock(), and drops the folder when it is done with a failure.
 * Returns 0 and the skeleton, to be given to build_free(), or a negative errno with one line in
 * @err: -ENOMEM or -E2BIG: no memory for the filter; -EINVAL: the kernel refuses the program.
 */
int build(const struct build_plan *plan, const char *name, struct dedup **skel, char *err,
	  size_t err_size);

void build_free(struct dedup *skel);

/* File descriptors of the built XDP program and of its map `meta`. */
int build_program(const struct dedup *skel);
int build_meta(const struct dedup *skel);

#endif

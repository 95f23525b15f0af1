/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF object made ready for one configuration. */
#ifndef USER_LOADER_PROGRAM_H
#define USER_LOADER_PROGRAM_H

#include <bpf/libbpf.h>

#include "xdd/config.h"
#include "xdd/hash.h"
#include "xdd/meta.h"

/*
 * Before load: fill the read-only data of @object (any of ours that includes
 * bpf/accessors.h), size the filter's maps, and leave out those that @fixed does not use.
 * @exact_entries: room of the exact engine, in keys.
 *
 * Returns 0 or a negative errno (-ENOENT: the object lacks a map that it must have).
 */
int program_prepare(struct bpf_object *object, const struct xdd_fixed *fixed,
		    const struct xdd_secret *secret, u32 exact_entries);

/* After load: write @live to map `config`. Returns 0 or a negative errno. */
int program_set_live(int config_fd, const struct xdd_live *live);

/* The same for map `meta`. */
int program_set_meta(int meta_fd, const struct xdd_meta *meta);

/* Read the entry of pinned map `config`, `meta`. Returns 0, -EPROTO if it is of another XDD_ABI, or
 * a negative errno.
 */
int program_get_live(int config_fd, struct xdd_live *live);
int program_get_meta(int meta_fd, struct xdd_meta *meta);

/* Read the fixed configuration, the secret, out of the pinned read-only data. Returns 0 or a negative
 * errno.
 */
int program_get_fixed(int rodata_fd, struct xdd_fixed *fixed);
int program_get_secret(int rodata_fd, struct xdd_secret *secret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The inside of derive_config(): for derive.c and the files of its steps only. */
#ifndef USER_DERIVE_WORK_H
#define USER_DERIVE_WORK_H

#include "derive.h"

/* k of the engines with k cells a key that fill up: timer and bloom (koloniari-2011). */
#define DERIVE_HASHES 4

/* What the steps of derive_config() share. */
struct work {
	const struct options *o;
	enum derive_target target; /* DERIVE_NIC or DERIVE_FILE */
	bool simulated;
	unsigned int n_ifaces, n_rx_queues_max, cpus;
	u64 available; /* bytes of free memory */
	double share; /* of the filter's memory that this process has: the rest is on other machines */
	u64 beside; /* bytes of what is beside the filter so far */
	struct derived *out;
	char *err;
	size_t err_size;
};

/* Add @text to what the user is told. */
void derive_warn(struct derived *out, const char *text);

/* The rate that --capacity is to reach. */
double derive_fpr_target(const struct work *w);

/* derive_bits.c: what the bit engines are, before their size is known. */
void derive_bit_kinds(struct work *w);

/* ... and what they ask of it, once it is. Returns 0, or -ERANGE with a line in w->err. */
int derive_bits(struct work *w);

/* derive_tree.c: placement tree. Returns 0, or -EINVAL or -ERANGE with a line in w->err. */
int derive_tree(struct work *w);

/* Whole filters in the memory: of CPUs, or of the nodes of a tree, or one. */
u64 derive_filters(const struct work *w);

/* Tell the user what the memory was divided into. */
void derive_tree_note(struct work *w);

/* derive_replica.c: the replicas of --peers, once capacity and memory are known. Returns 0, or -EINVAL,
 * -ERANGE or -ENOMEM with a line in w->err.
 */
int derive_replicas(struct work *w);

/* derive_audit.c: what is sampled, and the shadow's size. */
void derive_audit(struct work *w);

/*
 * derive_sliced.c: engines timer and bloom. In this order: the lines for --capacity, on all CPUs; the
 * blocks, of a line each, of a filter of @bytes for which @blocks have room, so that its slices are
 * of equal size; the slices, and a refusal of what is not possible; what the filter is good for.
 */
double derive_sliced_lines(const struct work *w);
u64 derive_sliced_blocks(struct work *w, u64 bytes, u64 blocks);
int derive_sliced(struct work *w);
void derive_sliced_capacity(struct work *w);

/* derive_growth.c: how the filter grows, once its hashes are known; and, once its slices are, a
 * refusal of what is not possible.
 */
void derive_growth_kind(struct work *w);
int derive_growth(struct work *w);

/* Whether @bytes more are free beside the filter and what is there already: then they are taken. */
bool derive_room(struct work *w, u64 bytes);

/* derive_watch.c: the watch set. Returns 0, or -EINVAL, -ERANGE or -ENOMEM with a line in w->err. */
int derive_watch(struct work *w);

/* derive_collect.c: the keys of --collect. Returns 0, or -EINVAL, -ERANGE or -ENOMEM with a line in w->err. */
int derive_collect(struct work *w);

#endif

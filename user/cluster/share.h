/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The watch set of an instance of this host as one that hosts share (--share-watch): its owner tells the others
 * what changes, and theirs follow. The bus is the group's: see group.h for the subjects.
 */
#ifndef USER_CLUSTER_SHARE_H
#define USER_CLUSTER_SHARE_H

#include "user/cluster/member.h"

/* In subjects: places of FULLs, with the place's number behind it, and BEATs; WANTs. */
#define SHARE_WHAT "watch"
#define SHARE_WANT "watchwant"

struct share;

/* @in has a watch set and stays open, and the caller holds its lock. Returns NULL with one line in @err. */
struct share *share_open(const struct member_setup *setup, const struct instance *in, char *err,
			 size_t err_size);
void share_close(struct share *share);

const char *share_name(const struct share *share);  /* HOST.INSTANCE */
const char *share_owner(const struct share *share); /* the same, of whose set it is */
const struct instance *share_instance(const struct share *share);

/* The bus has a connection again, or no longer. */
void share_up(struct share *share);
void share_down(struct share *share);

/* What @from, HOST.INSTANCE, published as @what, for whom: this one, HOST.INSTANCE, or "". */
void share_take(struct share *share, const char *from, const char *what, const char *for_whom,
		const struct bus_event *event);

/* Do what is due. Returns when the next thing is, on CLOCK_MONOTONIC. */
u64 share_step(struct share *share);

#endif

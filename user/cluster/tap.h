/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that was loaded with --collect as a monitor of joint detection (joint/host.h): its keys come
 * from the kernel, its messages go over the group's bus.
 */
#ifndef USER_CLUSTER_TAP_H
#define USER_CLUSTER_TAP_H

#include "user/cluster/member.h"

/* Messages of joint detection are signed with keys of their own, which come from the group's secret. */
#define TAP_LABEL "xdp-dedup joint"
#define TAP_WHAT "joint" /* in subjects */

struct tap;

/* @in stays open, and the caller holds its lock. Returns NULL with one line in @err. */
struct tap *tap_open(const struct member_setup *setup, const struct instance *in, char *err,
		     size_t err_size);
void tap_close(struct tap *tap);

/* Whoever collected @in's keys is gone: its program is to collect no more. The caller holds @in's lock. */
void tap_end_period(const struct instance *in);

const char *tap_name(const struct tap *tap); /* HOST.INSTANCE */
const struct instance *tap_instance(const struct tap *tap);

/* What @from, HOST.INSTANCE, asks. */
void tap_take(struct tap *tap, const char *from, const struct bus_event *event);

/* Do what is due. Returns when the next thing is, on CLOCK_MONOTONIC. */
u64 tap_step(struct tap *tap);

struct part;

/*
 * A part of @type as a message: at most WIRE_MAX bytes of @message. Returns its bytes. And back, with the
 * sender's @epoch: 0, or as wire_open() does.
 */
size_t tap_seal(struct wire_self *self, enum wire_type type, const struct part *part, u64 wall_ns,
		u8 *message);
int tap_unseal(const struct wire_key *group, const char *from, enum wire_type type,
	       const struct bus_event *event, struct part *part, u64 *epoch);

#endif

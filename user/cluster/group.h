/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instances of this host in a group of hosts, over NATS. Subjects, with HOST.INSTANCE of who publishes:
 *
 *   xdd.GROUP.HOST.INSTANCE.state     FULL, DELTA, BYE: JetStream keeps them, in stream xdd-GROUP; the first
 *                                     part of a FULL, and BYE, take the place of all before
 *   xdd.GROUP.HOST.INSTANCE.live      HEARTBEAT
 *   xdd.GROUP.HOST.INSTANCE.ask       AUDIT_ASK
 *   xdd.GROUP.HOST.INSTANCE.answer.HOST.INSTANCE  AUDIT_ANSWER for whom
 *   xdd.GROUP.HOST.INSTANCE.want.HOST.INSTANCE    WANT of whom
 *   xdd.GROUP.HOST.INSTANCE.watch0, .watch1       WATCH_FULL in turn, and the WATCH_DELTAs behind it: JetStream
 *                                     keeps them, in stream xdd-GROUP-watch, for ever
 *   xdd.GROUP.HOST.INSTANCE.watch     WATCH_BEAT
 *   xdd.GROUP.HOST.INSTANCE.watchwant.HOST.INSTANCE  WATCH_WANT of whom
 *   xdd.GROUP.HOST.INSTANCE.joint.HOST.INSTANCE   JOINT_ASK of a monitor, JOINT_ANSWER for who asked
 */
#ifndef USER_CLUSTER_GROUP_H
#define USER_CLUSTER_GROUP_H

#include <stddef.h>

#include "user/cluster/member.h"

#define GROUP_HOST_SIZE \
	(WIRE_NAME - INSTANCE_NAME_MAX) /* bytes of a host's name, its end included */

struct group;

/* The name of this host: --host, or the machine's, of characters that a subject may have. */
void group_host(const struct options *o, char host[GROUP_HOST_SIZE]);

/* bus_open() with the files that @o names, and what JetStream keeps of the group: of @who are url, client and listen. */
int group_bus(const struct options *o, const struct bus_where *who, struct bus **bus, char *err,
	      size_t err_size);

/* Tell of trouble with the server of @bus, if @event is that. @who is in front; @meanwhile behind "it is tried again". */
void group_tell_trouble(const char *who, struct bus *bus, const char *group,
			const struct bus_event *event, const char *meanwhile);

/*
 * Join the group that @o names; @who is "agent" or "run", for messages. Returns 0 and *@group, NULL if neither
 * --nats nor GROUP_ENVIRONMENT is given; or a negative errno with one line in @err. A server that is not
 * there is none: it is tried again for ever. Signals must be held (signals_hold()) before.
 */
int group_open(const struct options *o, const char *who, struct group **group, char *err,
	       size_t err_size);

/* Take @in as a member, if it was loaded with --peers, as a monitor, if with --collect, and its watch set as one that is
 * shared, if --share-watch says so: it stays open until group_remove(). A period in which someone before collected
 * its keys ends here, also where @group is NULL, which is else ignored.
 */
void group_add(struct group *group, const struct instance *in);
void group_remove(struct group *group, const struct instance *in, bool bye);

/* To wait for: readable when there is something to do, and when there is anyhow, on CLOCK_MONOTONIC. */
int group_fd(const struct group *group);
u64 group_due_ns(const struct group *group);

void group_step(struct group *group);

/* What the member called @name, as an instance, says of itself. Returns whether there is one. */
bool group_report(const struct group *group, const char *name, struct member_report *report);

/* Tell the others that the members leave, and end. NULL is ignored. */
void group_close(struct group *group);

#endif

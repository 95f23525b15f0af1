/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/group.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/clock.h"
#include "user/cluster/share.h"
#include "user/cluster/tap.h"
#include "user/message.h"
#include "user/options.h"

/* Of what has come, at most so many before other work has its turn. */
#define EVENTS_MAX 256

#define STALE_NS XDD_SECOND_NS

/* HOST.INSTANCE has room in WIRE_NAME. */

struct joined {
	struct joined *next;
	struct member *member;
};

struct tapped {
	struct tapped *next;
	struct tap *tap;
};

struct sharing {
	struct sharing *next;
	struct share *share;
};

struct group {
	struct member_setup setup;
	struct bus *bus;
	char host[GROUP_HOST_SIZE];
	struct joined *all;
	struct tapped *taps;
	struct sharing *shares;
	bool up;
	u64 due_ns, stale_at_ns;
};

void group_host(const struct options *o, char host[GROUP_HOST_SIZE])
{
	char name[256] = "host";

	if (o->host) {
		snprintf(host, GROUP_HOST_SIZE, "%s", o->host);
		return;
	}
	gethostname(name, sizeof(name) - 1);
	snprintf(host, GROUP_HOST_SIZE, "%s", name);
	for (char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-')
			*c = '_';
}

int group_bus(const struct options *o, const struct bus_where *who, struct bus **bus, char *err,
	      size_t err_size)
{
	char kept[BUS_SUBJECT_MAX], store[BUS_SUBJECT_MAX], watch_store[BUS_SUBJECT_MAX];
	char watch[BUS_KEPT][BUS_SUBJECT_MAX];
	struct bus_where where = *who;

	snprintf(kept, sizeof(kept), "xdd.%s.*.*.state", o->group);
	snprintf(store, sizeof(store), "xdd-%s", o->group);
	where.ca = o->nats_ca;
	where.cert = o->nats_cert;
	where.key = o->nats_key;
	where.creds = o->nats_creds;
	where.store[BUS_recent] = store;
	where.kept[BUS_recent][0] = kept;
	snprintf(watch_store, sizeof(watch_store), "xdd-%s-watch", o->group);
	where.store[BUS_lasting] = o->share_watch ? watch_store : NULL;
	for (int i = 0; i < BUS_KEPT; i++) {
		snprintf(watch[i], sizeof(watch[i]), "xdd.%s.*.*." SHARE_WHAT "%d", o->group, i);
		where.kept[BUS_lasting][i] = watch[i];
	}
	return bus_open(&where, bus, err, err_size);
}

static int open_bus(struct group *group, const char *url, char *err, size_t err_size)
{
	const struct options *o = group->setup.o;
	char all[BUS_SUBJECT_MAX], own[BUS_SUBJECT_MAX], client[BUS_SUBJECT_MAX];
	struct bus_where who = { .url = url, .client = client, .listen = { all, own } };

	snprintf(all, sizeof(all), "xdd.%s.*.*.*", o->group);
	snprintf(own, sizeof(own), "xdd.%s.*.*.*.%s.*", o->group, group->host);
	snprintf(client, sizeof(client), "xdp-dedup %s", group->host);
	return group_bus(o, &who, &group->bus, err, err_size);
}

int group_open(const struct options *o, const char *who, struct group **to, char *err,
	       size_t err_size)
{
	const char *url = o->nats ?: getenv(GROUP_ENVIRONMENT);
	struct group *group;
	int code;

	*to = NULL;
	if (!url || !*url)
		return 0;
	group = calloc(1, sizeof(*group));
	if (!group)
		return refuse(err, err_size, -ENOMEM, "no memory for NATS");
	group_host(o, group->host);
	group->setup =
		(struct member_setup){ .o = o, .group = o->group, .host = group->host, .who = who };
	code = open_bus(group, url, err, err_size);
	group->setup.bus = group->bus;
	if (code)
		group_close(group);
	else
		*to = group;
	return code;
}

static int join(struct group *group, struct joined *joined, const struct instance *in)
{
	char err[MESSAGE_MAX];

	joined->member = member_open(&group->setup, in, err, sizeof(err));
	if (!joined->member) {
		complain("%s: %s: %s", group->setup.who, in->name, err);
		return -1;
	}
	if (group->up)
		member_up(joined->member);
	group->due_ns = 0;
	return 0;
}

static void add_tap(struct group *group, const struct instance *in)
{
	struct tapped *tapped = calloc(1, sizeof(*tapped));
	char err[MESSAGE_MAX] = "no memory";

	if (tapped)
		tapped->tap = tap_open(&group->setup, in, err, sizeof(err));
	if (!tapped || !tapped->tap) {
		complain("%s: %s: %s", group->setup.who, in->name, err);
		free(tapped);
		return;
	}
	tapped->next = group->taps;
	group->taps = tapped;
	note("%s: %s is monitor %s of group %s%s", group->setup.who, in->name,
	     tap_name(tapped->tap), group->setup.group,
	     in->meta.secret_own ? ", but no joint can ask it: it was loaded without --secret-file"
				 : "");
}

static void add_share(struct group *group, const struct instance *in)
{
	struct sharing *sharing = calloc(1, sizeof(*sharing));
	const char *who = group->setup.who;
	char err[MESSAGE_MAX] = "no memory";

	if (sharing)
		sharing->share = share_open(&group->setup, in, err, sizeof(err));
	if (!sharing || !sharing->share) {
		complain("%s: %s: %s", who, in->name, err);
		free(sharing);
		return;
	}
	sharing->next = group->shares;
	group->shares = sharing;
	if (group->up)
		share_up(sharing->share);
	group->due_ns = 0;
	if (strcmp(share_name(sharing->share), share_owner(sharing->share)))
		note("%s: the watch set of %s follows that of %s", who, in->name,
		     share_owner(sharing->share));
	else
		note("%s: the watch set of %s is told to other hosts", who, in->name);
}

/* Whether there is nothing that other hosts are told. */
static bool is_alone(const struct group *group, const struct instance *in)
{
	return !in->fixed.peers && !in->fixed.collect_keys &&
	       !(group->setup.o->share_watch && in->fixed.watch_bits);
}

void group_add(struct group *group, const struct instance *in)
{
	struct joined *joined;

	if (in->fixed.collect_keys)
		tap_end_period(in);
	if (!group)
		return;
	if (in->fixed.collect_keys)
		add_tap(group, in);
	if (group->setup.o->share_watch && in->fixed.watch_bits)
		add_share(group, in);
	if (!in->fixed.peers) {
		if (is_alone(group, in))
			note("%s: %s was loaded without --peers: other hosts do not know what it "
			     "has seen",
			     group->setup.who, in->name);
		return;
	}
	joined = calloc(1, sizeof(*joined));
	if (!joined || join(group, joined, in)) {
		free(joined);
		return;
	}
	joined->next = group->all;
	group->all = joined;
	note("%s: %s is %s in group %s", group->setup.who, in->name, member_name(joined->member),
	     group->setup.group);
}

static void remove_tap(struct group *group, const struct instance *in)
{
	for (struct tapped **at = &group->taps; *at; at = &(*at)->next) {
		struct tapped *tapped = *at;

		if (tap_instance(tapped->tap) != in)
			continue;
		*at = tapped->next;
		tap_close(tapped->tap);
		free(tapped);
		return;
	}
}

static void remove_share(struct group *group, const struct instance *in)
{
	for (struct sharing **at = &group->shares; *at; at = &(*at)->next) {
		struct sharing *sharing = *at;

		if (share_instance(sharing->share) != in)
			continue;
		*at = sharing->next;
		share_close(sharing->share);
		free(sharing);
		return;
	}
}

void group_remove(struct group *group, const struct instance *in, bool bye)
{
	if (group) {
		remove_tap(group, in);
		remove_share(group, in);
	}
	for (struct joined **at = group ? &group->all : NULL; at && *at; at = &(*at)->next) {
		struct joined *joined = *at;

		if (member_instance(joined->member) != in)
			continue;
		*at = joined->next;
		member_close(joined->member, bye);
		free(joined);
		return;
	}
}

int group_fd(const struct group *group)
{
	return group ? bus_fd(group->bus) : -1;
}

u64 group_due_ns(const struct group *group)
{
	return group ? group->due_ns : UINT64_MAX;
}

/* What a subject says: xdd.GROUP.HOST.INSTANCE.WHAT[.HOST.INSTANCE] */
struct address {
	char from[WIRE_NAME], what[16], for_whom[WIRE_NAME];
};

/* @n words of @subject, with the dots between them, to @to, which is of @size. Returns what is behind. */
static const char *words(const char *subject, int n, char *to, size_t size)
{
	const char *end = subject;
	size_t length;

	for (int i = 0; i < n && end; i++) {
		end += strcspn(end, ".");
		if (i < n - 1)
			end = *end ? end + 1 : NULL;
	}
	length = end ? end - subject : 0;
	if (!length || length >= size)
		return NULL;
	memcpy(to, subject, length);
	to[length] = 0;
	return *end ? end + 1 : end;
}

static bool read_address(const struct group *group, const char *subject, struct address *address)
{
	size_t skipped = strlen("xdd.") + strlen(group->setup.group) + 1;

	*address = (struct address){};
	if (strlen(subject) <= skipped)
		return false;
	subject = words(subject + skipped, 2, address->from, sizeof(address->from));
	if (subject)
		subject = words(subject, 1, address->what, sizeof(address->what));
	if (subject && *subject)
		subject = words(subject, 2, address->for_whom, sizeof(address->for_whom));
	return subject;
}

/* Whether it is addressed to @member, and is @what. */
static bool is_for(const struct member *member, const struct address *address, const char *what)
{
	return !strcmp(address->what, what) && !strcmp(address->for_whom, member_name(member));
}

static void deliver(struct member *member, const struct address *address,
		    const struct bus_event *event)
{
	const char *from = address->from, *what = address->what;

	if (!strcmp(what, "state") || !strcmp(what, "live"))
		member_take(member, from, event, event->kind == BUS_STORED);
	else if (!strcmp(what, "ask"))
		member_asked(member, from, event);
	else if (is_for(member, address, "answer"))
		member_answered(member, from, event);
	else if (is_for(member, address, "want"))
		member_wanted(member, from, event);
}

static void take_message(struct group *group, const struct bus_event *event)
{
	struct address address;

	if (!read_address(group, event->subject, &address))
		return;
	for (struct joined *joined = group->all; joined; joined = joined->next)
		deliver(joined->member, &address, event);
	for (struct sharing *sharing = group->shares; sharing; sharing = sharing->next)
		share_take(sharing->share, address.from, address.what, address.for_whom, event);
	if (strcmp(address.what, TAP_WHAT))
		return;
	for (struct tapped *tapped = group->taps; tapped; tapped = tapped->next)
		if (!strcmp(address.for_whom, tap_name(tapped->tap)))
			tap_take(tapped->tap, address.from, event);
}

static void take_fetched(struct group *group, const struct bus_event *event)
{
	struct address address;

	if (!read_address(group, event->subject, &address))
		return;
	for (struct joined *joined = group->all; joined; joined = joined->next)
		member_fetched(joined->member, address.from, event->length);
}

static void take_change(struct group *group, const struct bus_event *event)
{
	const char *who = group->setup.who, *servers = bus_servers(group->bus);

	group->up = event->kind == BUS_UP;
	if (group->up)
		note("%s: connected to %s%s", who, servers,
		     bus_counts(group->bus).keeps[BUS_recent]
			     ? ""
			     : ", which keeps nothing: no JetStream");
	else
		note("%s: %s: %s; it is tried again, and the filter goes on", who, servers,
		     event->subject);
	for (struct joined *joined = group->all; joined; joined = joined->next) {
		if (group->up)
			member_up(joined->member);
		else
			member_down(joined->member);
	}
	for (struct sharing *sharing = group->shares; sharing; sharing = sharing->next) {
		if (group->up)
			share_up(sharing->share);
		else
			share_down(sharing->share);
	}
}

void group_tell_trouble(const char *who, struct bus *bus, const char *group,
			const struct bus_event *event, const char *meanwhile)
{
	if (event->kind == BUS_TROUBLE)
		complain("%s: %s: %s; it is tried again%s", who, bus_servers(bus), event->subject,
			 meanwhile);
	else if (event->kind == BUS_REFUSED)
		complain("%s: %s: %s: its user may not do what hosts of a group need: publish and "
			 "subscribe to xdd.%s.> and more, see README, Several hosts",
			 who, bus_servers(bus), event->subject, group);
}

static void take_event(struct group *group, const struct bus_event *event)
{
	switch (event->kind) {
	case BUS_TROUBLE:
	case BUS_REFUSED:
		group_tell_trouble(group->setup.who, group->bus, group->setup.group, event,
				   ", and the filter goes on");
		break;
	case BUS_UP:
	case BUS_DOWN:
		take_change(group, event);
		break;
	case BUS_MESSAGE:
	case BUS_STORED:
		take_message(group, event);
		break;
	case BUS_FETCHED:
		take_fetched(group, event);
		break;
	}
}

/* After `set --window` a member begins anew: its updates and checks follow the window. */
static void renew_stale(struct group *group, u64 now)
{
	if (now < group->stale_at_ns)
		return;
	group->stale_at_ns = now + STALE_NS;
	for (struct joined **at = &group->all; *at;) {
		struct joined *joined = *at;
		const struct instance *in = member_instance(joined->member);

		if (!member_is_stale(joined->member) ||
		    (member_close(joined->member, false), !join(group, joined, in))) {
			at = &joined->next;
			continue;
		}
		*at = joined->next;
		free(joined);
	}
}

void group_step(struct group *group)
{
	struct bus_event event;
	u64 due, next;

	if (!group)
		return;
	for (int i = 0; i < EVENTS_MAX && bus_next(group->bus, &event); i++)
		take_event(group, &event);
	renew_stale(group, now_ns());
	due = group->stale_at_ns;
	for (struct joined *joined = group->all; joined; joined = joined->next) {
		next = member_step(joined->member);
		due = next < due ? next : due;
	}
	for (struct tapped *tapped = group->taps; tapped; tapped = tapped->next) {
		next = tap_step(tapped->tap);
		due = next < due ? next : due;
	}
	for (struct sharing *sharing = group->shares; sharing; sharing = sharing->next)
		due = earliest(due, share_step(sharing->share));
	group->due_ns = due;
}

bool group_report(const struct group *group, const char *name, struct member_report *report)
{
	for (struct joined *joined = group ? group->all : NULL; joined; joined = joined->next) {
		if (strcmp(member_instance(joined->member)->name, name))
			continue;
		member_report(joined->member, report);
		return true;
	}
	return false;
}

void group_close(struct group *group)
{
	struct joined *next;

	if (!group)
		return;
	for (struct joined *joined = group->all; joined; joined = next) {
		next = joined->next;
		member_close(joined->member, true);
		free(joined);
	}
	while (group->taps)
		remove_tap(group, tap_instance(group->taps->tap));
	while (group->shares)
		remove_share(group, share_instance(group->shares->share));
	bus_close(group->bus);
	free(group);
}

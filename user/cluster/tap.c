/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/tap.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/clock.h"
#include "user/cluster/strangers.h"
#include "user/joint/host.h"
#include "user/loader/mapped.h"
#include "user/loader/pins.h"
#include "user/loader/program.h"
#include "user/message.h"
#include "user/options.h"
#include "user/top.h"
#include "user/watch/set.h"
#include "user/watch/shared.h"
#include "xdd/collect.h"

#define SESSION_BYTES 8
#define BATCH 4096u

/* A program that has read which period goes on ends within this. */
#define STRAGGLERS_US 2000

struct tap {
	struct member_setup setup;
	const struct instance *in;
	char name[WIRE_NAME];
	struct wire_key group;
	struct wire_self self;
	struct xdd_collecting *collecting; /* mapped */
	struct host host;
	u64 period;		    /* that goes on, or went on last */
	struct xdd_about *about;    /* of its keys, in the order of their digests */
	struct strangers strangers; /* by name */
	u8 message[WIRE_MAX];
};

size_t tap_seal(struct wire_self *self, enum wire_type type, const struct part *part, u64 wall_ns,
		u8 *message)
{
	struct wire_head head = { .type = type,
				  .seq = part->step,
				  .part = part->number,
				  .parts = part->parts,
				  .time_ns = wall_ns,
				  .payload_bytes = SESSION_BYTES + part->n };

	memcpy(message + WIRE_HEADER, &part->session, SESSION_BYTES);
	if (part->n)
		memcpy(message + WIRE_HEADER + SESSION_BYTES, part->at, part->n);
	return wire_seal(self, &head, message);
}

int tap_unseal(const struct wire_key *group, const char *from, enum wire_type type,
	       const struct bus_event *event, struct part *part, u64 *epoch)
{
	struct wire_key key = wire_key_of(group, from);
	struct wire_head head;
	const u8 *payload;
	int rc = wire_open(&key, event->bytes, event->length, &head, &payload);

	if (rc)
		return rc;
	if (head.type != type || head.payload_bytes < SESSION_BYTES || head.seq > UINT32_MAX)
		return -EBADMSG;
	*part = (struct part){ .step = head.seq,
			       .number = head.part,
			       .parts = head.parts,
			       .at = payload + SESSION_BYTES,
			       .n = head.payload_bytes - SESSION_BYTES };
	memcpy(&part->session, payload, SESSION_BYTES);
	*epoch = head.epoch;
	return 0;
}

static int emit(void *to, u32 whom, const struct part *part)
{
	struct tap *tap = to;
	char subject[BUS_SUBJECT_MAX];
	size_t size = tap_seal(&tap->self, WIRE_JOINT_ANSWER, part, clock_ns(CLOCK_REALTIME),
			       tap->message);

	(void)whom;
	snprintf(subject, sizeof(subject), "xdd.%s.%s." TAP_WHAT ".%s", tap->setup.group, tap->name,
		 host_coordinator(&tap->host));
	return bus_publish(tap->setup.bus, subject, BUS_KEEP, tap->message, size);
}

/* Room for keys as they are taken out of the map. */
struct drained {
	u64 n, room;
	u64 *digests;
	struct xdd_about *about;
};

static void keep(struct drained *d, u64 period, const u64 *keys, const struct xdd_collected *values,
		 u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (values[i].period != period || d->n == d->room)
			continue; /* left over; the map has no more than there is room for */
		d->digests[d->n] = keys[i];
		d->about[d->n++] = values[i].about;
	}
}

/* Empty the map; keys of @period go to @d, if that is not NULL. Returns 0 or a negative errno. */
static int drain(const struct tap *tap, u64 period, struct drained *d)
{
	u32 size = BATCH, place, n;
	u64 *keys = malloc(size * sizeof(*keys));
	struct xdd_collected *values = malloc(size * sizeof(*values));
	bool first = true;
	int rc = keys && values ? 0 : -ENOMEM;

	while (!rc) {
		n = size;
		rc = bpf_map_lookup_and_delete_batch(tap->in->maps.collected, first ? NULL : &place,
						     &place, keys, values, &n, NULL);
		rc = rc ? -errno : 0;
		if (rc && rc != -ENOENT)
			break;
		if (d)
			keep(d, period, keys, values, n);
		first = false;
	}
	free(keys);
	free(values);
	return rc == -ENOENT ? 0 : rc;
}

static void stop(void *to)
{
	struct tap *tap = to;

	mapped_store(&tap->collecting->period, 0);
	free(tap->about);
	tap->about = NULL;
}

/* What watch_set_about() says of the keys of both. */
static int check_watch(struct tap *tap, const char *name, u64 print, char *err, size_t err_size)
{
	struct watch_about about;
	struct instance in;
	int rc = instance_open(&in, name, err, err_size);

	if (rc)
		return rc;
	if (!in.fixed.watch_bits)
		rc = refuse(err, err_size, -EINVAL,
			    "its instance %s was loaded without --watch-action, so it has no watch "
			    "set",
			    name);
	else if (watch_set_about(&in, &about) || about.seed != print)
		rc = refuse(err, err_size, -EINVAL,
			    "the watch set of its instance %s has keys of another kind than %s",
			    name, tap->in->name);
	instance_close(&in);
	return rc ?: shared_check(name, err, err_size);
}

static int start(void *to, u64 session, const char *watch, u64 *print, u64 *room, char *err,
		 size_t err_size)
{
	struct tap *tap = to;
	struct watch_about about;
	int rc = watch_set_about(tap->in, &about);

	if (rc)
		return refuse(err, err_size, rc, "cannot read its secret: %s", strerror(-rc));
	*print = about.seed;
	*room = tap->in->fixed.collect_keys;
	rc = *watch ? check_watch(tap, watch, *print, err, err_size) : 0;
	stop(tap);
	rc = rc ?: drain(tap, 0, NULL);
	if (rc)
		return *err ? rc
			    : refuse(err, err_size, rc, "cannot empty its keys: %s", strerror(-rc));
	tap->collecting->overflow = 0;
	tap->period = session;
	mapped_store(&tap->collecting->period, session);
	return 0;
}

static int end(void *to, u64 **digests, u64 *n, u64 *overflow, char *err, size_t err_size)
{
	struct tap *tap = to;
	struct drained d = { .room = tap->in->fixed.collect_keys };
	int rc;

	stop(tap);
	usleep(STRAGGLERS_US);
	*overflow = tap->collecting->overflow;
	d.digests = malloc(d.room * sizeof(*d.digests));
	d.about = malloc(d.room * sizeof(*d.about));
	rc = d.digests && d.about ? drain(tap, tap->period, &d) : -ENOMEM;
	*digests = d.digests;
	tap->about = d.about;
	*n = d.n;
	if (!rc) {
		tap->collecting->keys = d.n;
		tap->collecting->periods++;
	}
	return rc ? refuse(err, err_size, rc, "cannot read its keys: %s", strerror(-rc)) : 0;
}

static int refuse_key(const struct watch_set *set, const char *name, int rc, char *err,
		      size_t err_size)
{
	if (rc == -ENOSPC)
		return refuse(err, err_size, rc,
			      "the watch set of its instance %s is full, it has room for %" PRIu64
			      " keys: nothing was added there",
			      name, (uint64_t)(set->acbf.room / set->acbf.hashes));
	return refuse(err, err_size, rc, "the watch set of its instance %s: %s", name,
		      strerror(-rc));
}

/* Keys that the set already answers for stay as they are. */
static int add_new(struct watch_set *set, const char *name, const u64 *keys, u64 n, u64 *added,
		   char *err, size_t err_size)
{
	u64 positions[ACBF_MAX_HASHES];
	int rc = 0;

	for (u64 i = 0; !rc && i < n; i++) {
		const struct xdd_digest digest = { .lo = keys[i] };
		const struct watch_key key = { .key = keys[i] };
		size_t at;

		acbf_positions(&set->acbf, &digest, positions);
		if (acbf_contains(&set->acbf, positions))
			continue;
		rc = watch_set_add(set, &key, 1, &at);
		*added += !rc;
	}
	return rc ? refuse_key(set, name, rc, err, err_size) : 0;
}

static int load_locked(const char *name, const u64 *keys, u64 n, bool truly, u64 *added, char *err,
		       size_t err_size)
{
	struct watch_set set;
	struct instance in;
	int rc = instance_open(&in, name, err, err_size);

	if (rc)
		return rc;
	rc = in.fixed.watch_bits ? shared_check(name, err, err_size)
				 : refuse(err, err_size, -EINVAL,
					  "its instance %s has no watch set any more", name);
	rc = rc ?: watch_set_open(&set, &in, err, err_size);
	if (!rc) {
		rc = add_new(&set, name, keys, n, added, err, err_size);
		if (!rc && truly)
			rc = watch_set_commit(&set, NULL, err, err_size);
		watch_set_close(&set);
	}
	instance_close(&in);
	return rc;
}

static int load(void *to, const char *watch, const u64 *keys, u64 n, bool truly, u64 *added,
		char *err, size_t err_size)
{
	int root = pins_lock(false, false, err, err_size), rc;

	(void)to;
	if (root < 0)
		return root;
	rc = load_locked(watch, keys, n, truly, added, err, err_size);
	pins_unlock(root);
	return rc;
}

static const char *address(const struct xdd_about *about, u32 which, char text[INET6_ADDRSTRLEN])
{
	const void *at = about->version == 4 ? (const void *)&about->v4[which]
					     : (const void *)&about->v6[2 * which];

	inet_ntop(about->version == 4 ? AF_INET : AF_INET6, at, text, INET6_ADDRSTRLEN);
	return text;
}

/* As `watch NAME load` reads keys, where a key is no more than that. Returns whether it is. */
static bool as_named(const struct instance *in, const struct xdd_about *about, char *text,
		     size_t size)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	bool icmp = about->proto == XDD_PROTO_ICMP || about->proto == XDD_PROTO_ICMPV6;

	if (!about->version || xdd_has_site(&in->fixed))
		return false;
	address(about, 0, src);
	address(about, 1, dst);
	switch (in->fixed.key) {
	case XDD_KEY_src:
		return snprintf(text, size, "%s", src) > 0;
	case XDD_KEY_dst:
		return snprintf(text, size, "%s", dst) > 0;
	case XDD_KEY_srcdst:
		return snprintf(text, size, "%s,%s", src, dst) > 0;
	case XDD_KEY_flow:
	case XDD_KEY_biflow:
		return snprintf(text, size, "%u,%s,%u,%s,%u", about->proto, src,
				icmp ? ntohs(about->sport) >> 8 : ntohs(about->sport), dst,
				ntohs(about->dport)) > 0;
	}
	return false;
}

static void describe(void *to, u32 which, u64 digest, char *text, size_t size)
{
	const struct tap *tap = to;
	const struct xdd_about *about = &tap->about[which];
	char words[TOP_TEXT_MAX];

	if (!as_named(tap->in, about, text, size))
		snprintf(text, size, "%016" PRIx64 "\t%s", (uint64_t)digest,
			 top_text(about, tap->in->fixed.key, words));
}

static const struct host_ops ops = { start, end, load, describe, stop, emit };

static int open_keys(struct tap *tap)
{
	struct xdd_secret secret;
	int rc = program_get_secret(tap->in->maps.rodata, &secret);

	if (rc)
		return rc;
	tap->group = wire_group_key(&secret, TAP_LABEL);
	tap->self.key = wire_key_of(&tap->group, tap->name);
	tap->self.epoch = clock_ns(CLOCK_REALTIME);
	explicit_bzero(&secret, sizeof(secret));
	return 0;
}

struct tap *tap_open(const struct member_setup *setup, const struct instance *in, char *err,
		     size_t err_size)
{
	struct tap *tap = calloc(1, sizeof(*tap));
	int rc = tap ? 0 : -ENOMEM;

	if (!rc) {
		tap->setup = *setup;
		tap->in = in;
		snprintf(tap->name, sizeof(tap->name), "%s.%s", setup->host, in->name);
		host_open(&tap->host, &ops, tap);
		tap->collecting = mapped_open(in->maps.collecting, sizeof(*tap->collecting), true);
		rc = tap->collecting ? open_keys(tap) : -errno;
	}
	if (!rc)
		return tap;
	refuse(err, err_size, rc, "cannot be a monitor: %s", strerror(-rc));
	tap_close(tap);
	return NULL;
}

void tap_close(struct tap *tap)
{
	if (!tap)
		return;
	host_close(&tap->host);
	mapped_close(tap->collecting, sizeof(*tap->collecting));
	free(tap);
}

void tap_end_period(const struct instance *in)
{
	struct xdd_collecting *collecting =
		mapped_open(in->maps.collecting, sizeof(*collecting), true);

	if (collecting)
		mapped_store(&collecting->period, 0);
	mapped_close(collecting, sizeof(*collecting));
}

const char *tap_name(const struct tap *tap)
{
	return tap->name;
}

const struct instance *tap_instance(const struct tap *tap)
{
	return tap->in;
}

static void count_refused(struct tap *tap, const char *from)
{
	tap->collecting->refused++;
	if (!strangers_tell(&tap->strangers, strangers_id(from), now_ns()))
		return;
	complain("%s: %s: a question of %s is refused: it is damaged, or who sent it has not the "
		 "same --secret-file",
		 tap->setup.who, tap->in->name, from);
}

void tap_take(struct tap *tap, const char *from, const struct bus_event *event)
{
	struct part part;
	u64 epoch;
	int rc = tap_unseal(&tap->group, from, WIRE_JOINT_ASK, event, &part, &epoch);

	rc = rc ?: host_take(&tap->host, from, &part, now_ns(), clock_ns(CLOCK_REALTIME));
	if (rc == -EBADMSG)
		count_refused(tap, from);
}

u64 tap_step(struct tap *tap)
{
	return host_step(&tap->host, now_ns());
}

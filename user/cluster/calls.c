/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/group.h"
#include "user/cluster/strangers.h"
#include "user/message.h"
#include "user/options.h"
#include "user/secret.h"
#include "user/sites/wire.h"

#define TIMES 4 /* that a question is sent in its time */

/* Times of a question whose answer is said to be on its way: who says so waits itself, up to the root of a tree. */
#define PATIENCE 12

/* Others may come back to a server that was away later than this process: see the pauses of bus_open(). */
#define RETURN_NS (5 * XDD_SECOND_NS)

/* A HERE answers one of the last HELLOs, if that was not longer ago than this. */
#define HELLOS 16
#define HELLO_NS (3 * XDD_SECOND_NS)

#define SUBJECT "xdd.%s.%s.%016" PRIx64

struct calls {
	struct calls_setup setup;
	struct bus *bus;
	struct wire_key group;
	u64 number;
	bool up;
	u64 up_ns, down_ns; /* when that began; up_ns counts once it was down */
	struct calls_counts counts;
	struct strangers strangers;
	u64 hellos, hello_ns[HELLOS]; /* how many were said, and when the last ones */
};

static int read_secret(struct calls *c, char *err, size_t err_size)
{
	const char *file = c->setup.o->secret_file;
	char label[64];
	struct xdd_secret secret;
	int rc;

	if (!file)
		return refuse(err, err_size, -EINVAL,
			      "who is of the group? give the same --secret-file to all");
	rc = secret_from_file(&secret, file, err, err_size);
	if (rc)
		return rc;
	snprintf(label, sizeof(label), "xdp-dedup %s", c->setup.service);
	c->group = wire_group_key(&secret, label);
	rc = secret_random(&secret);
	c->number = secret.sip[0] | 1;
	explicit_bzero(&secret, sizeof(secret));
	return rc ? refuse(err, err_size, rc, "no random number: %s", strerror(-rc)) : 0;
}

static int open_bus(struct calls *c, char *err, size_t err_size)
{
	const struct options *o = c->setup.o;
	const char *url = o->nats ?: getenv(GROUP_ENVIRONMENT);
	char all[BUS_SUBJECT_MAX], own[BUS_SUBJECT_MAX], client[BUS_SUBJECT_MAX];
	struct bus_where where = { .url = url,
				   .client = client,
				   .listen = { all, own },
				   .most = SITES_MESSAGE_MAX,
				   .at_once = true };

	if (!url || !*url)
		return refuse(err, err_size, -EINVAL,
			      "sites are on NATS: add --nats URL, or set " GROUP_ENVIRONMENT);
	if (bus_url_wrong(url))
		return refuse(err, err_size, -EINVAL, GROUP_ENVIRONMENT ": %s", bus_url_wrong(url));
	snprintf(all, sizeof(all), "xdd.%s.%s", o->group, c->setup.service);
	snprintf(own, sizeof(own), SUBJECT, o->group, c->setup.service, (uint64_t)c->number);
	snprintf(client, sizeof(client), "xdp-dedup %s", c->setup.who);
	return group_bus(o, &where, &c->bus, err, err_size);
}

int calls_open(const struct calls_setup *setup, struct calls **to, char *err, size_t err_size)
{
	struct calls *c = calloc(1, sizeof(*c));
	int rc;

	*to = NULL;
	if (!c)
		return refuse(err, err_size, -ENOMEM, "no memory for NATS");
	c->setup = *setup;
	c->down_ns = now_ns();
	rc = read_secret(c, err, err_size) ?: open_bus(c, err, err_size);
	if (rc)
		calls_close(c);
	else
		*to = c;
	return rc;
}

void calls_close(struct calls *c)
{
	if (!c)
		return;
	bus_close(c->bus);
	explicit_bzero(&c->group, sizeof(c->group));
	free(c);
}

u64 calls_number(const struct calls *c)
{
	return c->number;
}

struct wire_key calls_key(const struct calls *c, u64 fingerprint)
{
	return call_key(&c->group, fingerprint);
}

int calls_fd(const struct calls *c)
{
	return bus_fd(c->bus);
}

bool calls_up(const struct calls *c)
{
	return c->up;
}

struct calls_counts calls_counts(const struct calls *c)
{
	struct calls_counts counts = c->counts;
	struct bus_counts bus = bus_counts(c->bus);

	counts.unsent = bus.unsent;
	counts.overrun = bus.overrun;
	return counts;
}

void calls_refuse(struct calls *c, const u8 *message, size_t size)
{
	const size_t header = CALL_HEADER, tag = CALL_TAG;
	u64 from = call_from(message, size);
	struct call_here here;
	const char *name = "";

	if (!strangers_tell(&c->strangers, from, now_ns()))
		return;
	if (size > header + tag && !call_get_here(message + header, size - header - tag, &here))
		name = here.name;
	complain("%s: a message is refused: it is damaged, or who sent it has not the same "
		 "--secret-file, or another filter: it calls itself %016" PRIx64
		 "%s%s; its others are counted",
		 c->setup.who, (uint64_t)from, *name ? ", " : "", name);
}

static bool is_answer(const struct calls *c, const struct call_head *head)
{
	u64 said = head->sequence;

	return head->to == c->number && said && said <= c->hellos && said + HELLOS > c->hellos &&
	       now_ns() < c->hello_ns[said % HELLOS] + HELLO_NS;
}

/* What was said to all. Returns whether it is something to tell: not damaged, and by another process. */
static bool take_said(struct calls *c, const struct bus_event *from, struct calls_event *event)
{
	static const u8 kinds[CALL_KIND_MAX] = {
		[CALL_HELLO] = CALLS_HELLO, [CALL_HERE] = CALLS_HERE, [CALL_BYE] = CALLS_BYE
	};
	struct call_head head;
	const u8 *payload;
	size_t n;
	int rc = call_open(&c->group, from->bytes, from->length, &head, &payload, &n);

	if (!rc && head.kind == CALL_HERE)
		rc = call_get_here(payload, n, &event->here);
	if (rc || !kinds[head.kind]) {
		c->counts.refused++;
		calls_refuse(c, from->bytes, from->length);
		return false;
	}
	event->kind = kinds[head.kind];
	event->from = head.from;
	event->sequence = head.sequence;
	event->answers = is_answer(c, &head);
	return head.from != c->number;
}

/* After this word in the subject comes the number of who is meant, if it is not said to all. */
static bool is_said_to_all(const struct calls *c, const char *subject)
{
	return strlen(subject) ==
	       strlen("xdd..") + strlen(c->setup.o->group) + strlen(c->setup.service);
}

static bool take_message(struct calls *c, const struct bus_event *from, struct calls_event *event)
{
	if (is_said_to_all(c, from->subject))
		return take_said(c, from, event);
	event->kind = CALLS_MESSAGE;
	event->message = from->bytes;
	event->size = from->length;
	return true;
}

static void tell_up(const struct calls *c, bool up, const char *why)
{
	if (c->setup.quiet)
		return;
	if (up)
		note("%s: connected to %s", c->setup.who, bus_servers(c->bus));
	else
		note("%s: %s: %s; it is tried again", c->setup.who, bus_servers(c->bus), why);
}

static bool take_up(struct calls *c, bool up, const char *why, struct calls_event *event)
{
	tell_up(c, up, why);
	if (up && c->up_ns)
		c->up_ns = now_ns() + RETURN_NS;
	else if (up)
		c->up_ns = now_ns();
	else
		c->down_ns = now_ns();
	c->up = up;
	event->kind = up ? CALLS_UP : CALLS_DOWN;
	return true;
}

bool calls_next(struct calls *c, struct calls_event *event)
{
	struct bus_event from;
	bool got = false;

	while (!got && bus_next(c->bus, &from)) {
		if (from.kind == BUS_MESSAGE)
			got = take_message(c, &from, event);
		else if (from.kind == BUS_UP || from.kind == BUS_DOWN)
			got = take_up(c, from.kind == BUS_UP, from.subject, event);
		else
			group_tell_trouble(c->setup.who, c->bus, c->setup.o->group, &from, "");
	}
	return got;
}

void calls_wait(const struct calls *c, u64 until_ns)
{
	struct pollfd wanted = { .fd = bus_fd(c->bus), .events = POLLIN };
	u64 now = now_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec timeout = { left / XDD_SECOND_NS, left % XDD_SECOND_NS };

	ppoll(&wanted, 1, &timeout, NULL);
}

bool calls_stays(const struct calls *c, const struct call_here *mine, const struct call_here *other,
		 u64 from)
{
	if (other->serves != mine->serves)
		return other->serves;
	if (other->start_ns != mine->start_ns)
		return other->start_ns < mine->start_ns;
	return from < c->number;
}

void calls_say(struct calls *c, enum call_kind kind, const struct call_here *here,
	       const struct calls_event *hello)
{
	u8 message[CALL_HEADER + CALL_HERE_MOST + CALL_TAG];
	struct call_head head = { .kind = kind,
				  .from = c->number,
				  .to = hello ? hello->from : 0,
				  .sequence = hello ? hello->sequence : 0 };
	char subject[BUS_SUBJECT_MAX];
	size_t n = here ? call_put_here(here, message + CALL_HEADER) : 0;

	if (kind == CALL_HELLO) {
		head.sequence = ++c->hellos;
		c->hello_ns[c->hellos % HELLOS] = now_ns();
	}
	snprintf(subject, sizeof(subject), "xdd.%s.%s", c->setup.o->group, c->setup.service);
	bus_publish(c->bus, subject, BUS_KEEP, message, call_seal(&c->group, &head, message, n));
}

void calls_send(struct calls *c, u64 to, const u8 *message, size_t size)
{
	char subject[BUS_SUBJECT_MAX];

	snprintf(subject, sizeof(subject), SUBJECT, c->setup.o->group, c->setup.service,
		 (uint64_t)to);
	bus_publish(c->bus, subject, BUS_KEEP, message, size);
}

void calls_ask(struct calls *c, struct calls_question *q, u64 now_ns)
{
	q->asked_ns = q->first_ns = now_ns;
	q->again_ns = 0;
	calls_send(c, q->to, q->message, q->size);
}

void calls_heard(struct calls_question *q, u64 timeout_ns, u64 now_ns)
{
	if (now_ns < q->first_ns + PATIENCE * timeout_ns)
		q->asked_ns = now_ns;
}

u64 calls_press(struct calls *c, struct calls_question *q, u64 timeout_ns, u64 now_ns)
{
	u64 from;

	if (!c->up)
		return now_ns < c->down_ns + CALLS_DOWN_NS ? c->down_ns + CALLS_DOWN_NS : 0;
	if (q->again_ns && now_ns > q->again_ns) /* who asks came late, not the answer */
		q->asked_ns += now_ns - q->again_ns;
	from = q->asked_ns > c->up_ns ? q->asked_ns : c->up_ns;
	if (now_ns >= from + timeout_ns)
		return 0;
	if (!q->again_ns)
		q->again_ns = q->asked_ns + timeout_ns / TIMES;
	if (now_ns >= q->again_ns) {
		q->again_ns = now_ns + timeout_ns / TIMES;
		q->repeats++;
		calls_send(c, q->to, q->message, q->size);
	}
	return earliest(q->again_ns, from + timeout_ns);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/joint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "user/clock.h"
#include "user/cluster/group.h"
#include "user/cluster/tap.h"
#include "user/message.h"
#include "user/options.h"
#include "user/secret.h"
#include "user/signals.h"

#define PERIOD_NS (10 * XDD_SECOND_NS)
#define CONNECT_NS (10 * XDD_SECOND_NS)

struct hosts {
	const struct options *o;
	struct bus *bus;
	char own[WIRE_NAME]; /* HOST.joint-PID-RANDOM */
	char *list;	     /* what the names point into */
	const char *name[JOINT_MONITORS_MAX];
	struct joint_plan plan;
	struct wire_key group;
	struct wire_self self;
	struct council council;
	int signals;
	bool up, ended;
	u8 message[WIRE_MAX];
};

static int emit(void *to, u32 whom, const struct part *part)
{
	struct hosts *h = to;
	char subject[BUS_SUBJECT_MAX];
	size_t size =
		tap_seal(&h->self, WIRE_JOINT_ASK, part, clock_ns(CLOCK_REALTIME), h->message);

	snprintf(subject, sizeof(subject), "xdd.%s.%s." TAP_WHAT ".%s", h->o->group, h->own,
		 h->name[whom]);
	return bus_publish(h->bus, subject, BUS_KEEP, h->message, size);
}

static void show(void *to, const char *text)
{
	(void)to;
	puts(text);
}

static int read_names(struct hosts *h, char *err, size_t err_size)
{
	char *rest, *one;
	u32 n = 0;

	h->list = rest = strdup(h->o->monitor_names);
	if (!rest)
		return refuse(err, err_size, -ENOMEM, "no memory");
	while ((one = strsep(&rest, ","))) {
		const char *dot = strchr(one, '.');

		if (!dot || dot == one || !dot[1] || strchr(dot + 1, '.') ||
		    strlen(one) >= WIRE_NAME)
			return refuse(err, err_size, -EINVAL,
				      "--monitors: %s is no HOST.INSTANCE, such as a.tap", one);
		for (u32 i = 0; i < n; i++)
			if (!strcmp(h->name[i], one))
				return refuse(err, err_size, -EINVAL,
					      "--monitors: %s is named twice", one);
		if (n == JOINT_MONITORS_MAX)
			return refuse(err, err_size, -EINVAL, "--monitors: at most %u",
				      JOINT_MONITORS_MAX);
		h->name[n++] = one;
	}
	h->plan = joint_plan_of(h->o, n);
	if (h->o->then && h->plan.at_least < n)
		return refuse(
			err, err_size, -EINVAL,
			"--then watch: with --at-least: a monitor knows only the keys that it "
			"saw, so that some would lack others: use --then print, and watch NAME "
			"load on each host");
	return joint_plan_check(&h->plan, err, err_size);
}

static int read_secret(struct hosts *h, char *err, size_t err_size)
{
	struct xdd_secret secret;
	int rc;

	if (!h->o->secret_file)
		return refuse(err, err_size, -EINVAL,
			      "--monitors: which hosts are of the group? give the --secret-file "
			      "that they were loaded with");
	rc = secret_from_file(&secret, h->o->secret_file, err, err_size);
	if (rc)
		return rc;
	h->group = wire_group_key(&secret, TAP_LABEL);
	explicit_bzero(&secret, sizeof(secret));
	h->self.key = wire_key_of(&h->group, h->own);
	h->self.epoch = clock_ns(CLOCK_REALTIME);
	return 0;
}

static int open_bus(struct hosts *h, char *err, size_t err_size)
{
	const struct options *o = h->o;
	const char *url = o->nats ?: getenv(GROUP_ENVIRONMENT);
	char listen[BUS_SUBJECT_MAX];

	if (!url || !*url)
		return refuse(err, err_size, -EINVAL,
			      "--monitors are asked over NATS: add --nats URL, or "
			      "set " GROUP_ENVIRONMENT);
	if (bus_url_wrong(url))
		return refuse(err, err_size, -EINVAL, GROUP_ENVIRONMENT ": %s", bus_url_wrong(url));
	snprintf(listen, sizeof(listen), "xdd.%s.*.*." TAP_WHAT ".%s", o->group, h->own);
	return group_bus(o,
			 &(struct bus_where){
				 .url = url, .client = "xdp-dedup joint", .listen = { listen } },
			 &h->bus, err, err_size);
}

/* xdd.GROUP.HOST.INSTANCE.joint.ME: the number of the monitor that sent it, or -1. */
static int sender_of(const struct hosts *h, const char *subject)
{
	const char *from = subject + strlen("xdd.") + strlen(h->o->group) + 1;

	if (strlen(subject) < (size_t)(from - subject))
		return -1;
	for (u32 i = 0; i < h->plan.monitors; i++) {
		size_t n = strlen(h->name[i]);

		if (!strncmp(from, h->name[i], n) && from[n] == '.')
			return i;
	}
	return -1;
}

static void take(struct hosts *h, const struct bus_event *event)
{
	int i = event->kind == BUS_MESSAGE ? sender_of(h, event->subject) : -1;
	struct part part;
	u64 epoch;

	if (event->kind == BUS_UP || event->kind == BUS_DOWN)
		h->up = event->kind == BUS_UP;
	else
		group_tell_trouble("joint", h->bus, h->o->group, event, "");
	if (i >= 0 && !tap_unseal(&h->group, h->name[i], WIRE_JOINT_ANSWER, event, &part, &epoch))
		council_take(&h->council, i, &part, epoch, now_ns());
}

static void wait_until(struct hosts *h, u64 due_ns)
{
	const int fds[SIGNALS_FDS] = { bus_fd(h->bus), -1, -1 };
	struct bus_event event;

	h->ended |= signals_wait(h->signals, fds, due_ns) == SIGNALS_END;
	while (bus_next(h->bus, &event))
		take(h, &event);
}

static int connect_bus(struct hosts *h, char *err, size_t err_size)
{
	u64 until = now_ns() + CONNECT_NS;

	while (!h->up && !h->ended && now_ns() < until)
		wait_until(h, until);
	if (h->up || h->ended)
		return 0;
	return refuse(err, err_size, -ENOTCONN, "%s: no server answers", bus_servers(h->bus));
}

/* Where only some could load their watch sets: which. */
static void tell_loaded(const struct council *c)
{
	char text[ORDER_TEXT_MAX];

	for (u32 i = 0; i < c->plan.monitors && council_loaded(c, i, text); i++)
		complain("joint: %s %s", c->member[i].name, text);
}

/* Returns 0, or -EIO with a line in @err. */
static int run_period(struct hosts *h, char *err, size_t err_size)
{
	const struct options *o = h->o;
	struct council *c = &h->council;
	int rc = 0;

	*c = (struct council){ .emit = emit, .show = show, .to = h };
	council_open(c, &h->plan, h->name, clock_ns(CLOCK_REALTIME), o->period ?: PERIOD_NS,
		     o->silence, o->then, now_ns());
	while (c->phase < COUNCIL_DONE && !h->ended) {
		u64 due = council_step(c, now_ns());

		if (c->phase < COUNCIL_DONE)
			wait_until(h, due);
	}
	council_stop(c);
	tell_loaded(c);
	if (c->phase == COUNCIL_FAILED && !h->up)
		rc = refuse(err, err_size, -EIO, "%s: the server does not answer any more",
			    bus_servers(h->bus));
	else if (c->phase == COUNCIL_FAILED)
		rc = refuse(err, err_size, -EIO, "%s", c->err);
	return rc;
}

static int run_all(struct hosts *h, joint_period *each, void *context, char *err, size_t err_size)
{
	u64 left = h->o->count ?: 1;
	int rc = connect_bus(h, err, err_size);

	for (; !rc && left && !h->ended; left--) {
		rc = run_period(h, err, err_size);
		if (!rc && h->council.phase == COUNCIL_DONE) {
			each(&h->council, context);
			if (h->o->count > 1 && !h->council.watch)
				putchar('\n'); /* the end of this period's keys */
		}
		council_close(&h->council);
		if (fflush(stdout) || ferror(stdout))
			break; /* nobody would see more, and the end of the program says so */
	}
	return rc;
}

/* Containers may have one name of their host, and process ids in common. */
static void name_self(struct hosts *h)
{
	char host[GROUP_HOST_SIZE];
	u16 random = 0;

	group_host(h->o, host);
	getrandom(&random, sizeof(random), 0);
	snprintf(h->own, sizeof(h->own), "%s.joint-%d-%04x", host, getpid(), random);
}

static int open_all(struct hosts *h, char *err, size_t err_size)
{
	int rc = read_names(h, err, err_size);

	name_self(h);
	rc = rc ?: read_secret(h, err, err_size);
	if (rc)
		return rc;
	h->signals = signals_hold();
	if (h->signals < 0)
		return refuse(err, err_size, h->signals, "cannot wait for signals: %s",
			      strerror(-h->signals));
	return open_bus(h, err, err_size);
}

int joint_hosts(const struct options *o, joint_period *each, void *context, char *err,
		size_t err_size)
{
	struct hosts *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return refuse(err, err_size, -ENOMEM, "out of memory");
	h->o = o;
	rc = open_all(h, err, err_size) ?: run_all(h, each, context, err, err_size);
	bus_close(h->bus);
	free(h->list);
	free(h);
	return rc;
}

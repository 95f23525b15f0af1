// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup events: single verdicts of a loaded instance, until a signal or an end that was given. */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../capture/filter.h"
#include "../clock.h"
#include "../events/line.h"
#include "../events/reader.h"
#include "../message.h"
#include "../secret.h"
#include "../signals.h"

#define DEFAULT_RATE 10
#define MAX_RATE 1000000
#define LOOK_NS (XDD_SECOND_NS / 5) /* how often it is asked whether the instance is still there */

struct events {
	const struct options *o;
	struct event_reader reader;
	struct capture_filter filter;
	struct xdd_secret secret; /* of the keys that are shown */
	bool unwritten;		  /* stdout took no more */
	u64 shown, others;	  /* others: that the filter does not match */
};

static bool is_enough(const struct events *e)
{
	return e->o->count && e->shown >= e->o->count;
}

static int print(struct events *e, const struct event_line *line)
{
	char text[EVENT_TEXT_MAX];
	json_t *object;

	e->shown++;
	if (!e->o->json) {
		puts(event_text(line, text));
		return 0;
	}
	object = event_json(line);
	if (!object)
		return -ENOMEM;
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(object);
	return 0;
}

static int take(void *context, const struct xdd_event *event, u64 time_ns, const u8 *bytes)
{
	struct events *e = context;
	char name[XDD_META_IFNAME], peer[XDD_PEER_NAME];
	struct event_line line = {
		.event = event,
		.bytes = bytes,
		.time_ns = time_ns,
		.iface = event_interface(&e->reader.in, event->ifindex, name),
		.peer = event_peer(&e->reader.in, event, peer),
		.fixed = &e->reader.in.fixed,
		.secret = &e->secret,
	};
	int takes;

	if (is_enough(e))
		return 0;
	takes = filter_takes(&e->filter, line.fixed->link, bytes, event->cap_len, event->wire_len,
			     DIRECTION_ANY);
	if (takes > 0)
		return print(e, &line);
	e->others += !takes;
	return takes;
}

/* Returns 0 at an end that was asked for; -ENOENT: the instance is gone; or a negative errno. */
static int loop(struct events *e, int signals)
{
	u64 end_ns = e->o->seconds ? now_ns() + e->o->seconds * XDD_SECOND_NS : ~0ull;
	enum signals_wait came = SIGNALS_LATE;
	int code = 0;

	while (!code && came != SIGNALS_END && !is_enough(e) && now_ns() < end_ns) {
		u64 until = now_ns() + LOOK_NS;

		came = signals_wait(signals,
				    (const int[SIGNALS_FDS]){ event_reader_fd(&e->reader), -1, -1 },
				    until < end_ns ? until : end_ns);
		code = event_reader_read(&e->reader);
		if (!code && fflush(stdout)) {
			code = -errno;
			e->unwritten = true;
		}
		if (!code && instance_is_gone(&e->reader.in))
			code = event_reader_follow(&e->reader);
	}
	return code;
}

/* On stderr: stdout carries the events. */
static void summarize(const struct events *e)
{
	struct event_counts counts;

	if (event_reader_counts(&e->reader, &counts) || e->o->quiet)
		return;
	if (e->o->json)
		fprintf(stderr,
			"{\"shown\": %" PRIu64 ", \"filtered\": %" PRIu64 ", \"limited\": %" PRIu64
			", \"lost\": %" PRIu64 "}\n",
			(uint64_t)e->shown, (uint64_t)e->others, (uint64_t)counts.limited,
			(uint64_t)counts.lost);
	else
		note("events: %" PRIu64 " shown, %" PRIu64 " that --filter leaves out, %" PRIu64
		     " beyond the rate, %" PRIu64 " lost",
		     (uint64_t)e->shown, (uint64_t)e->others, (uint64_t)counts.limited,
		     (uint64_t)counts.lost);
}

/* Nobody reads any more: that is no error. */
static int end(const struct events *e, int code)
{
	if (!code || code == -EPIPE)
		return EXIT_OK;
	if (code == -ENOENT)
		complain("events: %s was unloaded", e->reader.in.name);
	else if (e->unwritten)
		complain("events: cannot write to stdout: %s", strerror(-code));
	else if (*e->filter.error)
		complain("events: %s", e->filter.error);
	else
		complain("events: %s: %s", e->reader.in.name, strerror(-code));
	return EXIT_FAILED;
}

static int show(struct events *e, const char *name)
{
	const struct event_want want = {
		.kinds = e->o->verdict,
		.rate = e->o->rate ?: DEFAULT_RATE,
		.bytes = e->o->snaplen,
	};
	int signals = signals_hold(), code = secret_random(&e->secret);
	char err[MESSAGE_MAX];

	if (!code && signals < 0)
		code = signals;
	if (code) {
		complain("events: %s", strerror(-code));
		return EXIT_FAILED;
	}
	if (event_reader_open(&e->reader, name, &want, take, e, err, sizeof(err))) {
		complain("events: %s", err);
		return EXIT_FAILED;
	}
	code = filter_ready(&e->filter, e->reader.in.fixed.link);
	if (code)
		complain("events: %s", e->filter.error);
	code = code ? EXIT_USAGE : end(e, loop(e, signals));
	event_reader_stop(&e->reader);
	summarize(e);
	event_reader_close(&e->reader);
	return code;
}

/* The only instance there is. */
static int find_name(char name[INSTANCE_NAME_MAX])
{
	char(*names)[INSTANCE_NAME_MAX], err[MESSAGE_MAX];
	int n = instance_list(&names, err, sizeof(err));

	if (n == 1)
		memcpy(name, names[0], INSTANCE_NAME_MAX);
	else if (n < 0)
		complain("events: %s", err);
	else if (!n)
		complain("events: nothing is loaded: xdp-dedup load IFACE");
	else
		complain("events: %d instances are loaded: say which one (xdp-dedup status)", n);
	if (n > 0)
		free(names);
	return n == 1 ? 0 : -ENOENT;
}

int cmd_events(struct options *o)
{
	struct events e = { .o = o };
	char name[INSTANCE_NAME_MAX];
	int code = EXIT_USAGE;

	if (o->rate_bits)
		complain("events: --rate counts events, not bits: for example --rate 100");
	else if (o->rate > MAX_RATE)
		complain("events: --rate %" PRIu64 ": at most %d a second", (uint64_t)o->rate,
			 MAX_RATE);
	else if (filter_open(&e.filter, o->filter, DIRECTION_ANY))
		complain("events: %s", e.filter.error);
	else if (!o->n_args && find_name(name))
		code = EXIT_FAILED;
	else
		code = show(&e, o->n_args ? o->args[0] : name);
	filter_close(&e.filter);
	return code;
}

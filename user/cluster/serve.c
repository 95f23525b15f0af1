/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/group.h"
#include "user/cluster/serve_report.h"
#include "user/message.h"
#include "user/names.h"
#include "user/service.h"
#include "user/signals.h"
#include "user/sites/site.h"

#define EVENTS_MAX 256 /* before signals have their turn */

struct serve {
	const struct options *o;
	const struct derived *d;
	struct calls *calls;
	struct site site;
	struct call_here here;
	int signals, wanted; /* file descriptors: the end, and SIGUSR1 */
	bool ended;
	u64 serves_ns,
		ask_ns; /* while it does not serve: when it does, and asks again; 0: there is no server */
	int rc;		/* why it ends, with @err */
	char *err;
	size_t err_size;
	u8 answer[SITES_MESSAGE_MAX];
};

void serve_about(const struct derived *d, char about[CALL_TEXT])
{
	const struct xdd_fixed *f = &d->fixed;
	char memory[UNITS_TEXT_MAX], window[UNITS_TEXT_MAX], parts[16] = "";

	if (xdd_subslices(f) > 1)
		snprintf(parts, sizeof(parts), "x%u", xdd_subslices(f));
	snprintf(about, CALL_TEXT, "engine %s, slicing %s, %u%s slices, %s, %u hashes, window %s",
		 engine_names[f->engine], slicing_names[f->slicing], f->slices, parts,
		 units_size_text((u64)xdd_lines(f) * XDD_LINE_BYTES, memory), f->hashes,
		 derive_events_text(d, window));
}

static void describe(struct serve *s)
{
	const struct options *o = s->o;
	struct call_here *here = &s->here;
	char host[GROUP_HOST_SIZE];

	*here = (struct call_here){ .fingerprint = sites_fingerprint(&s->d->fixed,
								     s->d->live.window_ticks),
				    .start_ns = clock_ns(CLOCK_REALTIME),
				    .first = o->slice_first,
				    .n = o->slice_end - o->slice_first,
				    .of = o->slices };
	group_host(o, host);
	if (o->name)
		snprintf(here->name, sizeof(here->name), "%s.%s", host, o->name);
	else
		snprintf(here->name, sizeof(here->name), "%s.slices-%u-%u", host, here->first,
			 o->slice_end - 1);
	serve_about(s->d, here->about);
}

static bool overlap(const struct call_here *a, const struct call_here *b)
{
	return a->first < b->first + b->n && b->first < a->first + a->n;
}

/* Who is there? Not too often. */
static void ask(struct serve *s, u64 now)
{
	if (now < s->ask_ns)
		return;
	s->ask_ns = now + CALLS_ASK_NS;
	calls_say(s->calls, CALL_HELLO, NULL, NULL);
}

static void take_here(struct serve *s, const struct call_here *other, u64 from, bool answers)
{
	bool alike = other->fingerprint == s->here.fingerprint;
	char differs[CALL_DIFFERS];

	if (alike && !overlap(other, &s->here))
		return;
	if (!calls_stays(s->calls, &s->here, other, from)) {
		calls_say(s->calls, CALL_HERE, &s->here, NULL);
		return;
	}
	if (!answers) {
		ask(s, now_ns());
		return;
	}
	call_differs(other->about, s->here.about, differs);
	s->rc = alike ? refuse(s->err, s->err_size, -EEXIST,
			       "site %s has slices %u-%u/%u: these are %u-%u: no slice is served "
			       "twice",
			       other->name, other->first, other->first + other->n - 1, other->of,
			       s->here.first, s->here.first + s->here.n - 1)
		      : refuse(s->err, s->err_size, -EEXIST,
			       "site %s of group %s has another filter (%s): give the "
			       "same options, or another --group",
			       other->name, s->o->group, differs);
}

static void take_question(struct serve *s, const struct calls_event *event)
{
	u64 to;
	int rc = s->here.serves ? site_answer(&s->site, event->message, event->size, now_ns(),
					      s->answer, &to)
				: 0;

	if (rc > 0)
		calls_send(s->calls, to, s->answer, rc);
	else if (rc == -EBADMSG || rc == -ERANGE)
		calls_refuse(s->calls, event->message, event->size);
}

static void take(struct serve *s, const struct calls_event *event)
{
	switch (event->kind) {
	case CALLS_UP:
		if (!s->here.serves)
			s->serves_ns = now_ns() + CALLS_ASKING_NS;
		else
			calls_say(s->calls, CALL_HERE, &s->here, NULL);
		break;
	case CALLS_DOWN:
		s->serves_ns = 0;
		break;
	case CALLS_HELLO:
		calls_say(s->calls, CALL_HERE, &s->here, event);
		break;
	case CALLS_HERE:
		take_here(s, &event->here, event->from, event->answers);
		break;
	case CALLS_MESSAGE:
		take_question(s, event);
		break;
	case CALLS_BYE:
		break;
	}
}

static void begin_serving(struct serve *s)
{
	char status[CALL_TEXT];

	s->here.serves = true;
	calls_say(s->calls, CALL_HERE, &s->here, NULL);
	snprintf(status, sizeof(status), "serving slices %u-%u/%u as %s", s->here.first,
		 s->here.first + s->here.n - 1, s->here.of, s->here.name);
	note("site: %s in group %s", status, s->o->group);
	service_ready(status);
}

/* Ask who is there, and after a while serve. Returns when to come back. */
static u64 step(struct serve *s, u64 now)
{
	if (s->here.serves || !s->serves_ns)
		return now + XDD_SECOND_NS;
	if (now >= s->serves_ns) {
		begin_serving(s);
		return now + XDD_SECOND_NS;
	}
	ask(s, now);
	return earliest(s->ask_ns, s->serves_ns);
}

static void report(struct serve *s)
{
	serve_report(s->o, &s->here, &s->site, calls_counts(s->calls).refused);
}

static void loop(struct serve *s)
{
	const int fds[SIGNALS_FDS] = { calls_fd(s->calls), s->wanted, -1 };
	struct calls_event event;

	while (!s->ended && !s->rc) {
		u64 due = step(s, now_ns());

		s->ended = signals_wait(s->signals, fds, due) == SIGNALS_END;
		for (u32 i = 0; i < EVENTS_MAX && !s->rc && calls_next(s->calls, &event); i++)
			take(s, &event);
		if (signals_asked(s->wanted))
			report(s);
		service_alive();
	}
}

static int hold_signals(struct serve *s)
{
	s->signals = signals_hold();
	s->wanted = signals_hold_asking();
	return s->signals < 0 ? s->signals : s->wanted < 0 ? s->wanted : 0;
}

static int open_all(struct serve *s)
{
	const struct calls_setup setup = { s->o, "site", SITES_SERVICE, false };
	u32 sub = xdd_subslices(&s->d->fixed);
	struct wire_key key;
	int rc = hold_signals(s);

	if (rc)
		return refuse(s->err, s->err_size, rc, "cannot wait for signals: %s",
			      strerror(-rc));
	describe(s);
	rc = calls_open(&setup, &s->calls, s->err, s->err_size);
	if (rc)
		return rc;
	key = calls_key(s->calls, s->here.fingerprint);
	rc = site_open(&s->site, &s->d->fixed, s->d->live.window_ticks, s->here.n * sub,
		       calls_number(s->calls), &key);
	return rc ? refuse(s->err, s->err_size, rc, "no memory for its slices: give it fewer") : 0;
}

static void close_all(struct serve *s)
{
	service_stopping();
	if (s->calls && s->here.serves) {
		calls_say(s->calls, CALL_BYE, NULL, NULL);
		report(s);
	}
	calls_close(s->calls);
	site_close(&s->site);
	free(s);
}

int serve(const struct options *o, const struct derived *d, char *err, size_t err_size)
{
	struct serve *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return refuse(err, err_size, -ENOMEM, "no memory");
	s->o = o;
	s->d = d;
	s->err = err;
	s->err_size = err_size;
	s->rc = open_all(s);
	if (!s->rc)
		loop(s);
	rc = s->rc;
	close_all(s);
	return rc;
}

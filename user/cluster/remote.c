/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/remote_work.h"
#include "user/cluster/serve.h"
#include "user/message.h"
#include "user/records/interrupt.h"
#include "user/sites/site.h"

/* Who waits for another producer asks again after this, and up to so many times this, by chance: two that have each
 * a part of what the other one needs do not come back at once for ever.
 */
#define RETRY_NS 100000ULL
#define RETRY_TIMES 16

/* Who is missing is waited for, before keys are asked, for this part of a question's time; and not for this times as long after. */
#define LISTEN_SHARE 4
#define LISTEN_REST 9

static struct remote_link *link_of(struct remote *r, u64 id)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->links[i].id == id)
			return &r->links[i];
	return NULL;
}

static void fail_link(struct remote *r, struct remote_link *link)
{
	struct roster_site *site = roster_find(&r->roster, link->id);

	if (site)
		site->lost = true;
	link->question.size = 0;
	producer_fail(r->p, link - r->links);
}

/* Links to sites that are no more. */
static void fail_gone(struct remote *r)
{
	for (u32 i = 0; i < r->n; i++)
		if (r->links[i].id && !roster_find(&r->roster, r->links[i].id))
			fail_link(r, &r->links[i]);
}

static void tell_site(const struct remote *r, const struct call_here *here, const char *what)
{
	note("%s: site %s, slices %u-%u/%u, %s", r->setup.who, here->name, here->first,
	     here->first + here->n - 1, here->of, what);
}

/* Once of each filter, however many sites have it. */
static void tell_other(struct remote *r, const struct call_here *here)
{
	char differs[CALL_DIFFERS];

	if (!strangers_tell(&r->others, here->fingerprint, now_ns()))
		return;
	call_differs(here->about, r->about, differs);
	complain("%s: site %s of group %s has another filter (%s): it is not asked", r->setup.who,
		 here->name, r->setup.o->group, differs);
}

static void take_here(struct remote *r, const struct call_here *here, u64 id)
{
	r->heard++;
	if (r->announced == id)
		r->announced = 0;
	switch (roster_take(&r->roster, here, id)) {
	case ROSTER_CAME:
	case ROSTER_BACK:
		if (r->roster.started)
			tell_site(r, here, "is there now");
		fail_gone(r);
		break;
	case ROSTER_OTHER:
		tell_other(r, here);
		break;
	case ROSTER_FULL:
	case ROSTER_KNOWN:
		break;
	}
}

static void take_bye(struct remote *r, u64 id)
{
	const struct roster_site *site = roster_find(&r->roster, id);

	if (!site)
		return;
	tell_site(r, &site->here, "has ended");
	roster_forget(&r->roster, id);
	fail_gone(r);
}

static void refuse_link(struct remote *r, struct remote_link *link, const struct calls_event *event)
{
	const char *why = (const char *)event->message + CALL_HEADER;

	complain("%s: a site refuses to answer: %.*s", r->setup.who,
		 (int)(event->size - CALL_HEADER - CALL_TAG), why);
	fail_link(r, link);
}

static void take_answer(struct remote *r, const struct calls_event *event)
{
	u64 from = call_from(event->message, event->size);
	struct remote_link *link = from ? link_of(r, from) : NULL;
	int rc = link ? producer_answer(r->p, link - r->links, event->message, event->size)
		      : -EBADMSG;

	if (!rc)
		link->question.size = 0;
	else if (rc == -ECONNREFUSED)
		refuse_link(r, link, event);
	else if (rc != -ENOENT)
		r->refused++;
}

/* Whether some slices have no site that answers. */
static bool is_short(const struct remote *r)
{
	char text[8];

	for (u32 i = 0; i < r->roster.n; i++)
		if (r->roster.site[i].lost)
			return true;
	return roster_missing(&r->roster, text, sizeof(text));
}

/* Who is there? Not too often. */
static void ask(struct remote *r, u64 now)
{
	if (now < r->hello_ns || !calls_up(r->calls))
		return;
	r->hello_ns = now + REMOTE_HELLO_NS;
	calls_say(r->calls, CALL_HELLO, NULL, NULL);
}

void remote_search(struct remote *r, u64 now)
{
	if (is_short(r) || r->announced)
		ask(r, now);
}

/* What a site says unasked is not believed, since a dead one may once have said so: it is asked. */
static void take_announced(struct remote *r, u64 id)
{
	const struct roster_site *site = roster_find(&r->roster, id);

	if (site && !site->lost)
		return;
	r->announced = id;
	ask(r, now_ns());
}

static void take_all(struct remote *r)
{
	struct calls_event event;

	while (calls_next(r->calls, &event)) {
		if (event.kind == CALLS_MESSAGE)
			take_answer(r, &event);
		else if (event.kind == CALLS_HERE && event.answers)
			take_here(r, &event.here, event.from);
		else if (event.kind == CALLS_HERE)
			take_announced(r, event.from);
		else if (event.kind == CALLS_BYE)
			take_bye(r, event.from);
		else if (event.kind == CALLS_UP)
			r->hello_ns = 0;
	}
}

void remote_wait(struct remote *r, u64 until_ns)
{
	calls_wait(r->calls, until_ns);
	take_all(r);
}

void remote_links_close(struct remote *r)
{
	for (u32 i = 0; i < r->n; i++) {
		r->repeats += r->links[i].question.repeats;
		free(r->links[i].question.message);
	}
	free(r->links);
	r->links = NULL;
	r->n = 0;
}

/* Tell the producer who has which slices, when that has changed. */
int remote_deal(struct remote *r)
{
	struct producer_site sites[ROSTER_DEALT];
	u32 n = roster_deal(&r->roster, sites);

	remote_links_close(r);
	r->links = calloc(n, sizeof(*r->links));
	if (!r->links)
		return -ENOMEM;
	r->n = n;
	for (u32 i = 0; i < n; i++) {
		r->links[i].id = r->links[i].question.to = sites[i].id;
		if (!sites[i].id)
			continue;
		r->links[i].question.message = malloc(SITES_MESSAGE_MAX);
		if (!r->links[i].question.message)
			return -ENOMEM;
	}
	return producer_deal(r->p, sites, n);
}

/* Whether those that are there, and who said so, have answered who they are. */
static bool heard_all(const struct remote *r)
{
	u32 there = 0;

	for (u32 i = 0; i < r->roster.n; i++)
		there += !r->roster.site[i].lost;
	return !r->announced && r->heard && r->heard >= there;
}

/* Before keys are asked: who came back meanwhile is to be asked about them, too. Where somebody is missing, or said that it
 * is there, it is asked who is, and the answers are waited for: as long as the others take to give theirs, or
 * a part of what a question has. At most a tenth of the time goes into that.
 */
static void meet(struct remote *r)
{
	u64 start, until;

	take_all(r);
	start = now_ns();
	if ((!is_short(r) && !r->announced) || start < r->listen_ns || !calls_up(r->calls))
		return;
	if (r->announced) /* it may have come after the last question */
		r->hello_ns = 0;
	if (start < r->hello_ns)
		return;
	r->heard = 0;
	ask(r, start);
	until = start + r->setup.timeout_ns / LISTEN_SHARE;
	while (!heard_all(r) && now_ns() < until)
		remote_wait(r, until);
	r->announced = 0;
	r->listen_ns = now_ns() + (now_ns() - start) * LISTEN_REST;
}

/* Between keys: who came, came back or is missing. */
static int settle(struct remote *r)
{
	int rc;

	meet(r);
	rc = r->roster.changed ? remote_deal(r) : 0;
	for (u32 i = 0; !rc && i < r->roster.n; i++) {
		struct roster_site *site = &r->roster.site[i];
		struct remote_link *link = site->back ? link_of(r, site->id) : NULL;

		site->back = false;
		if (link)
			producer_recover(r->p, link - r->links, r->tick);
	}
	return rc;
}

/* Send what there is, again if it is due; who does not answer fails. Returns when to come back. */
static u64 press(struct remote *r, struct remote_link *link, u64 now)
{
	struct calls_question *q = &link->question;
	const struct roster_site *site;
	u64 due;

	if (!q->size && link->id) {
		q->size = producer_message(r->p, link - r->links, q->message);
		if (q->size)
			calls_ask(r->calls, q, now);
	}
	if (!q->size)
		return UINT64_MAX;
	due = calls_press(r->calls, q, r->setup.timeout_ns, now);
	if (due && (calls_up(r->calls) || !interrupt_came()))
		return due;
	site = roster_find(&r->roster, link->id);
	if (site)
		tell_site(r, &site->here, "does not answer: they have failed");
	fail_link(r, link);
	return now;
}

/* Others' claims end soon: ask again, later each time. Returns when to come back. */
static u64 retry(struct remote *r, u64 now)
{
	u64 most = RETRY_NS << (r->retries < 4 ? r->retries : 4);

	if (!producer_is_claimed(r->p)) {
		r->retries = r->retry_ns = 0;
		return UINT64_MAX;
	}
	if (!r->retry_ns)
		r->retry_ns = now + RETRY_NS + xdd_mix64(now ^ r->plan.id) % most;
	if (now < r->retry_ns)
		return r->retry_ns;
	r->retry_ns = 0;
	r->retries++;
	producer_retry(r->p);
	return now;
}

static void finish(struct remote *r)
{
	while (!producer_done(r->p)) {
		u64 now = now_ns(), due = retry(r, now);

		for (u32 i = 0; i < r->n; i++)
			due = earliest(due, press(r, &r->links[i], now));
		remote_search(r, now);
		if (!producer_done(r->p))
			remote_wait(r, due);
	}
}

static void take_verdicts(struct remote *r, u32 n, bool *seen)
{
	finish(r);
	for (u32 i = 0; i < n; i++)
		seen[i] = producer_seen(r->p, i);
}

int remote_ask(struct remote *r, const struct xdd_digest *digests, const u64 *ticks, u32 n,
	       bool *seen)
{
	int rc;

	r->tick = ticks[n - 1];
	rc = settle(r);
	if (rc)
		return rc;
	producer_start(r->p, digests, ticks, n);
	take_verdicts(r, n, seen);
	return 0;
}

int remote_ask_items(struct remote *r, const struct sites_item *items, u32 n, bool *seen)
{
	int rc;

	r->tick = items[n - 1].tick;
	rc = settle(r);
	if (rc)
		return rc;
	producer_start_items(r->p, items, n);
	take_verdicts(r, n, seen);
	return 0;
}

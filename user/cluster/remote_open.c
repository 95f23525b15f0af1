/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The producer's start: a server, and the sites of the filter. */
#include <errno.h>
#include <stdlib.h>

#include "user/clock.h"
#include "user/cluster/remote_work.h"
#include "user/cluster/serve.h"
#include "user/health.h"
#include "user/message.h"
#include "user/names.h"
#include "user/records/interrupt.h"
#include "user/sites/site.h"

static int find_server(struct remote *r, char *err, size_t err_size)
{
	u64 until = now_ns() + CALLS_DOWN_NS;

	while (!calls_up(r->calls) && !interrupt_waits() && now_ns() < until)
		remote_wait(r, until);
	if (calls_up(r->calls))
		return 0;
	if (interrupt_waits())
		return refuse(err, err_size, -EINTR, "ended before there was a server");
	return refuse(err, err_size, -ENOTCONN, "no NATS server answers");
}

/* Slices without a site have failed from the start. */
static int check_missing(struct remote *r, char *err, size_t err_size)
{
	char missing[CALL_TEXT], policy[HEALTH_POLICY_TEXT_MAX];

	if (interrupt_waits())
		return refuse(err, err_size, -EINTR, "ended before the sites were found");
	if (!roster_missing(&r->roster, missing, sizeof(missing)))
		return 0;
	if (!r->roster.n)
		return refuse(err, err_size, -EHOSTUNREACH,
			      "no site of group %s answers: start them with xdp-dedup site, the "
			      "same options of the filter and the same --secret-file",
			      r->setup.o->group);
	note_always("%s: slices %s of %u have no site: --fault-policy %s answers for them "
		    "until they have",
		    r->setup.who, missing, r->roster.of,
		    health_policy_text(&r->plan.fixed, policy));
	return 0;
}

static int find_sites(struct remote *r, char *err, size_t err_size)
{
	u64 until = now_ns() + r->setup.o->silence, now;
	char missing[CALL_TEXT];

	while ((now = now_ns()) < until && !interrupt_waits() &&
	       roster_missing(&r->roster, missing, sizeof(missing))) {
		remote_search(r, now);
		remote_wait(r, earliest(until, now + REMOTE_HELLO_NS));
	}
	return check_missing(r, err, err_size);
}

static int make_plan(struct remote *r, char *err, size_t err_size)
{
	const struct options *o = r->setup.o;
	const struct derived *d = r->setup.d;
	const char *wrong;

	r->plan = (struct producer_plan){ .fixed = d->fixed,
					  .window_ticks = d->live.window_ticks,
					  .sites = 1,
					  .protocol = o->protocol,
					  .test_and_set = o->primitive == SITES_test_and_set,
					  .claims = o->primitive != SITES_test_and_set };
	if (!r->plan.fixed.fault_policy)
		r->plan.fixed.fault_policy = XDD_FAULTS_distinct;
	serve_about(d, r->about);
	wrong = producer_wrong(&r->plan);
	return wrong ? refuse(err, err_size, -EINVAL, "%s", wrong) : 0;
}

static int open_calls(struct remote *r, char *err, size_t err_size)
{
	const struct calls_setup setup = { r->setup.o, r->setup.who, SITES_SERVICE, false };
	u64 fingerprint = sites_fingerprint(&r->plan.fixed, r->plan.window_ticks);
	sigset_t before;
	int rc;

	interrupt_block(&before);
	rc = calls_open(&setup, &r->calls, err, err_size);
	interrupt_restore(&before);
	if (rc)
		return rc;
	r->plan.id = calls_number(r->calls);
	r->plan.key = calls_key(r->calls, fingerprint);
	roster_open(&r->roster, &r->plan.fixed, fingerprint);
	r->p = producer_open(&r->plan);
	return r->p ? 0 : refuse(err, err_size, -ENOMEM, "no memory");
}

static int open_all(struct remote *r, char *err, size_t err_size)
{
	int rc = make_plan(r, err, err_size) ?: open_calls(r, err, err_size);

	rc = rc ?: find_server(r, err, err_size);
	rc = rc ?: find_sites(r, err, err_size);
	if (rc)
		return rc;
	r->roster.started = true;
	return remote_deal(r) ? refuse(err, err_size, -ENOMEM, "no memory") : 0;
}

int remote_open(const struct remote_setup *setup, struct remote **remote, char *err,
		size_t err_size)
{
	struct remote *r = calloc(1, sizeof(*r));
	int rc;

	*remote = NULL;
	if (!r)
		return refuse(err, err_size, -ENOMEM, "no memory");
	r->setup = *setup;
	rc = open_all(r, err, err_size);
	if (rc)
		remote_close(r);
	else
		*remote = r;
	return rc;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	calls_close(r->calls);
	remote_links_close(r);
	producer_close(r->p);
	free(r);
}

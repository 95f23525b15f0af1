/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup agent: age every loaded instance until a signal ends it. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/age/ager.h"
#include "user/clock.h"
#include "user/cluster/group.h"
#include "user/export/exporter.h"
#include "user/loader/instance.h"
#include "user/loader/iface_watch.h"
#include "user/loader/remains.h"
#include "user/open_files.h"
#include "user/message.h"
#include "user/service.h"
#include "user/signals.h"

#define SECOND_NS 1000000000ull

struct aged {
	struct aged *next;
	struct instance instance;
	struct ager *ager; /* NULL: it failed, and is not tried again */
	u64 due_ns;	   /* next step */
	struct iface_watch watch;
};

struct agent {
	struct aged *all;
	struct exporter *exporter; /* NULL: nothing is exported */
	struct group *group;	   /* NULL: nothing is shared with other hosts */
	int signals;		   /* the signals that end it */
	u64 rescan_ns;		   /* when to look for new instances */
	u64 taken;		   /* instances so far */
	struct remains *left;	   /* what was half made or half removed at the last look */
	int n_left;
	bool others; /* age instances that were there at the start */
};

static bool is_aged(const struct agent *agent, const char *name)
{
	for (const struct aged *aged = agent->all; aged; aged = aged->next)
		if (!strcmp(aged->instance.name, name))
			return true;
	return false;
}

/* Once, at the start: later ones have just been loaded, by who ages them. */
static void tell_other(struct agent *agent, const struct instance *in)
{
	if (agent->rescan_ns)
		return;
	note("agent: %s: process %d ages it: it is aged here when that ends", in->name,
	     instance_ageing_pid(in));
	agent->others = true;
}

/* Ours from now on. One that cannot be aged is: interfaces that come back are attached to it all the same. */
static void keep(struct agent *agent, struct aged *aged)
{
	const char *name = aged->instance.name;
	char err[MESSAGE_MAX];

	aged->ager = ager_open(&aged->instance, err, sizeof(err));
	aged->next = agent->all;
	agent->all = aged;
	agent->taken++;
	if (aged->ager)
		note("agent: ageing %s", name);
	else
		complain("agent: %s is not aged, verdicts stay right: %s", name, err);
	group_add(agent->group, &aged->instance);
}

/* One that `run` ages, or that went away since it was listed, is not ours to age. Returns 0 or a negative errno with
 * one line in @err.
 */
static int take(struct agent *agent, const char *name, char *err, size_t err_size)
{
	struct aged *aged = calloc(1, sizeof(*aged));
	int code = aged ? instance_open(&aged->instance, name, err, err_size) : -ENOMEM;

	if (code) {
		free(aged);
		return code;
	}
	if (!instance_lock_ageing(&aged->instance)) {
		keep(agent, aged);
		return 0;
	}
	tell_other(agent, &aged->instance);
	instance_close(&aged->instance);
	free(aged);
	return 0;
}

/* Those that are new. Where files cannot be opened any more, the rest would fail, too. */
static int take_new(struct agent *agent, char (*names)[INSTANCE_NAME_MAX], int n, char *err,
		    size_t err_size)
{
	int code;

	for (int i = 0; i < n; i++) {
		code = is_aged(agent, names[i]) ? 0 : take(agent, names[i], err, err_size);
		if (open_files_are_short(code))
			return code;
	}
	return 0;
}

static void drop(struct agent *agent, struct aged **at)
{
	struct aged *aged = *at;

	*at = aged->next;
	group_remove(agent->group, &aged->instance, true);
	ager_close(aged->ager);
	instance_close(&aged->instance);
	free(aged);
}

static bool is_told(const struct agent *agent, const struct remains *r)
{
	for (int i = 0; i < agent->n_left; i++)
		if (agent->left[i].place == r->place && !strcmp(agent->left[i].name, r->name))
			return true;
	return false;
}

/* It is cleared by who changes something next: the agent does not, which may not know what is meant to be there. */
static void tell_remains(struct agent *agent)
{
	char text[MESSAGE_MAX];
	struct remains *left;
	int n = remains_list(&left);

	if (n < 0)
		return;
	for (int i = 0; i < n; i++)
		if (!is_told(agent, &left[i]))
			complain("agent: %s", remains_text(&left[i], text, sizeof(text)));
	free(agent->left);
	agent->left = left;
	agent->n_left = n;
}

/* Returns 0 or a negative errno with one line in @err. */
static int rescan(struct agent *agent, char *err, size_t err_size)
{
	char(*names)[INSTANCE_NAME_MAX];
	int n, code;

	for (struct aged **at = &agent->all; *at;) {
		if (instance_is_gone(&(*at)->instance))
			drop(agent, at);
		else
			at = &(*at)->next;
	}
	for (struct aged *aged = agent->all; aged; aged = aged->next)
		iface_watch_step(&aged->watch, &aged->instance, "agent");
	tell_remains(agent);
	n = instance_list(&names, err, err_size);
	if (n <= 0)
		return n;
	code = take_new(agent, names, n, err, err_size);
	free(names);
	return code;
}

static void step_one(struct aged *aged, u64 now)
{
	int err;

	if (!aged->ager || aged->due_ns > now)
		return;
	err = ager_step(aged->ager);
	aged->due_ns = now + ager_period_ns(aged->ager);
	if (!err)
		return;
	complain("agent: %s: ageing stopped, verdicts stay right: %s", aged->instance.name,
		 strerror(-err));
	ager_close(aged->ager);
	aged->ager = NULL;
}

/* Do what is due. Returns when the next thing is. */
static u64 step(struct agent *agent, u64 now)
{
	u64 next = agent->rescan_ns;

	for (struct aged *aged = agent->all; aged; aged = aged->next) {
		step_one(aged, now);
		if (aged->ager && aged->due_ns < next)
			next = aged->due_ns;
	}
	return next;
}

/* Wait until @until, and meanwhile answer who asks for metrics, and talk to other hosts. Returns whether it is the end. */
static bool wait_until(struct agent *agent, u64 until)
{
	enum signals_wait came;

	do {
		const int fds[SIGNALS_FDS] = { exporter_fd(agent->exporter), group_fd(agent->group),
					       -1 };
		u64 due = earliest(exporter_due_ns(agent->exporter), group_due_ns(agent->group));

		came = signals_wait(agent->signals, fds, earliest(due, until));
		exporter_step(agent->exporter);
		group_step(agent->group);
		service_alive();
	} while (came != SIGNALS_END && now_ns() < until);
	return came == SIGNALS_END;
}

/* What cannot be listed at the start never can, unless it is file descriptors that are short. */
static int work(struct agent *agent)
{
	char err[MESSAGE_MAX];
	bool failed = false, last;
	u64 next;
	int code;

	do {
		u64 now = now_ns();

		if (now >= agent->rescan_ns) {
			code = rescan(agent, err, sizeof(err));
			last = code && !agent->rescan_ns && !open_files_are_short(code);
			if (code && !failed)
				complain("agent: %s%s", err, last ? "" : ": it is tried again");
			if (last)
				return EXIT_FAILED;
			if (!code && !agent->rescan_ns && !agent->all && !agent->others &&
			    !agent->n_left)
				note("agent: nothing is there to age: xdp-dedup load IFACE");
			failed = code;
			agent->rescan_ns = now + SECOND_NS;
		}
		next = step(agent, now);
	} while (!wait_until(agent, next));
	return EXIT_OK;
}

static void tell_exports(const struct options *o, const struct exporter *exporter)
{
	if (exporter_fd(exporter) >= 0)
		note("agent: serving http://%s/metrics", o->text[OPT_metrics]);
	if (o->textfile)
		note("agent: writing metrics to %s", o->textfile);
}

int cmd_agent(struct options *o)
{
	struct agent agent = { .signals = signals_hold() };
	char err[MESSAGE_MAX];
	int code;

	open_files_raise();
	if (agent.signals < 0) {
		complain("agent: cannot wait for signals: %s", strerror(-agent.signals));
		return EXIT_FAILED;
	}
	if (exporter_open(o, &agent.exporter, err, sizeof(err)) ||
	    group_open(o, "agent", &agent.group, err, sizeof(err))) {
		complain("agent: %s", err);
		exporter_close(agent.exporter);
		return EXIT_FAILED;
	}
	exporter_about(agent.exporter, NULL);
	exporter_group(agent.exporter, agent.group);
	tell_exports(o, agent.exporter);
	service_ready("ageing what is loaded");
	code = work(&agent);
	service_stopping();
	exporter_close(agent.exporter);
	while (agent.all)
		drop(&agent, &agent.all);
	group_close(agent.group);
	free(agent.left);
	if (o->json)
		printf("{\"instances\": %llu}\n", (unsigned long long)agent.taken);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup learn: what copies there are in a file, or on an interface. */
#include "cmd.h"

#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../capture/filter.h"
#include "../capture/packet.h"
#include "../capture/set.h"
#include "../derive.h"
#include "../learn/live.h"
#include "../learn/report.h"
#include "../loader/netns.h"
#include "../message.h"

#define DEFAULT_MEMORY (128ull << 20)
#define DEFAULT_SECONDS 10
#define NS_PER_S 1000000000ull
#define WAIT_MS 100

struct job {
	const struct options *o;
	u64 memory; /* of the sample, in bytes */
	struct derived derived;
	struct capture_filter filter;
	struct lenses lenses;
	struct learn_source source;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* What was learnt until then is printed. */
static void stop_on_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static bool is_enough(const struct job *job)
{
	return stopped || (job->o->packets && job->lenses.all[0].learn.frames >= job->o->packets);
}

static int take(struct job *job, const struct xdd_packet *packet, u64 time_ns, u32 iface,
		enum capture_direction direction)
{
	int rc = filter_takes(&job->filter, packet->link, packet->data, packet->len,
			      packet->wire_len, direction);

	if (rc < 0)
		complain("%s", job->filter.error);
	else if (rc)
		lenses_take(&job->lenses, packet, time_ns, iface);
	else
		lenses_skip(&job->lenses, packet, time_ns);
	return rc < 0 ? rc : 0;
}

/* Until an end is reached. Returns 0 at the end of the sample, else a negative errno. */
static int take_file(struct job *job, struct capture_set *set)
{
	const u64 most_ns = job->o->seconds * NS_PER_S;
	const struct capture_item *item;
	int rc;

	while (!is_enough(job)) {
		struct xdd_packet packet;

		rc = capture_set_next(set, &item);
		if (rc < 0)
			complain("%s", capture_set_error(set));
		if (rc <= 0)
			return rc;
		if (item->kind != CAPTURE_FRAME)
			continue;
		if (most_ns && job->lenses.all[0].learn.frames &&
		    (s64)(item->time_ns - job->lenses.all[0].learn.first_ns) > (s64)most_ns)
			return 0;
		packet = capture_packet(item);
		rc = take(job, &packet, item->time_ns, item->iface->global,
			  capture_direction(item));
		if (rc)
			return rc;
	}
	return 0;
}

static int learn_file(struct job *job)
{
	struct capture_set *set;
	char err[MESSAGE_MAX];
	int rc = capture_set_open(&set, job->o->args, 1, err, sizeof(err));

	if (rc) {
		complain("%s", err);
		return rc;
	}
	rc = take_file(job, set);
	/* What is whole in a damaged file is worth a report. */
	job->source.complete = !rc;
	capture_set_close(set);
	return rc == -EBADMSG ? 0 : rc;
}

static int take_live(struct job *job, struct live *live)
{
	const u64 start = now_ns();
	const u64 most_ns = (job->o->seconds ?: DEFAULT_SECONDS) * NS_PER_S;
	const bool endless = job->o->packets && !job->o->seconds;
	char err[MESSAGE_MAX];
	int rc = 0;

	while (rc >= 0 && !is_enough(job) && (endless || now_ns() - start < most_ns)) {
		struct xdd_packet packet;
		u64 time_ns;

		rc = live_next(live, WAIT_MS, &packet, &time_ns, err, sizeof(err));
		if (rc < 0)
			complain("%s: %s", job->source.name, err);
		else if (rc)
			rc = take(job, &packet, time_ns, 0,
				  link_direction(packet.link, packet.data, packet.len));
	}
	job->source.seconds = (now_ns() - start) / 1e9;
	job->source.missed = live_missed(live);
	job->source.complete = rc >= 0;
	return rc < 0 ? rc : 0;
}

static int learn_live(struct job *job)
{
	struct live live = { 0 };
	char err[MESSAGE_MAX];
	int home, rc;

	if (netns_enter(job->o->netns, &home, err, sizeof(err))) {
		complain("learn: %s", err);
		return -ENOENT;
	}
	if (!if_nametoindex(job->source.name))
		rc = refuse(err, sizeof(err), -ENODEV, "%s: neither a file nor an interface",
			    job->source.name);
	else
		rc = live_open(&live, job->source.name, err, sizeof(err));
	netns_leave(home);
	if (rc) {
		complain("%s", err);
		return rc;
	}
	stop_on_signals();
	rc = take_live(job, &live);
	live_close(&live);
	return rc;
}

static int print(const struct job *job)
{
	json_t *all;
	int rc;

	if (!job->o->json) {
		learn_print(&job->lenses, &job->source, stdout);
		return 0;
	}
	all = learn_json(&job->lenses, &job->source);
	rc = json_dumpf(all, stdout, JSON_INDENT(2)) ? -EIO : 0;
	putchar('\n');
	json_decref(all);
	return rc;
}

static int learn(struct job *job)
{
	int rc = lenses_open(&job->lenses, &job->derived.fixed, job->memory);

	if (rc)
		complain("learn: out of memory: give --memory less");
	else
		rc = job->source.is_file ? learn_file(job) : learn_live(job);
	if (!rc)
		rc = print(job);
	lenses_close(&job->lenses);
	return rc ? rc : job->source.complete ? 0 : -EBADMSG;
}

int cmd_learn(struct options *o)
{
	struct job job = {
		.o = o,
		.memory = o->memory ?: DEFAULT_MEMORY,
		.source.name = o->args[0],
		.source.netns = o->netns,
	};
	char err[MESSAGE_MAX];
	int rc;

	job.source.is_file = !o->netns && (!strcmp(o->args[0], "-") || !access(o->args[0], F_OK));
	rc = filter_open(&job.filter, o->filter, o->direction);
	if (rc)
		complain("learn: %s", job.filter.error);
	/* It is the sample's: no filter is made. */
	o->given[OPT_memory] = false;
	if (!rc) {
		rc = derive_config(o, DERIVE_FILE, 1, 1, 1, &job.derived, err, sizeof(err));
		if (rc)
			complain("learn: %s", err);
	}
	if (rc)
		return EXIT_USAGE;
	rc = learn(&job);
	filter_close(&job.filter);
	return rc ? EXIT_FAILED : EXIT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup run: load, age the filter until a signal comes, detach. */
#include "cmd.h"
#include "load.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../age/ager.h"
#include "../clock.h"
#include "../loader/load.h"
#include "../message.h"
#include "../metrics/counters.h"

#define LINE_PERIOD_NS (2ull * 1000 * 1000 * 1000)
#define IDLE_PERIOD_NS (100ull * 1000 * 1000)

struct run {
	const struct options *o;
	struct instance in;
	struct ager *ager; /* NULL: someone else ages it, or it cannot be aged */
	sigset_t ends;	   /* the signals that end it */
	u64 line_at_ns;	   /* when the next line is due */
	bool line;	   /* a line stands on the terminal */
};

static void print_line(struct run *r)
{
	struct counters counters;
	u64 packets, duplicates;

	if (counters_read(r->in.maps.counters, &counters))
		return;
	packets = counters.total.received.packets;
	duplicates = counters.total.duplicate.packets;
	counters_free(&counters);
	printf("\r%s: %llu packets, %llu duplicates (%.1f %%)\033[K", r->in.name,
	       (unsigned long long)packets, (unsigned long long)duplicates,
	       packets ? 100.0 * duplicates / packets : 0.0);
	fflush(stdout);
	r->line = true;
}

static void end_line(struct run *r)
{
	if (r->line)
		putchar('\n');
	fflush(stdout);
	r->line = false;
}

static void start_ageing(struct run *r)
{
	char err[MESSAGE_MAX];

	r->ager = NULL;
	if (instance_lock_ageing(&r->in)) {
		note("run: process %d already ages %s", instance_ageing_pid(&r->in), r->in.name);
		return;
	}
	r->ager = ager_open(&r->in, err, sizeof(err));
	if (!r->ager)
		note("run: the filter is not swept, its verdicts stay right: %s", err);
}

static void stop_ageing(struct run *r)
{
	ager_close(r->ager);
	r->ager = NULL;
}

/* `set --restart` put another filter in place: go on with that. Returns false if the instance was
 * unloaded, or loaded anew by someone else.
 */
static bool follow(struct run *r)
{
	u64 loaded_s = r->in.meta.loaded_s;
	char name[INSTANCE_NAME_MAX], err[MESSAGE_MAX];

	stop_ageing(r);
	strcpy(name, r->in.name);
	instance_close(&r->in);
	if (instance_open(&r->in, name, err, sizeof(err)))
		return false;
	if (r->in.meta.loaded_s == loaded_s) {
		start_ageing(r);
		return true;
	}
	instance_close(&r->in);
	return false;
}

/* Wait until the next step is due. Returns the signal that ends it, or 0. */
static int wait_step(const struct run *r)
{
	u64 ns = r->ager ? ager_period_ns(r->ager) : IDLE_PERIOD_NS;
	struct timespec wait = { ns / 1000000000, ns % 1000000000 };
	int signal = sigtimedwait(&r->ends, NULL, &wait);

	return signal > 0 ? signal : 0;
}

static void step(struct run *r)
{
	int err = r->ager ? ager_step(r->ager) : 0;

	if (err) {
		note("run: %s is no longer swept, its verdicts stay right: %s", r->in.name,
		     strerror(-err));
		stop_ageing(r);
	}
	if (r->line_at_ns && now_ns() >= r->line_at_ns) {
		print_line(r);
		r->line_at_ns = now_ns() + LINE_PERIOD_NS;
	}
}

/* Returns true when a signal ended it, false when the instance is gone. */
static bool loop(struct run *r)
{
	start_ageing(r);
	while (!wait_step(r)) {
		if (instance_is_gone(&r->in) && !follow(r))
			return false;
		step(r);
	}
	stop_ageing(r);
	return true;
}

static int detach(struct run *r)
{
	char err[MESSAGE_MAX];
	bool gone = instance_is_gone(&r->in);

	instance_close(&r->in);
	if (r->o->keep || gone)
		return EXIT_OK;
	if (!unload_instance(r->in.name, err, sizeof(err)))
		return EXIT_OK;
	complain("run: %s", err);
	return EXIT_FAILED;
}

int cmd_run(struct options *o)
{
	struct run r = { .o = o };
	bool signalled;
	int code;

	sigemptyset(&r.ends);
	sigaddset(&r.ends, SIGINT);
	sigaddset(&r.ends, SIGTERM);
	sigaddset(&r.ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &r.ends, NULL);
	code = load_and_report(o, &r.in);
	if (code != EXIT_OK)
		return code;
	if (!o->json && !o->quiet && isatty(STDOUT_FILENO))
		r.line_at_ns = now_ns();
	signalled = loop(&r);
	end_line(&r);
	if (signalled)
		return detach(&r);
	note("run: %s was unloaded by someone else", r.in.name);
	return EXIT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup run: load, age the filter until a signal comes, detach. */
#include "cmd.h"
#include "load.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../age/ager.h"
#include "../capture/sink.h"
#include "../clock.h"
#include "../cluster/group.h"
#include "../events/sample.h"
#include "../export/exporter.h"
#include "../loader/load.h"
#include "../loader/pins.h"
#include "../loader/iface_watch.h"
#include "../open_files.h"
#include "../message.h"
#include "../metrics/counters.h"
#include "../reload.h"
#include "../service.h"
#include "../signals.h"

#define LINE_PERIOD_NS (2ull * 1000 * 1000 * 1000)
#define IDLE_PERIOD_NS (100ull * 1000 * 1000)

struct run {
	const struct options *o;
	struct instance in;
	struct ager *ager; /* NULL: someone else ages it, or it cannot be aged */
	struct iface_watch watch;
	struct reload reload;
	struct sample sample;
	struct exporter *exporter; /* NULL: nothing is exported */
	struct group *group;	   /* NULL: nothing is shared with other hosts */
	int signals;		   /* the signals that end it */
	u64 step_at_ns;		   /* when the filter is swept on */
	u64 end_ns;		   /* when --seconds are over; 0: never */
	u64 line_at_ns;		   /* when the next line is due; 0: never */
	bool failed;		   /* the sample was given up */
	bool line;		   /* a line stands on the terminal */
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
	group_add(r->group, &r->in);
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
	group_remove(r->group, &r->in, true);
	strcpy(name, r->in.name);
	pins_restore_lost(&r->in);
	instance_close(&r->in);
	if (instance_open(&r->in, name, err, sizeof(err)))
		return false;
	if (r->in.meta.loaded_s == loaded_s) {
		instance_lock_owner(&r->in);
		start_ageing(r);
		return true;
	}
	instance_close(&r->in);
	return false;
}

/* The datapath goes on without the sample. */
static void give_up_sample(struct run *r)
{
	complain("run: %s; the filter goes on, nothing more is sampled, and there will be no file",
		 r->sample.err);
	sample_close(&r->sample);
	r->failed = true;
}

/* A signal came: SIGHUP is the end only for who has no file to read again. */
static bool is_end(struct run *r)
{
	if (!r->o->config || !signals_take_hangup(r->signals))
		return true;
	service_reloading();
	reload(&r->reload, r->in.name);
	service_ready(r->in.name);
	return false;
}

/* Wait until the next step is due, and keep meanwhile what is sampled. Returns whether it is the
 * end.
 */
static bool wait_step(struct run *r)
{
	u64 until = earliest(r->step_at_ns, r->end_ns ?: UINT64_MAX);
	enum signals_wait came;

	do {
		const int fds[SIGNALS_FDS] = { sample_fd(&r->sample), exporter_fd(r->exporter),
					       group_fd(r->group) };
		u64 due = earliest(exporter_due_ns(r->exporter), group_due_ns(r->group));

		came = signals_wait(r->signals, fds, earliest(until, due));
		if (fds[0] >= 0 && sample_read(&r->sample))
			give_up_sample(r);
		exporter_step(r->exporter);
		group_step(r->group);
		service_alive();
	} while (came != SIGNALS_END && now_ns() < until);
	return (came == SIGNALS_END && is_end(r)) || (r->end_ns && now_ns() >= r->end_ns);
}

static void step(struct run *r)
{
	int err = r->ager ? ager_step(r->ager) : 0;

	r->step_at_ns = now_ns() + (r->ager ? ager_period_ns(r->ager) : IDLE_PERIOD_NS);
	if (err) {
		note("run: %s is no longer swept, its verdicts stay right: %s", r->in.name,
		     strerror(-err));
		stop_ageing(r);
	}
	iface_watch_step(&r->watch, &r->in, "run");
	if (r->line_at_ns && now_ns() >= r->line_at_ns) {
		print_line(r);
		r->line_at_ns = now_ns() + LINE_PERIOD_NS;
	}
}

/* Returns true when a signal or --seconds ended it, false when the instance is gone. */
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

/* Load, with a sample and metrics if they are wanted: a file that cannot be written is no reason to
 * touch the interfaces. Returns the exit code.
 */
static int start(struct run *r)
{
	const struct options *o = r->o;
	char err[MESSAGE_MAX];
	int code = EXIT_OK;

	if (exporter_open(o, &r->exporter, err, sizeof(err)) ||
	    group_open(o, "run", &r->group, err, sizeof(err))) {
		complain("run: %s", err);
		return EXIT_FAILED;
	}
	code = load_and_report(o, &r->in);
	if (code == EXIT_OK && o->sample_dropped &&
	    sample_start(&r->sample, r->in.name, o->sample_rate))
		give_up_sample(r);
	if (code == EXIT_OK)
		exporter_about(r->exporter, r->in.name);
	exporter_group(r->exporter, r->group);
	return code;
}

/* Before signals wait: they end a wait for who reads a pipe. */
static bool open_sample(struct run *r)
{
	if (!r->o->sample_dropped)
		return true;
	sink_guard();
	if (!sample_open(&r->sample, r->o->sample_dropped))
		return true;
	complain("run: %s", r->sample.err);
	return false;
}

/* Also where the instance was unloaded by someone else. */
static void end_sample(struct run *r)
{
	struct event_counts counts;
	bool known;

	if (!r->sample.started)
		return;
	if (sample_finish(&r->sample)) {
		give_up_sample(r);
		return;
	}
	known = !event_reader_counts(&r->sample.reader, &counts);
	if (known)
		note("run: %s: %" PRIu64 " duplicates kept, %" PRIu64
		     " beyond %u a second, %" PRIu64 " lost",
		     r->o->sample_dropped, (uint64_t)r->sample.packets, (uint64_t)counts.limited,
		     r->o->sample_rate, (uint64_t)counts.lost);
	sample_close(&r->sample);
}

static int detach(struct run *r)
{
	char err[MESSAGE_MAX];
	bool gone = instance_is_gone(&r->in);

	if (gone)
		pins_restore_lost(&r->in);
	instance_close(&r->in);
	if (r->o->keep || gone)
		return EXIT_OK;
	if (!unload_instance(r->in.name, err, sizeof(err)))
		return EXIT_OK;
	complain("run: %s", err);
	return EXIT_FAILED;
}

/* An error, so that a service manager starts it again. */
static int tell_lost(const struct run *r)
{
	complain("run: %s was unloaded by someone else: run it again to go on", r->in.name);
	return EXIT_FAILED;
}

int cmd_run(struct options *o)
{
	struct run r = { .o = o, .reload = { .started = o } };
	bool ended;
	int code;

	if (!open_sample(&r))
		return EXIT_FAILED;
	open_files_raise();
	r.signals = signals_hold();
	if (r.signals < 0) {
		complain("run: cannot wait for signals: %s", strerror(-r.signals));
		return EXIT_FAILED;
	}
	code = start(&r);
	if (code != EXIT_OK) {
		sample_close(&r.sample);
		group_close(r.group);
		exporter_close(r.exporter);
		return code;
	}
	if (!o->json && !o->quiet && isatty(STDOUT_FILENO))
		r.line_at_ns = now_ns();
	if (o->seconds)
		r.end_ns = now_ns() + o->seconds * XDD_SECOND_NS;
	service_ready(r.in.name);
	ended = loop(&r);
	service_stopping();
	reload_free(&r.reload);
	end_line(&r);
	end_sample(&r);
	exporter_close(r.exporter);
	group_close(r.group);
	code = ended ? detach(&r) : tell_lost(&r);
	return r.failed ? EXIT_FAILED : code;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/export/reading.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/clock.h"
#include "user/cluster/group.h"
#include "user/export/page.h"
#include "user/loader/remains.h"
#include "user/open_files.h"
#include "user/message.h"
#include "user/metrics/status.h"
#include "user/options.h"

/* What is remembered of an instance from page to page. */
struct exported {
	struct exported *next;
	char name[INSTANCE_NAME_MAX];
	u64 distinct; /* packets, when it was read last */
	double lost;  /* of them, since it was read first */
	struct activity activity;
};

/* An instance as it was read: closed. */
struct read_one {
	struct instance instance;
	struct status status;
	struct member_report group;
	bool read;
};

/* One time that all are read; in the order of the page. */
struct round {
	char (*names)[INSTANCE_NAME_MAX];
	int n, at; /* names, those that are behind */
	int whole; /* names of complete instances, which come first; of the others there is nothing to read */
	struct read_one *all;
	struct subject *subjects;
	int used;     /* of these two */
	u64 spent_ns; /* of a CPU */
	int code;     /* a negative errno that ended it */
};

struct reading {
	enum { READING_NONE, READING_ONE, READING_ALL } what;
	char name[INSTANCE_NAME_MAX]; /* of READING_ONE */
	struct round now, next;
	bool busy;   /* with `next` */
	u64 rest_ns; /* CLOCK_MONOTONIC: until then `now` is new enough */
	struct exported *all;
	const struct group *group; /* NULL: nothing is shared with other hosts */
	bool told;		   /* that files are short */
};

static u64 spent_ns(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return spent.tv_sec * XDD_SECOND_NS + spent.tv_nsec;
}

static void round_free(struct round *round)
{
	for (int i = 0; i < round->used; i++)
		if (round->all[i].read)
			status_free(&round->all[i].status);
	free(round->names);
	free(round->all);
	free(round->subjects);
	*round = (struct round){ 0 };
}

static struct exported *exported_of(struct reading *reading, const char *name)
{
	struct exported *one;

	for (one = reading->all; one; one = one->next)
		if (!strcmp(one->name, name))
			return one;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->distinct = UINT64_MAX;
	one->next = reading->all;
	reading->all = one;
	return one;
}

/* What the distinct packets since the last page have lost, at the rate of now. An instance that was
 * loaded anew counts from 0.
 */
static double lost_until_now(struct exported *one, const struct status *status)
{
	u64 distinct = status->counters.total.distinct.packets;
	double rate = status_is_modelled(status) ? status->fullness.fpr : 0;

	if (one->distinct == UINT64_MAX)
		one->distinct = distinct;
	if (distinct < one->distinct)
		one->distinct = 0;
	/* Of those that arrived, distinct / (1 - rate), the share that was taken for copies. */
	if (rate > 0 && rate < 1)
		one->lost += (distinct - one->distinct) * rate / (1 - rate);
	one->distinct = distinct;
	return one->lost;
}

/* Without files all would be lost at once, which is no word about the instances. */
static void tell_short(struct reading *reading, int code)
{
	char text[OPEN_FILES_TEXT_MAX];

	if (!open_files_are_short(code) || reading->told)
		return;
	complain("metrics: %s", open_files_text(text));
	reading->told = true;
}

static int open_and_read(struct reading *reading, struct read_one *one, struct exported *exported)
{
	char err[MESSAGE_MAX];
	int code = instance_open(&one->instance, exported->name, err, sizeof(err));

	if (code) {
		tell_short(reading, code);
		return code;
	}
	code = status_read(&one->status, &one->instance, &exported->activity, err, sizeof(err));
	instance_close(&one->instance);
	tell_short(reading, code);
	one->read = !code;
	return code == -ENOENT ? -EIO : code;
}

/* One that is no longer there is not on the page; one that cannot be read is. Returns 0 or -ENOMEM. */
static int read_one(struct reading *reading, struct round *round, const char *name)
{
	struct exported *exported = exported_of(reading, name);
	struct subject *subject = &round->subjects[round->used];
	struct read_one *one = &round->all[round->used];
	int code = exported ? 0 : -ENOMEM;

	if (!code && round->at <= round->whole)
		code = open_and_read(reading, one, exported);
	if (code == -ENOENT)
		return 0;
	if (code == -ENOMEM)
		return code;
	round->used++;
	subject->name = exported->name;
	if (!one->read)
		return 0;
	subject->status = &one->status;
	subject->read_ns = clock_ns(CLOCK_REALTIME);
	subject->lost = lost_until_now(exported, &one->status);
	if (group_report(reading->group, name, &one->group))
		subject->group = &one->group;
	return 0;
}

static int list(struct reading *reading, struct round *round)
{
	char err[MESSAGE_MAX];
	int n = 0;

	if (reading->what == READING_ALL) {
		n = instance_list(&round->names, err, sizeof(err));
		tell_short(reading, n);
		round->whole = n;
		n = n < 0 ? n : remains_append(&round->names, n);
	} else if (reading->what == READING_ONE) {
		round->names = calloc(1, sizeof(*round->names));
		if (!round->names)
			return -ENOMEM;
		memcpy(round->names[0], reading->name, sizeof(reading->name));
		n = round->whole = 1;
	}
	if (n < 0)
		return n;
	round->n = n;
	round->all = calloc(n ?: 1, sizeof(*round->all));
	round->subjects = calloc(n ?: 1, sizeof(*round->subjects));
	return round->all && round->subjects ? 0 : -ENOMEM;
}

void reading_want(struct reading *reading)
{
	if (reading->busy || now_ns() < reading->rest_ns)
		return;
	reading->next.code = list(reading, &reading->next);
	reading->busy = true;
}

bool reading_is_due(const struct reading *reading)
{
	return reading->busy;
}

static void end_round(struct reading *reading)
{
	round_free(&reading->now);
	reading->now = reading->next;
	reading->next = (struct round){ 0 };
	reading->rest_ns = now_ns() + rest_of(reading->now.spent_ns);
	reading->busy = false;
}

void reading_step(struct reading *reading)
{
	struct round *round = &reading->next;
	u64 before = spent_ns();

	if (!reading->busy)
		return;
	if (!round->code && round->at < round->n)
		round->code = read_one(reading, round, round->names[round->at++]);
	round->spent_ns += spent_ns() - before;
	if (round->code || round->at == round->n)
		end_round(reading);
}

int reading_page(const struct reading *reading, bool openmetrics, char **text, size_t *length)
{
	const struct round *round = &reading->now;

	if (round->code)
		return round->code;
	return page_make(round->subjects, round->used, openmetrics, text, length);
}

struct reading *reading_new(void)
{
	return calloc(1, sizeof(struct reading));
}

void reading_about(struct reading *reading, const char *name)
{
	reading->what = name ? READING_ONE : READING_ALL;
	snprintf(reading->name, sizeof(reading->name), "%s", name ?: "");
	round_free(&reading->next);
	reading->busy = false;
	reading->rest_ns = 0;
}

void reading_group(struct reading *reading, const struct group *group)
{
	reading->group = group;
}

void reading_free(struct reading *reading)
{
	struct exported *next;

	if (!reading)
		return;
	round_free(&reading->now);
	round_free(&reading->next);
	for (struct exported *one = reading->all; one; one = next) {
		next = one->next;
		free(one);
	}
	free(reading);
}

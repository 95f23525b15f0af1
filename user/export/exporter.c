/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/export/exporter.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/capture/sink.h"
#include "user/clock.h"
#include "user/cluster/group.h"
#include "user/export/page.h"
#include "user/export/server.h"
#include "user/message.h"
#include "user/metrics/status.h"
#include "user/options.h"

/* As often as node_exporter is usually scraped. */
#define FILE_PERIOD_NS (15 * 1000000000ull)

/* What is remembered of an instance from page to page. */
struct exported {
	struct exported *next;
	char name[INSTANCE_NAME_MAX];
	u64 distinct; /* packets, at the last page */
	double lost;  /* of them, since the first one */
	struct activity activity;
};

struct exporter {
	enum { EXPORT_NONE, EXPORT_ONE, EXPORT_ALL } what;
	char name[INSTANCE_NAME_MAX]; /* of EXPORT_ONE */
	const char *file;	      /* NULL: none */
	struct server *server;
	struct exported *all;
	const struct group *group; /* NULL: nothing is shared with other hosts */
	u64 file_at_ns;
	bool file_failed;
};

/* An instance opened for one page; in the order of the page. */
struct opened {
	struct instance instance;
	struct status status;
	struct member_report group;
	bool open, read;
};

static struct exported *exported_of(struct exporter *exporter, const char *name)
{
	struct exported *one;

	for (one = exporter->all; one; one = one->next)
		if (!strcmp(one->name, name))
			return one;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->distinct = UINT64_MAX;
	one->next = exporter->all;
	exporter->all = one;
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

/* Returns 1 if @name is to be on the page, 0 if it is no longer there, or -ENOMEM. */
static int open_one(struct exporter *exporter, const char *name, struct opened *opened,
		    struct subject *subject)
{
	char err[MESSAGE_MAX];
	struct exported *one = exported_of(exporter, name);
	int code = one ? instance_open(&opened->instance, name, err, sizeof(err)) : -ENOMEM;

	if (code == -ENOENT)
		return 0;
	if (code == -ENOMEM)
		return code;
	opened->open = !code;
	opened->read = opened->open && !status_read(&opened->status, &opened->instance,
						    &one->activity, err, sizeof(err));
	*subject = (struct subject){ .name = one->name };
	if (!opened->read)
		return 1;
	subject->status = &opened->status;
	subject->lost = lost_until_now(one, &opened->status);
	if (group_report(exporter->group, name, &opened->group))
		subject->group = &opened->group;
	return 1;
}

static void close_all(struct opened *opened, int n)
{
	for (int i = 0; i < n; i++) {
		if (opened[i].read)
			status_free(&opened[i].status);
		if (opened[i].open)
			instance_close(&opened[i].instance);
	}
	free(opened);
}

static int page_of(struct exporter *exporter, char (*names)[INSTANCE_NAME_MAX], int n,
		   bool openmetrics, char **text, size_t *length)
{
	struct subject *subjects = calloc(n ?: 1, sizeof(*subjects));
	struct opened *opened = calloc(n ?: 1, sizeof(*opened));
	int used = 0, code = subjects && opened ? 0 : -ENOMEM;

	for (int i = 0; i < n && code >= 0; i++) {
		code = open_one(exporter, names[i], &opened[used], &subjects[used]);
		used += code == 1;
	}
	if (code >= 0)
		code = page_make(subjects, used, openmetrics, text, length);
	free(subjects);
	if (opened)
		close_all(opened, used);
	return code;
}

/* Reads maps only: nothing that the datapath waits for. */
static int make_page(void *context, bool openmetrics, char **text, size_t *length)
{
	char(*names)[INSTANCE_NAME_MAX] = NULL, err[MESSAGE_MAX];
	struct exporter *exporter = context;
	int n, code;

	if (exporter->what != EXPORT_ALL)
		return page_of(exporter, &exporter->name, exporter->what == EXPORT_ONE, openmetrics,
			       text, length);
	n = instance_list(&names, err, sizeof(err));
	if (n < 0)
		return n;
	code = page_of(exporter, names, n, openmetrics, text, length);
	free(names);
	return code;
}

static int write_file(struct exporter *exporter)
{
	size_t length;
	char *text;
	int code = make_page(exporter, false, &text, &length);

	if (code)
		return code;
	code = sink_write_file(exporter->file, text, length, false);
	free(text);
	return code;
}

static const char *why_not_written(int code)
{
	return code == -ENXIO ? "nobody reads from that pipe" : strerror(-code);
}

static int start_server(struct exporter *exporter, const struct options *o, char *err,
			size_t err_size)
{
	char why[MESSAGE_MAX];

	if (!option_given(o, OPT_metrics))
		return 0;
	exporter->server = server_open(&o->metrics.any, make_page, exporter, why, sizeof(why));
	return exporter->server ? 0
				: refuse(err, err_size, -EIO, "cannot serve metrics on %s: %s",
					 o->text[OPT_metrics], why);
}

static int start_file(struct exporter *exporter, const struct options *o, char *err,
		      size_t err_size)
{
	int code;

	if (!o->textfile)
		return 0;
	exporter->file = o->textfile;
	code = write_file(exporter);
	if (!code)
		return 0;
	exporter->file = NULL;
	return refuse(err, err_size, code, "cannot write metrics to %s: %s", o->textfile,
		      why_not_written(code));
}

int exporter_open(const struct options *o, struct exporter **to, char *err, size_t err_size)
{
	struct exporter *exporter;
	int code;

	*to = NULL;
	if (!option_given(o, OPT_metrics) && !o->textfile)
		return 0;
	exporter = calloc(1, sizeof(*exporter));
	if (!exporter)
		return refuse(err, err_size, -ENOMEM, "no memory to export metrics");
	code = start_server(exporter, o, err, err_size) ?: start_file(exporter, o, err, err_size);
	if (code)
		exporter_close(exporter);
	else
		*to = exporter;
	return code;
}

void exporter_about(struct exporter *exporter, const char *name)
{
	if (!exporter)
		return;
	exporter->what = name ? EXPORT_ONE : EXPORT_ALL;
	snprintf(exporter->name, sizeof(exporter->name), "%s", name ?: "");
	exporter->file_at_ns = 0;
}

void exporter_group(struct exporter *exporter, const struct group *group)
{
	if (exporter)
		exporter->group = group;
}

int exporter_fd(const struct exporter *exporter)
{
	return exporter && exporter->server ? server_fd(exporter->server) : -1;
}

void exporter_step(struct exporter *exporter)
{
	int code;

	if (!exporter)
		return;
	if (exporter->server)
		server_step(exporter->server);
	if (!exporter->file || now_ns() < exporter->file_at_ns)
		return;
	exporter->file_at_ns = now_ns() + FILE_PERIOD_NS;
	code = write_file(exporter);
	if (code && !exporter->file_failed)
		complain("cannot write metrics to %s, it is tried again: %s", exporter->file,
			 why_not_written(code));
	exporter->file_failed = code;
}

u64 exporter_due_ns(const struct exporter *exporter)
{
	u64 due = UINT64_MAX, served;

	if (!exporter)
		return due;
	if (exporter->file)
		due = exporter->file_at_ns;
	if (!exporter->server)
		return due;
	served = now_ns() + server_timeout_ms(exporter->server) * 1000000;
	return served < due ? served : due;
}

/* What stands there now, be it behind a symbolic link; never a device or a pipe. */
static void remove_file(const char *file)
{
	char *path = realpath(file, NULL);
	struct stat found;

	if (path && !lstat(path, &found) && S_ISREG(found.st_mode))
		unlink(path);
	free(path);
}

void exporter_close(struct exporter *exporter)
{
	struct exported *next;

	if (!exporter)
		return;
	server_close(exporter->server);
	if (exporter->file)
		remove_file(exporter->file);
	for (struct exported *one = exporter->all; one; one = next) {
		next = one->next;
		free(one);
	}
	free(exporter);
}

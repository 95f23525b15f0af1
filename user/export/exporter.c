/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/export/exporter.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/export/reading.h"
#include "user/export/server.h"
#include "user/export/textfile.h"
#include "user/message.h"
#include "user/options.h"

/* As often as node_exporter is usually scraped. */
#define FILE_PERIOD_NS (15 * XDD_SECOND_NS)
#define SERVER_PERIOD_NS (5 * XDD_SECOND_NS)

struct exporter {
	struct reading *reading;
	struct textfile file; /* path NULL: none */
	const struct options *o;
	struct server *server; /* NULL: none, or it could not be opened yet */
	u64 server_at_ns;      /* when it is tried again */
	bool server_failed;
	u64 file_at_ns;
	bool file_failed;
};

static int make_page(void *context, bool openmetrics, char **text, size_t *length)
{
	struct exporter *exporter = context;

	return reading_page(exporter->reading, openmetrics, text, length);
}

static int write_file(struct exporter *exporter, char *err, size_t err_size)
{
	size_t length;
	char *text;
	int code = make_page(exporter, false, &text, &length);

	if (code)
		return refuse(err, err_size, code, "%s", strerror(-code));
	code = textfile_write(&exporter->file, text, length, err, err_size);
	free(text);
	return code;
}

/* A port that is taken is no reason to leave a tap alone: it is tried again. */
static void try_server(struct exporter *exporter)
{
	const struct options *o = exporter->o;
	char why[MESSAGE_MAX];

	if (exporter->server || !option_given(o, OPT_metrics) || now_ns() < exporter->server_at_ns)
		return;
	exporter->server = server_open(&o->metrics.any, make_page, exporter, why, sizeof(why));
	exporter->server_at_ns = now_ns() + SERVER_PERIOD_NS;
	if (!exporter->server && !exporter->server_failed)
		complain("cannot serve metrics on %s, it is tried again: %s", o->text[OPT_metrics],
			 why);
	if (exporter->server && exporter->server_failed)
		note_always("metrics are served on %s now", o->text[OPT_metrics]);
	exporter->server_failed = !exporter->server;
}

static void keep_file(struct exporter *exporter)
{
	char err[MESSAGE_MAX];
	int code = write_file(exporter, err, sizeof(err));

	exporter->file_at_ns = now_ns() + FILE_PERIOD_NS;
	if (code && !exporter->file_failed)
		complain("cannot write metrics to %s, it is tried again: %s", exporter->file.path,
			 err);
	exporter->file_failed = code;
}

/* Where another process writes it now, that may end; what else is wrong stays so. */
static int start_file(struct exporter *exporter, char *err, size_t err_size)
{
	char why[MESSAGE_MAX];
	int code;

	exporter->file.path = exporter->o->textfile;
	if (!exporter->file.path)
		return 0;
	code = write_file(exporter, why, sizeof(why));
	if (code && code != -EBUSY)
		return refuse(err, err_size, code, "cannot write metrics to %s: %s",
			      exporter->file.path, why);
	if (code)
		keep_file(exporter);
	return 0;
}

int exporter_open(const struct options *o, struct exporter **to, char *err, size_t err_size)
{
	struct exporter *exporter;
	int code;

	*to = NULL;
	if (!option_given(o, OPT_metrics) && !o->textfile)
		return 0;
	exporter = calloc(1, sizeof(*exporter));
	if (exporter)
		exporter->reading = reading_new();
	if (!exporter || !exporter->reading) {
		free(exporter);
		return refuse(err, err_size, -ENOMEM, "no memory to export metrics");
	}
	exporter->o = o;
	exporter->file.held = -1;
	code = start_file(exporter, err, err_size);
	if (!code)
		try_server(exporter);
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
	reading_about(exporter->reading, name);
	exporter->file_at_ns = 0;
}

void exporter_group(struct exporter *exporter, const struct group *group)
{
	if (exporter)
		reading_group(exporter->reading, group);
}

int exporter_fd(const struct exporter *exporter)
{
	return exporter && exporter->server ? server_fd(exporter->server) : -1;
}

void exporter_step(struct exporter *exporter)
{
	bool file, asked = false;

	if (!exporter)
		return;
	try_server(exporter);
	if (exporter->server) {
		server_step(exporter->server);
		asked = server_waits(exporter->server);
	}
	file = exporter->file.path && now_ns() >= exporter->file_at_ns;
	if (file || asked)
		reading_want(exporter->reading);
	reading_step(exporter->reading);
	if (reading_is_due(exporter->reading))
		return;
	if (asked)
		server_answer(exporter->server);
	if (file)
		keep_file(exporter);
}

u64 exporter_due_ns(const struct exporter *exporter)
{
	u64 due = UINT64_MAX;

	if (!exporter)
		return due;
	if (reading_is_due(exporter->reading))
		return 0;
	if (exporter->file.path)
		due = exporter->file_at_ns;
	if (exporter->server)
		return earliest(due, now_ns() + server_timeout_ms(exporter->server) * 1000000);
	return exporter->server_failed ? earliest(due, exporter->server_at_ns) : due;
}

void exporter_close(struct exporter *exporter)
{
	if (!exporter)
		return;
	server_close(exporter->server);
	textfile_remove(&exporter->file);
	reading_free(exporter->reading);
	free(exporter);
}

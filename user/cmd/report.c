/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup report: pictures and numbers of what other commands measured. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../capture/sink.h"
#include "../message.h"
#include "../report/page.h"

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

static int write_report(const char *path, const struct inputs *inputs, const struct charts *charts)
{
	char *text = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	int code;

	if (!to)
		return -ENOMEM;
	(ends_in(path, ".svg") ? report_svg : report_html)(to, inputs, charts);
	code = ferror(to) ? -ENOMEM : 0;
	if (fclose(to))
		code = -ENOMEM;
	if (!code)
		code = sink_write_file(path, text, length, true);
	free(text);
	return code;
}

static int make_report(const char *path, const struct inputs *inputs)
{
	struct charts charts = { 0 };
	int code = charts_make(&charts, inputs);

	if (!code)
		code = write_report(path, inputs, &charts);
	charts_free(&charts);
	return code;
}

int cmd_report(struct options *o)
{
	struct inputs inputs = { 0 };
	char err[MESSAGE_MAX];
	int code = 0;

	if (!o->output || !(ends_in(o->output, ".html") || ends_in(o->output, ".svg"))) {
		complain("report: say which file, which cannot be stdout: -o report.html, or .svg "
			 "for the pictures alone");
		return EXIT_USAGE;
	}
	if (sink_is_input(o->output, o->args, o->n_args)) {
		complain("report: -o %s: is an input, too: write to another file", o->output);
		return EXIT_USAGE;
	}
	sink_guard();
	for (int i = 0; !code && i < o->n_args; i++)
		code = inputs_read(&inputs, o->args[i], err, sizeof(err));
	if (!code) {
		code = make_report(o->output, &inputs);
		if (code)
			snprintf(err, sizeof(err), "%s: cannot be written: %s", o->output,
				 strerror(-code));
	}
	if (code)
		complain("report: %s", err);
	else if (o->json)
		printf("{\"inputs\": %zu}\n", inputs.n);
	inputs_free(&inputs);
	return code ? EXIT_FAILED : EXIT_OK;
}

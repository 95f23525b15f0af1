/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/report/page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/version.h"

#define HEAD_HEIGHT 34
#define HEAD_LINE 18
#define HEAD_LETTERS 105 /* of 12 pixels in CHART_WIDTH */

static const char page_style[] =
	"body{background:var(--page);color:var(--text);font:14px sans-serif;margin:2em auto;"
	"max-width:800px;padding:0 1em}svg{max-width:100%;height:auto;display:block;margin:1em 0}\n"
	"h1{font-size:22px}h2{font-size:16px;margin-top:2em}code{overflow-wrap:anywhere}"
	".t{overflow-x:auto}table{border-collapse:collapse}\n"
	"th,td{border-bottom:1px solid var(--grid);padding:3px 10px;text-align:left;"
	"font-variant-numeric:tabular-nums}th,td{white-space:nowrap}td.n{text-align:right}\n";

static const char *title_of(const struct inputs *inputs)
{
	static const char *const titles[] = {
		[INPUT_SIMULATE] = "Errors of filters in simulated streams",
		[INPUT_PCAP] = "De-duplication",
		[INPUT_BENCH] = "Time that filters take",
	};

	for (size_t i = 1; i < inputs->n; i++)
		if (inputs->all[i].kind != inputs->all[0].kind)
			return "xdp-dedup report";
	return titles[inputs->all[0].kind];
}

static void date(char text[32])
{
	time_t now = time(NULL);
	struct tm utc;

	strftime(text, 32, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
}

/* What was run, as far as the options that were recorded tell; free() it. NULL: no memory. */
static char *command_of(const struct input *input)
{
	static const char *const names[] = {
		[INPUT_SIMULATE] = "simulate", [INPUT_PCAP] = "pcap", [INPUT_BENCH] = "bench"
	};
	json_t *options = json_object_get(input->data, "options"), *value;
	json_t *inputs = json_object_get(input->data, "inputs");
	bool stream = input->kind == INPUT_PCAP && !inputs;
	const char *name;
	char *text = NULL;
	size_t length, i;
	FILE *to = open_memstream(&text, &length);

	if (!to)
		return NULL;
	fprintf(to, "xdp-dedup %s", stream ? "stream" : names[input->kind]);
	json_array_foreach (inputs, i, value)
		fprintf(to, " %s", json_string_value(value) ?: "");
	json_object_foreach (options, name, value)
		fprintf(to, json_is_string(value) ? " --%s %s" : " --%s", name,
			json_string_value(value));
	if (!json_object_get(options, "json"))
		fputs(" --json", to);
	fclose(to);
	return text;
}

static bool is_scalar(const json_t *value)
{
	return !json_is_object(value) && !json_is_array(value);
}

static void put_value(FILE *to, const json_t *value)
{
	fprintf(to, "<td%s>", json_is_number(value) ? " class=\"n\"" : "");
	if (json_is_string(value))
		chart_escape(to, json_string_value(value));
	else if (json_is_integer(value))
		fprintf(to, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		fprintf(to, "%.6g", json_real_value(value));
	else
		fputs(json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "\u2013", to);
	fputs("</td>", to);
}

/* Objects side by side: a column for each scalar of the first. */
static void put_rows(FILE *to, json_t *rows)
{
	json_t *row, *value, *first = json_array_get(rows, 0);
	const char *name;
	size_t i;

	fputs("<div class=\"t\"><table>\n<tr>", to);
	json_object_foreach (first, name, value) {
		if (!is_scalar(value))
			continue;
		fputs("<th>", to);
		chart_escape(to, name);
		fputs("</th>", to);
	}
	fputs("</tr>\n", to);
	json_array_foreach (rows, i, row) {
		fputs("<tr>", to);
		json_object_foreach (first, name, value)
			if (is_scalar(value))
				put_value(to, json_object_get(row, name));
		fputs("</tr>\n", to);
	}
	fputs("</table></div>\n", to);
}

/* A row for each scalar, also of the objects within, but not of the options: those are the command line. */
static void put_scalars(FILE *to, json_t *object, const char *prefix)
{
	char path[128];
	const char *name;
	json_t *value;

	json_object_foreach (object, name, value) {
		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", name);
		if (json_is_object(value) && strcmp(name, "options"))
			put_scalars(to, value, path);
		if (!is_scalar(value))
			continue;
		fputs("<tr><th>", to);
		chart_escape(to, path);
		fputs("</th>", to);
		put_value(to, value);
		fputs("</tr>\n", to);
	}
}

static void put_numbers(FILE *to, const struct input *input)
{
	json_t *series = json_object_get(input->data, "series");

	fputs("<h2>Numbers: ", to);
	chart_escape(to, input->label);
	fputs("</h2>\n", to);
	if (input->kind == INPUT_BENCH) {
		put_rows(to, input->data);
		return;
	}
	fputs("<div class=\"t\"><table>\n", to);
	put_scalars(to, input->data, "");
	fputs("</table></div>\n", to);
	if (json_array_size(series)) {
		fputs("<h2>Over the stream</h2>\n", to);
		put_rows(to, series);
	}
}

static void put_commands(FILE *to, const struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++) {
		char *command = command_of(&inputs->all[i]);

		fputs("<p><code>", to);
		chart_escape(to, command ?: "");
		fputs("</code></p>\n", to);
		free(command);
	}
}

void report_html(FILE *to, const struct inputs *inputs, const struct charts *charts)
{
	const char *title = title_of(inputs);
	char today[32];

	date(today);
	fprintf(to,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<title>%s</title>\n<style>\n%s%s</style></head>\n<body>\n<h1>%s</h1>\n"
		"<p>xdp-dedup %s (%s), %s</p>\n",
		title, CHART_STYLE, page_style, title, program_version, program_commit, today);
	put_commands(to, inputs);
	for (size_t i = 0; i < charts->n; i++)
		chart_write(to, &charts->all[i], 0);
	for (size_t i = 0; i < inputs->n; i++)
		put_numbers(to, &inputs->all[i]);
	fputs("</body></html>\n", to);
}

/* A command line that is too long for the picture is cut. */
static void put_head(FILE *to, const struct inputs *inputs, const char *today)
{
	int y = HEAD_HEIGHT;

	fprintf(to,
		"<text x=\"20\" y=\"26\" class=\"h\">%s</text>\n<text x=\"%d\" y=\"26\" "
		"class=\"e\">%s</text>\n",
		title_of(inputs), CHART_WIDTH - 20, today);
	for (size_t i = 0; i < inputs->n; i++) {
		char *command = command_of(&inputs->all[i]);

		if (command && strlen(command) > HEAD_LETTERS)
			strcpy(command + HEAD_LETTERS - 4, " ...");
		fprintf(to, "<text x=\"20\" y=\"%d\">", y += HEAD_LINE);
		chart_escape(to, command ?: "");
		fputs("</text>\n", to);
		free(command);
	}
}

void report_svg(FILE *to, const struct inputs *inputs, const struct charts *charts)
{
	int top = HEAD_HEIGHT + HEAD_LINE * ((int)inputs->n + 1), height = top;
	char today[32];

	for (size_t i = 0; i < charts->n; i++)
		height += chart_height(&charts->all[i]);
	date(today);
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n<style>\n%s</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" style=\"fill:var(--page)\"/>\n",
		CHART_WIDTH, height, CHART_WIDTH, height, CHART_STYLE);
	put_head(to, inputs, today);
	for (size_t i = 0; i < charts->n; i++) {
		chart_write(to, &charts->all[i], top);
		top += chart_height(&charts->all[i]);
	}
	fputs("</svg>\n", to);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/report/charts.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* No command prints more, and axes are drawn without overflow. */
#define NUMBER_END 1e100

static double number_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	return fabs(number) < NUMBER_END ? number : NAN;
}

/* One more plot, with a title that is made like printf() does; NULL: no memory. */
__attribute__((format(printf, 2, 3))) static struct chart *add_chart(struct charts *charts,
								     const char *title, ...)
{
	struct chart *more = reallocarray(charts->all, charts->n + 1, sizeof(*more));
	void *titles;
	va_list args;

	if (!more)
		return NULL;
	charts->all = more;
	titles = reallocarray(charts->titles, charts->n + 1, CHART_TITLE_MAX);
	if (!titles)
		return NULL;
	charts->titles = titles;
	more[charts->n] = (struct chart){ 0 };
	va_start(args, title);
	vsnprintf(charts->titles[charts->n], CHART_TITLE_MAX, title, args);
	va_end(args);
	return &more[charts->n++];
}

static struct chart_line *add_line(struct chart *chart, size_t n)
{
	struct chart_line *more = reallocarray(chart->lines, chart->n_lines + 1, sizeof(*more));

	if (!more)
		return NULL;
	chart->lines = more;
	more[chart->n_lines] =
		(struct chart_line){ .points = calloc(n ?: 1, sizeof(*more->points)) };
	return more[chart->n_lines].points ? &more[chart->n_lines++] : NULL;
}

static int add_bar(struct chart *chart, const char *name, double value)
{
	struct chart_bar *more = reallocarray(chart->bars, chart->n_bars + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	chart->bars = more;
	snprintf(more[chart->n_bars].name, sizeof(more->name), "%s", name);
	more[chart->n_bars++].value = value;
	return 0;
}

/* What is no number is left out. */
static void add_point(struct chart_line *line, const json_t *row, const char *name)
{
	struct chart_point *p = &line->points[line->n];
	char deviation[32];

	snprintf(deviation, sizeof(deviation), "%s_sd", name);
	*p = (struct chart_point){ number_of(row, "records"), number_of(row, name),
				   number_of(row, deviation) };
	line->n += !isnan(p->x) && !isnan(p->y);
}

/* What a rate at a point was on average so far, over distinct records. */
struct mean {
	double distinct, sum, last;
};

/* As add_point(), of that mean. Between two points the rate is taken to go straight; it begins with an empty filter. */
static void add_mean_point(struct chart_line *line, const json_t *row, const char *name,
			   struct mean *mean)
{
	double distinct = number_of(row, "distinct"), rate = number_of(row, name);

	if (isnan(distinct) || isnan(rate) || !(distinct > 0))
		return;
	mean->sum += (distinct - mean->distinct) * (mean->last + rate) / 2;
	*mean = (struct mean){ distinct, mean->sum, rate };
	line->points[line->n] =
		(struct chart_point){ number_of(row, "records"), mean->sum / distinct, 0 };
	line->n += !isnan(line->points[line->n].x);
}

/* Points of @name over records, and of what its runs deviate, up to the end, which is no part of the series;
 * @averaged: of its mean so far.
 */
static int add_series(struct chart *chart, const struct input *input, const char *name,
		      const char *what, bool dashed, bool averaged)
{
	const json_t *series = json_object_get(input->data, "series"), *row;
	struct mean mean = { 0 };
	struct chart_line *line;
	size_t i;

	if (isnan(number_of(json_array_get(series, 0), name)))
		return 0;
	line = add_line(chart, json_array_size(series) + 1);
	if (!line)
		return -ENOMEM;
	line->dashed = dashed;
	snprintf(line->name, sizeof(line->name), "%.50s: %s", input->label, what);
	for (i = 0; i <= json_array_size(series); i++) {
		row = i < json_array_size(series) ? json_array_get(series, i) : input->data;
		if (row == input->data && line->n &&
		    !(number_of(row, "records") > line->points[line->n - 1].x))
			break;
		if (averaged)
			add_mean_point(line, row, name, &mean);
		else
			add_point(line, row, name);
	}
	return 0;
}

/* Rates of errors are those of all records so far, and the model's, which is of one point, is made one. */
struct rate {
	const char *name, *model, *title, *label;
	bool so_far;
};

static const struct rate rates[] = {
	{ "fpr", "fpr_model", "False-positive rate over the stream",
	  "share of distinct records called duplicate", true },
	{ "fnr", NULL, "False-negative rate over the stream", "share of duplicates missed", true },
	{ "load", "load_model", "Load of the filter over the stream", "share of cells in use",
	  false },
};

static int rate_over_records(struct charts *charts, const struct inputs *inputs,
			     const struct rate *rate)
{
	struct chart *chart = add_chart(charts, "%s", rate->title);
	int code = chart ? 0 : -ENOMEM;

	for (size_t i = 0; !code && i < inputs->n; i++) {
		if (inputs->all[i].kind != INPUT_SIMULATE)
			continue;
		code = add_series(chart, &inputs->all[i], rate->name,
				  rate->so_far ? "of all so far" : "at that point", false, false);
		if (!code && rate->model)
			code = add_series(chart, &inputs->all[i], rate->model,
					  rate->so_far ? "of all so far, by the model"
						       : "at that point, by the model",
					  true, rate->so_far);
	}
	if (code)
		return code;
	chart->x_label = "records";
	chart->y_label = rate->label;
	if (!chart->n_lines)
		charts->n--;
	return 0;
}

/* At the end of the stream, an input each. */
static int rate_at_end(struct charts *charts, const struct inputs *inputs, const char *name,
		       const char *title, const char *label)
{
	struct chart *chart = add_chart(charts, "%s", title);
	int code = chart ? 0 : -ENOMEM;

	for (size_t i = 0; !code && i < inputs->n; i++)
		if (inputs->all[i].kind == INPUT_SIMULATE)
			code = add_bar(chart, inputs->all[i].label,
				       number_of(inputs->all[i].data, name));
	if (!code)
		chart->x_label = label;
	return code;
}

static int simulations(struct charts *charts, const struct inputs *inputs)
{
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(rates) / sizeof(*rates); i++)
		code = rate_over_records(charts, inputs, &rates[i]);
	if (!code)
		code = rate_at_end(charts, inputs, "fpr", "False-positive rate at the end",
				   "share of distinct records called duplicate");
	return code
		       ?: rate_at_end(charts, inputs, "fnr", "False-negative rate at the end",
				      "share of duplicates missed");
}

/* Distinct, duplicate, and each reason for bypassing that there was. */
static int verdicts(struct charts *charts, const struct input *input)
{
	struct chart *chart = add_chart(charts, "Verdicts: %s", input->label);
	json_t *bypassed = json_object_get(input->data, "bypassed");
	const char *reason;
	char name[80];
	json_t *count;
	int code;

	if (!chart)
		return -ENOMEM;
	chart->x_label = json_object_get(input->data, "records") ? "records" : "packets";
	code = add_bar(chart, "distinct: first copies", number_of(input->data, "distinct"));
	if (!code)
		code = add_bar(chart, "duplicate", number_of(input->data, "duplicates"));
	json_object_foreach (bypassed, reason, count) {
		snprintf(name, sizeof(name), "bypassed: %.60s", reason);
		if (!code && json_number_value(count) > 0)
			code = add_bar(chart, name, json_number_value(count));
	}
	return code;
}

/* Counts by time, as packets a second in the middle of each bin. */
static int add_rates(struct chart *chart, const json_t *timeline, const char *name)
{
	const json_t *counts = json_object_get(timeline, name);
	double bin = number_of(timeline, "bin_seconds");
	struct chart_line *line = add_line(chart, json_array_size(counts));

	if (!line)
		return -ENOMEM;
	snprintf(line->name, sizeof(line->name), "%s", name);
	for (size_t i = 0; i < json_array_size(counts); i++) {
		double count = json_number_value(json_array_get(counts, i));

		line->points[line->n++] = (struct chart_point){ (i + 0.5) * bin, count / bin, 0 };
	}
	return 0;
}

static int over_time(struct charts *charts, const struct input *input)
{
	const json_t *timeline = json_object_get(input->data, "timeline");
	struct chart *chart;
	int code;

	if (!json_array_size(json_object_get(timeline, "distinct")) ||
	    !(number_of(timeline, "bin_seconds") > 0))
		return 0;
	chart = add_chart(charts, "Verdicts over time: %s", input->label);
	if (!chart)
		return -ENOMEM;
	chart->x_label = "seconds since the first packet";
	chart->y_label = "packets a second";
	code = add_rates(chart, timeline, "distinct");
	if (!code)
		code = add_rates(chart, timeline, "duplicate");
	return code ?: add_rates(chart, timeline, "bypassed");
}

/* What rows of bench have in common that are compared. */
static bool same_load(const json_t *a, const json_t *b)
{
	return number_of(a, "keys") == number_of(b, "keys") &&
	       number_of(a, "packet_bytes") == number_of(b, "packet_bytes") &&
	       number_of(a, "hit_ratio") == number_of(b, "hit_ratio");
}

/* A row's name, and the placement where that is not the usual one. */
static void bench_name(const json_t *row, char *name, size_t size)
{
	const char *placement = json_string_value(json_object_get(row, "placement")) ?: "shared";
	bool usual = !strcmp(placement, "shared");

	snprintf(name, size, "%s%s%s", json_string_value(json_object_get(row, "name")) ?: "",
		 usual ? "" : ", ", usual ? "" : placement);
}

/* The rows that come @first in @all with the same load; one before has drawn the others. */
static int bench_load(struct charts *charts, json_t *all, size_t first)
{
	const json_t *like = json_array_get(all, first), *row;
	struct chart *chart;
	char name[80];
	int code = 0;

	for (size_t i = 0; i < first; i++)
		if (same_load(json_array_get(all, i), like))
			return 0;
	chart = add_chart(charts, "Time of a packet: %.0f keys, %.0f bytes, %.0f %% duplicates",
			  number_of(like, "keys"), number_of(like, "packet_bytes"),
			  100 * number_of(like, "hit_ratio"));
	if (!chart)
		return -ENOMEM;
	chart->x_label = "nanoseconds a packet, over an empty program's";
	for (size_t i = first; !code && i < json_array_size(all); i++) {
		row = json_array_get(all, i);
		bench_name(row, name, sizeof(name));
		if (same_load(row, like) && number_of(row, "ns_over_baseline") > 0)
			code = add_bar(chart, name, number_of(row, "ns_over_baseline"));
	}
	if (!code && !chart->n_bars)
		charts->n--;
	return code;
}

static int one(struct charts *charts, const struct input *input)
{
	int code = 0;

	if (input->kind == INPUT_PCAP)
		return verdicts(charts, input) ?: over_time(charts, input);
	for (size_t i = 0; input->kind == INPUT_BENCH && !code && i < json_array_size(input->data);
	     i++)
		code = bench_load(charts, input->data, i);
	return code;
}

static bool has_simulation(const struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++)
		if (inputs->all[i].kind == INPUT_SIMULATE)
			return true;
	return false;
}

int charts_make(struct charts *charts, const struct inputs *inputs)
{
	int code = has_simulation(inputs) ? simulations(charts, inputs) : 0;

	for (size_t i = 0; !code && i < inputs->n; i++)
		code = one(charts, &inputs->all[i]);
	for (size_t i = 0; i < charts->n; i++)
		charts->all[i].title = charts->titles[i];
	return code;
}

void charts_free(struct charts *charts)
{
	for (size_t i = 0; i < charts->n; i++)
		chart_free(&charts->all[i]);
	free(charts->all);
	free(charts->titles);
}

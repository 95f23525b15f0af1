/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOP 44
#define PLOT_HEIGHT 250
#define AXIS_ROOM 52 /* numbers and label beneath */
#define LEGEND_ROW 20
#define LINES_LEFT 86
#define RIGHT 34
#define BAR_ROW 24
#define LETTER 7 /* at most the mean width of one of 12 pixels */
#define LABEL_LETTERS 48
#define TICKS 5
#define LOG_FROM 100

struct axis {
	double low, high, step;
	bool log;	 /* low and high are decimal logarithms */
	double from, to; /* in pixels */
};

void chart_escape(FILE *to, const char *text)
{
	static const char special[] = "<>&\"";
	static const char *const names[] = { "lt", "gt", "amp", "quot" };

	for (; *text; text++) {
		const char *found = strchr(special, *text);

		if (found)
			fprintf(to, "&%s;", names[found - special]);
		else if ((unsigned char)*text >= ' ')
			putc(*text, to);
	}
}

/* At most @most letters of @text: an ellipsis stands for the rest. */
static void put_short(FILE *to, const char *text, size_t most)
{
	char start[LABEL_LETTERS + 1];
	size_t length = strlen(text);

	if (length <= most) {
		chart_escape(to, text);
		return;
	}
	for (length = most - 1; length && (text[length] & 0xc0) == 0x80; length--)
		; /* not within a letter */
	snprintf(start, sizeof(start), "%.*s", (int)length, text);
	chart_escape(to, start);
	fputs("\u2026", to);
}

static void put_text(FILE *to, double x, double y, const char *class, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	chart_escape(to, text);
	fputs("</text>\n", to);
}

static void put_number(FILE *to, double x, double y, const char *class, double value)
{
	static const struct {
		double from, unit;
		const char *suffix;
	} units[] = { { 1e9, 1e9, "G" }, { 1e6, 1e6, "M" }, { 1e4, 1e3, "k" }, { 0, 1, "" } };
	char text[32];
	int i = 0;

	while (fabs(value) < units[i].from)
		i++;
	snprintf(text, sizeof(text), "%.4g%s", value / units[i].unit, units[i].suffix);
	put_text(to, x, y, class, text);
}

/* Steps of 1, 2 or 5 times a power of ten, at most TICKS and one. */
static void make_axis(struct axis *axis, double low, double high)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10((high - low) / TICKS)));
	int i = 0;

	while (power * steps[i] < (high - low) / TICKS * (1 - 1e-12))
		i++;
	axis->step = power * steps[i];
	axis->low = floor(low / axis->step) * axis->step;
	axis->high = ceil(high / axis->step * (1 - 1e-12)) * axis->step;
}

static void make_log_axis(struct axis *axis, double low, double high)
{
	axis->log = true;
	axis->low = floor(log10(low) + 1e-12);
	axis->high = ceil(log10(high) - 1e-12);
	axis->step = ceil((axis->high - axis->low) / (2 * TICKS));
}

static double place(const struct axis *axis, double value)
{
	double at = axis->log ? log10(value) : value;

	return axis->from + (at - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

static double tick_value(const struct axis *axis, double at)
{
	return axis->log ? pow(10, at) : at;
}

static int ticks(const struct axis *axis)
{
	return round((axis->high - axis->low) / axis->step);
}

struct extent {
	double low, high;
};

static void widen(struct extent *e, double value)
{
	e->low = fmin(e->low, value);
	e->high = fmax(e->high, value);
}

static void extents(const struct chart *c, struct extent *x, struct extent *y)
{
	*x = *y = (struct extent){ INFINITY, -INFINITY };
	for (size_t i = 0; i < c->n_lines; i++) {
		for (size_t j = 0; j < c->lines[i].n; j++) {
			const struct chart_point *p = &c->lines[i].points[j];

			widen(x, p->x);
			widen(y, p->y);
			widen(y, p->y + p->deviation);
		}
	}
}

static void axes_of(const struct chart *c, struct axis *x, struct axis *y)
{
	struct extent xs, ys;

	extents(c, &xs, &ys);
	*x = (struct axis){ .from = LINES_LEFT, .to = CHART_WIDTH - RIGHT };
	*y = (struct axis){ .from = TOP + PLOT_HEIGHT, .to = TOP };
	make_axis(x, fmin(xs.low, 0), xs.high > 0 ? xs.high : 1);
	if (ys.low > 0 && ys.high >= LOG_FROM * ys.low)
		make_log_axis(y, ys.low, ys.high);
	else
		make_axis(y, 0, ys.high > 0 ? ys.high : 1);
}

static void put_line(FILE *to, const char *class, double x1, double y1, double x2, double y2)
{
	fprintf(to, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, x1, y1, x2, y2);
}

static void put_x_axis(FILE *to, const struct axis *x, double top, double bottom, const char *label)
{
	for (int i = 0; i <= ticks(x); i++) {
		double value = x->low + i * x->step, at = place(x, value);

		put_line(to, "g", at, top, at, bottom);
		put_number(to, at, bottom + 18, "m", value);
	}
	put_line(to, "a", x->from, bottom, x->to, bottom);
	put_text(to, (x->from + x->to) / 2, bottom + 40, "m", label);
}

static void put_y_axis(FILE *to, const struct axis *y, double left, double right, const char *label)
{
	for (int i = 0; i <= ticks(y); i++) {
		double value = tick_value(y, y->low + i * y->step), at = place(y, value);

		put_line(to, "g", left, at, right, at);
		put_number(to, left - 8, at + 4, "e", value);
	}
	put_line(to, "a", left, y->from, left, y->to);
	fprintf(to, "<text class=\"m\" transform=\"translate(18 %.1f) rotate(-90)\">",
		(y->from + y->to) / 2);
	chart_escape(to, label);
	fputs("</text>\n", to);
}

static void put_points(FILE *to, const struct chart_line *line, const struct axis *x,
		       const struct axis *y)
{
	fprintf(to, "<path class=\"l s%s\" d=\"", line->dashed ? " d" : "");
	for (size_t i = 0; i < line->n; i++)
		fprintf(to, "%c%.1f %.1f", i ? 'L' : 'M', place(x, line->points[i].x),
			place(y, line->points[i].y));
	fputs("\"/>\n", to);
	for (size_t i = 0; i < line->n; i++) {
		const struct chart_point *p = &line->points[i];
		double at = place(x, p->x);

		if (!line->dashed && line->n <= 40)
			fprintf(to, "<circle class=\"f\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", at,
				place(y, p->y));
		if (p->deviation > 0 && (!y->log || p->y > p->deviation))
			put_line(to, "s", at, place(y, p->y - p->deviation), at,
				 place(y, p->y + p->deviation));
	}
}

/* Of several; one line is what the title says. */
static void put_legend(FILE *to, const struct chart_line *line, double y)
{
	fprintf(to, "<path class=\"l s%s\" d=\"M%d %.1fh36\"/>\n", line->dashed ? " d" : "",
		LINES_LEFT, y - 4);
	put_text(to, LINES_LEFT + 46, y, "", line->name);
}

static void put_lines(FILE *to, const struct chart *c)
{
	double bottom = TOP + PLOT_HEIGHT, legend = bottom + AXIS_ROOM + LEGEND_ROW / 2;
	struct axis x, y;
	int colour = -1;

	axes_of(c, &x, &y);
	put_x_axis(to, &x, TOP, bottom, c->x_label);
	put_y_axis(to, &y, x.from, x.to, c->y_label);
	for (size_t i = 0; i < c->n_lines; i++) {
		colour += !c->lines[i].dashed;
		fprintf(to, "<g class=\"c%d\">\n", colour % CHART_COLOURS);
		put_points(to, &c->lines[i], &x, &y);
		put_legend(to, &c->lines[i], legend + i * LEGEND_ROW);
		fputs("</g>\n", to);
	}
}

static size_t longest_name(const struct chart *c)
{
	size_t most = 0;

	for (size_t i = 0; i < c->n_bars; i++)
		if (strlen(c->bars[i].name) > most)
			most = strlen(c->bars[i].name);
	return most < LABEL_LETTERS ? most : LABEL_LETTERS;
}

static void put_bar(FILE *to, const struct chart_bar *bar, const struct axis *x, double y)
{
	double end = isnan(bar->value) ? x->from : place(x, bar->value);

	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"e\">", x->from - 8, y + 15);
	put_short(to, bar->name, LABEL_LETTERS);
	fprintf(to,
		"</text>\n<rect class=\"f c0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%d\"/>\n",
		x->from, y + 4, end - x->from, BAR_ROW - 8);
	if (isnan(bar->value))
		put_text(to, end + 6, y + 15, "", "not known");
	else
		put_number(to, end + 6, y + 15, "", bar->value);
}

static void put_bars(FILE *to, const struct chart *c)
{
	struct axis x = { .from = 24 + longest_name(c) * LETTER, .to = CHART_WIDTH - 2 * RIGHT };
	double most = 0;

	for (size_t i = 0; i < c->n_bars; i++)
		most = fmax(most, c->bars[i].value); /* of NAN and a number, fmax() takes this */
	make_axis(&x, 0, most > 0 ? most : 1);
	put_x_axis(to, &x, TOP, TOP + c->n_bars * BAR_ROW, c->x_label);
	for (size_t i = 0; i < c->n_bars; i++)
		put_bar(to, &c->bars[i], &x, TOP + i * BAR_ROW);
}

int chart_height(const struct chart *c)
{
	if (c->n_bars)
		return TOP + c->n_bars * BAR_ROW + AXIS_ROOM;
	return TOP + PLOT_HEIGHT + AXIS_ROOM + c->n_lines * LEGEND_ROW + 8;
}

void chart_write(FILE *to, const struct chart *c, int y)
{
	int height = chart_height(c);

	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" y=\"%d\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
		y, CHART_WIDTH, height, CHART_WIDTH, height);
	chart_escape(to, c->title);
	fputs("</title>\n", to);
	put_text(to, 20, 24, "h", c->title);
	if (c->n_bars)
		put_bars(to, c);
	else
		put_lines(to, c);
	fputs("</svg>\n", to);
}

void chart_free(struct chart *c)
{
	for (size_t i = 0; i < c->n_lines; i++)
		free(c->lines[i].points);
	free(c->lines);
	free(c->bars);
	*c = (struct chart){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plots as SVG. They take their colours from the classes of CHART_STYLE, which has a light and a dark
 * set: that, and the wish for files that need neither a plotter nor a network, is why gnuplot does not draw them.
 */
#ifndef USER_REPORT_CHART_H
#define USER_REPORT_CHART_H

#include <stdbool.h>
#include <stdio.h>

#define CHART_WIDTH 760
#define CHART_COLOURS 8

/* Okabe and Ito's colours, which most colour-blind people tell apart, darker or lighter. */
#define CHART_STYLE                                                                               \
	":root{--text:#1a1a1a;--page:#fff;--grid:#d8d8d8;--c0:#0072b2;--c1:#b84a00;--c2:#007a5a;" \
	"--c3:#a0408a;--c4:#8a6a00;--c5:#2a8fc0;--c6:#555;--c7:#c0392b}\n"                        \
	"@media(prefers-color-scheme:dark){:root{--text:#e6e6e6;--page:#16181c;--grid:#3a3e46;"   \
	"--c0:#56b4e9;--c1:#ff9d5c;--c2:#3cc9a0;--c3:#e59ad0;--c4:#f0d264;--c5:#9ad7ff;"          \
	"--c6:#b0b0b0;--c7:#ff8a80}}\n"                                                           \
	"text{fill:var(--text);font:12px sans-serif}.h{font-size:15px;font-weight:bold}"          \
	".e{text-anchor:end}.m{text-anchor:middle}.g{stroke:var(--grid)}"                         \
	".a{stroke:var(--text)}.l{fill:none;stroke-width:2}.d{stroke-dasharray:6 4}\n"            \
	".c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}"                \
	".c4{--c:var(--c4)}.c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}"                \
	".s{stroke:var(--c)}.f{fill:var(--c)}\n"

struct chart_point {
	double x, y, deviation; /* deviation 0: none is drawn */
};

struct chart_line {
	char name[80];
	bool dashed; /* in the colour of the line before */
	struct chart_point *points;
	size_t n;
};

struct chart_bar {
	char name[80];
	double value; /* at least 0; NAN: not known, no bar */
};

struct chart {
	const char *title, *x_label, *y_label; /* with their units */
	struct chart_line *lines;	       /* a plot of lines, or ... */
	size_t n_lines;
	struct chart_bar *bars; /* ... of bars, whose axis is x */
	size_t n_bars;
};

/* Its height in pixels. */
int chart_height(const struct chart *chart);

/* Write it as an <svg> element at @y of the one around it; errors are those of @to. A y axis is
 * logarithmic if its values are all positive and a hundred times apart.
 */
void chart_write(FILE *to, const struct chart *chart, int y);

/* Write @text as the content of an element or attribute. */
void chart_escape(FILE *to, const char *text);

void chart_free(struct chart *chart);

#endif

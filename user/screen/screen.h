/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the screens of `top` say, as text on a canvas of any size: nothing here knows a terminal, a clock or a
 * map.
 */
#ifndef USER_SCREEN_SCREEN_H
#define USER_SCREEN_SCREEN_H

#include <time.h>

#include "user/screen/canvas.h"
#include "user/screen/figures.h"

/* Below this there is only a line that says so. */
#define SCREEN_LEAST_WIDTH 40
#define SCREEN_LEAST_HEIGHT 8

/* What is said beside the figures. */
struct view {
	u32 number, of; /* which instance it is, from 1, of how many */
	bool keys;	/* the keys that can be pressed are named in the last row */
	bool paused;
	time_t clock;
};

/* One instance. The canvas has its size; where it is low each part says less, the important ones last. */
void screen_instance(struct canvas *canvas, const struct view *view, const struct figures *figures);

/* A row of the list: NULL figures: it cannot be read, and @why says why. */
struct screen_row {
	const char *name, *why;
	const struct figures *figures;
};

/* What is to be seen first is least. */
enum screen_rank { SCREEN_RANK_UNREAD, SCREEN_RANK_SICK, SCREEN_RANK_QUIET, SCREEN_RANK_WELL };
enum screen_rank screen_row_rank(const struct screen_row *row);

/* A row for each of @n instances, in their order, of which @chosen (from 0) is marked, if keys are named. */
void screen_list(struct canvas *canvas, const struct view *view, const struct screen_row *rows,
		 u32 n, u32 chosen);

/* What the words on the screens mean. */
void screen_help(struct canvas *canvas, const struct view *view);

/* Only words: about what is not there. */
void screen_words(struct canvas *canvas, const struct view *view, const char *words);

#endif

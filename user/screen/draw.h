/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A canvas on a terminal, and the keys that are pressed there: the only part that knows ncurses. */
#ifndef USER_SCREEN_DRAW_H
#define USER_SCREEN_DRAW_H

#include <stddef.h>

#include "user/screen/canvas.h"

enum pressed {
	PRESSED_NOTHING, /* none is waiting */
	PRESSED_OTHER,	 /* one that means nothing, or the terminal has another size */
	PRESSED_QUIT,
	PRESSED_PAUSE,
	PRESSED_NEXT,
	PRESSED_PREVIOUS,
	PRESSED_FIRST, /* Home */
	PRESSED_LAST,  /* End */
	PRESSED_PAGE_UP,
	PRESSED_PAGE_DOWN,
	PRESSED_CHOOSE, /* Enter */
	PRESSED_LIST,
	PRESSED_HELP,
};

/*
 * Take over the terminal, with colours if it has any and NO_COLOR is not set (no-color.org). Returns 0, and then
 * draw_close() is due; or with one line in @err -ENOTTY: TERM says no terminal that is known.
 */
int draw_open(char *err, size_t err_size);

/* The terminal as it was. */
void draw_close(void);

void draw_size(u32 *width, u32 *height);
void draw_canvas(const struct canvas *canvas);

/* Does not wait. */
enum pressed draw_pressed(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of text of which each character has a look: what a terminal draws, or a file gets as it is. */
#ifndef USER_SCREEN_CANVAS_H
#define USER_SCREEN_CANVAS_H

#include <stdio.h>

#include <xdd/types.h>

#define CANVAS_WIDTH 240
#define CANVAS_HEIGHT 120

/* Each can be told from the text beside it without colours, too. */
enum look {
	LOOK_PLAIN,
	LOOK_HEADING,
	LOOK_FAINT,
	LOOK_GOOD,
	LOOK_DOUBT,
	LOOK_BAD,
	LOOK_BAR,
	LOOK_CHOSEN,
	LOOK_MAX,
};

struct canvas {
	u32 width, height;
	char text[CANVAS_HEIGHT]
		 [CANVAS_WIDTH + 1];	      /* printable ASCII, spaces at the end included */
	u8 look[CANVAS_HEIGHT][CANVAS_WIDTH]; /* enum look */
};

/* Empty it; a size above the largest one is cut. */
void canvas_clear(struct canvas *canvas, u32 width, u32 height);

/*
 * Write into row @row from column @column on. What is no printable ASCII is shown as '?'; what lies beyond the
 * edges is left out, and '~' in the last column says so. Returns the column behind the text.
 */
__attribute__((format(printf, 5, 6))) u32 canvas_put(struct canvas *canvas, u32 row, u32 column,
						     enum look look, const char *format, ...);

/* A bar of @width characters between brackets, of which @share, 0 to 1, is filled; NAN: empty. Returns as
 * canvas_put().
 */
u32 canvas_bar(struct canvas *canvas, u32 row, u32 column, u32 width, double share);

/* Write @text into at most @rows rows from column @column on, broken between words. Returns how many rows it
 * takes in all, also where that is more.
 */
u32 canvas_words(struct canvas *canvas, u32 row, u32 rows, u32 column, enum look look,
		 const char *text);

/* As plain text, without spaces at the ends of lines and without empty lines at the end. */
void canvas_print(const struct canvas *canvas, FILE *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts that the screen of an instance is put together from, from the top to the bottom. */
#ifndef USER_SCREEN_BLOCKS_H
#define USER_SCREEN_BLOCKS_H

#include "user/screen/screen.h"

/* Where values begin, behind what a row is called. */
#define BLOCK_COLUMN 10

/* A part being drawn: rows @row to @row + @rows - 1 are its own. */
struct place {
	struct canvas *canvas;
	const struct view *view;
	const struct figures *figures;
	u32 row, rows;
};

/*
 * X(name, least, fair): rows below which it says nothing useful, and rows that it gets before another one has
 * more than its fair ones. block_<name>_wants() says how many it has use for, 0 for none, and
 * block_<name>_draw() fills those that it got.
 */
#define BLOCKS(X)         \
	X(title, 1, 2)    \
	X(warnings, 1, 5) \
	X(traffic, 2, 6)  \
	X(copies, 1, 1)   \
	X(losses, 1, 3)   \
	X(filter, 1, 1)   \
	X(slices, 1, 1)   \
	X(growth, 1, 1)   \
	X(peers, 1, 4)    \
	X(apart, 2, 5)    \
	X(keys, 2, 4)

#define BLOCK_PROTOTYPES(name, ...)                          \
	u32 block_##name##_wants(const struct place *place); \
	void block_##name##_draw(const struct place *place);
BLOCKS(BLOCK_PROTOTYPES)

/* The name of a part, in its row @line. */
void block_heading(const struct place *place, u32 line, const char *name);

/* "12k", or "-" where it is not known. Returns @text. */
const char *block_rate(double rate, char text[UNITS_TEXT_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/screen/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void canvas_clear(struct canvas *c, u32 width, u32 height)
{
	c->width = width < CANVAS_WIDTH ? width : CANVAS_WIDTH;
	c->height = height < CANVAS_HEIGHT ? height : CANVAS_HEIGHT;
	memset(c->look, LOOK_PLAIN, sizeof(c->look));
	for (u32 row = 0; row < c->height; row++) {
		memset(c->text[row], ' ', c->width);
		c->text[row][c->width] = 0;
	}
}

u32 canvas_put(struct canvas *c, u32 row, u32 column, enum look look, const char *format, ...)
{
	char text[2 * CANVAS_WIDTH];
	const char *from = text;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (row >= c->height)
		return column;
	for (; *from && column < c->width; from++, column++) {
		c->text[row][column] = *from < ' ' || *from > '~' ? '?' : *from;
		c->look[row][column] = look;
	}
	if (*from && c->width)
		c->text[row][c->width - 1] = '~';
	return column;
}

u32 canvas_bar(struct canvas *c, u32 row, u32 column, u32 width, double share)
{
	u32 filled = isnan(share) ? 0 : lround(fmin(fmax(share, 0), 1) * width);

	column = canvas_put(c, row, column, LOOK_PLAIN, "[");
	for (u32 i = 0; i < width; i++)
		column = canvas_put(c, row, column, i < filled ? LOOK_BAR : LOOK_FAINT, "%c",
				    i < filled ? '#' : '-');
	return canvas_put(c, row, column, LOOK_PLAIN, "]");
}

/* How much of @text goes into @width columns. */
static u32 first_line(const char *text, u32 width)
{
	u32 length = strlen(text), cut = width;

	if (length <= width)
		return length;
	while (cut && text[cut] != ' ')
		cut--;
	return cut ?: width;
}

u32 canvas_words(struct canvas *c, u32 row, u32 rows, u32 column, enum look look, const char *text)
{
	u32 width = column < c->width ? c->width - column : 1, lines = 0, length;

	for (; *text; lines++) {
		length = first_line(text, width);
		if (lines < rows)
			canvas_put(c, row + lines, column, look, "%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
	}
	return lines;
}

static u32 length_of(const struct canvas *c, u32 row)
{
	u32 length = c->width;

	while (length && c->text[row][length - 1] == ' ')
		length--;
	return length;
}

void canvas_print(const struct canvas *c, FILE *to)
{
	u32 rows = c->height;

	while (rows && !length_of(c, rows - 1))
		rows--;
	for (u32 row = 0; row < rows; row++)
		fprintf(to, "%.*s\n", (int)length_of(c, row), c->text[row]);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/screen/draw.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "user/message.h"

/* ncurses crashes on what exceeds 16 bits. */
#define SIDE_MAX 1000

static SCREEN *terminal;

/* Without colours, what is bad stands out by being reversed. */
static attr_t looks[LOOK_MAX] = {
	[LOOK_HEADING] = A_BOLD,
	[LOOK_BAD] = A_REVERSE,
	[LOOK_DOUBT] = A_BOLD,
	[LOOK_CHOSEN] = A_REVERSE,
};

static void use_colours(void)
{
	static const struct {
		enum look look;
		short colour;
		attr_t more;
	} pairs[] = {
		{ LOOK_GOOD, COLOR_GREEN, A_BOLD }, { LOOK_DOUBT, COLOR_YELLOW, A_BOLD },
		{ LOOK_BAD, COLOR_RED, A_BOLD },    { LOOK_BAR, COLOR_CYAN, 0 },
		{ LOOK_FAINT, COLOR_CYAN, 0 },
	};
	const char *none = getenv("NO_COLOR");

	if ((none && *none) || !has_colors() || start_color() == ERR || use_default_colors() == ERR)
		return;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(pairs); i++) {
		init_pair(i + 1, pairs[i].colour, -1);
		looks[pairs[i].look] = COLOR_PAIR(i + 1) | pairs[i].more;
	}
}

/* The terminal's size is another one: that ends a wait for keys. */
static void resized(int number)
{
	(void)number;
}

static int side(unsigned short given, int known)
{
	if (!given)
		return known;
	return given < SIDE_MAX ? given : SIDE_MAX;
}

/* ncurses is not to ask for the size itself: see SIDE_MAX. */
static void fit(void)
{
	struct winsize size = { 0 };
	int rows, columns;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = side(size.ws_row, LINES);
	columns = side(size.ws_col, COLS);
	if (rows != LINES || columns != COLS)
		resizeterm(rows, columns);
}

int draw_open(char *err, size_t err_size)
{
	signal(SIGWINCH, resized);
	use_env(FALSE);
	use_tioctl(FALSE);
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return refuse(err, err_size, -ENOTTY,
			      "TERM=%s is no terminal that is known: TERM=vt100, or --once",
			      getenv("TERM") ?: "");
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	use_colours();
	return 0;
}

void draw_close(void)
{
	endwin();
	delscreen(terminal);
}

void draw_size(u32 *width, u32 *height)
{
	fit();
	*width = getmaxx(stdscr);
	*height = getmaxy(stdscr);
}

static void draw_row(const struct canvas *canvas, u32 row)
{
	const char *text = canvas->text[row];
	const u8 *look = canvas->look[row];
	u32 from = 0;

	move(row, 0);
	for (u32 to = 1; to <= canvas->width; to++) {
		if (to < canvas->width && look[to] == look[from])
			continue;
		attrset(looks[look[from]]);
		addnstr(text + from, to - from);
		from = to;
	}
}

void draw_canvas(const struct canvas *canvas)
{
	erase();
	for (u32 row = 0; row < canvas->height; row++)
		draw_row(canvas, row);
	refresh();
}

enum pressed draw_pressed(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return PRESSED_NOTHING;
	case 'q':
	case 'Q':
		return PRESSED_QUIT;
	case 'p':
	case ' ':
		return PRESSED_PAUSE;
	case '\t':
	case KEY_RIGHT:
	case KEY_DOWN:
		return PRESSED_NEXT;
	case KEY_BTAB:
	case KEY_LEFT:
	case KEY_UP:
		return PRESSED_PREVIOUS;
	case KEY_HOME:
		return PRESSED_FIRST;
	case KEY_END:
		return PRESSED_LAST;
	case KEY_PPAGE:
		return PRESSED_PAGE_UP;
	case KEY_NPAGE:
		return PRESSED_PAGE_DOWN;
	case '\r':
	case '\n':
	case KEY_ENTER:
		return PRESSED_CHOOSE;
	case 'l':
		return PRESSED_LIST;
	case 'h':
	case '?':
		return PRESSED_HELP;
	}
	return PRESSED_OTHER;
}

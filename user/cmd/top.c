/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup top: what is loaded, and what it does now: on a terminal until it is told to end, else once. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/clock.h"
#include "user/message.h"
#include "user/screen/draw.h"
#include "user/screen/screen.h"
#include "user/screen/watch.h"
#include "user/signals.h"

#define DEFAULT_WIDTH 80
#define PAGE_ROWS 10 /* what PageUp and PageDown go by */

enum page { PAGE_INSTANCE, PAGE_LIST, PAGE_HELP };

struct shown {
	const struct options *o;
	struct watch watch;
	struct canvas canvas;
	enum page page, behind_help;
	char chosen[INSTANCE_NAME_MAX]; /* by name: others come and go */
	bool paused;
	time_t looked;	       /* at what the screen shows */
	char err[MESSAGE_MAX]; /* why it ends; told when the terminal is as it was */
};

static int look(struct shown *shown)
{
	int code = watch_look(&shown->watch, shown->err, sizeof(shown->err));

	shown->looked = time(NULL);
	return code;
}

/* Which of them is chosen. */
static u32 chosen(const struct shown *shown)
{
	for (u32 i = 0; i < shown->watch.n; i++)
		if (!strcmp(shown->watch.all[i].name, shown->chosen))
			return i;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct screen_row *left = a, *right = b;
	int order = (int)screen_row_rank(left) - (int)screen_row_rank(right);

	return order ?: strcmp(left->name, right->name);
}

/* What is sick first. Returns NULL, of which no row may be used: no memory. */
static struct screen_row *rows_of(const struct shown *shown)
{
	struct screen_row *rows = calloc(shown->watch.n ?: 1, sizeof(*rows));

	if (!rows)
		return NULL;
	for (u32 i = 0; i < shown->watch.n; i++) {
		const struct watched *w = &shown->watch.all[i];

		rows[i] = (struct screen_row){ w->name, w->why, w->now ? &w->figures : NULL };
	}
	qsort(rows, shown->watch.n, sizeof(*rows), by_rank);
	return rows;
}

/* The row of the chosen one; the first one is chosen if that is gone. */
static u32 row_of(struct shown *shown, const struct screen_row *rows)
{
	for (u32 i = 0; i < shown->watch.n; i++)
		if (!strcmp(rows[i].name, shown->chosen))
			return i;
	if (shown->watch.n)
		snprintf(shown->chosen, sizeof(shown->chosen), "%s", rows[0].name);
	return 0;
}

static void make_page(struct shown *shown, const struct view *view, const struct screen_row *rows)
{
	const struct watched *w = &shown->watch.all[chosen(shown)];

	if (shown->page == PAGE_LIST)
		screen_list(&shown->canvas, view, rows, shown->watch.n, view->number - 1);
	else if (!w->now)
		screen_words(&shown->canvas, view, w->why);
	else
		screen_instance(&shown->canvas, view, &w->figures);
}

static void make_screen(struct shown *shown, bool keys)
{
	struct screen_row *rows = rows_of(shown);
	const struct view view = {
		.number = 1 + (rows ? row_of(shown, rows) : 0),
		.of = shown->watch.n,
		.keys = keys,
		.paused = shown->paused,
		.clock = shown->looked,
	};

	if (shown->page == PAGE_HELP)
		screen_help(&shown->canvas, &view);
	else if (!rows)
		screen_words(&shown->canvas, &view, "no memory for a list of what is loaded");
	else if (!shown->watch.n)
		screen_words(&shown->canvas, &view, "nothing is loaded: xdp-dedup load IFACE");
	else
		make_page(shown, &view, rows);
	free(rows);
}

static void draw(struct shown *shown)
{
	u32 width, height;

	draw_size(&width, &height);
	canvas_clear(&shown->canvas, width, height);
	make_screen(shown, true);
	draw_canvas(&shown->canvas);
}

/* From row @at of @n, which is not 0, to the one that a key asks for. */
static u32 step_from(u32 at, u32 n, enum pressed pressed)
{
	switch (pressed) {
	case PRESSED_NEXT:
		return (at + 1) % n;
	case PRESSED_PREVIOUS:
		return (at + n - 1) % n;
	case PRESSED_PAGE_UP:
		return at < PAGE_ROWS ? 0 : at - PAGE_ROWS;
	case PRESSED_PAGE_DOWN:
		return at + PAGE_ROWS < n ? at + PAGE_ROWS : n - 1;
	default:
		return pressed == PRESSED_LAST ? n - 1 : 0;
	}
}

/* In the order of the list. */
static void step(struct shown *shown, enum pressed pressed)
{
	struct screen_row *rows = rows_of(shown);
	u32 n = shown->watch.n;

	if (rows && n)
		snprintf(shown->chosen, sizeof(shown->chosen), "%s",
			 rows[step_from(row_of(shown, rows), n, pressed)].name);
	free(rows);
}

/* Returns false at the end. */
static bool obey(struct shown *shown, enum pressed pressed)
{
	switch (pressed) {
	case PRESSED_QUIT:
		return false;
	case PRESSED_PAUSE:
		shown->paused = !shown->paused;
		break;
	case PRESSED_NEXT:
	case PRESSED_PREVIOUS:
	case PRESSED_FIRST:
	case PRESSED_LAST:
	case PRESSED_PAGE_UP:
	case PRESSED_PAGE_DOWN:
		step(shown, pressed);
		break;
	case PRESSED_LIST:
	case PRESSED_CHOOSE:
		shown->page = shown->page == PAGE_INSTANCE ? PAGE_LIST : PAGE_INSTANCE;
		break;
	case PRESSED_HELP:
		if (shown->page != PAGE_HELP)
			shown->behind_help = shown->page;
		shown->page = shown->page == PAGE_HELP ? shown->behind_help : PAGE_HELP;
		break;
	default:
		break;
	}
	return true;
}

/* Whatever is waiting. Returns false at the end, which is also that of a terminal that is readable and says
 * nothing: it is gone.
 */
static bool obey_all(struct shown *shown, enum signals_wait came)
{
	enum pressed pressed = draw_pressed();

	if (came == SIGNALS_READABLE && pressed == PRESSED_NOTHING)
		return false;
	for (; pressed != PRESSED_NOTHING; pressed = draw_pressed())
		if (!obey(shown, pressed))
			return false;
	return true;
}

/* When to look again after a look that began at @began_ns: where looks take long, as at large bit filters, which are
 * counted each time, less often.
 */
static u64 next_ns(const struct shown *shown, u64 began_ns)
{
	u64 rest = rest_of(now_ns() - began_ns);

	return began_ns + (rest > shown->o->interval ? rest : shown->o->interval);
}

/* Returns 0 at an end that was asked for, or what look() did. */
static int loop(struct shown *shown, int signals)
{
	u64 due_ns = now_ns() + shown->o->interval, began_ns;
	enum signals_wait came;
	int code = 0;

	do {
		draw(shown);
		came = signals_wait(signals, (const int[SIGNALS_FDS]){ STDIN_FILENO, -1, -1 },
				    shown->paused ? now_ns() + XDD_SECOND_NS : due_ns);
		if (came == SIGNALS_END || !obey_all(shown, came))
			break;
		if (shown->paused || now_ns() < due_ns)
			continue;
		began_ns = now_ns();
		code = look(shown);
		due_ns = next_ns(shown, began_ns);
	} while (!code);
	return code;
}

static int show(struct shown *shown)
{
	int signals = signals_hold(), code;

	if (signals < 0)
		return refuse(shown->err, sizeof(shown->err), signals,
			      "cannot wait for signals: %s", strerror(-signals));
	code = draw_open(shown->err, sizeof(shown->err));
	if (code)
		return code;
	code = loop(shown, signals);
	draw_close();
	return code;
}

static void print_json(const struct watch *watch)
{
	json_t *all = json_array();

	for (u32 i = 0; i < watch->n; i++)
		if (watch->all[i].now)
			json_array_append_new(all, figures_json(&watch->all[i].figures));
	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(all);
}

static u32 columns(void)
{
	const char *said = getenv("COLUMNS");
	int width = said ? atoi(said) : 0;

	return width >= SCREEN_LEAST_WIDTH ? width : DEFAULT_WIDTH;
}

/* The instance that was asked for is there; or its line is in shown->err. */
static int find_wanted(struct shown *shown)
{
	const struct watched *only = shown->watch.all;

	if (!shown->watch.name || only->now)
		return 0;
	return refuse(shown->err, sizeof(shown->err), -ENOENT, "%s", only->why);
}

/* All that is loaded could be read; or the first one that could not has its line in shown->err. */
static int find_unread(struct shown *shown)
{
	for (u32 i = 0; i < shown->watch.n; i++)
		if (!shown->watch.all[i].now)
			return refuse(shown->err, sizeof(shown->err), -EIO, "%s",
				      shown->watch.all[i].why);
	return 0;
}

/* A second look, so that there are rates. */
static int print_once(struct shown *shown)
{
	const struct timespec pause = { shown->o->interval / XDD_SECOND_NS,
					shown->o->interval % XDD_SECOND_NS };
	int code = 0;

	if (shown->watch.n) {
		nanosleep(&pause, NULL);
		code = look(shown) ?: find_wanted(shown);
	}
	if (code)
		return code;
	if (shown->o->json) {
		print_json(&shown->watch);
		return find_unread(shown);
	}
	if (!shown->watch.n) {
		note("nothing is loaded: xdp-dedup load IFACE");
		return 0;
	}
	canvas_clear(&shown->canvas, columns(), CANVAS_HEIGHT);
	make_screen(shown, false);
	canvas_print(&shown->canvas, stdout);
	return find_unread(shown);
}

static int run(struct shown *shown)
{
	bool live = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int code = look(shown) ?: find_wanted(shown);

	if (code)
		return code;
	if (shown->watch.n > 1)
		shown->page = PAGE_LIST;
	return live && !shown->o->once && !shown->o->json ? show(shown) : print_once(shown);
}

int cmd_top(struct options *o)
{
	struct shown *shown = calloc(1, sizeof(*shown));
	int code;

	if (!shown) {
		complain("top: no memory");
		return EXIT_FAILED;
	}
	shown->o = o;
	shown->watch.name = o->n_args ? o->args[0] : NULL;
	code = run(shown);
	if (code)
		complain("top: %s", shown->err);
	watch_free(&shown->watch);
	free(shown);
	return code ? EXIT_FAILED : EXIT_OK;
}

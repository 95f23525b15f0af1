/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/screen/screen.h"

#include "user/screen/blocks.h"

struct block {
	u32 least, fair;
	u32 (*wants)(const struct place *place);
	void (*draw)(const struct place *place);
};

#define BLOCK(name, least, fair) { least, fair, block_##name##_wants, block_##name##_draw },
static const struct block blocks[] = { BLOCKS(BLOCK) };

#define N XDD_ARRAY_SIZE(blocks)

/* Give each block up to @limit of the rows that are left; one that would stay below its least gets none. */
static u32 share_out(u32 left, const u32 wants[N], u32 rows[N], u32 (*limit)(const struct block *))
{
	for (size_t i = 0; i < N; i++) {
		u32 most = limit(&blocks[i]) < wants[i] ? limit(&blocks[i]) : wants[i];
		u32 more = most > rows[i] ? most - rows[i] : 0;

		if (more > left)
			more = rows[i] ? left : 0;
		rows[i] += more;
		left -= more;
	}
	return left;
}

static u32 least(const struct block *block)
{
	return block->least;
}

static u32 fair(const struct block *block)
{
	return block->fair;
}

static u32 any(const struct block *block)
{
	(void)block;
	return CANVAS_HEIGHT;
}

/* What is left over becomes empty rows between blocks, from the bottom up. */
static void space_out(u32 left, const u32 rows[N], bool space[N])
{
	for (size_t i = N - 1; i && left; i--) {
		space[i] = rows[i];
		left -= space[i];
	}
}

static const char keys[] = "q quit  p pause  arrows, tab: next  l list  h help";

static void name_keys(struct canvas *canvas, const struct view *view)
{
	if (view->keys)
		canvas_put(canvas, canvas->height - 1, 0, LOOK_FAINT, "%s", keys);
}

static bool too_small(struct canvas *canvas)
{
	if (canvas->width >= SCREEN_LEAST_WIDTH && canvas->height >= SCREEN_LEAST_HEIGHT)
		return false;
	canvas_put(canvas, 0, 0, LOOK_BAD, "%ux%u is too small: %dx%d", canvas->width,
		   canvas->height, SCREEN_LEAST_WIDTH, SCREEN_LEAST_HEIGHT);
	return true;
}

void screen_instance(struct canvas *canvas, const struct view *view, const struct figures *figures)
{
	struct place place = { .canvas = canvas, .view = view, .figures = figures };
	u32 left, wants[N], rows[N] = {};
	bool space[N] = {};

	if (too_small(canvas))
		return;
	for (size_t i = 0; i < N; i++)
		wants[i] = blocks[i].wants(&place);
	left = share_out(canvas->height - view->keys, wants, rows, least);
	left = share_out(left, wants, rows, fair);
	left = share_out(left, wants, rows, any);
	space_out(left, rows, space);
	for (size_t i = 0; i < N; i++) {
		place.row += space[i];
		place.rows = rows[i];
		if (rows[i])
			blocks[i].draw(&place);
		place.row += rows[i];
	}
	name_keys(canvas, view);
}

static void clock_put(struct canvas *canvas, const struct view *view)
{
	char text[16];
	struct tm tm;

	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&view->clock, &tm));
	canvas_put(canvas, 0, canvas->width - 8, LOOK_PLAIN, "%s", text);
}

static void list_row(struct canvas *canvas, u32 row, const struct screen_row *about, bool chosen)
{
	const struct figures *f = about->figures;
	char received[UNITS_TEXT_MAX], duplicate[UNITS_TEXT_MAX];
	enum look look = chosen ? LOOK_CHOSEN : LOOK_PLAIN;
	u32 column;

	if (!f) {
		canvas_put(canvas, row, 0, look, "%-15.15s %s", about->name, about->why);
		return;
	}
	column = canvas_put(canvas, row, 0, look, "%-15.15s %8s %9s  ", about->name,
			    block_rate(f->total.received, received),
			    block_rate(f->total.duplicate, duplicate));
	canvas_put(canvas, row, column,
		   f->state == FIGURES_OK	  ? LOOK_GOOD
		   : f->state == FIGURES_WARNINGS ? LOOK_BAD
						  : LOOK_DOUBT,
		   "%s%s%s", figures_state_names[f->state], f->now->warnings ? ": " : "",
		   f->now->warnings ? f->now->warning[0] : "");
}

static void list_head(struct canvas *canvas, const struct screen_row *rows, u32 n)
{
	u32 sick = 0, column;

	for (u32 i = 0; i < n; i++)
		sick += screen_row_rank(&rows[i]) < SCREEN_RANK_QUIET;
	column = canvas_put(canvas, 0, 0, LOOK_HEADING, "xdp-dedup: %u instances", n);
	if (sick)
		canvas_put(canvas, 0, column, LOOK_BAD, ", %u with warnings", sick);
}

enum screen_rank screen_row_rank(const struct screen_row *row)
{
	static const enum screen_rank ranks[] = {
		[FIGURES_WARNINGS] = SCREEN_RANK_SICK,
		[FIGURES_NO_PACKETS] = SCREEN_RANK_QUIET,
		[FIGURES_OK] = SCREEN_RANK_WELL,
	};

	return row->figures ? ranks[row->figures->state] : SCREEN_RANK_UNREAD;
}

void screen_list(struct canvas *canvas, const struct view *view, const struct screen_row *rows,
		 u32 n, u32 chosen)
{
	u32 room, first = 0;

	if (too_small(canvas))
		return;
	room = canvas->height - 2 - view->keys;
	if (chosen >= room)
		first = chosen - room + 1;
	list_head(canvas, rows, n);
	clock_put(canvas, view);
	canvas_put(canvas, 1, 0, LOOK_HEADING, "%-15s %8s %9s  state", "packets/s", "received",
		   "duplicate");
	for (u32 i = first; i < n && i < first + room; i++)
		list_row(canvas, 2 + i - first, &rows[i], view->keys && i == chosen);
	if (view->keys)
		canvas_put(canvas, canvas->height - 1, 0, LOOK_FAINT,
			   "q quit  arrows: choose  Enter: show  h help");
}

static const char *const help_lines[] = {
	"received, distinct (first copies), duplicate, bypassed: packets a second, now.",
	"copies: the share of duplicates among what was compared.",
	"lost: distinct packets taken for copies (FPR), as modelled, and as the audit measured.",
	"missed: copies that passed as distinct (FNR).",
	"apart: how long after the first packet copies came, of the audit's sample.",
	"suppressed: what most of the dropped copies were of; at least so many since load.",
	"Warnings are those of xdp-dedup status. Nothing here stops or slows the datapath.",
	"",
	"q, Ctrl-C      quit",
	"p, space       pause, and go on",
	"arrows, tab    the next instance, the one before",
	"Home, End, PageUp, PageDown: the first, the last, ten before, ten behind",
	"l, Enter       the list of instances; in it, show the chosen one",
	"h, ?           this page, and back",
};

void screen_help(struct canvas *canvas, const struct view *view)
{
	u32 row = 1;

	if (too_small(canvas))
		return;
	canvas_put(canvas, 0, 0, LOOK_HEADING, "xdp-dedup top");
	for (size_t i = 0; i < XDD_ARRAY_SIZE(help_lines); i++) {
		const char *line = help_lines[i];
		u32 rows = canvas->height - row - 1;

		row += *line ? canvas_words(canvas, row, rows, 0, LOOK_PLAIN, line) : 1;
		if (row + 1 >= canvas->height)
			break;
	}
	name_keys(canvas, view);
}

void screen_words(struct canvas *canvas, const struct view *view, const char *words)
{
	if (too_small(canvas))
		return;
	canvas_put(canvas, 0, 0, LOOK_HEADING, "xdp-dedup top");
	clock_put(canvas, view);
	canvas_words(canvas, 2, canvas->height - 3, 0, LOOK_BAD, words);
	name_keys(canvas, view);
}

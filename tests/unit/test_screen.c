/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the screen of `top` says: rates between two looks, on canvases of several sizes. */
#include <math.h>
#include <string.h>

#include "tests/common/config.h"
#include "user/screen/screen.h"

/* An instance on two interfaces, as it was a look ago and is now. */
struct scene {
	struct instance instance;
	struct status before, now;
	struct figures figures;
	struct view view;
	struct canvas canvas;
};

static void count(struct status *status, u32 slot, u64 distinct, u64 duplicate, u64 not_ip)
{
	struct xdd_counters *c = &status->counters.slot[slot], *total = &status->counters.total;

	c->distinct.packets = distinct;
	c->duplicate.packets = duplicate;
	c->not_ip.packets = not_ip;
	c->received = (struct xdd_count){ distinct + duplicate + not_ip,
					  100 * (distinct + duplicate + not_ip) };
	total->distinct.packets += distinct;
	total->duplicate.packets += duplicate;
	total->not_ip.packets += not_ip;
	total->received.packets += c->received.packets;
	total->received.bytes += c->received.bytes;
}

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->instance.name, "taps");
	s->instance.fixed = config_fixed(XDD_ENGINE_tagged, XDD_KEY_packet);
	s->instance.live = config_live();
	s->instance.live.top = 1;
	s->instance.meta.memory_bytes = 32 << 20;
	s->instance.ifaces_used = 2;
	strcpy(s->instance.ifaces[0].name, "eth1");
	strcpy(s->instance.ifaces[1].name, "eth2");
	s->before.instance = s->now.instance = &s->instance;
	s->before.fullness.known = s->now.fullness.known = true;
	count(&s->before, 0, 1000, 500, 0);
	count(&s->before, 1, 0, 0, 0);
	count(&s->now, 0, 1000 + 2400000, 500 + 1600000, 20);
	count(&s->now, 1, 300, 100, 0);
	s->view = (struct view){ .number = 1, .of = 1, .keys = true };
}

/* The screen of so many columns and rows, two seconds after the look before. */
static void scene_show(struct scene *s, u32 width, u32 height)
{
	figures_make(&s->figures, &s->before, &s->now, 2);
	canvas_clear(&s->canvas, width, height);
	screen_instance(&s->canvas, &s->view, &s->figures);
}

/* The row that begins with @start, or NULL. */
static const char *row_of(const struct scene *s, const char *start)
{
	for (u32 row = 0; row < s->canvas.height; row++)
		if (!strncmp(s->canvas.text[row], start, strlen(start)))
			return s->canvas.text[row];
	return NULL;
}

static void assert_row(const struct scene *s, const char *start, const char *holds)
{
	const char *row = row_of(s, start);

	if (!row)
		fail_msg("no row begins with %s", start);
	else if (!strstr(row, holds))
		fail_msg("no '%s' in '%s'", holds, row);
}

static void assert_fits(const struct scene *s)
{
	for (u32 row = 0; row < s->canvas.height; row++)
		assert_int_equal(strlen(s->canvas.text[row]), s->canvas.width);
}

static void rates(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	scene_show(&s, 80, 24);
	assert_fits(&s);
	assert_row(&s, "taps", " OK ");
	assert_row(&s, "packets/s", "received  distinct duplicate  bypassed   copies     bit/s");
	assert_row(&s, "eth1", "      2.0M      1.2M      800k        10   40.0 %      1.6G");
	assert_row(&s, "eth2", "       200       150        50         0   25.0 %      160k");
	assert_row(&s, "all 2", "      2.0M      1.2M      800k        10   40.0 %      1.6G");
	assert_row(&s, "copies", "40.0 % now, 40.0 % since load");
	assert_row(&s, "q quit", "help");
}

/* Narrow screens have fewer columns, low ones fewer rows; none is written past. */
static void sizes(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	strcpy(s.now.warning[s.now.warnings++],
	       "a warning of many words that takes more than one row of a screen that is as narrow "
	       "as these are here, and says in the end what to do");
	for (u32 width = 1; width <= CANVAS_WIDTH + 10; width += 7) {
		for (u32 height = 1; height <= CANVAS_HEIGHT + 10; height += 3) {
			scene_show(&s, width, height);
			assert_fits(&s);
		}
	}
	scene_show(&s, 60, 20);
	assert_row(&s, "packets/s", "received  distinct duplicate   copies");
	assert_null(strstr(row_of(&s, "packets/s"), "bypassed"));
	scene_show(&s, 40, 8);
	assert_row(&s, "taps", " 1 WARNING ");
	assert_row(&s, "!", "a warning of many words");
	assert_row(&s, "all 2", "2.0M");
	strcpy(s.now.warning[s.now.warnings++], "another one");
	scene_show(&s, 40, 8);
	assert_row(&s, "! 2 warnings", "xdp-dedup status");
	scene_show(&s, 60, 12);
	assert_row(&s, "! a warning", " ...");
	assert_row(&s, "! another one", "");
	s.now.warnings--;
	scene_show(&s, 39, 24);
	assert_row(&s, "39x24", "is too small: 40x8");
	scene_show(&s, 120, 40);
	assert_row(&s, "! a warning", "as these are here, and says");
}

/* Where all rows are taken, each part has some, and none is lost that has room. */
static void many_of_all(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.instance.ifaces_used = XDD_MAX_IFACES;
	for (u32 i = 0; i < XDD_MAX_IFACES; i++)
		sprintf(s.instance.ifaces[i].name, "an-interface-%02u", i);
	s.now.audit.share = 1.0 / 1024;
	s.now.distances.known = true;
	for (u32 i = 2; i < 20; i++)
		s.now.distances.counts.copies[i] = 10;
	distances_sum(&s.now.distances);
	s.now.top.used = TOP_KEYS;
	for (u32 i = 0; i < TOP_KEYS; i++)
		s.now.top.key[i] = (struct top_key){ .key = i, .packets = 1000 - i };
	for (u32 i = 0; i < 20; i++)
		sprintf(s.now.warning[s.now.warnings++], "warning %u", i);
	scene_show(&s, 80, 24);
	assert_row(&s, "taps", " 20 WARNINGS ");
	assert_row(&s, "! warning 0", "");
	assert_row(&s, "! warning 3", "");
	assert_row(&s, "! 16 more", "xdp-dedup status taps");
	assert_row(&s, "all 16", "2.0M");
	assert_row(&s, "copies", "40.0 %");
	assert_row(&s, "lost", "");
	assert_row(&s, "apart", "after the first; 180 copies, one key in 1024");
	assert_row(&s, "suppressed", "of these keys");
	assert_row(&s, "      1000", "-");
	s.view.keys = false;
	scene_show(&s, 80, CANVAS_HEIGHT);
	assert_row(&s, "! warning 19", "");
	assert_row(&s, "an-interface-15", "");
	assert_row(&s, "       991", "");
	assert_row(&s, "  up to 524.288 ms", "5.6 %");
	assert_null(row_of(&s, "q quit"));
}

/* Buckets put together have the sum of their copies and the end of the last one. */
static void distances_merged(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.now.audit.share = 1;
	s.now.distances.known = true;
	for (u32 i = 0; i < XDD_DISTANCE_BUCKETS; i++)
		s.now.distances.counts.copies[i] = 1;
	distances_sum(&s.now.distances);
	scene_show(&s, 80, 24);
	assert_row(&s, "  up to 128 us", "12.5 %  ####");
	assert_row(&s, "  later", "12.5 %");
	scene_show(&s, 80, 60);
	assert_row(&s, "  up to 1 us", "3.1 %");
	assert_row(&s, "  later", "3.1 %");
}

/* Copies nearer than the clock can tell are in one row. */
static void coarse_clock(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.now.audit.share = 1.0 / 1024;
	s.now.distances.known = true;
	s.now.distances.counts.copies[0] = 3;
	s.now.distances.counts.copies[13] = 1;
	distances_sum(&s.now.distances);
	s.now.clock_step_ns = 4000000;
	scene_show(&s, 80, 40);
	assert_row(&s, "apart", "4 copies, one key in 1024; clock steps 4 ms");
	assert_row(&s, "  up to 4.096 ms", "75.0 %");
	assert_row(&s, "  up to 8.192 ms", "25.0 %");
	assert_null(row_of(&s, "  up to 1 us"));
	s.now.distances.counts.copies[13] = 0;
	distances_sum(&s.now.distances);
	scene_show(&s, 80, 40);
	assert_row(&s, "  up to 4.096 ms", "100.0 %");
}

/* What is not known is said, not shown as 0. */
static void unknown(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	figures_make(&s.figures, NULL, &s.now, 0);
	assert_true(isnan(s.figures.total.received) && isnan(s.figures.seconds));
	canvas_clear(&s.canvas, 80, 24);
	screen_instance(&s.canvas, &s.view, &s.figures);
	assert_row(&s, "eth1", "         -         -         -         -        -         -");
	assert_row(&s, "copies", "- now, 40.0 % since load");
	assert_row(&s, "lost", "no key is live");
	s.now.instance->fixed.peers = 8; /* what replicas of others lose is no less lost */
	s.now.instance->live.replica_action = XDD_REPLICA_drop;
	s.now.peers.n = s.now.peers.believed = 1;
	s.now.peers.peer[0].believed = true;
	s.now.peers.peer[0].about.predicted_fpr = XDD_RATE_ONE / 10;
	canvas_clear(&s.canvas, 80, 24);
	screen_instance(&s.canvas, &s.view, &s.figures);
	assert_row(&s, "lost", "FPR 0.1 by the model, 0.1 by replicas");
	s.now.instance->fixed.peers = 0;
	assert_row(&s, "apart", "--audit off");
	assert_row(&s, "suppressed", "no key twice yet");
	s.now.fullness.known = false;
	s.instance.live.top = 0;
	scene_show(&s, 80, 24);
	assert_row(&s, "lost", "not known: nobody has measured");
	assert_row(&s, "filter", "not known how full");
	assert_row(&s, "suppressed", "--top-suppressed off");
}

/* No rate across a load, and none below zero. */
static void loaded_anew(void **state)
{
	struct instance older;
	struct scene s;

	(void)state;
	scene_open(&s);
	older = s.instance;
	older.meta.loaded_s = 1;
	s.before.instance = &older;
	scene_show(&s, 80, 24);
	assert_true(isnan(s.figures.total.received));
	s.before.instance = &s.instance;
	count(&s.before, 1, 1000, 1000, 0);
	scene_show(&s, 80, 24);
	assert_true(isnan(s.figures.slot[1].received) && !isnan(s.figures.slot[0].received));
}

static void health(void **state)
{
	struct health_part part[40] = {};
	struct scene s;

	(void)state;
	scene_open(&s);
	part[3].state = HEALTH_FAILED;
	part[4].state = HEALTH_RECOVERING;
	part[39].state = HEALTH_RECOVERING;
	s.now.health = (struct health_view){ .n = 5, .failed = 1, .recovering = 1, .part = part };
	scene_show(&s, 80, 24);
	assert_row(&s, "slices    [...Xr]", "1 of 5 slices failed, 1 recovering");
	/* Two in a character: the worse one shows. */
	s.now.health.n = 40;
	scene_show(&s, 60, 24);
	assert_row(&s, "slices    [.Xr................r]", "1 of 40");
}

static void states(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.before.counters = s.now.counters;
	scene_show(&s, 80, 24);
	assert_row(&s, "taps", " NO PACKETS ");
	s.instance.ifaces[1].state = IFACE_REMOVED;
	scene_show(&s, 80, 24);
	assert_true(!row_of(&s, "eth2") && !row_of(&s, "all"));
	assert_row(&s, "eth1", "0");
	s.instance.ifaces[1].state = IFACE_DETACHED;
	s.view.paused = true;
	s.view.number = 2;
	s.view.of = 3;
	scene_show(&s, 80, 24);
	assert_row(&s, "eth2", "detached: nothing is de-duplicated");
	assert_row(&s, "taps", "paused  2 of 3");
}

/* A key's rate is that of the same key, wherever it stood before. */
static void key_rates(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.before.top.used = s.now.top.used = 2;
	s.before.top.key[0] = (struct top_key){ .key = 7, .packets = 100 };
	s.before.top.key[1] = (struct top_key){ .key = 8, .packets = 90 };
	s.now.top.key[0] = (struct top_key){ .key = 8, .packets = 290 };
	s.now.top.key[1] = (struct top_key){ .key = 9, .packets = 200 };
	s.now.top.key[0].about = (struct xdd_about){ .version = 4, .proto = 17 };
	scene_show(&s, 80, 24);
	assert_row(&s, "       290      100", "0.0.0.0:0 > 0.0.0.0:0, UDP");
	assert_row(&s, "       200        -", "no IP");
}

/* Names are shown as what cannot hurt a terminal, and are cut. */
static void names(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	strcpy(s.instance.ifaces[0].name, "e\033[2J\x80");
	memset(s.instance.name, 'n', 32);
	scene_show(&s, 40, 24);
	assert_fits(&s);
	assert_row(&s, "e?[2J?", "2.0M");
	s.now.counters.slot[0].received.packets = ~0ull;
	s.now.counters.slot[0].received.bytes = ~0ull;
	scene_show(&s, 80, 24);
	assert_row(&s, "e?[2J?", "9223372T");
}

static void list(void **state)
{
	struct scene s;
	struct screen_row rows[3] = { { "a", "of another version", NULL },
				      { "b", "", &s.figures },
				      { "c", "", &s.figures } };

	(void)state;
	scene_open(&s);
	scene_show(&s, 80, 24);
	canvas_clear(&s.canvas, 80, 24);
	screen_list(&s.canvas, &s.view, rows, 3, 2);
	assert_row(&s, "xdp-dedup: 3 instances, 1 with warnings", "");
	assert_true(screen_row_rank(&rows[0]) < screen_row_rank(&rows[1]));
	assert_row(&s, "a ", "of another version");
	assert_row(&s, "b ", "2.0M      800k  ok");
	assert_int_equal(s.canvas.look[3][0], LOOK_PLAIN);
	assert_int_equal(s.canvas.look[4][0], LOOK_CHOSEN);
	s.figures.state = FIGURES_WARNINGS;
	canvas_clear(&s.canvas, 80, 24);
	screen_list(&s.canvas, &s.view, rows, 3, 2);
	assert_row(&s, "xdp-dedup: 3 instances, 3 with warnings", "");
	assert_int_equal(screen_row_rank(&rows[1]), SCREEN_RANK_SICK);
	s.figures.state = FIGURES_NO_PACKETS;
	assert_int_equal(screen_row_rank(&rows[1]), SCREEN_RANK_QUIET);
	/* The chosen one is in sight, however low the screen. */
	canvas_clear(&s.canvas, 80, 8);
	for (u32 n = 0; n < 3; n++)
		rows[n].name = "x";
	screen_list(&s.canvas, &s.view, rows, 3, 2);
	assert_row(&s, "x ", "");
}

static void printed(void **state)
{
	char text[64] = "";
	struct canvas canvas;
	FILE *to = fmemopen(text, sizeof(text), "w");

	(void)state;
	canvas_clear(&canvas, 10, 5);
	canvas_put(&canvas, 0, 0, LOOK_PLAIN, "first");
	canvas_put(&canvas, 2, 8, LOOK_PLAIN, "third");
	assert_int_equal(canvas_words(&canvas, 3, 1, 0, LOOK_PLAIN, "two words more"), 2);
	canvas_print(&canvas, to);
	fclose(to);
	assert_string_equal(text, "first\n\n        t~\ntwo words\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),       cmocka_unit_test(sizes),
		cmocka_unit_test(many_of_all), cmocka_unit_test(distances_merged),
		cmocka_unit_test(unknown),     cmocka_unit_test(coarse_clock),
		cmocka_unit_test(loaded_anew), cmocka_unit_test(health),
		cmocka_unit_test(states),      cmocka_unit_test(key_rates),
		cmocka_unit_test(names),       cmocka_unit_test(list),
		cmocka_unit_test(printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

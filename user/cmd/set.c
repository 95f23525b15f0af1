/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup set: change a running instance. */
#include "cmd.h"
#include "load.h"

#include <errno.h>
#include <jansson.h>

#include "../loader/change.h"
#include "../derive.h"
#include "../message.h"
#include "../names.h"
#include "../units.h"
#include "../utf8.h"

static void print_json(const struct instance *in)
{
	char ambiguous[AMBIGUOUS_TEXT_MAX];
	json_t *all =
		json_pack("{s:s, s:o, s:I, s:I, s:i, s:s, s:b, s:s, s:I, s:b, s:I}", "name",
			  in->name, "interfaces", interfaces_json(in), "window_ns",
			  in->live.window_ns, "tick_ns", in->fixed.tick_ns, "window_ticks",
			  in->live.window_ticks, "action", action_names[in->live.action], "forward",
			  in->live.forward, "ambiguous", ambiguous_text(&in->live, ambiguous),
			  "max_suppress", (json_int_t)in->live.max_suppress, "top_suppressed",
			  in->live.top, "program_id", (json_int_t)in->program_id);

	if (in->fixed.watch_bits)
		json_object_set_new(all, "watch_action",
				    json_string(watch_names[in->live.watch_action]));
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_interfaces(const struct instance *in)
{
	char name[XDD_META_IFNAME];

	for (u32 i = 0; i < in->ifaces_used; i++)
		printf("%s %s (%s)", i ? "," : ", interfaces",
		       instance_iface_text(&in->ifaces[i], name),
		       iface_state_names[in->ifaces[i].state]);
}

static void print_text(const struct options *o, const struct instance *in)
{
	char window[UNITS_TEXT_MAX], tick[UNITS_TEXT_MAX], action[ACTION_TEXT_MAX];
	char ambiguous[AMBIGUOUS_TEXT_MAX];

	printf("%s: window %s", in->name,
	       derive_window_text(&in->fixed, in->live.window_ns, window));
	if (xdd_engine_has_timers(in->fixed.engine))
		printf(" (%u ticks of %s)", in->live.window_ticks,
		       units_time_text(in->fixed.tick_ns, tick));
	action_text(&in->live, in->meta.targets[XDD_DEV_DUPLICATES], action);
	printf(", action %s", utf8_mask(action));
	if (in->live.forward)
		printf(", what is kept goes to %s", in->meta.targets[XDD_DEV_FORWARD]);
	if (in->live.ambiguous_pass)
		printf(", ambiguous %s", ambiguous_text(&in->live, ambiguous));
	if (in->live.max_suppress)
		printf(", of a key one in %u passes", in->live.max_suppress + 1);
	if (in->fixed.watch_bits)
		printf(", watch set: %s", watch_names[in->live.watch_action]);
	if (!in->live.top)
		printf(", no list of the most suppressed");
	if (option_given(o, OPT_add) || option_given(o, OPT_remove))
		print_interfaces(in);
	putchar('\n');
}

#define IS_GIVEN(field) option_given(o, OPT_##field) ||

static bool changes_something(const struct options *o)
{
	return LIVE_OPTIONS(IS_GIVEN) option_given(o, OPT_add) || option_given(o, OPT_remove);
}

int cmd_set(struct options *o)
{
	char err[MESSAGE_MAX];
	struct instance in;
	int code;

	if (!changes_something(o)) {
		complain("set: nothing to change: give --window, --action, --forward, --ambiguous, "
			 "--max-suppress, --top-suppressed, --watch-action, --add or --remove");
		return EXIT_USAGE;
	}
	if ((option_given(o, OPT_mode) || option_given(o, OPT_promisc)) &&
	    !option_given(o, OPT_add)) {
		complain("set: --mode and --promisc are about an interface that is attached: they "
			 "go with --add");
		return EXIT_USAGE;
	}
	code = change_instance(o, &in, err, sizeof(err));
	if (code) {
		complain("set: %s", err);
		return code == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
	}
	if (o->json)
		print_json(&in);
	else if (!o->quiet)
		print_text(o, &in);
	instance_close(&in);
	return EXIT_OK;
}

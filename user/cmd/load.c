/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup load: attach, pin, and return. */
#include "cmd.h"
#include "load.h"

#include <jansson.h>
#include <unistd.h>

#include "../loader/load.h"
#include "../derive.h"
#include "../message.h"
#include "../names.h"
#include "../signals.h"
#include "../units.h"
#include "../utf8.h"

json_t *interfaces_json(const struct instance *in)
{
	json_t *all = json_array();

	for (u32 i = 0; i < in->ifaces_used; i++)
		json_array_append_new(
			all, json_pack("{s:o, s:s, s:s}", "name", utf8_json(in->ifaces[i].name),
				       "mode", in->ifaces[i].generic ? "generic" : "native",
				       "state", iface_state_names[in->ifaces[i].state]));
	return all;
}

static void print_json(const struct instance *in)
{
	json_t *all =
		json_pack("{s:s, s:o, s:s, s:I, s:I, s:b, s:I, s:s}", "name", in->name,
			  "interfaces", interfaces_json(in), "engine",
			  engine_names[in->fixed.engine], "memory_bytes", in->meta.memory_bytes,
			  "window_ns", in->live.window_ns, "frags", in->meta.frags, "program_id",
			  (json_int_t)in->program_id, "pins", in->path);

	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_text(const struct instance *in)
{
	char window[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], name[XDD_META_IFNAME];

	printf("%s:", in->name);
	for (u32 i = 0; i < in->ifaces_used; i++)
		printf(" %s (%s mode)", instance_iface_text(&in->ifaces[i], name),
		       in->ifaces[i].generic ? "generic" : "native");
	printf(", engine %s in %s, window %s; pinned in %s\n", engine_names[in->fixed.engine],
	       units_size_text(in->meta.memory_bytes, memory),
	       derive_window_text(&in->fixed, in->live.window_ns, window), in->path);
}

int load_and_report(const struct options *o, struct instance *in)
{
	struct load_result result;
	char err[MESSAGE_MAX];

	if (load_instance(o, &result, err, sizeof(err))) {
		complain("%s: %s", o->command, err);
		return result.usage ? EXIT_USAGE : EXIT_FAILED;
	}
	if (instance_open(in, result.name, err, sizeof(err))) {
		complain("%s: %s", o->command, err);
		return EXIT_FAILED;
	}
	if (result.owner >= 0) {
		close(in->owner);
		in->owner = result.owner;
	}
	if (o->json)
		print_json(in);
	else if (!o->quiet)
		print_text(in);
	fflush(stdout);
	return EXIT_OK;
}

int cmd_load(struct options *o)
{
	struct instance in;
	int code;

	/* A signal that comes while it loads does not hide that it has loaded. */
	signals_hold();
	code = load_and_report(o, &in);
	if (code == EXIT_OK)
		instance_close(&in);
	return code;
}

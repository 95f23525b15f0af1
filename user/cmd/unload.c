/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup unload: detach, and remove every pin. */
#include "cmd.h"

#include <jansson.h>
#include <stdlib.h>

#include "../loader/load.h"
#include "../message.h"

/* Names of what was unloaded, for --json. */
static int unload_one(const char *name, json_t *done)
{
	char err[MESSAGE_MAX];

	if (unload_instance(name, err, sizeof(err))) {
		complain("unload: %s", err);
		return EXIT_FAILED;
	}
	json_array_append_new(done, json_string(name));
	return EXIT_OK;
}

static int unload_all(json_t *done)
{
	char(*names)[INSTANCE_NAME_MAX], err[MESSAGE_MAX];
	int n = unload_leftovers(err, sizeof(err)), code = EXIT_OK;

	if (!n)
		n = instance_list(&names, err, sizeof(err));
	if (n < 0) {
		complain("unload: %s", err);
		return EXIT_FAILED;
	}
	for (int i = 0; i < n; i++)
		if (unload_one(names[i], done))
			code = EXIT_FAILED;
	if (n)
		free(names);
	return code;
}

int cmd_unload(struct options *o)
{
	json_t *done;
	int code = EXIT_OK;

	if (o->all == (o->n_args > 0)) {
		complain(o->all ? "unload: names, or --all: not both"
				: "unload: which instance? xdp-dedup unload NAME, or --all");
		return EXIT_USAGE;
	}
	done = json_array();
	if (o->all)
		code = unload_all(done);
	for (int i = 0; i < o->n_args; i++)
		if (unload_one(o->args[i], done))
			code = EXIT_FAILED;
	if (o->json) {
		json_dumpf(done, stdout, 0);
		putchar('\n');
	}
	json_decref(done);
	return code;
}

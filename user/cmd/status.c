/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup status: what is loaded, and what it did. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>

#include "user/age/once.h"
#include "user/loader/remains.h"
#include "user/message.h"
#include "user/metrics/status.h"
#include "user/utf8.h"

/* Returns an exit code. An instance that was unloaded since it was listed is left out. */
static int show(const struct options *o, const char *name, json_t *all)
{
	char err[MESSAGE_MAX];
	struct status status;
	struct instance in;
	int code;

	age_once(name);
	code = instance_open(&in, name, err, sizeof(err));
	if (code == -ENOENT && !o->n_args)
		return EXIT_OK;
	if (code) {
		complain("status: %s", err);
		return EXIT_FAILED;
	}
	code = status_read(&status, &in, NULL, err, sizeof(err));
	if (code) {
		complain("status: %s", err);
		instance_close(&in);
		return EXIT_FAILED;
	}
	if (all)
		json_array_append_new(all, status_json(&status));
	else
		status_print(&status);
	status_free(&status);
	instance_close(&in);
	return EXIT_OK;
}

static json_t *remains_json(const struct remains *r, const char *text)
{
	json_t *ifaces = json_array();

	for (u32 i = 0; i < r->n; i++)
		json_array_append_new(ifaces,
				      json_pack("{s:o, s:s}", "name", utf8_json(r->ifaces[i]),
						"state", iface_state_names[IFACE_ATTACHED]));
	return json_pack("{s:s, s:s, s:o, s:[s]}", "name", r->name, "left_by",
			 remains_of(r->place, r->beside), "interfaces", ifaces, "warnings", text);
}

/* What is half made or half removed. Returns how many. */
static int show_remains(json_t *all)
{
	char text[MESSAGE_MAX];
	struct remains *left;
	int n = remains_list(&left);

	for (int i = 0; i < n; i++) {
		remains_text(&left[i], text, sizeof(text));
		if (all && !left[i].beside)
			json_array_append_new(all, remains_json(&left[i], text));
		else
			complain("status: %s", text);
	}
	free(left);
	return n;
}

static int show_all(const struct options *o, json_t *all)
{
	char(*names)[INSTANCE_NAME_MAX], err[MESSAGE_MAX];
	int n, code = EXIT_OK;

	n = instance_list(&names, err, sizeof(err));
	if (n < 0) {
		complain("status: %s", err);
		return EXIT_FAILED;
	}
	if (show_remains(all) <= 0 && !n && !all)
		note("nothing is loaded: xdp-dedup load IFACE");
	for (int i = 0; i < n; i++)
		if (show(o, names[i], all))
			code = EXIT_FAILED;
	free(names);
	return code;
}

int cmd_status(struct options *o)
{
	json_t *all = o->json ? json_array() : NULL;
	int code;

	code = o->n_args ? show(o, o->args[0], all) : show_all(o, all);
	if (!all)
		return code;
	/* One that cannot be read does not hide the others. */
	if (code == EXIT_OK || !o->n_args) {
		json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		putchar('\n');
	}
	json_decref(all);
	return code;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/provenance.h"

#include <stdlib.h>
#include <string.h>

#include "user/message.h"
#include "user/urls.h"
#include "user/version.h"

/* Reports are passed on: no password goes with them. */
static json_t *servers_json(const char *urls)
{
	char *servers = urls_without_users(urls);
	json_t *json = json_string(servers ?: "");

	free(servers);
	return json;
}

static void set_text(const char *name, const char *text, void *context)
{
	if (!strcmp(name, "nats"))
		json_object_set_new(context, name, servers_json(text));
	else
		json_object_set_new(context, name, *text ? json_string(text) : json_true());
}

void warnings_json(json_t *to)
{
	json_t *warnings = json_array();
	const char *text;

	for (u32 i = 0; (text = messages_kept(i)); i++)
		json_array_append_new(warnings, json_string(text));
	json_object_set_new(to, "warnings", warnings);
}

void provenance_json(json_t *to, const struct options *o)
{
	json_t *options = json_object();

	options_given(o, set_text, options);
	json_object_set_new(to, "options", options);
	json_object_set_new(to, "version", json_string(program_version));
	json_object_set_new(to, "commit", json_string(program_commit));
}

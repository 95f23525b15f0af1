/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/provenance.h"

#include "user/message.h"
#include "user/version.h"

static void set_text(const char *name, const char *text, void *context)
{
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

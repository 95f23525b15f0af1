// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/policy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/names.h"

#define VLAN_TEXT_MAX 128 /* "map:", and "4095=4095," for each of XDD_MAX_VLAN_MAPS */

const char *policy_field(u32 field, char word[POLICY_FIELD_MAX])
{
	snprintf(word, POLICY_FIELD_MAX, "%s", field_names[field]);
	for (char *c = word; *c; c++)
		if (*c == '_')
			*c = '-';
	return word;
}

__attribute__((format(printf, 2, 3))) static void append(char text[POLICY_TEXT_MAX],
							 const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, POLICY_TEXT_MAX - used, format, args);
	va_end(args);
}

/* The value of --vlan. */
static const char *vlan_text(const struct xdd_fixed *fixed, char text[VLAN_TEXT_MAX])
{
	char *end = text;

	strcpy(text, policy_names[fixed->vlan_key]);
	for (u32 i = 0; i < fixed->vlan_maps; i++)
		end += sprintf(end, "%s%u=%u", i ? "," : "map:", fixed->vlan_from[i],
			       fixed->vlan_to[i]);
	return text;
}

/* The fields that were changed, and that are compared by default, or are not. */
static u32 changed(const struct xdd_fixed *fixed, bool by_default)
{
	return fixed->changed_fields & (by_default ? XDD_DEFAULT_FIELDS : ~XDD_DEFAULT_FIELDS);
}

static void append_fields(char text[POLICY_TEXT_MAX], const char *option, u32 fields)
{
	const char *before = option;
	char word[POLICY_FIELD_MAX];

	for (u32 field = 0; field < XDD_FIELD_MAX; field++) {
		if (!(fields >> field & 1))
			continue;
		append(text, "%s%s", before, policy_field(field, word));
		before = ",";
	}
}

const char *policy_text(const struct xdd_fixed *fixed, char text[POLICY_TEXT_MAX])
{
	char vlan[VLAN_TEXT_MAX];

	*text = 0;
	if (fixed->inner)
		append(text, " --inner");
	if (fixed->vni_key)
		append(text, " --vni key");
	if (fixed->vlan_key)
		append(text, " --vlan %s", vlan_text(fixed, vlan));
	append_fields(text, " --ignore ", changed(fixed, true));
	append_fields(text, " --include ", changed(fixed, false));
	if (fixed->payload_bytes)
		append(text, " --payload %u", fixed->payload_bytes);
	if (fixed->scope_iface)
		append(text, " --scope interface");
	if (fixed->non_ip_frame)
		append(text, " --non-ip frame");
	return *text ? memmove(text, text + 1, strlen(text)) : text;
}

static json_t *json_fields(u32 fields)
{
	json_t *all = json_array();
	char word[POLICY_FIELD_MAX];

	for (u32 field = 0; field < XDD_FIELD_MAX; field++)
		if (fields >> field & 1)
			json_array_append_new(all, json_string(policy_field(field, word)));
	return all;
}

/* The UDP ports of each tunnel. */
static json_t *json_ports(const struct xdd_fixed *fixed)
{
	json_t *all = json_object();

	for (u32 tunnel = 0; tunnel < XDD_TUNNEL_MAX; tunnel++) {
		json_t *ports = json_array();

		for (u32 i = 0; i < XDD_TUNNEL_PORTS; i++)
			if (fixed->tunnel_port[i] && fixed->tunnel_kind[i] == tunnel)
				json_array_append_new(ports, json_integer(fixed->tunnel_port[i]));
		json_object_set_new(all, tunnel_names[tunnel], ports);
	}
	return all;
}

void policy_json(const struct xdd_fixed *fixed, json_t *to)
{
	char vlan[VLAN_TEXT_MAX];

	json_object_set_new(to, "inner", json_boolean(fixed->inner));
	json_object_set_new(to, "tunnel_ports", json_ports(fixed));
	json_object_set_new(to, "vni", json_string(policy_names[fixed->vni_key]));
	json_object_set_new(to, "vlan", json_string(vlan_text(fixed, vlan)));
	json_object_set_new(to, "ignore", json_fields(changed(fixed, true)));
	json_object_set_new(to, "include", json_fields(changed(fixed, false)));
	json_object_set_new(to, "payload",
			    fixed->payload_bytes ? json_integer(fixed->payload_bytes)
						 : json_null());
	json_object_set_new(to, "scope", json_string(scope_names[fixed->scope_iface]));
	json_object_set_new(to, "non_ip", json_string(fixed->non_ip_frame ? "frame" : "pass"));
}

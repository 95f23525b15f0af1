/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Site policy of a configuration, as the options that make it. */
#ifndef USER_POLICY_H
#define USER_POLICY_H

#include <jansson.h>

#include <xdd/config.h>

/* A field of the packet key as --ignore and --include take it: "tcp-seq". Returns @word. */
#define POLICY_FIELD_MAX 16
const char *policy_field(u32 field, char word[POLICY_FIELD_MAX]);

/* The options that differ from the defaults: "--inner --vlan map:300=50 --ignore ipid,l4csum"; "" where
 * none does. Returns @text.
 */
#define POLICY_TEXT_MAX 400
const char *policy_text(const struct xdd_fixed *fixed, char text[POLICY_TEXT_MAX]);

/* Set each option in @to, with its value, also where that is the default. */
void policy_json(const struct xdd_fixed *fixed, json_t *to);

#endif

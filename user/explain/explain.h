/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why two frames are the same packet, or not. Nothing here repeats what the core takes for a key:
 * it is found out by changing a field and asking the core again.
 */
#ifndef USER_EXPLAIN_H
#define USER_EXPLAIN_H

#include <jansson.h>
#include <stdio.h>

#include "fields.h"
#include "user/capture/capture.h"
#include "user/derive.h"
#include "user/identity.h"

struct explained_frame {
	struct capture_item item; /* its data and interface are ours */
	struct capture_iface iface;
	struct xdd_packet packet;
	u32 bypass; /* enum xdd_bypass; XDD_BYPASS_MAX: it has a key */
	struct xdd_identity identity;
	struct fields fields;
	bool in_key[FIELDS_MAX]; /* does the field change the key? */
};

struct explained_pair {
	struct field_pair fields;
	bool ignored; /* the keys would be the same but for other fields */
};

/* What the key of both frames would be with one option more. */
struct explained_choice {
	char option[32];
	bool has_key; /* both have one */
	bool same;
};
#define EXPLAIN_CHOICES_MAX 48

struct explanation {
	const char *path;
	const struct derived *derived;
	struct xdd_secret secret;
	struct explained_frame a, b;
	bool have_keys; /* both frames; else nothing is `ignored` */
	bool same;
	u64 apart_ns;
	bool in_window;
	u32 n_pairs, n_choices;
	struct explained_pair pairs[2 * FIELDS_MAX];
	struct explained_choice choices[EXPLAIN_CHOICES_MAX];
};

/* Compare the frames e->a.item and e->b.item under e->derived. Returns 0 or -ENOMEM. */
int explain(struct explanation *e);

/* Say it in words, or as JSON. */
void explain_print(const struct explanation *e, FILE *to);
json_t *explain_json(const struct explanation *e);

/* Why a frame has no key: the bypass's name, and its help text. */
const char *explain_bypass_name(u32 bypass);
const char *explain_bypass_help(u32 bypass);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <xdd/config.h>
#include <xdd/event.h>

#define NAME(name, help) #name,
#define HELP(name, help) help,
#define ENGINE_NAME(name, memory, help) #name,
#define ENGINE_HELP(name, memory, help) help,
#define LIST(which, list)                                        \
	const char *const which##_names[] = { list(NAME) NULL }; \
	const char *const which##_help[] = { list(HELP) NULL };

LIST(variant, XDD_VARIANTS)
LIST(growth, XDD_GROWTHS)
const char *const engine_names[] = { XDD_ENGINES(ENGINE_NAME) NULL };
const char *const engine_help[] = { XDD_ENGINES(ENGINE_HELP) NULL };
LIST(key, XDD_KEYS)
LIST(hash, XDD_HASHES)
LIST(slicing, XDD_SLICINGS)
LIST(fault, XDD_FAULT_POLICIES)
LIST(action, XDD_DUP_ACTIONS)
LIST(placement, XDD_PLACEMENTS)
LIST(tree, XDD_TREES)
LIST(clock, XDD_CLOCKS)
LIST(watch, XDD_WATCHES)
LIST(replica_action, XDD_REPLICA_ACTIONS)

#define TUNNEL_NAME(name, ports, help) #name,
const char *const tunnel_names[] = { XDD_TUNNELS(TUNNEL_NAME) NULL };
#define FIELD_NAME(name, by_default, help) #name,
#define FIELD_HELP(name, by_default, help) help,
const char *const field_names[] = { XDD_FIELDS(FIELD_NAME) NULL };
const char *const field_help[] = { XDD_FIELDS(FIELD_HELP) NULL };
#define CLASS_WORD(name, word, help) word,
#define CLASS_HELP(name, word, help) help,
const char *const class_words[] = { XDD_CLASSES(CLASS_WORD) NULL };
const char *const class_help[] = { XDD_CLASSES(CLASS_HELP) NULL };
const char *const scope_names[] = { "all", "interface", NULL };
const char *const policy_names[] = { "ignore", "key", NULL };

const char *const event_kind_names[] = { XDD_BYPASSES(NAME) XDD_VERDICTS(NAME) NULL };
XDD_ASSERT(XDD_ARRAY_SIZE(event_kind_names) == XDD_EVENT_MAX + 1, "a name for each kind");

int name_index(const char *const *names, const char *word)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], word))
			return i;
	return -ENOENT;
}

const char *action_text(const struct xdd_live *live, const char *target, char text[ACTION_TEXT_MAX])
{
	const char *name = action_names[live->action];

	if (live->action == XDD_ACTION_mark && live->mark_meta)
		snprintf(text, ACTION_TEXT_MAX, "%s:meta", name);
	else if (live->action == XDD_ACTION_mark)
		snprintf(text, ACTION_TEXT_MAX, "%s:dscp=%u", name, live->mark_dscp);
	else if (live->action == XDD_ACTION_redirect)
		snprintf(text, ACTION_TEXT_MAX, "%s:%s", name, target);
	else
		snprintf(text, ACTION_TEXT_MAX, "%s", name);
	return text;
}

const char *ambiguous_text(const struct xdd_live *live, char text[AMBIGUOUS_TEXT_MAX])
{
	u32 all = (1u << XDD_CLASS_MAX) - 2, pass = live->ambiguous_pass & all;
	int used = 0;

	snprintf(text, AMBIGUOUS_TEXT_MAX, "%s", pass ? "pass" : "drop");
	for (int i = 0; pass && pass != all && class_words[i]; i++)
		used += snprintf(text + used, AMBIGUOUS_TEXT_MAX - used, "%s%s=%s", i ? "," : "",
				 class_words[i], pass >> (i + 1) & 1 ? "pass" : "drop");
	return text;
}

#define LONGEST 40

/* Levenshtein distance of two words of at most LONGEST characters, one row at a time. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[LONGEST + 1], n = strlen(b);

	for (unsigned int j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned int i = 0; a[i]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i + 1;
		for (unsigned int j = 0; j < n; j++) {
			unsigned int best = diagonal + (a[i] != b[j]);

			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j + 1] + 1)
				best = row[j + 1] + 1;
			diagonal = row[j + 1];
			row[j + 1] = best;
		}
	}
	return row[n];
}

const char *name_nearest(const char *const *names, const char *word)
{
	const char *nearest = NULL;
	unsigned int least = strlen(word);

	if (strlen(word) > LONGEST)
		return NULL;
	for (int i = 0; names[i]; i++) {
		unsigned int d = distance(word, names[i]);

		/* Most people get the first letter right. */
		if (d < least ||
		    (d == least && nearest && *nearest != *word && *names[i] == *word)) {
			least = d;
			nearest = names[i];
		}
	}
	return nearest;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of the core's enumerations as users write and read them. Each list is
 * generated from the X-macro in include/xdd/config.h, indexed by its enum, and ends
 * with NULL; the _help lists run in parallel.
 */
#ifndef USER_NAMES_H
#define USER_NAMES_H

extern const char *const engine_names[], *const engine_help[];
extern const char *const key_names[], *const key_help[];
extern const char *const hash_names[], *const hash_help[];
extern const char *const slicing_names[], *const slicing_help[];
extern const char *const fault_names[], *const fault_help[];
extern const char *const action_names[], *const action_help[];
extern const char *const placement_names[], *const placement_help[];
extern const char *const tree_names[], *const tree_help[];
extern const char *const clock_names[], *const clock_help[];
extern const char *const watch_names[], *const watch_help[];
extern const char *const replica_action_names[], *const replica_action_help[];
extern const char *const variant_names[], *const variant_help[];
extern const char *const growth_names[], *const growth_help[];
extern const char *const tunnel_names[], *const policy_names[], *const scope_names[];
/* Classes of packets by their words in --ambiguous, from XDD_CLASS_identified + 1 on. */
extern const char *const class_words[], *const class_help[];
/* With '_' where users write '-'. */
extern const char *const field_names[], *const field_help[];
/* "not_ip", ..., "distinct", "duplicate": by enum xdd_event_kind. */
extern const char *const event_kind_names[];

/* The action on duplicates as --action takes it: "drop", "mark:dscp=63", "redirect:IFACE". @text has
 * room for ACTION_TEXT_MAX; @target: the interface of redirect. Returns @text.
 */
#define ACTION_TEXT_MAX 48
struct xdd_live;
const char *action_text(const struct xdd_live *live, const char *target,
			char text[ACTION_TEXT_MAX]);

/* What --ambiguous says, as it takes it: "drop", "pass", "ack=drop,tcp=drop,udp=pass,other=drop". */
#define AMBIGUOUS_TEXT_MAX 48
const char *ambiguous_text(const struct xdd_live *live, char text[AMBIGUOUS_TEXT_MAX]);

/* Index of @word in @names, or -ENOENT. */
int name_index(const char *const *names, const char *word);

/* The entry of @names with the fewest edits (Levenshtein) to @word; NULL if all of them would
 * have to be rewritten for the most part.
 */
const char *name_nearest(const char *const *names, const char *word);

#endif

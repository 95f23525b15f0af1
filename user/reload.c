/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/reload.h"

#include <stdio.h>
#include <string.h>

#include "user/derive.h"
#include "user/loader/change.h"
#include "user/message.h"

static bool has(const struct options *o, const char *interface)
{
	for (int i = 0; i < o->n_args; i++)
		if (!strcmp(o->args[i], interface))
			return true;
	return false;
}

/* The interfaces of @o that @other does not have. */
static int only_in(const struct options *o, const struct options *other, struct option_ifaces *list)
{
	for (int i = 0; i < o->n_args; i++) {
		if (has(other, o->args[i]))
			continue;
		if (list->used == XDD_MAX_IFACES || strlen(o->args[i]) >= IF_NAMESIZE) {
			complain("reload: %s: not the name of an interface, or too many of them",
				 o->args[i]);
			return -1;
		}
		strcpy(list->name[list->used++], o->args[i]);
	}
	return 0;
}

#define IS_LIVE(field) id == OPT_##field ||

/* One that `set` changes. */
static bool is_live(enum option_id id)
{
	return LIVE_OPTIONS(IS_LIVE) false;
}

/* What of @now differs from @before, as a command line of `set` for instance @name. What is no longer
 * in the file goes back to its default.
 */
static int difference(const struct options *before, const struct options *now, char **name,
		      struct options *set)
{
	*set = *now;
	set->command = "set";
	set->args = name;
	set->n_args = 1;
	set->restart = set->force = false;
	memset(set->given, 0, sizeof(set->given));
	for (int id = 0; id < OPT_MAX; id++)
		set->given[id] = is_live(id) && options_differ(before, now, id);
	if (!set->given[OPT_action])
		set->redirect = NULL;
	if (!set->given[OPT_forward])
		set->forward = NULL;
	set->ambiguous.named = set->given[OPT_ambiguous] ? (1u << XDD_CLASS_MAX) - 1 : 0;
	set->ambiguous.pass &= set->ambiguous.named;
	if (!set->window)
		set->window = DERIVE_WINDOW_NS;
	if (only_in(now, before, &set->add) || only_in(before, now, &set->remove))
		return -1;
	set->given[OPT_add] = set->add.used;
	set->given[OPT_remove] = set->remove.used;
	return 0;
}

static bool is_empty(const struct options *set)
{
	for (int id = 0; id < OPT_MAX; id++)
		if (set->given[id])
			return false;
	return true;
}

static void tell_fixed(const struct options *started, const struct options *now)
{
	char label[OPTION_LABEL_MAX];

	for (int id = 0; id < OPT_MAX; id++)
		if (!is_live(id) && options_differ(started, now, id))
			complain("reload: %s has changed, which takes a restart: it goes on as "
				 "before",
				 option_label(id, label));
}

static void append(char text[MESSAGE_MAX], const char *sign, const char *what)
{
	size_t used = strlen(text);

	snprintf(text + used, MESSAGE_MAX - used, "%s%s%s", used ? ", " : "", sign, what);
}

static void tell_changed(const struct options *set, const char *name)
{
	char text[MESSAGE_MAX] = "", label[OPTION_LABEL_MAX];

	for (int id = 0; id < OPT_MAX; id++)
		if (set->given[id] && id != OPT_add && id != OPT_remove)
			append(text, "", option_label(id, label));
	for (u32 i = 0; i < set->add.used; i++)
		append(text, "+", set->add.name[i]);
	for (u32 i = 0; i < set->remove.used; i++)
		append(text, "-", set->remove.name[i]);
	note_always("reload: %s: changed: %s", name, text);
}

static int apply(const struct options *before, const struct options *now, const char *name)
{
	char *args[] = { (char *)name };
	char err[MESSAGE_MAX];
	struct instance in;
	struct options set;
	int code;

	if (!now->n_args) {
		complain("reload: %s: the file names no interface: it goes on as before", name);
		return -1;
	}
	if (difference(before, now, args, &set))
		return -1;
	if (is_empty(&set)) {
		note_always("reload: %s: nothing to change", name);
		return 0;
	}
	code = change_instance(&set, &in, err, sizeof(err));
	if (code) {
		complain("reload: %s: it goes on as before", err);
		return code;
	}
	instance_close(&in);
	tell_changed(&set, name);
	return 0;
}

int reload(struct reload *r, const char *name)
{
	const struct options *started = r->started;
	const struct options *before = r->read ? &r->options : started;
	char err[MESSAGE_MAX];
	struct options now;
	struct conf conf;
	int code = conf_open(&conf, started->argc, started->argv, err, sizeof(err));

	if (code) {
		complain("reload: %s: it goes on as before", err);
		return code;
	}
	code = conf_parse(&conf, started->command, ON_RUN, &now, err, sizeof(err));
	if (code) {
		complain("reload: %s: it goes on as before", err);
	} else {
		tell_fixed(started, &now);
		code = apply(before, &now, name);
	}
	if (code) {
		conf_free(&conf);
		return code;
	}
	reload_free(r);
	*r = (struct reload){ started, conf, now, true };
	return 0;
}

void reload_free(struct reload *r)
{
	if (r->read)
		conf_free(&r->conf);
	r->read = false;
}

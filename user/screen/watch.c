/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/screen/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/age/once.h"
#include "user/clock.h"
#include "user/loader/remains.h"
#include "xdd/event.h"

#define WALK_NS (10 * XDD_SECOND_NS)

static void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	status_free(&snapshot->status);
	free(snapshot);
}

static struct snapshot *snapshot_take(const char *name, struct activity *activity, char *err,
				      size_t err_size)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	int code;

	if (!s) {
		refuse(err, err_size, -ENOMEM, "no memory to read %s", name);
		return NULL;
	}
	code = instance_open(&s->instance, name, err, err_size);
	if (!code) {
		s->at_ns = now_ns();
		code = status_read(&s->status, &s->instance, activity, err, err_size);
		instance_close(&s->instance);
	}
	if (!code)
		return s;
	free(s);
	return NULL;
}

static void look_at(struct watched *w)
{
	struct snapshot *before;

	snapshot_free(w->before);
	w->before = w->now;
	w->now = snapshot_take(w->name, &w->activity, w->why, sizeof(w->why));
	if (!w->now)
		return;
	before = w->before;
	figures_make(&w->figures, before ? &before->status : NULL, &w->now->status,
		     before ? (w->now->at_ns - before->at_ns) / 1e9 : 0);
}

static void forget(struct watched *w)
{
	snapshot_free(w->before);
	snapshot_free(w->now);
}

static struct watched *watched_called(const struct watch *watch, const char *name)
{
	for (u32 i = 0; i < watch->n; i++)
		if (!strcmp(watch->all[i].name, name))
			return &watch->all[i];
	return NULL;
}

/* Watch these from now on: what is known of some of them goes along. */
static int watch_these(struct watch *watch, char (*names)[INSTANCE_NAME_MAX], u32 n)
{
	struct watched *all = calloc(n ?: 1, sizeof(*all)), *known;

	if (!all)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++) {
		memcpy(all[i].name, names[i], INSTANCE_NAME_MAX);
		known = watched_called(watch, names[i]);
		if (!known)
			continue;
		all[i] = *known;
		known->before = known->now = NULL;
	}
	watch_free(watch);
	watch->all = all;
	watch->n = n;
	return 0;
}

/* Only where there is something to list may the list fail. */
static int list(struct watch *watch, char *err, size_t err_size)
{
	char(*names)[INSTANCE_NAME_MAX], only[INSTANCE_NAME_MAX];
	int n, code;

	if (watch->name) {
		snprintf(only, sizeof(only), "%s", watch->name);
		code = watch_these(watch, &only, 1);
		return code ? refuse(err, err_size, code, "no memory to watch %s", only) : 0;
	}
	n = instance_list(&names, err, err_size);
	if (n < 0)
		return n;
	n = remains_append(&names, n);
	code = n < 0 ? n : watch_these(watch, names, n);
	free(names);
	return code ? refuse(err, err_size, code, "no memory to watch the instances") : 0;
}

int watch_look(struct watch *watch, char *err, size_t err_size)
{
	bool walk = now_ns() - watch->walked_ns > WALK_NS;
	int code = list(watch, err, err_size);

	if (code)
		return code;
	for (u32 i = 0; i < watch->n; i++) {
		if (walk)
			age_once(watch->all[i].name);
		look_at(&watch->all[i]);
	}
	if (walk)
		watch->walked_ns = now_ns();
	return 0;
}

void watch_free(struct watch *watch)
{
	for (u32 i = 0; i < watch->n; i++)
		forget(&watch->all[i]);
	free(watch->all);
	watch->all = NULL;
	watch->n = 0;
}
